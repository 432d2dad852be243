"""Features of rows that come again and again, close together.

A row that is learned in many passes has few features that are left, and those are scattered over
large tables. On the shelf they are numbered without gaps, and there are copies of just their rows
of all tables: what several paths visit in random order stays small.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.parallel import together
from cwtool.state import Features, Table
from cwtool_ext import stages

PARTS = 4  # of a block, prepared on their own; a sum over them does not depend on threads
DAMP, NNZ = 0, 4  # columns of the shared table
COUNT = 1  # column of a path
LEFT = -1  # count of a feature that left while rows still hold it


class Packed(NamedTuple):
    """Rows in CSR form, by numbers, scaled; the sum of their squares; slots without a number."""

    starts: Longs
    numbers: Ints
    z: Floats
    square: float
    strangers: Ints


def joined(parts: list[tuple[Longs, Ints, Floats]], jobs: int) -> tuple[Longs, Ints, Floats]:
    """Rows in CSR form, one after the other."""
    if len(parts) == 1:
        return parts[0]
    at = np.cumsum([0, *(len(z) for _, _, z in parts)]).tolist()
    numbers, z = np.empty(at[-1], dtype=np.int32), np.empty(at[-1])

    def put(k: int) -> Longs:
        starts, numbers[at[k] : at[k + 1]], z[at[k] : at[k + 1]] = parts[k]
        rest: Longs = starts[1:] + at[k]
        return rest

    starts = together(put, range(len(parts)), jobs)
    return np.concatenate([np.zeros(1, dtype=np.int64), *starts]), numbers, z


class Shelf:
    def __init__(self, features: Features) -> None:
        self.features = features
        self.own: Ints = np.empty(0, dtype=np.int32)  # the slot of each number
        self.divisors: Floats = np.empty(0)  # of its column
        # 1 + the number of a slot; 0 if it has none yet, -1 if its feature is gone
        self.places: Ints = np.zeros(len(features.table), dtype=np.int32)
        self._tables = [Table(0, table.shape[1]) for table in features.tables]
        self._changed = False

    @property
    def tables(self) -> list[Floats]:
        """To be changed."""
        self._changed = True
        return [table.rows[: len(self.own)] for table in self._tables]

    def numbers(self, slots: Ints) -> Ints:
        """Of features that are not gone."""
        self._admit(slots)
        numbers: Ints = self.places[slots] - 1
        return numbers

    def _admit(self, slots: Ints) -> None:
        """Features that have no number yet get one, and what their tables say."""
        own, shared, n = np.empty_like(slots), self.features.table, len(self.own)
        own = own[: stages.find(slots, shared, self.places, own)]
        own = own[np.argsort(-shared[own, NNZ], kind="stable")]  # frequent ones share cache lines
        self.places[own] = np.arange(n + 1, n + 1 + len(own))
        self.own = np.concatenate([self.own, own])
        self.divisors = np.concatenate([self.divisors, 1 + shared[own, DAMP]])
        for mine, theirs in zip(self._tables, self.features.tables, strict=True):
            mine.reserve(len(self.own))
            theirs.take(own, axis=0, out=mine.rows[n : len(self.own)], mode="clip")

    def rows(self, block: Block, jobs: int) -> tuple[tuple[Longs, Ints, Floats], float]:
        """The rows of a block by numbers, scaled, in CSR form; and the sum of their squares."""

        def packed(some: slice) -> Packed:
            indptr = block.indptr[some]
            at = slice(indptr[0], indptr[-1])
            indices, starts = block.indices[at], np.empty_like(indptr)
            numbers, z = np.empty_like(indices), np.empty(len(indices))
            nnz, strange, square = stages.compact(
                indptr - indptr[0], indices, block.values[at], block.scale, self.places,
                self.divisors, starts, numbers, z,
            )  # fmt: skip
            strangers = numbers[len(numbers) - strange :].copy()
            return Packed(starts, numbers[:nnz], z[:nnz], square, strangers)

        cuts = np.linspace(0, block.n_rows, PARTS + 1, dtype=int).tolist()
        split = [slice(i, j + 1) for i, j in pairwise(cuts)]
        parts = together(packed, split, jobs)
        if any(len(part.strangers) for part in parts):
            self._admit(np.concatenate([part.strangers for part in parts]))
            parts = together(packed, split, jobs)
        return joined([part[:3] for part in parts], jobs), sum(part.square for part in parts)

    def leave(self, numbers: Ints) -> None:
        """These features are gone."""
        self.places[self.own[numbers]] = -1
        for path in self.tables[1:]:
            path[numbers, COUNT] = LEFT

    def put_back(self) -> None:
        """What changed here is so in the tables of all features, too."""
        if not self._changed:
            return
        shared, *paths = self.tables
        self.features.table[self.own] = shared
        for mine, theirs in zip(paths, self.features.tables[1:], strict=True):
            theirs[self.own] = np.where(mine[:, COUNT, None] == LEFT, 0, mine)
        self._changed = False
