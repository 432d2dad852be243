"""Means and scales of columns, measured on the first rows of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cwtool import memory
from cwtool.data.columns import FIRST_ROWS, Columns
from cwtool.data.parse import Reading
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reading_memory import beside_reading
from cwtool.data.rows import Rows, joined
from cwtool.data.sources import STDIN
from cwtool.errors import UsageError

MEASURED = 112  # bytes for each entry of the first rows, while they are measured


def measured(reading: Reading, paths: Sequence[str], max_memory: int = 0) -> Reading:
    """The reading with the columns of the first rows of these files, measured within `max_memory`
    bytes; 0: no limit. Bad lines are left out here; who learns the rows reports them."""
    if STDIN in paths:
        raise UsageError(
            "`normalize=columns` reads the first rows twice, and standard input can be read once",
            "write the rows to a file first",
        )
    plain = replace(reading, normalize="none", bias=False, columns=None)
    options = ReadOptions(plain, max_bad_lines=1 << 62, max_memory=max_memory)
    rows = _first(paths, beside_reading(options, paths))
    return replace(reading, columns=Columns.measured(rows.indptr, rows.indices, rows.values))


def _first(paths: Sequence[str], options: ReadOptions) -> Rows:
    """The first rows of these files that do not weigh 0."""
    parts, missing = [Rows.from_lists([], [])], FIRST_ROWS
    for block in read_blocks(paths, options):
        y = np.zeros(block.n_rows, dtype=np.int32)
        rows = Rows(block.indptr, block.indices, block.values, y)
        some = rows.order if block.weight is None else np.flatnonzero(block.weight)
        parts.append(rows.take(some[:missing]))
        missing -= parts[-1].n_rows
        needed = memory.counted(MEASURED * sum(part.nnz for part in parts))
        if options.max_memory:
            memory.check(
                "measuring the columns of the first rows", needed, options.max_memory,
                "use `normalize=l2` or `normalize=none`",
            )  # fmt: skip
        if missing <= 0:
            break
    return joined(parts)
