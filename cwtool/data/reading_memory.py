"""What reading takes of `max_memory`, and blocks that are small enough for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from cwtool import memory
from cwtool.ahead import AHEAD, WAITING
from cwtool.data.chunks import is_rows
from cwtool.data.compression import compression
from cwtool.data.pipeline import BLOCK_BYTES, ROWS_AHEAD, ReadOptions

SMALLEST = 1 << 16  # bytes of a block
SHARE = 8  # reading takes an eighth of the limit, unless the smallest blocks take more
# For each byte of a block: its text, and the arrays of its rows. At most a quarter as many entries
# as bytes take 12 bytes each, and a 24th as many rows 36 bytes each.
BLOCK = 6
# For each byte of the block that is used: the features by slot, scores, and what is written.
USED = 20
PACKED = 8  # a file of rows is at least the size of its text divided by this


def bytes_of_reading(block: int, jobs: int, size: float = inf, ahead: int = AHEAD) -> int:
    """Upper bound of the bytes that reading `size` bytes of text takes, in blocks of this size and
    with up to `ahead` blocks that wait for their use if there are several threads."""
    blocks = 2 if jobs == 1 else jobs + ahead + WAITING
    return int(min(BLOCK * blocks * block, BLOCK * size) + USED * min(block, size))


def beside_reading(options: ReadOptions, paths: Sequence[str], jobs: int) -> ReadOptions:
    """The options with what reading these files in `jobs` threads leaves of `max_memory`, and with
    smaller blocks if the limit is small."""
    limit, size = options.max_memory, text_size(paths)
    if not limit:
        return options
    each = bytes_of_reading(SMALLEST, jobs) // SMALLEST
    block = min(options.block_bytes, max(SMALLEST, limit // (SHARE * each) >> 16 << 16))
    needed = bytes_of_reading(block, jobs, size)
    if any(map(_is_rows, paths)):  # whose blocks are as they were written
        needed = max(needed, bytes_of_reading(BLOCK_BYTES, jobs, size, ROWS_AHEAD))
    if not (needed := memory.counted(needed)):
        return options
    fewer = "use `jobs=1`" if jobs > 1 else ""
    left = memory.without(f"reading with `jobs={jobs}`", needed, limit, fewer)
    memory.BOUNDS.reading = needed
    return replace(options, block_bytes=block, max_memory=left)


def text_size(paths: Sequence[str]) -> float:
    """The bytes of text in these files, at most; infinite if that is not known."""
    return sum(map(_size, paths))


def _size(path: str) -> float:
    head = _head(path)
    if head is None or compression(head):
        return inf
    return Path(path).stat().st_size * (PACKED if is_rows(head) else 1)


def _is_rows(path: str) -> bool:
    return is_rows(_head(path) or b"")


def _head(path: str) -> bytes | None:
    """The first bytes of a file; None if it is something else, or cannot be read."""
    try:
        if not Path(path).is_file():
            return None
        with Path(path).open("rb") as file:
            return file.read(8)
    except OSError:
        return None
