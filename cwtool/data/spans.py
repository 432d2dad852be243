"""Byte ranges of files, for readers that share a file."""

from __future__ import annotations

import os
from functools import cache

from cwtool.records import dataclass

STEP = 1 << 20


@dataclass(frozen=True)
class Span:
    """The lines of a file that begin in [start, stop); those of a compressed file, which cannot be
    cut, are all of it: `stop` is None."""

    path: str
    start: int = 0
    stop: int | None = None
    name: str = ""  # of the file in messages and in the history, if it is not the path

    def lines_before(self) -> int:
        """The number of lines before the first one of the span; counted when an error needs it."""
        return _newlines(self.path, self.start - 1) + 1 if self.start else 0


@cache
def _newlines(path: str, stop: int) -> int:
    """The number of newlines among the first `stop` bytes."""
    count, left = 0, stop
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        while left > 0 and (data := os.read(file.fileno(), min(STEP, left))):
            count += data.count(b"\n")
            left -= len(data)
    return count


def line_end(path: str, line: int) -> int:
    """The place behind the newline of a line, which is counted from 1, or the end of the file."""
    at = 0
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        while data := os.read(file.fileno(), STEP):
            count = data.count(b"\n")
            if count >= line:
                for _ in range(line):
                    at_line = data.find(b"\n") + 1
                    at, data = at + at_line, data[at_line:]
                return at
            line -= count
            at += len(data)
    return at
