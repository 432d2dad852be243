"""The second-order perceptron (Cesa-Bianchi, Conconi, Gentile 2005).

On a mistake: v += y x, A += x x'; score = x'(A + x x')^-1 v.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.algorithms.covariance import (
    CovarianceParams,
    Diagonal,
    Full,
    SecondOrder,
    room_for_all,
)
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.state import State
from cwtool_ext import full, rules, sop


class SopDiagonal(Diagonal):
    columns = ("sum", "precision")

    def learn(self, block: Block, state: State, order: Longs, out: Scores) -> None:
        sop.learn(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            block.scale, out.score,
        )  # fmt: skip

    def scores(self, block: Block, state: State, out: Scores) -> None:
        sop.scores(
            block.indptr, block.indices, block.values, state.features.table, block.scale, out.score
        )

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        """v_j / A_j; the score itself divides by A_j + x_j^2."""
        total, variance = super().weights(state, slots)
        return total * variance, variance


class SopFull(Full):
    """A^-1 v and A^-1."""

    def learn(self, block: Block, state: State, order: Longs, out: Scores) -> None:
        full.learn_sop(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            room_for_all(state, self.max_memory), state.features.count, block.scale, out.score,
        )  # fmt: skip

    def scores(self, block: Block, state: State, out: Scores) -> None:
        full.scores_sop(
            block.indptr, block.indices, block.values, state.features.table,
            room_for_all(state), state.features.count, block.scale, out.score,
        )  # fmt: skip


class Sop(SecondOrder):
    name = "sop"
    summary = "second-order perceptron"
    Params = CovarianceParams
    kinds = {"diag": SopDiagonal, "full": SopFull}  # noqa: RUF012
    rule = rules.perceptron()  # it moves on mistakes; its kernels know the rest

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        return super().scores(block, state, np.zeros_like(unknown))


ALGORITHMS = {"sop": Sop}
