"""Sources cut into chunks of whole lines: byte ranges of plain files, text of everything else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cwtool.data.compression import MOST, compression, decompressed
from cwtool.data.cutting import MAX_LINE, NEWLINE, PAGE, Cutting
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
PART = 1 << 20  # of a long line, by which one that is no text is told
HEAD = 1 << 16  # bytes that are looked at to tell what the rows are
FEW = 1 << 14  # bytes that are unpacked at a time if memory is limited
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
    longest: int = MAX_LINE  # bytes of a line, and of text that takes as much memory as a frame

    def head(self) -> bytes:
        """The first bytes of the chunk."""
        if self.text is not None:
            return self.text[:HEAD].tobytes()
        assert self.handle is not None
        return os.pread(self.handle.fd, HEAD, self.start)


def chunks_of(
    source: str | Span, cutting: Cutting, *, prompt: bool = False, follow: bool = False
) -> Iterator[Chunk]:
    """The chunks of a source. If they are wanted `prompt`, the lines of a pipe come as soon as they
    were read; if the file is to be followed, it has no end."""
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
        most = cutting.step if cutting.strict else 0
        source_ = handle if isinstance(handle, Handle) else stream
        yield from frames_of(path, source_, path, most=most)
        return
    kind = compression(head)
    if isinstance(handle, Handle) and handle.size and kind is None and not follow:
        end = handle.size if span.stop is None else span.stop
        if end > handle.size:
            raise shorter(path)
        start = span.start
        for stop in _ends(handle, span, end, cutting):
            first, last = start == 0, stop == end
            yield Chunk(path, stop - start, first, last, handle=handle, start=start, stop=stop)
            start = stop
    else:
        yield from _stream_chunks(path, stream, kind, cutting, prompt=prompt)


def _ends(handle: Handle, span: Span, end: int, cutting: Cutting) -> Iterator[int]:
    """Where the chunks of a plain file end. Only if the cutting is strict, all of its bytes are
    read for that."""
    start = span.start
    while start < end and not cutting.strict:
        size = cutting.size(os.pread(handle.fd, PAGE, start))
        yield (start := min(start // size * size + size, end))
    while start < end:
        text = os.pread(handle.fd, min(cutting.step, end - start), start)
        before = start
        for _, stop in cutting.parts(text, len(text)):
            start = before + stop
            if start < end:
                yield start
        if before + len(text) >= end or not text:
            yield end
            return
        if start == before:
            raise endless(display(span.path), longest=cutting.longest)


def _stream_chunks(
    path: str, stream: Peeked, kind: str | None, cutting: Cutting, *, prompt: bool
) -> Iterator[Chunk]:
    raw, plain = Digest(), Digest()
    stream.tap = raw.update
    pieces = iter(lambda: stream.read(CELL), b"")
    if kind:
        pieces = decompressed(kind, stream, path, FEW if cutting.strict else MOST)
    waiting: list[bytes] = []  # text that was read and is not in a chunk yet
    n_waiting, whole, first, counted, size = 0, False, True, 0, cutting.step

    def chunk(text: bytes, start: int, stop: int, *, last: bool = False) -> Chunk:
        nonlocal first, counted
        stored = raw.take(end=last)
        cells = plain.take(end=last) if kind else stored
        found = Chunk(
            path, raw.length - counted, first, last, start=start, stop=stop,
            text=np.frombuffer(text, dtype=np.uint8), cells=cells, stored=stored if kind else b"",
        )  # fmt: skip
        first, counted = False, raw.length
        return found

    for piece in pieces:
        if kind:
            plain.update(piece)
        waiting.append(piece)
        n_waiting += len(piece)
        if not whole:
            whole = NEWLINE in piece  # whether there is a whole line
            size = cutting.size(piece[:PAGE])
        if n_waiting < size and not (prompt and stream.idle):
            continue
        if whole:
            text, cut = b"".join([*waiting, ROOM]), 0
            waiting.clear()  # so that it is in memory once
            for start, stop in cutting.parts(text, n_waiting):
                yield chunk(text, start, stop)
                cut = stop
            waiting, n_waiting, whole = [text[cut:n_waiting]], n_waiting - cut, False
            text = b""  # it is not kept while more is read
        if n_waiting > cutting.longest or (not whole and no_rows(waiting)):
            raise endless(display(path), longest=cutting.longest)
    text, cut = b"".join([*waiting, ROOM]), 0
    for start, stop in cutting.parts(text, n_waiting) if cutting.strict else ():
        yield chunk(text, start, stop)
        cut = stop
    yield chunk(text, cut, n_waiting, last=True)


def is_rows(head: bytes) -> bool:
    """Whether a file with these first bytes is a file of rows, as far as `peek` looks."""
    return len(head) >= 6 and ROWS_MAGIC.startswith(head[: len(ROWS_MAGIC)])


def shorter(path: str) -> DataError:
    return DataError(
        f"{display(path)} became shorter while it was read",
        "run again when nothing else writes to it; no model was changed",
    )


def no_rows(pieces: list[bytes]) -> bool:
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
    """A line is longer than a line may be, so that it seems to have no end."""

    lines = 0  # of its chunk that come before it
    longest = MAX_LINE  # bytes that it may have


def endless(place: str, lines: int = 0, longest: int = MAX_LINE) -> Endless:
    """The error of a line at this place, which so many lines of its chunk come before."""
    if longest == MAX_LINE:
        found = Endless(
            f"{place}: a line is longer than {MAX_LINE >> 30} GiB, or no text",
            "is this a text file?",
        )
    else:
        found = Endless(
            f"{place}: a line is longer than {longest:,} bytes, which are read at a time with this "
            "`max_memory`",
            "raise `max_memory`, and also `block_size` if that is less than the line",
        )
    found.lines, found.longest = lines, longest
    return found
