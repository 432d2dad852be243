"""Rows kept for another pass: in memory while they are few, packed in a temporary file beyond."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

import numpy as np

from cwtool.data.rows import BIAS, Floats, Longs, Rows, joined
from cwtool.errors import DataError, UsageError
from cwtool.order import permutation
from cwtool_ext import packed

WINDOW_ROWS = 1 << 16
WINDOW_NNZ = 1 << 22
IN_MEMORY = 1 << 28  # bytes


class Stored(NamedTuple):
    """The place of a window in the temporary file."""

    offset: int
    size: int
    n_rows: int
    nnz: int
    weighted: bool


def window_stop(rows: Rows, start: int, n_rows: int = 0, nnz: int = 0) -> int:
    """Where the window ends that holds so many rows and entries before row `start` of these."""
    used = rows.indptr[start + 1 :] - rows.indptr[start]
    stop = start + 1 + int(np.searchsorted(used, WINDOW_NNZ - nnz))
    return min(stop, start + WINDOW_ROWS - n_rows, rows.n_rows)


def windows(rows: Rows) -> list[Rows]:
    """The rows in the windows of a Spool that they were all added to; they share their memory."""
    found, start = [], 0
    while start < rows.n_rows:
        stop = window_stop(rows, start)
        found.append(rows.slice(start, stop))
        start = stop
    return found


def shuffled(n_rows: list[int], *seeds: int) -> Iterator[tuple[int, Longs]]:
    """The numbers of windows of so many rows in a random order, each with an order of its rows."""
    for k in permutation(len(n_rows), *seeds).tolist():
        yield k, permutation(n_rows[k], *seeds, k)


class Spool:
    """Rows in windows of at most WINDOW_ROWS rows or about WINDOW_NNZ entries. Where windows end
    depends on the rows alone, so that a shuffle does not depend on blocks."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self.in_memory = in_memory
        # called with the rows and entries of each window while it grows; it may refuse them
        self.check: Callable[[int, int], None] | None = None
        self.windows: list[Rows | Stored] = []
        self.stored = 0  # bytes
        self.n_rows = 0
        self._file: IO[bytes] | None = None
        self._counted: list[tuple[int, Floats | None]] = []  # of so many rows each
        self._open: list[Rows] = []
        self._rows = self._nnz = 0

    def add(self, rows: Rows, counted: Floats | None = None) -> None:
        """Keep a copy of these rows, and of what metrics count them by (None: all 1), which is not
        their weight where that has a class weight in it."""
        self.n_rows += rows.n_rows
        self._counted.append((rows.n_rows, None if counted is None else counted.copy()))
        start = 0
        while start < rows.n_rows:
            stop = window_stop(rows, start, self._rows, self._nnz)
            part = rows.take(np.arange(start, stop))
            self._open.append(part)
            self._rows += part.n_rows
            self._nnz += part.nnz
            if self.check is not None:
                self.check(self._rows, self._nnz)
            if self._rows >= WINDOW_ROWS or self._nnz >= WINDOW_NNZ:
                self._close()
            start = stop

    def _close(self) -> None:
        """End the window that is being filled."""
        if not self._open:
            return
        window = joined(self._open)
        self._open, self._rows, self._nnz = [], 0, 0
        self.stored += window.nbytes
        self.windows.append(window if self.stored <= self.in_memory else self._put_away(window))

    def limit(self, in_memory: int) -> None:
        """Keep no more than these bytes in memory beside the window that is being filled."""
        self.in_memory = min(self.in_memory, in_memory)
        if self.stored > self.in_memory:
            self.windows = [self._put_away(window) for window in self.windows]

    def _put_away(self, window: Rows | Stored) -> Stored:
        """The window in the temporary file, where it may be already."""
        if isinstance(window, Stored):
            return window
        try:
            return self._written(window)
        except OSError as failure:
            from tempfile import gettempdir

            raise UsageError(
                f"rows kept for another pass do not fit into {gettempdir()}: "
                f"{os.strerror(failure.errno or 0)}",
                "set TMPDIR to a folder with more room, or train with `passes=1`",
            ) from None

    def _written(self, window: Rows) -> Stored:
        from tempfile import TemporaryFile

        if self._file is None:
            self._file = TemporaryFile(prefix="cwtool-")  # noqa: SIM115
        offset, n = self._file.seek(0, 2), window.n_rows
        out = np.empty(packed.room(n, window.nnz), dtype=np.uint8)
        size = packed.encode(
            window.indptr, window.indices, window.values, window.y.astype(np.float64),
            np.arange(n, dtype=np.int32), out, window.weight,
        )  # fmt: skip
        self._file.write(out[:size].data)
        self._file.flush()
        return Stored(offset, size, n, window.nnz, window.weight is not None)

    def _load(self, window: Rows | Stored) -> Rows:
        if isinstance(window, Rows):
            return window
        assert self._file is not None
        n, nnz = window.n_rows, window.nnz
        self._file.seek(window.offset)
        data = self._file.read(window.size) + bytes(packed.PADDING)
        indptr, labels = np.empty(n + 1, dtype=np.int64), np.empty(n)
        indices, values = np.empty(nnz + packed.SPARE, dtype=np.int32), np.empty(nnz)
        lines, weight = np.empty(n, dtype=np.int32), np.empty(n) if window.weighted else None
        end = packed.decode(
            data, 0, window.size, n, nnz, indptr, indices, values, labels, lines, BIAS, weight
        )
        if end != window.size:
            raise DataError(
                "rows kept for another pass cannot be read again: the temporary file was changed, "
                "or a row weight is infinite",
                "train with `passes=1`, or with smaller weights",
            )
        return Rows(indptr, indices[:nnz], values, labels.astype(np.int32), weight)

    def all(self) -> Iterator[Rows]:
        """The windows in the order they came."""
        self._close()
        return map(self._load, self.windows)

    def shuffled(self, *seeds: int) -> Iterator[tuple[Rows, Longs, Floats | None]]:
        """The windows in a random order, each with a random order of its rows, and with what
        metrics count its rows by (None: all 1). The seeds are of the run, of the pass, and others
        if there are any."""
        self._close()
        first = np.cumsum([0, *(window.n_rows for window in self.windows)]).tolist()
        counted = self.counted
        for k, order in shuffled([window.n_rows for window in self.windows], *seeds):
            rows = self._load(self.windows[k])
            here = None if counted is None else counted[first[k] : first[k + 1]]
            yield rows, order, here

    @property
    def counted(self) -> Floats | None:
        """What metrics count all rows by; None: all 1."""
        if all(weight is None for _, weight in self._counted):
            return None
        return np.concatenate([np.ones(n) if w is None else w for n, w in self._counted])
