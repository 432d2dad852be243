"""The rows of a block as few bytes, and back: what a frame of a file of rows holds.

    counts    rows, entries, lines, qids: 4 bytes each, and which parts follow: 1 byte
    rows      as `cwtool_ext/packed.pyx` writes them; the bit WEIGHTS says that rows have weights
    comments  if the bit COMMENTS is set: lines of UTF-8 text, one a row, compressed by zlib

Nothing that is read is trusted: counts are compared with sizes before memory is taken for them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from struct import Struct

import numpy as np

from cwtool import memory
from cwtool.data.buffers import Pool, Raw
from cwtool.data.chunks import Bytes
from cwtool.data.cutting import ENTRY, LINE
from cwtool.errors import UsageError
from cwtool_ext import packed

COUNTS = Struct("<IIIIB")
WEIGHTS, COMMENTS = 1, 2
LAST_ID = 2**31 - 2
PAIR = 4  # bytes of an entry in a text, at least
MOST_COMMENTS = 1 << 30  # bytes of the comments of a frame
COPIES = 4  # of comments: as they are unpacked, as lines, as text, and where they are written


def pack(raw: Raw) -> bytes:
    """The rows as bytes. Of no rows there are only the counts."""
    b, n_rows, nnz = raw.buffers, raw.n_rows, raw.nnz
    noted = any(raw.comments)
    parts = WEIGHTS * raw.weighted | COMMENTS * noted
    head = COUNTS.pack(n_rows, nnz, raw.n_lines, raw.n_qids, parts)
    if n_rows == 0:
        return head
    out = np.empty(packed.room(n_rows, nnz), dtype=np.uint8)
    size = packed.encode(
        b.indptr[: n_rows + 1], b.indices, b.values, b.labels, b.lines, out,
        b.weights if raw.weighted else None,
    )  # fmt: skip
    comments = zlib.compress("\n".join(raw.comments).encode(), 1) if noted else b""
    return head + out[:size].tobytes() + comments


def as_text(head: bytes | memoryview, size: int, added: int) -> int:
    """The bytes of a block of text that takes as much memory as a frame of `size` bytes with these
    first ones, if each row gets so many entries beside its own."""
    n_rows: int
    nnz: int
    n_rows, nnz, *_ = COUNTS.unpack_from(head)
    most = 4 * size  # more are refused
    return max(size, PAIR * min(nnz, most), (LINE + ENTRY * added) * min(n_rows, most))


def most_comments(max_memory: int, frames: int) -> int:
    """The largest size of the comments of a frame in bytes, if so many frames are used at a time
    and their comments may take `max_memory` bytes; 0: no limit but MOST_COMMENTS."""
    if not max_memory:
        return MOST_COMMENTS
    return max(1, min(MOST_COMMENTS, memory.allowed(max_memory) // (COPIES * frames)))


def unpack(data: Bytes, stop: int, pool: Pool, *, room: Callable[[int], int], comments: int) -> Raw:
    """The rows in data[:stop], which packed.PADDING bytes follow, in buffers with room for the
    entries that rows get beside their own; `room` says how many. The comments may have this number
    of bytes; 0: they are left out. ValueError says what is wrong with the data."""
    if stop < COUNTS.size:
        raise ValueError("a frame is too short")
    n_rows, nnz, n_lines, n_qids, parts = COUNTS.unpack_from(data.data)
    if max(n_rows, nnz) > 4 * stop or n_rows > n_lines or parts > WEIGHTS | COMMENTS:
        raise ValueError("the counts of a frame are wrong")
    b = pool.take(max(n_rows, 1), nnz + packed.SPARE + room(n_rows))
    weighted, end = bool(parts & WEIGHTS), COUNTS.size
    b.indptr[0] = 0
    if n_rows:
        end = packed.decode(
            data, COUNTS.size, stop, n_rows, nnz, b.indptr, b.indices, b.values, b.labels,
            b.lines, LAST_ID, b.weights if weighted else None,
        )  # fmt: skip
        if end < 0 or int(b.lines[n_rows - 1]) >= n_lines:
            raise ValueError("the rows of a frame are wrong")
    if weighted and not (b.weights[:n_rows] >= 0).all():
        raise ValueError("a row weight is negative")
    if not parts & COMMENTS and end != stop:
        raise ValueError("a frame is too long")
    notes = [""] * n_rows if comments else []
    if comments and parts & COMMENTS:
        notes = _comments(data[end:stop].tobytes(), n_rows, comments)
    return Raw(b, n_rows, nnz, n_lines, n_qids, weighted, notes)


def _comments(data: bytes, n_rows: int, most: int) -> list[str]:
    inner = zlib.decompressobj()
    try:
        text = inner.decompress(data, most)
        if len(text) == most < MOST_COMMENTS and not inner.eof:
            raise UsageError(
                f"the comments of {n_rows:,} rows, which are read together, take more than "
                f"{memory.words(most)}, as much as fits into `max_memory` with copies of them",
                "leave out `id`, or raise `max_memory`",
            )
        found = [line.decode() for line in text.split(b"\n")]
    except (zlib.error, UnicodeDecodeError) as failure:
        raise ValueError(f"the comments of a frame are wrong: {failure}") from None
    if not inner.eof or len(found) != n_rows:
        raise ValueError("the comments of a frame are wrong")
    return found
