"""The second-order perceptron (Cesa-Bianchi, Conconi, Gentile 2005).

On a mistake: v += y x, A += x x'; score = x'(A + x x')^-1 v, which is not linear in the row.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.base import each_choice
from cwtool.algorithms.covariance.diagonal import CovarianceParams, Diagonal
from cwtool.algorithms.covariance.full import Full, grown_sigma
from cwtool.algorithms.merging.base import Merging, Refusal
from cwtool.algorithms.merging.merged_rules import NATURAL
from cwtool.algorithms.online.second_order import Confident
from cwtool.data.rows import Floats, Ints
from cwtool.state import PRECISION, Column, Layout, State
from cwtool_ext import full, rules, sop
from cwtool_ext.visit import Learner


class SopDiagonal(Diagonal):
    """v_j and p_j, A_jj = 1 + p_j."""

    layout = Layout(((Column("sum"), PRECISION),))

    def learner(self, state: State) -> Learner:
        return sop.Sop(state.table)

    def moments(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        """v_j / A_j and 1 / A_j; the score itself divides by A_j + x_j^2."""
        total, variance = super().moments(state, slots)
        return total * variance, variance

    def merging(self, additive: bool) -> Merging | Refusal:
        return NATURAL


class SopFull(Full):
    """A^-1 v and A^-1."""

    def learner(self, state: State) -> Learner:
        return full.FullSop(state.table, grown_sigma(state), state.index.count)


class Sop(Confident):
    name = "sop"
    summary = "second-order perceptron"
    Params = CovarianceParams
    kinds = {"diag": SopDiagonal, "full": SopFull}  # noqa: RUF012
    rule = rules.perceptron()  # it moves on mistakes; its learners know the rest
    counts_unknown = False  # its scores have no variance
    variants = each_choice(CovarianceParams, "covariance")

    def importance(self, state: State, slots: Ints) -> Floats:
        """|A^-1 v|"""
        return np.abs(self.covariance.moments(state, slots)[0])


ALGORITHMS = {"sop": Sop}
