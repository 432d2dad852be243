"""Linear SVM by dual coordinate descent with shrinking (Hsieh et al. 2008).

min 1/2 ||w||^2 + C/q sum xi^q over the rows of a slot; the dual variables of slots before stay as
they are, so that w = sum of all a_i y_i x_i goes on from slot to slot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cwtool.algorithms.slotted import SlotParams, Slotted, rows_of
from cwtool.data.block import Block, Floats
from cwtool.order import permutation
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import dual


@dataclass(frozen=True)
class DcdParams(SlotParams):
    tol: float = param(0.1, "stop when the projected gradients lie this close together", above=0)
    max_epochs: int = param(1000, "or after so many visits to the slot", low=1)


class DCD(Slotted):
    name = "dcd"
    summary = "linear SVM by dual coordinate descent"
    Params = DcdParams
    columns = ("mean",)

    def learn_slot(self, block: Block, state: State, v: Floats) -> None:
        """Epochs over the active rows, each in a new random order, until all rows agree."""
        p = self.params
        slot = int(state.numbers.get("slots", 0))
        a = np.zeros(block.n_rows)
        everything = block.order
        rows, above, below = everything, math.inf, -math.inf
        for epoch in range(1, p.max_epochs + 1):
            rows = rows[permutation(len(rows), self.seed, slot, epoch)]
            n_active, most, least = dual.shrinking_pass(
                *rows_of(block), block.y, rows, v, p.ridge, p.upper, above, below,
                state.features.table, a,
            )  # fmt: skip
            if most - least <= p.tol or n_active == 0:
                if len(rows) == block.n_rows and math.isinf(above):
                    break
                # were the others rightly left out?
                rows, above, below = everything, math.inf, -math.inf
                continue
            rows = rows[:n_active]
            above = most if most > 0 else math.inf
            below = least if least < 0 else -math.inf
        else:
            self.notes.append("stopped by --max-epochs before --tol was reached")
        self.notes.append(f"slot {slot + 1}: {block.n_rows:,} rows, {epoch} epochs")


ALGORITHMS = {"dcd": DCD}
