"""Rows of data in memory: sparse, labelled, perhaps weighted, and never changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cwtool.data.spans import Span
from cwtool.records import dataclass
from cwtool_ext import rows as kernel
from cwtool_ext.csr import Csr

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

BIAS = 2**31 - 1  # the id of the constant feature; no id of a file reaches it

R = TypeVar("R", bound="Rows")


@dataclass(frozen=True)
class Origin:
    """Where rows came from: row i stands on line `first_line + lines[i]` of `source`."""

    source: str
    file: int  # number of the source among those that are read, counted from 0
    first_line: int
    lines: Ints
    span: Span | None = None  # the part of the source that `first_line` is counted in

    def place(self, row: int) -> str:
        """The file and line of a row, for messages."""
        before = self.span.lines_before() if self.span else 0
        return f"{self.source}:{before + self.first_line + int(self.lines[row])}"


@dataclass(frozen=True)
class Rows:
    """Rows in CSR form. `indices` are 0-based feature ids, `y` the number of each row's class
    (0 negative, 1 positive; several classes are numbered in the order of their first rows, and -1
    stands for labels that were never learned), `weight` the importance of each row (None: all 1).
    Rows may be kept by every holder of a reference, because their arrays are never changed."""

    indptr: Longs
    indices: Ints
    values: Floats
    y: Ints
    weight: Floats | None = None

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        return int(self.indptr[-1])

    @property
    def nbytes(self) -> int:
        """The memory that the rows take."""
        return 12 * self.nnz + (12 if self.weight is None else 20) * self.n_rows

    @property
    def order(self) -> Longs:
        """The row numbers 0 .. n_rows - 1, as an order in which rows can be visited."""
        return np.arange(self.n_rows, dtype=np.int64)

    def signs(self, positive: int = 1) -> Floats:
        """+1 for the rows of the class `positive` and -1 for all others."""
        return np.where(self.y == positive, 1.0, -1.0)

    def against(self: R, class_: int) -> R:
        """The same rows with the class number 1 for this class and 0 for all others."""
        return replace(self, y=(self.y == class_).astype(np.int32))

    def slice(self: R, start: int, stop: int) -> R:
        """Rows start .. stop - 1. Their entries share the memory of these rows."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return replace(
            self,
            indptr=self.indptr[start : stop + 1] - first,
            indices=self.indices[first:last],
            values=self.values[first:last],
            y=self.y[start:stop],
            weight=None if self.weight is None else self.weight[start:stop],
        )

    def take(self: R, rows: NDArray[Any]) -> R:
        """A copy of the rows with these numbers, in this order; or of those that are True."""
        numbers = np.flatnonzero(rows) if rows.dtype == bool else rows
        numbers = np.ascontiguousarray(numbers, dtype=np.int64)
        indptr = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum(self.indptr[1:][numbers] - self.indptr[:-1][numbers], out=indptr[1:])
        indices, values = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        kernel.take(self.indptr, self.indices, self.values, numbers, indptr, indices, values)
        return replace(
            self,
            indptr=indptr,
            indices=indices,
            values=values,
            y=self.y[rows],
            weight=None if self.weight is None else self.weight[rows],
        )

    def weighing(self: R, weight: Floats | None) -> R:
        """The rows with these weights instead of their own, without rows of weight 0."""
        rows = replace(self, weight=weight)
        if weight is None or weight.all():
            return rows
        return rows.take(np.flatnonzero(weight))

    @classmethod
    def from_csr(cls, matrix: Any, y: Any, weight: Any = None) -> Rows:
        """Rows of a SciPy CSR matrix or array; `y` are class numbers. Arrays that have the types
        of Rows are shared, others are converted to copies, and nothing handed in is changed.
        Indices that are not ascending and unique in a row are sorted and added up in a copy."""
        check_csr(matrix)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        if matrix.shape[1] > BIAS:
            raise ValueError(f"a matrix has {matrix.shape[1]} columns; {BIAS} are possible")
        if weight is not None and not (np.isfinite(weight) & (np.asarray(weight) >= 0)).all():
            raise ValueError("row weights are finite numbers, 0 or greater")
        return cls(
            np.ascontiguousarray(matrix.indptr, dtype=np.int64),
            np.ascontiguousarray(matrix.indices, dtype=np.int32),
            np.ascontiguousarray(matrix.data, dtype=np.float64),
            np.ascontiguousarray(y, dtype=np.int32),
            None if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
        )

    @classmethod
    def from_lists(cls, rows: Sequence[Sequence[tuple[int, float]]], y: Sequence[int]) -> Rows:
        """A few rows from Python lists of (0-based id, value) pairs and class numbers."""
        flat = [pair for row in rows for pair in row]
        return cls(
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([j for j, _ in flat], dtype=np.int32),
            np.array([x for _, x in flat], dtype=np.float64),
            np.array(y, dtype=np.int32),
        )


def check_csr(matrix: Any) -> None:
    """Refuse a SciPy CSR matrix whose parts do not fit each other, which SciPy itself does not
    notice before it reads or writes beyond them."""
    starts, indices = matrix.indptr, matrix.indices
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise ValueError("the row pointers of the matrix do not ascend from 0")
    if starts[-1] > min(len(indices), len(matrix.data)):
        raise ValueError("the matrix has fewer entries than its row pointers say")
    if matrix.nnz and not 0 <= indices.min() <= indices.max() < matrix.shape[1]:
        raise ValueError("a column index lies outside the matrix")


COPIES = 2  # of a batch: its blocks and the joined one; then the joined one and a part of it


def batch_bytes(rows: Rows) -> int:
    """What a batch takes, with the scores of its rows."""
    return COPIES * (12 * rows.nnz + 36 * rows.n_rows)


def joined(parts: Sequence[Rows]) -> Rows:
    """All rows of the parts, one after the other, as one."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(part.nnz for part in parts)])
    starts = [part.indptr[1:] + end for part, end in zip(parts, ends, strict=False)]
    weighted = any(part.weight is not None for part in parts)
    return Rows(
        np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([_weights(part) for part in parts]) if weighted else None,
    )


def _weights(rows: Rows) -> Floats:
    return np.ones(rows.n_rows) if rows.weight is None else rows.weight


@dataclass(frozen=True)
class SlotRows(Rows):
    """Rows as algorithms use them: `indices` are slots of the model's feature index, and every
    value is multiplied by `scale`."""

    scale: float = 1.0

    def against(self, class_: int) -> SlotRows:
        two = super().against(class_)
        two.__dict__["csr"] = self.csr  # the entries are the same, and checked
        return two

    @cached_property
    def alike(self) -> bool:
        """Whether all stored values are the same number."""
        return self.csr.alike()

    @cached_property
    def csr(self) -> Csr:
        """The rows as kernels take them, checked once."""
        return Csr(self.indptr, self.indices, self.values, self.scale)
