"""Features of rows that are visited again and again, close together in memory.

Rows of a later pass have few features that are left, and these are scattered over large tables. In
the compact copy they are numbered without gaps, and there are copies of just their rows of all
tables. These copies are small enough to stay in the cache while several paths visit rows in random
order.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cwtool.algorithms.stabilized_descent.prepared_rows import Entries, joined
from cwtool.algorithms.stabilized_descent.stsgd_state import COUNT, DAMP, NNZ
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.state import State
from cwtool.state.tables import Table
from cwtool.threads import together
from cwtool_ext import prepared

Memory = Callable[[str, int, str], Any]  # an array by its name, of this size and type

PARTS = 4  # rows are packed in so many parts
LEFT = -1  # count of a feature that was removed while prepared rows still hold it


class Packed(NamedTuple):
    """Entries by numbers, and slots that have no number yet."""

    entries: Entries
    strangers: Ints


class CompactCopy:
    """Copies of table rows. It keeps no reference to the state it copies from."""

    def __init__(self, state: State) -> None:
        self.own: Ints = np.empty(0, dtype=np.int32)  # the slot of each number
        self.divisors: Floats = np.empty(0)  # 1 + damp of each number
        # 1 + the number of a slot; 0 if it has none yet, -1 if its feature is gone
        self.places: Ints = np.zeros(len(state.table), dtype=np.int32)
        width = state.table.shape[1]
        self._tables = [Table(0, width), *(Table(0, 2) for _ in _paths(state))]
        self._changed = False

    @property
    def tables(self) -> list[Floats]:
        """The copies, which may be changed."""
        self._changed = True
        return [table.rows[: len(self.own)] for table in self._tables]

    def numbers(self, state: State, slots: Ints) -> Ints:
        """The numbers of features that are not gone; those that have none get one."""
        self._admit(state, slots)
        numbers: Ints = self.places[slots] - 1
        return numbers

    def _admit(self, state: State, slots: Ints) -> None:
        """Give a number to those of these features that have none, and copy their table rows."""
        own, shared, n = np.empty_like(slots), state.table, len(self.own)
        own = own[: prepared.find(slots, shared, self.places, own)]
        own = own[np.argsort(-shared[own, NNZ], kind="stable")]  # frequent ones share cache lines
        self.places[own] = np.arange(n + 1, n + 1 + len(own))
        self.own = np.concatenate([self.own, own])
        self.divisors = np.concatenate([self.divisors, 1 + shared[own, DAMP]])
        copied = [shared[own], *_paths(state, own)]
        for mine, theirs in zip(self._tables, copied, strict=True):
            mine.reserve(len(self.own))
            mine.rows[n : len(self.own)] = theirs

    def rows(self, state: State, rows: SlotRows, jobs: int, room: Memory) -> Entries:
        """All rows by numbers, scaled by column; with one thread in the memory of `room`, as long
        as it is not used again."""

        def packed(part: SlotRows, numbers: Ints | None = None, z: Floats | None = None) -> Packed:
            starts = np.empty_like(part.indptr)
            numbers = np.empty_like(part.indices) if numbers is None else numbers
            z = np.empty(len(numbers)) if z is None else z
            nnz, strange = prepared.compact(
                part.csr, self.places, self.divisors, starts, numbers, z
            )
            strangers = numbers[len(numbers) - strange :][::-1].copy()  # in the order of entries
            return Packed(Entries(starts, numbers[:nnz], z[:nnz]), strangers)

        def whole() -> Packed:
            return packed(
                rows, room("packed numbers", rows.nnz, "i4"), room("packed z", rows.nnz, "f8")
            )

        if not len(self.own):
            self._admit(state, rows.indices)
        if jobs == 1:
            found = whole()
            if len(found.strangers):
                self._admit(state, found.strangers)
                found = whole()
            return found.entries
        cuts = np.linspace(0, rows.n_rows, PARTS + 1, dtype=int).tolist()
        split = [rows.slice(i, j) for i, j in pairwise(cuts)]
        parts = together(packed, split, jobs)
        if any(len(part.strangers) for part in parts):
            self._admit(state, np.concatenate([part.strangers for part in parts]))
            parts = together(packed, split, jobs)
        return joined([part.entries for part in parts], jobs)

    def leave(self, numbers: Ints) -> None:
        """Remove the features with these numbers."""
        self.places[self.own[numbers]] = -1
        for path in self.tables[1:]:
            path[numbers, COUNT] = LEFT

    def put_back(self, state: State) -> None:
        """Copy what changed here into the tables of the state."""
        if not self._changed:
            return
        shared, *paths = self.tables
        state.table[self.own] = shared
        back = np.stack([np.where(mine[:, COUNT, None] == LEFT, 0, mine) for mine in paths], axis=2)
        state.tables[1][self.own], state.tables[2][self.own] = back[:, 0], back[:, 1]
        self._changed = False


def _paths(state: State, slots: Ints | slice = slice(0)) -> list[Floats]:
    """The columns (weight, count) of each path at these slots."""
    both = np.stack([table[slots] for table in state.tables[1:]], axis=2)
    return list(both.transpose(1, 0, 2))
