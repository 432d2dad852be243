"""Sources cut into chunks of whole lines: byte ranges of plain files, text of everything else."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.data.digest import CELL, Digest
from cwtool.data.sources import (
    Handle,
    Peeked,
    Stdin,
    compression,
    decompressed,
    display,
    open_raw,
    peek,
)
from cwtool.errors import DataError

SENTINEL = np.full(64, ord("\n"), dtype=np.uint8)  # the parser may look this far past its text
MAX_LINE = 1 << 30
NEWLINE = b"\n"

Bytes = NDArray[np.uint8]


@dataclass(slots=True)
class Chunk:
    """A stretch of one source; its lines are those that begin in it. `last` closes the source."""

    path: str
    size: int  # of the source, if it is known
    bytes: int  # of the source that this chunk stands for
    first: bool
    last: bool
    handle: Handle | None = None  # of a plain file, to read start .. stop from
    start: int = 0
    stop: int = 0
    text: Bytes | None = None  # of a stream
    cells: bytes = b""  # digest cells of a stream


class Text(NamedTuple):
    """The lines of a chunk are text[start:stop]; behind them there is room for the sentinel."""

    text: Bytes
    start: int
    stop: int
    cells: bytes


def chunks_of(path: str, step: int) -> Iterator[Chunk]:
    handle = open_raw(path)
    head, stream = peek(handle)
    kind = compression(head)
    if isinstance(handle, Handle) and handle.regular and kind is None:
        for start in range(0, max(handle.size, 1), step):
            stop = min(start + step, handle.size)
            yield Chunk(
                path, handle.size, stop - start, start == 0, stop == handle.size,
                handle=handle, start=start, stop=stop,
            )  # fmt: skip
    else:
        yield from _stream_chunks(path, handle, stream, kind, step)


def _stream_chunks(
    path: str, handle: Handle | Stdin, stream: Peeked, kind: str | None, step: int
) -> Iterator[Chunk]:
    digest = Digest()
    stream.tap = digest.update
    pieces = decompressed(kind, stream, path) if kind else iter(lambda: stream.read(CELL), b"")
    carry = bytearray()
    first, counted = True, 0
    for piece in pieces:
        carry += piece
        if len(carry) < step:
            continue
        cut = carry.rfind(NEWLINE) + 1
        if cut:
            yield Chunk(
                path, handle.size, digest.length - counted, first, False,
                text=_text(carry, cut), cells=digest.take(),
            )  # fmt: skip
            del carry[:cut]
            first, counted = False, digest.length
        elif len(carry) > MAX_LINE:
            raise endless(path)
    yield Chunk(
        path, handle.size, digest.length - counted, first, True,
        text=_text(carry, len(carry)), cells=digest.take(end=True),
    )  # fmt: skip


def _text(source: bytearray, cut: int) -> Bytes:
    text = np.empty(cut + len(SENTINEL), dtype=np.uint8)
    text[:cut] = np.frombuffer(memoryview(source)[:cut], dtype=np.uint8)
    return text


def endless(path: str) -> DataError:
    return DataError(
        f"{display(path)}: a line is longer than {MAX_LINE >> 30} GiB", "is this a text file?"
    )


_local = threading.local()  # a buffer for the text of file ranges, one a thread


def _buffer(size: int, keep: Bytes | None = None, used: int = 0) -> Bytes:
    """This thread's buffer, at least so large; the first `used` bytes of `keep` stay in it."""
    size += len(SENTINEL)
    old: Bytes | None = getattr(_local, "text", None)
    if old is not None and len(old) >= size:
        return old
    new: Bytes = np.empty(size + size // 4, dtype=np.uint8)
    if keep is not None:
        new[:used] = keep[:used]
    _local.text = new
    return new


def load(chunk: Chunk) -> Text:
    """The lines of a chunk; for a range of a file, read here, so in the worker's own thread."""
    if chunk.text is not None:
        return Text(chunk.text, 0, len(chunk.text) - len(SENTINEL), chunk.cells)
    assert chunk.handle is not None
    before = 0 if chunk.first else 1  # to see whether a line begins right at the start
    stop = chunk.stop - chunk.start + before
    text = _buffer(stop)
    _read(chunk, text[:stop], chunk.start - before)
    cells = Digest.of(text, before, stop)
    start = find_newline(text, 0, stop) + 1 if before else 0
    if before and (start == 0 or start == stop):
        return Text(text, 0, 0, cells)  # no line begins here
    position = chunk.stop
    while stop and text[stop - 1] != NEWLINE[0] and position < chunk.handle.size:
        if stop - start > MAX_LINE:
            raise endless(chunk.path)
        more = min(max(1 << 13, stop - start), chunk.handle.size - position)
        text = _buffer(stop + more, text, stop)
        _read(chunk, text[stop : stop + more], position)
        found = find_newline(text, stop, stop + more)
        stop = found + 1 if found >= 0 else stop + more
        position += more
    return Text(text, start, stop, cells)


def find_newline(text: Bytes, start: int, stop: int) -> int:
    for low in range(start, stop, 1 << 12):
        at = text[low : min(low + (1 << 12), stop)].tobytes().find(NEWLINE)
        if at >= 0:
            return low + at
    return -1


def _read(chunk: Chunk, target: Bytes, offset: int) -> None:
    assert chunk.handle is not None
    view = memoryview(target)
    have = 0
    while have < len(view):
        got = os.preadv(chunk.handle.fd, [view[have:]], offset + have)
        if got == 0:
            raise DataError(f"{chunk.path}: the file became shorter while it was read")
        have += got
