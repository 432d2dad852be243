"""Sources cut into chunks of whole lines: byte ranges of plain files, text of everything else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from threading import local
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.data.compression import compression, decompressed
from cwtool.data.digest import CELL, Digest
from cwtool.data.handles import Growing, Handle
from cwtool.data.sources import Peeked, display, open_raw, peek
from cwtool.data.spans import Span
from cwtool.errors import DataError
from cwtool.records import dataclass

if TYPE_CHECKING:
    from cwtool.data.keeping import Keeper
    from cwtool.data.known import RowSample
    from cwtool.data.rowfile import Frame, Last

ROOM = b"\n" * 64  # the parser may look this far past its text
SENTINEL = np.frombuffer(ROOM, dtype=np.uint8)
MAX_LINE = 1 << 30
PART = 1 << 20  # of a long line, by which one that is no text is told
ROWS = 1 << 16  # lines of a chunk, about; chunks of usual text have fewer
LINE = 24  # bytes of a line in a chunk of so many lines as its bytes allow, about
HEAD = 1 << 16  # bytes that are looked at to tell what the rows are
SLACK = 1 << 14  # looked at behind a range for the end of its last line
PAGE = 4096  # bytes that the system copies at a time
NEWLINE = b"\n"
ROWS_MAGIC = b"\x89cwrows\n"  # the first bytes of a file of rows, which is no text

Bytes = NDArray[np.uint8]


@dataclass
class Chunk:
    """A stretch of one source; its lines are those that begin in it. `last` closes the source."""

    path: str
    n_bytes: int  # of the source that this chunk stands for
    first: bool
    last: bool
    handle: Handle | None = None  # of a plain file, to read start .. stop from
    start: int = 0
    stop: int = 0
    text: Bytes | None = None  # of a stream
    cells: bytes = b""  # digest cells of the text of a stream
    labelled: bool = True  # whether its rows begin with labels
    stored: bytes = b""  # digest cells of a compressed stream as it is stored
    sample: RowSample | None = None  # that its rows are for
    frame: Frame | None = None  # of a file of rows
    closing: Last | None = None  # what the last frame says, when it was parsed
    keeper: Keeper | None = None  # that wants its rows as a frame

    def head(self) -> bytes:
        """The first bytes of the chunk."""
        if self.text is not None:
            return self.text[:HEAD].tobytes()
        assert self.handle is not None
        return os.pread(self.handle.fd, HEAD, self.start)


class Text(NamedTuple):
    """The lines of a chunk are text[start:stop]; behind them there is room for the sentinel."""

    text: Bytes  # not to be written to
    start: int
    stop: int
    cells: bytes


def chunks_of(
    source: str | Span, step: int, *, prompt: bool = False, follow: bool = False
) -> Iterator[Chunk]:
    """The chunks of a source, of about `step` bytes, or of fewer where the lines are short. If
    they are wanted `prompt`, the lines of a pipe come as soon as they were read; if the file is to
    be followed, it has no end."""
    span = source if isinstance(source, Span) else Span(source)
    path = span.path
    handle = Growing(path) if follow else open_raw(path)
    head, stream = peek(handle)
    if is_rows(head):
        from cwtool.data.rowfile import frames_of

        if follow:
            raise DataError(
                f"{display(path)}: a file of rows cannot be followed", "follow its text"
            )
        yield from frames_of(path, handle if isinstance(handle, Handle) else stream, path)
        return
    kind = compression(head)
    if isinstance(handle, Handle) and handle.size and kind is None and not follow:
        end = handle.size if span.stop is None else span.stop
        if end > handle.size:
            raise shorter(path)
        start = span.start
        while start < end:
            size = _size(os.pread(handle.fd, PAGE, start), step)
            stop = min(start // size * size + size, end)
            yield Chunk(
                path, stop - start, start == 0, stop == end, handle=handle, start=start, stop=stop
            )
            start = stop
    else:
        yield from _stream_chunks(path, stream, kind, step, prompt=prompt)


def _stream_chunks(
    path: str, stream: Peeked, kind: str | None, step: int, *, prompt: bool
) -> Iterator[Chunk]:
    raw, plain = Digest(), Digest()
    stream.tap = raw.update
    pieces = decompressed(kind, stream, path) if kind else iter(lambda: stream.read(CELL), b"")
    waiting: list[bytes] = []  # text that was read and is not in a chunk yet
    n_waiting, whole, first, counted, size = 0, False, True, 0, step

    def chunk(text: bytes, cut: int, *, last: bool) -> Chunk:
        stored = raw.take(end=last)
        cells = plain.take(end=last) if kind else stored
        return Chunk(
            path, raw.length - counted, first, last, start=0, stop=cut,
            text=np.frombuffer(text, dtype=np.uint8), cells=cells, stored=stored if kind else b"",
        )  # fmt: skip

    for piece in pieces:
        if kind:
            plain.update(piece)
        waiting.append(piece)
        n_waiting += len(piece)
        if not whole:
            whole = NEWLINE in piece  # whether there is a whole line
            size = _size(piece[:PAGE], step)
        if n_waiting < size and not (prompt and stream.idle):
            continue
        if whole:
            text = b"".join([*waiting, ROOM])
            cut = text.rindex(NEWLINE, 0, n_waiting) + 1
            yield chunk(text, cut, last=False)
            waiting = [text[cut:n_waiting]]
            n_waiting -= cut
            whole, first, counted = False, False, raw.length
        elif n_waiting > MAX_LINE or _no_rows(waiting):
            raise endless(display(path))
    yield chunk(b"".join([*waiting, ROOM]), n_waiting, last=True)


def _size(text: bytes, step: int) -> int:
    """The bytes of a chunk of lines such as these: `step`, or those of about ROWS lines, or of
    step / LINE lines where these are fewer. What is kept for each row would take several times the
    memory of what usual lines hold."""
    lines, most = text.count(NEWLINE), min(ROWS, step // LINE)
    if lines * step <= most * len(text):
        return step
    return min(step, max(HEAD, most * len(text) // lines >> 16 << 16))


def is_rows(head: bytes) -> bool:
    """Whether a file with these first bytes is a file of rows, as far as `peek` looks."""
    return len(head) >= 6 and ROWS_MAGIC.startswith(head[: len(ROWS_MAGIC)])


def shorter(path: str) -> DataError:
    return DataError(
        f"{display(path)} became shorter while it was read",
        "run again when nothing else writes to it; no model was changed",
    )


def _no_rows(pieces: list[bytes]) -> bool:
    """Whether the last mebibyte of a line that has not ended yet is no part of a row, so that there
    is no use in reading on: it has only three different bytes."""
    if len(set(pieces[-1][-64:])) > 3:
        return False
    last = b""
    for piece in reversed(pieces):
        last = piece[len(last) - PART :] + last
        if len(last) == PART:
            return len(set(last)) <= 3
    return False


class Endless(DataError):
    """A line does not end."""

    lines = 0  # of its chunk that come before it


def endless(place: str, lines: int = 0) -> Endless:
    """The error of a line at this place, which so many lines of its chunk come before."""
    found = Endless(
        f"{place}: a line is longer than {MAX_LINE >> 30} GiB, or no text", "is this a text file?"
    )
    found.lines = lines
    return found


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
        end = max(min(chunk.stop + beyond, size), last)
        text = REUSED.read(chunk, base, end)
        start, stop = chunk.start - base, chunk.stop - base
        cells = Digest.of(text, first - base, last - base) if first < last else b""
        if not chunk.first:  # a line that began before belongs to the chunk before
            start = _after_newline(text, start - 1, stop)
        if start < stop:  # the last line may go on beyond
            stop = _after_newline(text, stop - 1, end - base)
            if text[stop - 1] != NEWLINE[0] and end < size:
                if end - chunk.start > MAX_LINE or _no_rows([text[: end - base].tobytes()]):
                    before = text[start:stop].tobytes().count(NEWLINE)
                    raise endless(display(chunk.path), before)
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
