"""What reading takes of `max_memory`, and blocks that are small enough for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from cwtool import memory
from cwtool.ahead import AHEAD, WAITING
from cwtool.data.pipeline import ROWS_AHEAD, ReadOptions
from cwtool.data.reading_sizes import Source, source_of
from cwtool.data.windows import USUAL

SMALLEST = 1 << 16  # bytes of a block
SHARE = 8  # reading takes an eighth of the limit, unless the smallest blocks take more
# For each byte of a block: its text, and the arrays of its rows. At most a quarter as many entries
# as bytes take 12 bytes each, and a 24th as many rows 36 bytes each; see `Cutting`.
BLOCK = 6
# For each byte of the block that is used: the features by slot, scores, and what is written.
USED = 20
COLUMN = 240  # bytes for each column that is scaled: as numbers of Python, arrays and JSON text


def bytes_of_reading(block: int, jobs: int, size: float = inf, ahead: int = AHEAD) -> int:
    """Upper bound of the bytes that reading `size` bytes of text takes, in blocks of this size and
    with up to `ahead` blocks that wait for their use if there are several threads."""
    blocks = 2 if jobs == 1 else jobs + ahead + WAITING
    return int(min(BLOCK * blocks * block, BLOCK * size) + USED * min(block, size))


def beside_reading(
    options: ReadOptions, paths: Sequence[str], *, sharded: bool = False, learners: int = 0
) -> ReadOptions:
    """The options with what reading these files leaves of `max_memory`, and the counts of what so
    many models predict before they learn it, and with smaller blocks if the limit is small. In
    shards, what is left is half of that beside one thread, because the models of the shards take as
    much as that of the run; blocks are so small, or threads so few, that several threads take no
    more than one."""
    memory.forget_reading()
    if not options.max_memory:
        return options
    jobs = 1 if sharded else options.jobs
    sources = [source_of(path, options) for path in paths]
    limit = _beside_unpacking(options.max_memory, sources)
    block = _block(options, sources, limit, jobs)
    columns = options.reading.columns
    needed = COLUMN * len(columns.ids) if columns else 0
    needed = memory.counted(needed + _needed(sources, block, jobs))
    needed += memory.bytes_of_counts(learners, sum(source.lines for source in sources))
    fewer = "use `jobs=1`" if jobs > 1 else ""
    left = memory.without(f"reading with `jobs={jobs}`", needed, limit, fewer)
    memory.BOUNDS.reading = needed + options.max_memory - limit
    options = replace(options, max_memory=left, strict=True)
    if not sharded:
        return replace(options, block_bytes=block)
    return _in_threads(replace(options, max_memory=max(1, left // 2)), sources, block)


def _beside_unpacking(limit: int, sources: Sequence[Source]) -> int:
    """What unpacking these files, one after the other, leaves of a limit. Further parts of a file
    may need as much as its first bytes say, or as the usual settings."""
    most, usual = 0, min(USUAL, limit // SHARE)
    memory.BOUNDS.unpacking = max([usual, *(source.window for source in sources)])
    for source in sources:
        needed = source.unpacking + max(0, usual - source.window) * (source.window > 0)
        memory.check(f"unpacking {source.name}", needed, limit, "unpack it before it is read")
        most = max(most, memory.counted(needed))
    return max(1, limit - most)


def _block(options: ReadOptions, sources: Sequence[Source], limit: int, jobs: int) -> int:
    """Bytes of a block: as many as fit into the share of reading, but at least as many as a row
    with the entries that it gets counts with, and as the largest frame of a file of rows does."""
    each = bytes_of_reading(SMALLEST, jobs) // SMALLEST
    least = -(-options.cutting.line // SMALLEST) * SMALLEST
    fitting = min(options.block_bytes, limit // (SHARE * each) >> 16 << 16)
    return max([least, fitting, *(source.frame for source in sources)])


def _needed(sources: Sequence[Source], block: int, jobs: int) -> int:
    ahead = ROWS_AHEAD if all(source.frame for source in sources) else AHEAD
    return bytes_of_reading(block, jobs, sum(source.size for source in sources), ahead)


def _in_threads(options: ReadOptions, sources: Sequence[Source], block: int) -> ReadOptions:
    """The options with smaller blocks or fewer threads, so that reading takes no more than in one
    thread with blocks of this size, here and then in as many processes."""
    least, alone = _block(options, sources, 0, 1), _needed(sources, block, 1)
    for jobs in range(options.jobs, 1, -1):
        each = (
            max(bytes_of_reading(SMALLEST, jobs), jobs * bytes_of_reading(SMALLEST, 1)) // SMALLEST
        )
        smaller = max(least, alone // each >> 16 << 16)
        if _needed(sources, smaller, jobs) <= alone:
            return replace(options, block_bytes=smaller, jobs=jobs)
    return replace(options, block_bytes=block, jobs=1)
