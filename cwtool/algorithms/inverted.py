"""The rows of a slot by column, for learners that go over features."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cwtool.algorithms.slotted import rows_of
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.state import State
from cwtool_ext import inverted as kernel


class Matrix(NamedTuple):
    """Sparse, by row or by column, as kernels take it."""

    start: Longs
    place: Ints
    value: Floats

    @classmethod
    def empty(cls, n: int, nnz: int) -> Matrix:
        return cls(np.zeros(n + 1, dtype=np.int64), np.empty(nnz, dtype=np.int32), np.empty(nnz))

    def take(self, some: Longs) -> Matrix:
        """Some of its columns."""
        lengths = np.diff(self.start)[some]
        part = Matrix.empty(len(some), int(lengths.sum()))
        np.cumsum(lengths, out=part.start[1:])
        kernel.take(*self, some, *part)
        return part

    def widened(self, also: Floats, x: Matrix, some: Longs, position: int) -> tuple[Matrix, Floats]:
        """Rows with some columns of x more, at this position and on; `also` belongs to entries."""
        wide = Matrix.empty(len(self.start) - 1, len(also) + int(np.diff(x.start)[some].sum()))
        more = np.empty(len(wide.value))
        kernel.widen(*self, also, *x, some, position, *wide, more)
        return wide, more

    def products(self, v: Floats) -> Floats:
        """The product of each row, or column, with v."""
        out = np.empty(len(self.start) - 1)
        kernel.products(*self, v, out)
        return out

    def moments(self, v: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The products with v, and those of the squares with u."""
        first, second = np.empty((2, len(self.start) - 1))
        kernel.moments(*self, np.column_stack([v, u]), first, second)
        return first, second

    def sums(self, v: Floats, width: int) -> Floats:
        """Their sum, each times its v."""
        out = np.zeros(width)
        kernel.sums(*self, v, out)
        return out


class Columns:
    """x by column over the features in the rows and some others, ascending by id, so that nothing
    depends on the slots they happen to have."""

    def __init__(self, block: Block, state: State, others: Ints) -> None:
        found = np.zeros(state.features.n_slots, dtype=np.bool_)
        found[block.indices] = True
        found[others] = True
        slots = np.flatnonzero(found).astype(np.int32)
        self.slots = slots[np.argsort(state.features.ids_of(slots), kind="stable")]
        column = np.zeros(len(found), dtype=np.int32)
        column[self.slots] = np.arange(len(slots), dtype=np.int32)
        self.n_rows = block.n_rows
        self.x = Matrix.empty(len(slots), block.nnz)
        kernel.transpose(*rows_of(block), column, *self.x)
        self.others: Longs = column[others].astype(np.int64)

    @cached_property
    def squares(self) -> Floats:
        """|x_j|^2"""
        out = np.empty(len(self.slots))
        kernel.squares(*self.x, out)
        return out

    def gram(self, some: Longs) -> Floats:
        dense = np.empty((len(some), len(some)))
        kernel.gram(*self.x, some, np.zeros(self.n_rows), dense)
        return dense
