"""The memory that rows are read into, used again and again."""

from __future__ import annotations

from sys import getrefcount
from threading import Lock

import numpy as np

from cwtool.records import dataclass


class Buffers:
    """Arrays that chunks are parsed into. They are used again when nothing refers to them any
    more: fresh memory would cost a third of parsing."""

    def __init__(self, n_rows: int, nnz: int) -> None:
        self.labels = np.empty(n_rows)
        self.weights = np.empty(n_rows)
        self.indptr = np.empty(n_rows + 1, dtype=np.int64)
        self.indices = np.empty(nnz, dtype=np.int32)
        self.values = np.empty(nnz)
        self.lines = np.empty(n_rows, dtype=np.int32)

    @property
    def idle(self) -> bool:
        """Whether no view of the arrays is left: a view refers to the array that it shows."""
        return max(map(getrefcount, vars(self).values())) == UNUSED

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in vars(self).values())

    def holds(self, n_rows: int, nnz: int) -> bool:
        return len(self.labels) >= n_rows and len(self.values) >= nnz


def _references() -> int:
    """The number that sys.getrefcount returns for an array of Buffers of which there is no view."""
    return max(map(getrefcount, vars(Buffers(1, 1)).values()))


UNUSED = _references()


class Pool:
    """The buffers of a run, or of all reads of files of rows."""

    def __init__(self) -> None:
        self._all: list[Buffers] = []
        self._lock = Lock()

    def take(self, n_rows: int, nnz: int) -> Buffers:
        """Buffers of at least this size of whose arrays no view is left. Those that are too small
        are gone before there are larger ones."""
        return self._found(n_rows, nnz) or Buffers(n_rows + n_rows // 4, nnz + nnz // 16)

    def _found(self, n_rows: int, nnz: int) -> Buffers | None:
        with self._lock:
            for found in [b for b in self._all if b.idle]:
                self._all.remove(found)
                if found.holds(n_rows, nnz):
                    return found
        return None

    def lend(self, buffers: Buffers) -> None:
        """From now on the buffers are free as soon as no view of their arrays is left."""
        with self._lock:
            self._all.append(buffers)

    def trim(self, most: int) -> None:
        """Forget all buffers but some of at most so many bytes, rather free ones than others."""
        kept: list[Buffers] = []
        with self._lock:
            for found in sorted(self._all, key=lambda b: not b.idle):
                if found.nbytes <= most:
                    kept.append(found)
                    most -= found.nbytes
            self._all = kept


@dataclass
class Raw:
    """Rows as they were read, in buffers, before anything is done to them."""

    buffers: Buffers
    n_rows: int
    nnz: int
    n_lines: int
    n_qids: int
    weighted: bool
    comments: list[str]  # one a row, or none at all if they were not asked for
