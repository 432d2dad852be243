"""First-order rules: a weight vector that moves along x, w += alpha y x, averaged if asked."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import first_order
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class FirstOrderParams:
    average: bool = param(False, "predict with the mean of all weight vectors so far")


class FirstOrder(Algorithm):
    @property
    def columns(self) -> tuple[str, ...]:
        return ("weight", "debt") if self.params.average else ("weight",)

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The step: margin and squared norm -> alpha."""

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        out = Scores.zeros(block.n_rows)
        rounds = int(state.numbers.get("rounds", 0))
        first_order.learn(
            block.indptr, block.indices, block.values, block.y, order,
            state.features.table, self.rule, rounds, block.scale, out.score,
        )  # fmt: skip
        state.numbers["rounds"] = rounds + len(order)
        return out

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = Scores.zeros(block.n_rows)
        first_order.scores(
            block.indptr, block.indices, block.values,
            state.features.table, int(state.numbers.get("rounds", 0)), block.scale, out.score,
        )  # fmt: skip
        return out

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        table = state.features.table[slots]
        if not self.params.average:
            return table[:, 0], None
        # mean of w_1 .. w_T = w - debt / T
        return table[:, 0] - table[:, 1] / max(1, state.numbers.get("rounds", 0)), None
