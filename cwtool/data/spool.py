"""Rows kept for another look: in memory while they are few, in a temporary file beyond."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO

import numpy as np

from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.errors import UsageError
from cwtool.order import permutation

WINDOW_ROWS = 1 << 16
WINDOW_NNZ = 1 << 22
IN_MEMORY = 1 << 28  # bytes

Window = tuple[Longs, Ints, Floats, Floats]  # indptr, indices, values, y


class Spool:
    """Rows in windows of at most WINDOW_ROWS rows or about WINDOW_NNZ entries. Where windows end
    depends on the rows alone, so that a shuffle does not depend on blocks."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self.in_memory = in_memory
        self.windows: list[Window | tuple[int, int, int]] = []  # or (offset, rows, nnz)
        self.stored = 0
        self.n_rows = 0
        self._file: IO[bytes] | None = None
        self._open: list[Block] = []
        self._rows = self._nnz = 0

    def add(self, block: Block) -> None:
        """Keep a copy of these rows, as they are now."""
        self.n_rows += block.n_rows
        start = 0
        while start < block.n_rows:
            used = block.indptr[start + 1 :] - block.indptr[start]
            stop = start + 1 + int(np.searchsorted(used, WINDOW_NNZ - self._nnz))
            stop = min(stop, start + WINDOW_ROWS - self._rows, block.n_rows)
            part = block.take(np.arange(start, stop))
            self._open.append(part)
            self._rows += part.n_rows
            self._nnz += part.nnz
            if self._rows >= WINDOW_ROWS or self._nnz >= WINDOW_NNZ:
                self._close()
            start = stop

    def _close(self) -> None:
        if not self._open:
            return
        lengths = np.concatenate([np.diff(b.indptr) for b in self._open])
        window = (
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([b.indices for b in self._open]),
            np.concatenate([b.values for b in self._open]),
            np.concatenate([b.y for b in self._open]),
        )
        self._open, self._rows, self._nnz = [], 0, 0
        self.stored += sum(a.nbytes for a in window)
        if self.stored <= self.in_memory:
            self.windows.append(window)
            return
        try:
            self.windows.append(self._written(window))
        except OSError as failure:
            raise UsageError(
                f"rows kept for another pass do not fit into {tempfile.gettempdir()}: "
                f"{os.strerror(failure.errno or 0)}",
                "set TMPDIR to a folder with more room, or train with --passes 1",
            ) from None

    def _written(self, window: Window) -> tuple[int, int, int]:
        """Its place in the temporary file."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="cwtool-")  # noqa: SIM115
        offset = self._file.seek(0, 2)
        for array in window:
            self._file.write(array.tobytes())
        self._file.flush()
        return offset, len(window[3]), len(window[1])

    def _load(self, window: Window | tuple[int, int, int]) -> Block:
        if len(window) == 3:
            assert self._file is not None
            offset, rows, nnz = window
            self._file.seek(offset)
            indptr = np.frombuffer(self._file.read(8 * (rows + 1)), dtype=np.int64)
            indices = np.frombuffer(self._file.read(4 * nnz), dtype=np.int32)
            values = np.frombuffer(self._file.read(8 * nnz), dtype=np.float64)
            y = np.frombuffer(self._file.read(8 * rows), dtype=np.float64)
        else:
            indptr, indices, values, y = window
        return Block(indptr, indices, values, y, np.zeros(len(y), dtype=np.int32), "<spool>", y=y)

    def blocks(self) -> Iterator[Block]:
        """The windows in the order they came."""
        self._close()
        return map(self._load, self.windows)

    def shuffled(self, seed: int, pass_: int) -> Iterator[tuple[Block, Longs]]:
        """The windows in a random order, each with a random order of its rows."""
        self._close()
        for k in permutation(len(self.windows), seed, pass_).tolist():
            block = self._load(self.windows[k])
            yield block, permutation(block.n_rows, seed, pass_, k)
