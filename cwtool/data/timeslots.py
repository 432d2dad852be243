"""Blocks joined to time slots, for algorithms that learn many rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from cwtool import memory
from cwtool.data.block import Block
from cwtool.errors import UsageError


def joined(blocks: list[Block]) -> Block:
    """One block of all their rows."""
    if len(blocks) == 1:
        return blocks[0]
    ends = np.cumsum([0] + [b.nnz for b in blocks])
    starts = [b.indptr[1:] + end for b, end in zip(blocks, ends, strict=False)]
    lines = [b.lines + np.int32(b.first_line - blocks[0].first_line) for b in blocks]
    return replace(
        blocks[0],
        indptr=np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
        indices=np.concatenate([b.indices for b in blocks]),
        values=np.concatenate([b.values for b in blocks]),
        labels=np.concatenate([b.labels for b in blocks]),
        y=np.concatenate([b.y for b in blocks]),
        lines=np.concatenate(lines),
    )


COPIES = 3  # of a slot: its blocks, the joined one, one to work in


def _bytes(block: Block) -> int:
    return 12 * block.nnz + 36 * block.n_rows


def time_slots(blocks: Iterable[Block], n_rows: int, max_memory: int = 0) -> Iterator[Block]:
    """Slots of `n_rows` rows (0: no limit) that never reach over the end of a file, so that files
    learned in one run or in several give the same slots."""
    waiting: list[Block] = []
    free = memory.allowed(max_memory)
    for block in blocks:
        if waiting and waiting[0].file != block.file:
            yield joined(waiting)
            waiting = []
        start = 0
        while start < block.n_rows:
            have = sum(b.n_rows for b in waiting)
            stop = min(block.n_rows, start + n_rows - have) if n_rows else block.n_rows
            part = block.take(np.arange(start, stop))
            waiting.append(replace(part, release=lambda: None))
            if n_rows and have + part.n_rows == n_rows:
                yield joined(waiting)
                waiting = []
            start = stop
        block.release()
        if (held := COPIES * sum(map(_bytes, waiting))) > free:
            rows = sum(b.n_rows for b in waiting)
            raise UsageError(
                f"{block.source}: a time slot of {rows:,} rows or more needs at least "
                f"{memory.words(held)}, and {memory.words(free)} may be used",
                f"cut the file into smaller slots: --slot-rows {max(1, rows // 2)}",
            )
    if waiting:
        yield joined(waiting)
