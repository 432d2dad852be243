"""The number of lines of files, without parsing them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cwtool.data.chunks import chunks_of
from cwtool.data.cutting import NEWLINE, Cutting

STEP = 1 << 18  # bytes at a time


def count_lines(paths: Iterable[str]) -> int:
    """The number of lines of these files, compressed or not, including lines without a row."""
    count = 0
    for path in paths:
        for chunk in chunks_of(path, Cutting(STEP)):
            if chunk.text is not None:
                text = chunk.text[chunk.start : chunk.stop].tobytes()
            else:
                assert chunk.handle is not None
                text = os.pread(chunk.handle.fd, chunk.stop - chunk.start, chunk.start)
            count += text.count(NEWLINE)
    return count
