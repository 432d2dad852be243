"""Blocks joined to batches, for algorithms that learn many rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from cwtool import memory
from cwtool.data.rows import Origin, Rows, batch_bytes, joined
from cwtool.errors import UsageError


def batches(
    blocks: Iterable[tuple[Rows, Origin]], n_rows: int, max_memory: int = 0
) -> Iterator[tuple[Rows, Origin]]:
    """Batches of `n_rows` rows (0: no limit) that never reach over the end of a file, so that
    files learned in one run or in several give the same batches. Rows of weight 0 come with their
    neighbours and are not counted. A batch has the origin of its first block."""
    waiting: list[Rows] = []
    have = 0  # rows that wait and have a weight above 0
    begin: Origin | None = None
    free = memory.allowed(max_memory)
    for rows, origin in blocks:
        if begin is not None and begin.file != origin.file and waiting:
            yield _released(waiting), begin
            have = 0
        start = 0
        counted = rows.order if rows.weight is None else np.flatnonzero(rows.weight)
        while start < rows.n_rows:
            left = counted[np.searchsorted(counted, start) :]
            full = n_rows > 0 and have + len(left) >= n_rows
            stop = int(left[n_rows - have - 1]) + 1 if full else rows.n_rows
            begin = begin if waiting else origin
            waiting.append(rows.take(np.arange(start, stop)))
            have += len(left)
            if full:
                yield _released(waiting), begin or origin
                have = 0
            start = stop
        if (held := sum(map(batch_bytes, waiting))) > free:
            raise _too_large(origin.source, waiting, held, free)
    if waiting and begin is not None:
        yield _released(waiting), begin


def _released(waiting: list[Rows]) -> Rows:
    """These rows as one; the list is empty afterwards, so that they are in memory once."""
    whole = joined(waiting)
    waiting.clear()
    return whole


def _too_large(source: str, waiting: list[Rows], held: int, free: int) -> UsageError:
    n_rows = sum(part.n_rows for part in waiting)
    return UsageError(
        f"{source}: a batch of {n_rows:,} rows or more needs at least {memory.words(held)} of "
        f"memory, and {memory.may_be_used(free)}",
        f"cut the file into smaller batches: `batch_rows={max(1, n_rows // 2)}`",
    )
