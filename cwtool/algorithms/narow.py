"""NAROW (Orabona and Crammer 2010): AROW whose memory fades only where it is uncertain.

Natural form: theta += y x on every margin error, Sigma^-1 += x x' (b v - 1)/v only if b v > 1;
mu = Sigma theta, score = mu.x / max(1, b v).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cwtool.algorithms.base import Scores
from cwtool.algorithms.covariance import (
    PROJECTIONS,
    CovarianceParams,
    Diagonal,
    Full,
    SecondOrder,
)
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import narow, rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class NarowParams(CovarianceParams):
    b: float = param(1.0, "variances are kept from falling below 1/b", above=0)


class NarowDiagonal(Diagonal):
    columns = ("theta", "precision")

    def learn(self, block: Block, state: State, order: Longs, out: Scores) -> None:
        narow.learn(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            self.params.b, PROJECTIONS[self.params.projection], self.params.floor, block.scale,
            out.score, out.variance,
        )  # fmt: skip

    def scores(self, block: Block, state: State, out: Scores) -> None:
        narow.scores(
            block.indptr, block.indices, block.values, state.features.table, self.params.b,
            block.scale, out.score, out.variance,
        )  # fmt: skip

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        theta, variance = super().weights(state, slots)
        return theta * variance, variance


class NarowFull(Full):
    def __init__(self, params: Any, rule: Rule) -> None:
        super().__init__(params, rule)
        self.shrink = params.b


class Narow(SecondOrder):
    name = "narow"
    summary = "narrow adaptive regularization of weights"
    Params = NarowParams
    kinds = {"diag": NarowDiagonal, "full": NarowFull}  # noqa: RUF012

    @property
    def rule(self) -> Rule:
        return rules.narow(self.params.b)


ALGORITHMS = {"narow": Narow}
