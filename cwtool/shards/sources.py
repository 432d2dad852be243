"""The files of a sharded run: their sizes, which of them cannot be cut, and where the head ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.data.chunks import HEAD as FIRST_BYTES
from cwtool.data.chunks import chunks_of, is_rows
from cwtool.data.compression import compression
from cwtool.data.cutting import Cutting
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.remote import Remote
from cwtool.data.sources import STDIN, absolute, display, is_remote, open_raw, peek
from cwtool.data.spans import Span, line_end
from cwtool.errors import UsageError
from cwtool.records import dataclass
from cwtool.shards.plan import pieces_of

FIRST_ROWS = 1000  # rows with entries that the head has at least: they settle the row scale


def told(path: str) -> tuple[int, Any]:
    """The stored size of a file, and what changes when the file does."""
    if is_remote(path):
        return Remote(path).told()
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class Sources:
    """Files laid end to end. If one of them is compressed or behind a URL, all are units that stay
    whole."""

    paths: tuple[str, ...]  # absolute, because processes may start elsewhere
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    units: bool

    @classmethod
    def of(cls, paths: Sequence[str]) -> Sources:
        """These files; standard input and pipes are refused."""
        for path in paths:
            pipe = Path(path).exists() and not Path(path).is_file()
            if path == STDIN or pipe:
                raise UsageError(
                    f"{display(path)} cannot be divided among shards: it can be read only once",
                    "write it to a file first, or leave out `shards`",
                )
        heads = [peek(open_raw(path))[0] for path in paths]
        return cls(
            tuple(map(absolute, paths)),
            tuple(display(path) for path in paths),
            tuple(told(path)[0] for path in paths),
            any(compression(head) is not None or is_rows(head) for head in heads)
            or any(map(is_remote, paths)),
        )

    @property
    def total(self) -> int:
        return sum(self.sizes)

    def spans(self, start: int, stop: int) -> tuple[tuple[int, ...], tuple[Span, ...]]:
        """The bytes [start, stop) as numbers of files and spans of them."""
        found = pieces_of(self.sizes, start, stop)
        spans = tuple(
            Span(self.paths[k], low, None if self.units else high, self.names[k])
            for k, low, high in found
        )
        return tuple(k for k, _, _ in found), spans

    def whole(self, numbers: Sequence[int]) -> tuple[Span, ...]:
        """These files from their start to their end."""
        return tuple(Span(self.paths[k], name=self.names[k]) for k in numbers)

    def stamp(self) -> list[list[Any]]:
        """Sizes and times by which the files of an interrupted run are recognised."""
        return [[path, *told(path)] for path in self.paths]

    def head_end(self, head: int, positive: float | None, read: ReadOptions) -> int:
        """Where the head ends: at least behind the first 1,000 rows with entries, behind the first
        rows of two labels, and at `head` bytes, or at the end of a file that is not cut."""
        rows, seen, least = 0, set[float](), self.total
        _, spans = self.spans(0, self.total)
        for block in read_blocks(spans, read):
            entries = np.diff(block.indptr) > 0
            if block.weight is not None:
                entries &= block.weight > 0
            for row, counts in enumerate(entries.tolist()):
                rows += counts
                seen.add(float(block.labels[row]))
                labels = len(seen) > 1 and (positive is None or positive in seen)
                if rows >= FIRST_ROWS and labels:
                    line = block.origin.first_line + int(block.origin.lines[row])
                    least = self._behind(block.origin.file, line)
                    break
            else:
                continue
            break
        end = max(least, min(head, self.total))
        return end if not self.units else next(e for e in accumulate(self.sizes) if e >= end)

    def _behind(self, file: int, line: int) -> int:
        """The place behind a line of a file, or behind the file if it is not cut."""
        before = sum(self.sizes[:file])
        return before + (self.sizes[file] if self.units else line_end(self.paths[file], line))

    def row_bytes(self) -> int:
        """About the bytes of a row: of the whole lines in the first 64 KiB of the text."""
        text = next(chunks_of(self.paths[0], Cutting(2 * FIRST_BYTES))).head()
        lines = text.count(b"\n")
        return -(-(text.rfind(b"\n") + 1) // lines) if lines else max(len(text), 1)
