"""How much of a source comes at a time: the bytes and lines of a chunk."""

from __future__ import annotations

from collections.abc import Iterator

from cwtool.records import dataclass
from cwtool_ext.libsvm import whole_lines

LINE = 24  # bytes that a line counts with at least: as much is kept of its row as of so much text
ENTRY = 8  # bytes that an entry counts with which a row gets beside its own
ROWS = 1 << 16  # lines of a chunk, at most; chunks of usual text have fewer
PAGE = 4096  # bytes that are looked at to tell how long the lines are
LEAST = 1 << 16  # bytes of a chunk whose lines are not counted, if there are so many
MAX_LINE = 1 << 30
NEWLINE = b"\n"


@dataclass(frozen=True)
class Cutting:
    """How sources are cut into chunks. What is kept for each row would take several times the
    memory of what usual lines hold, so that chunks of short lines are shorter."""

    step: int  # bytes of a chunk, about
    added: int = 0  # entries that each row gets beside its own
    strict: bool = False  # whether all lines are counted, and none is longer than a chunk

    @property
    def lines(self) -> int:
        """The lines of a chunk, at most, or about."""
        return max(1, min(ROWS, self.step // self.line))

    @property
    def line(self) -> int:
        """Bytes of a chunk that each line counts with at least."""
        return LINE + ENTRY * self.added

    @property
    def longest(self) -> int:
        """The largest number of bytes of a line."""
        return self.step if self.strict else MAX_LINE

    def size(self, text: bytes) -> int:
        """The bytes of a chunk that begins with these lines, if all are such lines."""
        lines, most = text.count(NEWLINE), self.lines
        if self.strict or lines * self.step <= most * len(text):
            return self.step
        return min(self.step, max(LEAST, most * len(text) // lines >> 16 << 16))

    def parts(self, text: bytes, stop: int) -> Iterator[tuple[int, int]]:
        """The whole lines of text[:stop] in parts that are chunks, up to a line that is longer than
        one. If lines are not counted, they are one part; there has to be a whole one."""
        if not self.strict:
            yield 0, text.rindex(NEWLINE, 0, stop) + 1
            return
        start, most = 0, self.lines
        while (end := whole_lines(text, start, min(start + self.step, stop), most)) > start:
            yield start, end
            start = end
