"""What is known of a source before it is read, for the memory that reading it takes."""

from __future__ import annotations

import os
from math import inf
from pathlib import Path

from cwtool.data.cache import CacheEntry
from cwtool.data.chunks import is_rows
from cwtool.data.compression import compression
from cwtool.data.handles import Handle
from cwtool.data.lines import count_lines
from cwtool.data.pipeline import BLOCK_BYTES, ReadOptions
from cwtool.data.rowfile import FRAME, ROWS
from cwtool.data.rowfile import HEAD as FILE_HEAD
from cwtool.data.rowpack import COUNTS, as_text
from cwtool.data.sources import display, first_bytes, read_once
from cwtool.data.windows import HEAD, bytes_of_unpacking, window
from cwtool.errors import DataError
from cwtool.records import dataclass

COUNTED = 1 << 24  # bytes of a file whose lines are counted
SHORTEST = 2  # bytes of a line with a row


@dataclass(frozen=True)
class Source:
    """A file, pipe or URL."""

    name: str
    size: float = inf  # bytes of usual text that take as much memory as all of it, at most
    frame: int = 0  # the same of the largest frame, of a file of rows
    lines: float = inf  # at most
    unpacking: int = 0  # bytes that unpacking it takes
    window: int = 0  # those of them that are text before


def source_of(path: str, options: ReadOptions) -> Source:
    """What is known of a source that is read with these options."""
    name, head = display(path), _head(path)
    if not head or compression(head):
        return Source(name, unpacking=bytes_of_unpacking(head), window=window(head))
    if is_rows(head):
        return Source(name, *_frames(path, options.reading.added))
    if read_once(path):
        return Source(name)
    n_bytes, frame = Path(path).stat().st_size, 0
    lines = count_lines([path]) + 1 if n_bytes <= COUNTED else n_bytes / SHORTEST
    size = max(n_bytes, options.cutting.line * lines)
    entry = options.store and options.store.entry(path, options.reading.zero_based)
    if isinstance(entry, CacheEntry) and entry.file.exists():
        kept, frame = _frames(str(entry.file), options.reading.added)
        size = max(size, kept)
    return Source(name, size, frame, lines)


def _head(path: str) -> bytes:
    """The first bytes of a source; none if it cannot be read, which is told when it is."""
    try:
        return first_bytes(path, HEAD)
    except (DataError, OSError):
        return b""


def _frames(path: str, added: int) -> tuple[float, int]:
    """The size of a file of rows in memory, and that of its largest frame, both as the number of
    bytes of LIBSVM text whose rows take as much memory. Frames of a pipe, which cannot be measured
    before they are read, count with the default size of a block."""
    if read_once(path):
        return inf, BLOCK_BYTES
    handle, at, size, largest = Handle(path), FILE_HEAD.size, 0, 1
    first = FRAME.size + COUNTS.size
    while len(head := os.pread(handle.fd, first, at)) == first:
        kind, n_bytes, _ = FRAME.unpack_from(head)
        if kind != ROWS:
            break
        found = as_text(head[FRAME.size :], n_bytes, added)
        size, largest = size + found, max(largest, found)
        at += FRAME.size + n_bytes
    return size, largest
