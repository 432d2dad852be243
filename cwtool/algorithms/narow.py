"""NAROW (Orabona and Crammer 2010): AROW that lowers a variance only while it is above 1/b.

Natural form: theta += y x on every margin error, Sigma^-1 += x x' (b v - 1)/v only if b v > 1;
mu = Sigma theta, score = mu.x / max(1, b v), which is not linear in the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cwtool.algorithms.covariance.diagonal import PROJECTIONS, CovarianceParams, Diagonal
from cwtool.algorithms.covariance.full import Full
from cwtool.algorithms.merging.base import Merging, Refusal
from cwtool.algorithms.merging.merged_rules import NATURAL
from cwtool.algorithms.online.second_order import Confident
from cwtool.data.rows import Floats, Ints
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.state import PRECISION, Column, Layout, State
from cwtool_ext import narow, rules
from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner


@dataclass(frozen=True)
class NarowParams(CovarianceParams):
    b: float = param(
        1.0,
        "The variance of a score is not lowered below 1/b by an update. Larger values let the "
        "learner become more certain and make later updates smaller.",
        above=0,
    )


class NarowDiagonal(Diagonal):
    """theta_j and the precision gained, p_j: mu_j = theta_j / (1 + p_j)."""

    layout = Layout(((Column("theta"), PRECISION),))

    def learner(self, state: State) -> Learner:
        p = self.params
        return narow.Narow(state.table, p.b, PROJECTIONS[p.projection], p.variance_floor)

    def moments(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        theta, variance = super().moments(state, slots)
        return theta * variance, variance

    def merging(self, additive: bool) -> Merging | Refusal:
        return NATURAL


class NarowFull(Full):
    def __init__(self, params: Any, rule: Rule) -> None:
        super().__init__(params, rule)
        self.shrink = params.b


class Narow(Confident):
    name = "narow"
    summary = "narrow adaptive regularization of weights"
    Params = NarowParams
    kinds = {"diag": NarowDiagonal, "full": NarowFull}  # noqa: RUF012

    @property
    def rule(self) -> Rule:
        return rules.narow(self.params.b)

    def importance(self, state: State, slots: Ints) -> Floats:
        """|mu_j|"""
        return np.abs(self.covariance.moments(state, slots)[0])


ALGORITHMS = {"narow": Narow}
