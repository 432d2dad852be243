"""The merge of learners that remember their rows: the rows of all parts one after the other, and a
fit to all of them."""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.merging.base import Merger, Merging, Part, Rule
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.run import Run
from cwtool.state import State


class RowsMerger(Merger):
    """The rows of the base, and then those that each part has added to them. Features get their
    slots in the order in which training on the same rows would meet them."""

    def put(self, state: State, rule: Rule, run: Run, only: Ints | None = None) -> None:
        before = len(self.base.state.arrays["y"])
        for part in (self.base, *self.parts):
            skip = 0 if part is self.base else before
            rows, y = self._rows(part, skip, state.slots_of(part.state.index.saving_order()[0]))
            if rows.n_rows:
                self.algorithm.remember(state, rows, y, run)
        batches = [int(part.state.numbers["batches"]) for part in (self.base, *self.parts)]
        state.numbers["batches"] = batches[0] + sum(n - batches[0] for n in batches[1:])
        if len(state.arrays["y"]):
            y = state.arrays["y"]
            kind = y.astype(np.int32) if len(state.labels) else (y > 0).astype(np.int32)
            self.algorithm.fit(state, self.algorithm.rows(state), kind, run)

    def _rows(self, part: Part, skip: int, slots: Ints) -> tuple[SlotRows, Floats]:
        """The rows of a part after the first ones, by the slots of the merge, and their classes."""
        arrays = part.state.arrays
        indptr, y = arrays["rows.indptr"][skip:], arrays["y"][skip:]
        at = slice(int(indptr[0]), int(indptr[-1]))
        weight = arrays["weight"][skip:] if len(arrays["weight"]) else None
        if len(part.state.labels):  # of several classes, y has their numbers
            numbers = np.zeros(len(part.state.labels))
            for merged, own in enumerate(part.places):
                if own >= 0:
                    numbers[own] = merged
            y = numbers[y.astype(np.int64)]
        indices, values = slots[arrays["rows.indices"][at]], arrays["rows.values"][at]
        first = np.zeros(len(y), dtype=np.int32)
        return SlotRows(indptr - indptr[0], indices, values, first, weight), y


ROWS = Rule("rows")
REMEMBERED = Merging(RowsMerger, (ROWS,), ROWS, ROWS)
