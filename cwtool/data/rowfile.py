"""Files of rows, as the parser gives them; docs/reference/rows-file.md describes them for others.

    file    magic: 8 bytes, version: 4 bytes, frames of kind ROWS, and one of kind LAST
    frame   kind: 4 bytes, size: 8 bytes, checksum: 8 bytes, and `size` bytes

A frame of kind ROWS is described in `rowpack.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from struct import Struct
from typing import IO, Any

import numpy as np

from cwtool.data.chunk_text import REUSED
from cwtool.data.chunks import ROOM, ROWS_MAGIC, Bytes, Chunk
from cwtool.data.digest import Digest
from cwtool.data.handles import Handle, Source
from cwtool.data.sources import Peeked, display
from cwtool.errors import DataError, UsageError
from cwtool.records import dataclass

VERSION = 1
HEAD = Struct("<8sI")
FRAME = Struct("<4sQ8s")
ROWS, LAST = b"ROWS", b"LAST"
ENDING = Struct("<IIIQQQQqQ")  # of the last frame: sizes, rows, lines, qids, source
STEP = 1 << 20  # bytes that are asked of a stream at a time
CELL_BYTES = 16


@dataclass(frozen=True)
class Last:
    """The contents of the last frame: totals of all rows, and of the text that they were read
    from."""

    cells: bytes  # of the digest of the text
    stored: bytes  # of the digest of a compressed text as it was stored
    rows: int
    lines: int
    qids: int
    # in a cache: the first item of the text, which tells whether its rows have labels, and what
    # tells whether the text is still the same
    first: bytes = b""
    source: tuple[int, int, int] = (0, 0, 0)

    def packed(self) -> bytes:
        """The three strings, their sizes, and the numbers."""
        sizes = len(self.cells), len(self.stored), len(self.first)
        numbers = self.rows, self.lines, self.qids, *self.source
        return self.cells + self.stored + self.first + ENDING.pack(*sizes, *numbers)

    @classmethod
    def unpacked(cls, data: bytes) -> Last:
        """The last frame from its bytes; ValueError if they are not a valid last frame."""
        end = len(data) - ENDING.size
        if end < 0:
            raise ValueError("its last frame is too short")
        n_cells, n_stored, n_first, rows, lines, qids, *source = ENDING.unpack_from(data, end)
        first = n_cells + n_stored
        if first + n_first != end or n_cells % CELL_BYTES or n_stored % CELL_BYTES:
            raise ValueError("the sizes in its last frame are wrong")
        cells, stored = data[:n_cells], data[n_cells:first]
        return cls(cells, stored, rows, lines, qids, data[first:end], tuple(source))


class Writer:
    """A file of rows that is being written."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out
        out.write(HEAD.pack(ROWS_MAGIC, VERSION))

    def frame(self, kind: bytes, data: bytes) -> None:
        self.out.write(FRAME.pack(kind, len(data), checksum(data, len(data))))
        self.out.write(data)


def checksum(data: Any, stop: int) -> bytes:
    """The checksum of data[:stop]."""
    return sha256(Digest.of(data, 0, stop)).digest()[:8]


@dataclass(frozen=True)
class Frame:
    """The frame of a file of rows that a chunk holds: its file, kind and checksum."""

    file: str  # that it lies in: with a cache, another one than that of the chunk
    kind: bytes
    checksum: bytes


def damaged(file: str, why: str) -> DataError:
    return DataError(
        f"{display(file)}: this file of rows is damaged: {why}",
        "convert its text again, or delete it if it is part of a cache",
    )


def too_large(file: str, needed: int, most: int) -> UsageError:
    return UsageError(
        f"{display(file)}: a frame of this file of rows takes as much memory as a block of "
        f"{needed:,} bytes of text, and {most:,} bytes are read at a time with this `max_memory`",
        "convert its text with a smaller `block_size`, or raise `max_memory`",
    )


def load(chunk: Chunk, frame: Frame) -> tuple[Bytes, int]:
    """The data of a frame, and its size; behind it there is room."""
    text, size = chunk.text, chunk.stop - chunk.start
    if text is None:
        text = REUSED.read(chunk, chunk.start, chunk.stop)
    if checksum(text, size) != frame.checksum:
        raise damaged(frame.file, "a checksum is wrong")
    return text, size


class Sequence:
    """The bytes of a file of rows from its start on."""

    def __init__(self, source: Source | Peeked, file: str, most: int = 0) -> None:
        self.source, self.file, self.at = source, file, 0
        self.most = most  # bytes of a frame; 0: no limit
        self.handle = source if isinstance(source, Handle) and source.regular else None

    def take(self, size: int) -> bytes:
        """The next bytes. The memory is bounded by the size of the file, also if a damaged file
        claims more bytes."""
        pieces, left = [], size
        while left and (piece := self._piece(min(left, STEP))):
            pieces.append(piece)
            left -= len(piece)
        if left:
            raise damaged(self.file, "it ends in the middle")
        return b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        data = os.pread(self.handle.fd, size, self.at) if self.handle else self.source.read(size)
        self.at += len(data)
        return data

    def frame(self, path: str) -> Chunk:
        """The next frame, as a chunk of `path`. Those of files are read when they are loaded."""
        kind, size, sum_ = FRAME.unpack(self.take(FRAME.size))
        if kind not in (ROWS, LAST):
            raise damaged(self.file, "it has frames of another kind")
        start, text = self.at, None
        if kind == ROWS and 0 < self.most < size:
            raise too_large(self.file, size, self.most)
        if self.handle is None:
            text = np.frombuffer(self.take(size) + ROOM, dtype=np.uint8)
        elif size > self.handle.size - start:
            raise damaged(self.file, "it ends in the middle")
        self.at = start + size
        return Chunk(
            path, size, False, kind == LAST, handle=self.handle, start=start, stop=self.at,
            text=text, frame=Frame(self.file, kind, sum_),
        )  # fmt: skip


def frames_of(
    path: str, source: Handle | Peeked, file: str, stands_for: int = 0, most: int = 0
) -> Iterator[Chunk]:
    """The frames of a file of rows as chunks of `path`, whose `n_bytes` add up to `stands_for` or,
    if it is 0, to the size of the file. Those of more than `most` bytes are refused; 0: none."""
    bytes_ = Sequence(source, file, most)
    magic, version = HEAD.unpack(bytes_.take(HEAD.size))
    if magic != ROWS_MAGIC:
        raise damaged(file, "its first bytes are wrong")
    if version != VERSION:
        raise DataError(
            f"{display(file)}: this file of rows has the version {version}; this cwtool knows "
            f"{VERSION}",
            "use the cwtool that wrote it, or convert its text again",
        )
    counted, last = 0, False
    while not last:
        chunk = bytes_.frame(path)
        upto = bytes_.at
        if stands_for and bytes_.handle:
            upto = stands_for * bytes_.at // bytes_.handle.size
        chunk.n_bytes, chunk.first, last = upto - counted, counted == 0, chunk.last
        counted = upto
        yield chunk
    if bytes_._piece(1):
        raise damaged(file, "something follows its last frame")


def last_of(file: str) -> Last:
    """The last frame of a file, read without the other frames."""
    handle = Handle(file)
    place = handle.size - ENDING.size
    sizes = os.pread(handle.fd, ENDING.size, max(place, 0))
    start = place - sum(ENDING.unpack(sizes)[:3]) if len(sizes) == ENDING.size else 0
    if start < HEAD.size + FRAME.size:
        raise damaged(file, "it ends in the middle")
    bytes_ = Sequence(handle, file)
    bytes_.at = start - FRAME.size
    chunk = bytes_.frame(file)
    if not chunk.last or chunk.stop != handle.size or chunk.frame is None:
        raise damaged(file, "it ends in the middle")
    data, size = load(chunk, chunk.frame)
    try:
        return Last.unpacked(data[:size].tobytes())
    except ValueError as failure:
        raise damaged(file, str(failure)) from None
