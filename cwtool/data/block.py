"""A block: some rows of data, in CSR form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

BIAS = 2**31 - 1  # the id of the constant feature; no id of a file reaches it


@dataclass(slots=True)
class Block:
    """Rows `indptr`, `indices` (0-based ids, later slots), `values`, with the labels as written in
    the file and, once encoded, y in {-1, +1}. Every value counts as `scale` times what is stored.
    `lines[i]` + `first_line` is the line of row i in `source`."""

    indptr: Longs
    indices: Ints
    values: Floats
    labels: Floats
    lines: Ints
    source: str = "<memory>"
    file: int = 0  # which of the sources, counted from 0
    first_line: int = 1
    scale: float = 1.0
    y: Floats = field(default_factory=lambda: np.empty(0))
    release: Callable[[], None] = lambda: None  # say that the block is done with: optional

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        return int(self.indptr[-1])

    @property
    def order(self) -> Longs:
        """The rows as they stand."""
        return np.arange(self.n_rows, dtype=np.int64)

    def place(self, row: int) -> str:
        return f"{self.source}:{self.first_line + int(self.lines[row])}"

    def rows(self, start: int, stop: int) -> Block:
        """The rows start:stop, sharing the memory of their entries."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return replace(
            self,
            indptr=self.indptr[start : stop + 1] - first,
            indices=self.indices[first:last],
            values=self.values[first:last],
            labels=self.labels[start:stop],
            lines=self.lines[start:stop],
            y=self.y[start:stop],
        )

    def take(self, rows: NDArray[Any]) -> Block:
        """A copy of the named rows, in that order."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        at = np.repeat(self.indptr[:-1][rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return replace(
            self,
            indptr=indptr,
            indices=self.indices[at],
            values=self.values[at],
            labels=self.labels[rows],
            lines=self.lines[rows],
            y=self.y[rows] if len(self.y) else self.y,
        )

    @classmethod
    def from_rows(
        cls, rows: list[list[tuple[int, float]]], labels: list[float], **extra: Any
    ) -> Block:
        """A small block from Python lists of (0-based id, value); y is +1 where a label is > 0."""
        flat = [pair for row in rows for pair in row]
        return cls(
            indptr=np.cumsum([0, *map(len, rows)], dtype=np.int64),
            indices=np.array([j for j, _ in flat], dtype=np.int32),
            values=np.array([x for _, x in flat], dtype=np.float64),
            labels=np.array(labels, dtype=np.float64),
            lines=np.arange(len(rows), dtype=np.int32),
            y=np.where(np.array(labels, dtype=np.float64) > 0, 1.0, -1.0),
            **extra,
        )
