"""The rows of a batch stored by column, for learners that go over features."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeVar

import numpy as np

from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.records import dataclass
from cwtool.state import FeatureIndex
from cwtool.threads import together
from cwtool_ext import inverted as kernel
from cwtool_ext import quadratic, rows_and_columns
from cwtool_ext.csr import Csr

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix, by row or by column: row (or column) i has the entries start[i] ..
    start[i + 1] - 1, each with the number of its column (or row) and its value."""

    start: Longs
    place: Ints
    value: Floats

    @cached_property
    def csr(self) -> Csr:
        """The matrix as kernels take it, checked once."""
        return Csr(self.start, self.place, self.value)

    @property
    def arrays(self) -> tuple[Longs, Ints, Floats]:
        """The arrays that a kernel fills."""
        return self.start, self.place, self.value

    @property
    def count(self) -> int:
        """The number of rows, or of columns if it is stored by column."""
        return len(self.start) - 1

    @classmethod
    def empty(cls, n: int, nnz: int) -> Matrix:
        """Room for n rows or columns with nnz entries in all."""
        return cls(np.zeros(n + 1, dtype=np.int64), np.empty(nnz, dtype=np.int32), np.empty(nnz))

    def take(self, some: Longs) -> Matrix:
        """A copy of the columns with these numbers."""
        lengths = np.diff(self.start)[some]
        part = Matrix.empty(len(some), int(lengths.sum()))
        np.cumsum(lengths, out=part.start[1:])
        kernel.take(self.csr, some, *part.arrays)
        return part

    def widened(self, also: Floats, x: Matrix, some: Longs, position: int) -> tuple[Matrix, Floats]:
        """These rows with the columns `some` of x as further columns, numbered from `position` on.
        `also` is a further number for each entry; the second result has it for the wider rows, 0
        for their new entries."""
        wide = Matrix.empty(self.count, len(also) + int(np.diff(x.start)[some].sum()))
        more = np.empty(len(wide.value))
        rows_and_columns.widen(self.csr, also, x.csr, some, position, *wide.arrays, more)
        return wide, more

    def products(self, v: Floats) -> Floats:
        """The product of each row, or column, with v."""
        out = np.empty(self.count)
        kernel.products(self.csr, v, out)
        return out

    def moments(self, v: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The product of each column with v, and of its squared values with u."""
        first, second = np.empty((2, self.count))
        kernel.moments(self.csr, np.column_stack([v, u]), first, second)
        return first, second

    def sums(self, v: Floats, width: int) -> Floats:
        """sum_i v_i x_i over the rows x_i, which have `width` columns."""
        out = np.zeros(width)
        rows_and_columns.sums(self.csr, v, out)
        return out


class Columns:
    """The rows by column, over the features that occur in them and some others. Columns ascend by
    id, so that nothing depends on the slots that the features happen to have."""

    def __init__(self, rows: SlotRows, index: FeatureIndex, others: Ints) -> None:
        # not index.n_slots, which is 4 million for a file with a few features
        width = 1 + max(rows.indices.max(initial=-1), others.max(initial=-1))
        found = np.zeros(width, dtype=np.uint8)
        kernel.mark(rows.csr, found)
        found[others] = 1
        slots = np.flatnonzero(found).astype(np.int32)
        self.slots = slots[np.argsort(index.ids_of(slots), kind="stable")]
        column = np.zeros(len(found), dtype=np.int32)
        column[self.slots] = np.arange(len(slots), dtype=np.int32)
        self.n_rows, self.weight = rows.n_rows, rows.weight
        self.x = Matrix.empty(len(slots), rows.nnz)
        kernel.transpose(rows.csr, column, *self.x.arrays)
        self.others: Longs = column[others].astype(np.int64)

    @cached_property
    def squares(self) -> Floats:
        """For each column j the sum over the rows i of h_i x_ij^2, with the row weights h."""
        if self.weight is not None:
            return self.x.moments(self.weight, self.weight)[1]
        out = np.empty(len(self.slots))
        kernel.squares(self.x.csr, out)
        return out

    @cached_property
    def present(self) -> Floats:
        """For each column the weight of the rows that have an entry in it."""
        start, place, value = self.x.arrays
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return Matrix(start, place, np.ones(len(value))).products(weight)

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.n_rows if self.weight is None else float(self.weight.sum())

    def gram(self, some: Longs) -> Floats:
        """X'HX of the columns with these numbers, H the weights of the rows."""
        weight = np.broadcast_to(1.0, self.n_rows) if self.weight is None else self.weight
        return gram_of(self.x.take(some), weight)

    def across(self, x: Matrix, chosen: Longs, some: Longs, h: Floats) -> tuple[Floats, Floats]:
        """`across` for the `chosen` columns, which x has by row."""
        return across(self.x, some, x, h, len(chosen))

    @staticmethod
    def together(function: Callable[[T], R], items: Iterable[T], jobs: int) -> list[R]:
        """list(map(function, items)), in `jobs` threads."""
        return together(function, items, jobs)

    def signed(self, y: Floats) -> Matrix:
        """The columns of the rows times these signs; they replace x."""
        kernel.scale(self.x.csr, y, self.x.value)
        return self.x


def across(x: Matrix, some: Longs, rows: Matrix, h: Floats, width: int) -> tuple[Floats, Floats]:
    """x_j'H z_k, a row for each of the columns `some` of x and a column for each of the `width`
    columns z_k of rows, and x_j'H x_j; H are weights of the rows."""
    found, squares = np.empty((len(some), width)), np.empty(len(some))
    rows_and_columns.pairs(x.csr, some, rows.csr, h, found, squares)
    return found, squares


def gram_of_rows(rows: Matrix, h: Floats, width: int) -> Floats:
    """X'HX of all columns, of which there are `width`."""
    half, some = np.zeros((width, width)), np.flatnonzero(h)
    quadratic.add_gram(rows.csr, some, h[some], half)  # a product of two entries is there once
    found: Floats = half + half.T - np.diag(np.diag(half))
    return found


def gram_of(x: Matrix, weight: Floats) -> Floats:
    """X'HX of all columns, H the weights of the rows."""
    n = x.count
    dense = np.empty((n, n))
    kernel.gram(x.csr, np.arange(n, dtype=np.int64), weight, np.zeros(len(weight)), dense)
    return dense
