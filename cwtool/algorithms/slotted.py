"""What the learners of whole time slots share: the loss, the parameters, scores from a mean."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.params import AUTO, param
from cwtool.state import State
from cwtool_ext import dual

LONGEST = 1e100  # squared norm of a row


@dataclass(frozen=True)
class SlotParams:
    C: float = param(1.0, "price of a margin error, relative to rows of length 1", above=0)
    loss: str = param(
        "hinge", "hinge: C xi;  squared-hinge: C/2 xi^2", choices=("hinge", "squared-hinge")
    )
    slot_rows: int = param(0, "rows of a time slot; 0: a whole file", low=0)
    prior: float | str = param(
        AUTO,
        "rows are multiplied by its square root; auto = 1 / typical squared norm of the first "
        "1,000 rows, which frees C from the scale of the rows; 1 = rows as they are",
        kind=float,
        above=0,
        auto=True,
    )

    @property
    def upper(self) -> float:
        """U, the largest dual variable."""
        return self.C if self.loss == "hinge" else math.inf

    @property
    def ridge(self) -> float:
        """D, what the squared loss adds to the diagonal."""
        return 0.0 if self.loss == "hinge" else 1 / self.C


class Slotted(Algorithm):
    """Learns a slot at once; column 0 of its table is the mean."""

    @property
    def slot_rows(self) -> int:
        return int(self.params.slot_rows)

    def untrained(self, state: State) -> bool:
        return "slots" not in state.numbers

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        """The scores before, for all rows; rows too long for sums of squares are not learned."""
        before = self.scores(block, state, np.empty(0))
        v = squared_norms(block)
        usable = v <= LONGEST
        if not usable.all():
            block, v = block.take(np.flatnonzero(usable)), v[usable]
        if block.n_rows:
            self.learn_slot(block, state, v)
            state.numbers["slots"] = int(state.numbers.get("slots", 0)) + 1
        return before

    @abstractmethod
    def learn_slot(self, block: Block, state: State, v: Floats) -> None:
        """Learn these rows at once; v are their squared norms."""

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = Scores.zeros(block.n_rows)
        dual.margins(*rows_of(block), state.features.table, 0, out.score)
        return out

    def details(self, state: State) -> dict[str, Any]:
        return {name: state.numbers[name] for name in ("slots", "kappa") if name in state.numbers}

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        return state.features.table[slots, 0], None


def squared_norms(block: Block) -> Floats:
    v = np.empty(block.n_rows)
    dual.squared_norms(block.indptr, block.values, block.scale, v)
    return v


def rows_of(block: Block) -> tuple[Longs, Ints, Floats, float]:
    """The rows as kernels take them."""
    return block.indptr, block.indices, block.values, block.scale
