"""The text of a chunk, in memory."""

from __future__ import annotations

import os
from threading import local
from typing import NamedTuple

import numpy as np

from cwtool.data.chunks import SENTINEL, Bytes, Chunk, endless, no_rows, shorter
from cwtool.data.cutting import NEWLINE, PAGE
from cwtool.data.digest import CELL, Digest
from cwtool.data.sources import display
from cwtool.errors import DataError

SLACK = 1 << 14  # looked at behind a range for the end of its last line


class Text(NamedTuple):
    """The lines of a chunk are text[start:stop]; behind them there is room for the sentinel."""

    text: Bytes  # not to be written to
    start: int
    stop: int
    cells: bytes


class Reused(local):
    """Memory of a thread that chunks of plain files are read into, one after the other. Reading
    into memory that was used before costs no more than mapping the file, and a file that is cut
    short while it is read is an error of its own instead of a signal. Bytes lie in their page of
    memory where they lie in their page of the file: else copying them takes up to three times as
    long."""

    text: Bytes = np.empty(0, dtype=np.uint8)
    first = 0  # where its first whole page begins

    def read(self, chunk: Chunk, start: int, stop: int) -> Bytes:
        """The bytes start .. stop of the file of a chunk, and the sentinel behind them."""
        assert chunk.handle is not None
        size = stop - start
        if len(self.text) < size + len(SENTINEL) + 2 * PAGE:
            self.text = np.empty(size + size // 8 + len(SENTINEL) + 2 * PAGE, dtype=np.uint8)
            self.first = -self.text.__array_interface__["data"][0] % PAGE
        at, done = self.first + start % PAGE, 0
        found = self.text[at : at + size + len(SENTINEL)]
        while done < size:
            try:
                n = os.preadv(chunk.handle.fd, [found[done:size].data], start + done)
            except OSError as failure:
                why = os.strerror(failure.errno or 0)
                raise DataError(f"{display(chunk.path)}: {why}") from None
            if n == 0:
                raise shorter(chunk.path)
            done += n
        found[size:] = SENTINEL
        return found


REUSED = Reused()


def load(chunk: Chunk) -> Text:
    """The lines of a chunk. Those of a plain file stay as they are until the same thread loads
    another chunk."""
    if chunk.text is not None:
        return Text(chunk.text, chunk.start, chunk.stop, chunk.cells)
    assert chunk.handle is not None
    beyond = SLACK
    while True:
        base = max(chunk.start - 1, 0)
        size = chunk.handle.size
        first, last = _next_cell(chunk.start, size), _next_cell(chunk.stop, size)
        end = max(min(chunk.stop + min(beyond, chunk.longest), size), last)
        text = REUSED.read(chunk, base, end)
        start, stop = chunk.start - base, chunk.stop - base
        cells = Digest.of(text, first - base, last - base) if first < last else b""
        if not chunk.first:  # a line that began before belongs to the chunk before
            start = _after_newline(text, start - 1, stop)
        if start < stop:  # the last line may go on beyond
            stop = _after_newline(text, stop - 1, end - base)
            if text[stop - 1] != NEWLINE[0] and end < size:
                if beyond > chunk.longest or no_rows([text[: end - base].tobytes()]):
                    before = text[start:stop].tobytes().count(NEWLINE)
                    raise endless(display(chunk.path), before, chunk.longest)
                beyond *= 8
                continue
        return Text(text, start, stop, cells)


def _next_cell(at: int, size: int) -> int:
    """Where the first digest cell begins that does not begin before this place, or the end."""
    return min(-(-at // CELL) * CELL, size)


def _after_newline(text: Bytes, start: int, stop: int) -> int:
    """The place behind the first newline in text[start:stop], or stop."""
    for low in range(start, stop, 1 << 12):
        at = text[low : min(low + (1 << 12), stop)].tobytes().find(NEWLINE)
        if at >= 0:
            return low + at + 1
    return stop
