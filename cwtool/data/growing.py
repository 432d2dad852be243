"""Arrays that grow at their ends, and rows that are joined while they are read."""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cwtool.data.rows import Rows, joined

LEAST = 1 << 20  # bytes of room of a new array
HUGE_PAGE = 2 << 20  # bytes
LARGE = 1 << 19  # bytes of an array from which on huge pages are worth it
SPARE = 64 << 20  # bytes that are reserved, but not taken, beyond what such an array needs


# MAP_NORESERVE, which mmap does not name: pages that are never written to do not count as memory,
# so that Linux grants more of them than the machine has memory
UNRESERVED = 0x4000 if sys.platform == "linux" else 0


def zero_pages(n_bytes: int) -> mmap.mmap:
    """Memory that is zero and takes no room until it is written to."""
    size = max(n_bytes, mmap.PAGESIZE)
    try:
        if not hasattr(mmap, "MAP_PRIVATE"):
            return mmap.mmap(-1, size)
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | UNRESERVED)
    except OSError as failure:
        raise MemoryError(f"there is no room for {size:,} bytes") from failure


def take_huge_pages(pages: mmap.mmap) -> None:
    """Let this memory lie in pages of 2 MB instead of 4 kB, if the system has them."""
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without huge pages
            pages.madvise(mmap.MADV_HUGEPAGE)


def spacious(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """An array of at least this size with any values, of which only the part that is used takes
    memory. A large one has room to spare and is in huge pages: the system hands out one of them in
    the time of about 25 small ones."""
    dtype = np.dtype(dtype)
    n_bytes = size * dtype.itemsize
    if n_bytes < LARGE:
        return np.empty(size + size // 4, dtype)
    n_bytes += min(7 * n_bytes, SPARE)
    try:
        pages = zero_pages(n_bytes + -n_bytes % HUGE_PAGE)
    except MemoryError:  # the size of the process or the number of its mappings is limited
        return np.empty(size, dtype)
    take_huge_pages(pages)
    return np.frombuffer(pages, dtype)


class Growing:
    """An array that values are added to. Where the system allows it, none is copied twice."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._pages = zero_pages(LEAST)
        self._used = 0  # bytes

    def add(self, values: NDArray[Any]) -> None:
        """Put these values at the end."""
        needed = self._used + len(values) * self._dtype.itemsize
        if needed > len(self._pages):
            self._grow(max(needed, 2 * len(self._pages)))
        room = np.frombuffer(self._pages, self._dtype, len(values), self._used)
        room[:] = values
        self._used = needed

    def _grow(self, size: int) -> None:
        try:
            self._pages.resize(size)
        except (SystemError, OSError, ValueError, BufferError):  # a system that cannot remap
            kept, self._pages = self._pages, zero_pages(size)
            self._pages[: len(kept)] = kept[:]

    @property
    def array(self) -> NDArray[Any]:
        """All values so far. Nothing is added to them later."""
        return np.frombuffer(self._pages, self._dtype, self._used // self._dtype.itemsize)


class Joining:
    """Rows that come in parts, as one. The entries of a part are copied as soon as it comes, so
    that all of them are in memory once."""

    def __init__(self) -> None:
        self._indices, self._values = Growing(np.int32), Growing(np.float64)
        self._parts: list[Rows] = []  # without their entries

    def add(self, rows: Rows) -> None:
        """Put copies of these rows at the end."""
        self._indices.add(rows.indices)
        self._values.add(rows.values)
        weight = None if rows.weight is None else rows.weight.copy()
        none = np.empty(0, dtype=np.int32), np.empty(0)
        self._parts.append(Rows(rows.indptr.copy(), *none, rows.y.copy(), weight))

    def rows(self) -> Rows:
        """All rows so far. None are added later."""
        without = joined(self._parts)
        entries = self._indices.array, self._values.array
        return Rows(without.indptr, *entries, without.y, without.weight)
