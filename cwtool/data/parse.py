"""A chunk of text becomes a block of rows, with a report of the lines that are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.data.buffers import Pool, Raw
from cwtool.data.chunk_text import load
from cwtool.data.chunks import Bytes, Chunk
from cwtool.data.columns import Columns, standardized
from cwtool.data.cutting import MAX_LINE
from cwtool.data.faults import describe, failed_conversion
from cwtool.data.line_parts import NO_LABEL, comments_of, with_labels
from cwtool.data.rows import BIAS, Floats, Ints, Longs, Origin
from cwtool.errors import Damage, DataError, UsageError
from cwtool.records import dataclass
from cwtool_ext import libsvm, rows

if TYPE_CHECKING:
    from cwtool.data.rowfile import Frame

Hashes = NDArray[np.uint64]

BOM = b"\xef\xbb\xbf"
FILLED = 1 << 24  # entries that the rows of a block may get beside their own
SETTINGS = ("zero_based", "normalize", "bias", "hash_bits")


@dataclass(frozen=True)
class Reading:
    """What a row is made of; kept in the model, so that every file is read the same way."""

    zero_based: bool = False
    normalize: str = "none"
    bias: bool = False
    hash_bits: int = 0
    columns: Columns | None = None  # of `normalize=columns`, once they were measured

    @classmethod
    def unpacked(cls, found: dict[str, Any]) -> Reading:
        """The reading of the header of a model file."""
        columns = Columns.unpacked(found["columns"]) if "columns" in found else None
        if (found.get("normalize") == "columns") != (columns is not None):
            raise Damage("its setting normalize does not fit its columns")
        return cls(**found | {"columns": columns})

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that users give."""
        return {name: getattr(self, name) for name in SETTINGS}

    @property
    def packed(self) -> dict[str, Any]:
        """The settings as the header of a model file stores them."""
        return self.settings | ({} if self.columns is None else {"columns": self.columns.packed})

    @property
    def added(self) -> int:
        """The most entries that a row gets beside its own."""
        columns = self.columns if self.normalize == "columns" else None
        return (0 if columns is None else columns.filled) + self.bias

    def room(self, n_rows: int) -> int:
        """The most entries that so many rows get beside their own."""
        found = n_rows * self.added
        if found > FILLED + n_rows * self.bias:
            raise DataError(
                f"{n_rows:,} rows get entries in the columns of `normalize=columns` that they do "
                "not have, more than fit into a block",
                "read smaller blocks with `block_size=65536`",
            )
        return found


class Fault(NamedTuple):
    """A bad line: its number, counted from the start of the chunk, and its fault."""

    line: int
    column: int
    message: str
    hint: str
    text: bytes  # the line, up to some way behind the fault


@dataclass(frozen=True)
class Block:
    """Rows as in a file: 0-based feature ids, labels as written, and row weights, which are None if
    all of them are 1."""

    indptr: Longs
    indices: Ints
    values: Floats
    labels: Floats
    origin: Origin
    weight: Floats | None = None
    comments: list[str] | None = None  # behind the rows, if they were asked for

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    def slice(self, start: int, stop: int) -> Block:
        """Rows start .. stop - 1. Their entries share the memory of these rows."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        here = slice(start, stop)
        return Block(
            self.indptr[start : stop + 1] - first, self.indices[first:last],
            self.values[first:last], self.labels[here],
            replace(self.origin, lines=self.origin.lines[here]),
            None if self.weight is None else self.weight[here],
            None if self.comments is None else self.comments[here],
        )  # fmt: skip


@dataclass
class Parsed:
    """What came of a chunk. The lines of the block are counted from the start of the chunk, and the
    reader puts the name of its source in the place of the path."""

    chunk: Chunk
    block: Block
    cells: bytes
    n_lines: int
    n_qids: int
    n_faults: int
    fault: Fault | None  # the first
    hashes: Hashes | None  # of the rows that do not weigh 0, if they were asked for
    packed: bytes  # its rows as a frame, if that was asked for


def parse(
    chunk: Chunk,
    reading: Reading,
    pool: Pool,
    *,
    comments: int = 0,
) -> Parsed:
    """`comments` is the largest size of those of a frame of a file of rows, in bytes; 0: comments
    are left out. Runs in a worker thread; all that takes long in it runs without the interpreter
    lock."""
    if chunk.frame is not None:
        return _parsed_frame(chunk, chunk.frame, reading, pool, comments=comments)
    text, start, stop, cells = load(chunk)
    if chunk.first and text[start : start + 3].tobytes() == BOM:
        start += 3
    if not chunk.labelled:
        text, start, stop = with_labels(text, start, stop)
    n_rows, nnz = libsvm.count_lines(text, start, stop), libsvm.capacity(stop - start)[1]
    b = pool.take(n_rows, nnz + reading.room(n_rows))
    faults = np.empty((1, 3), dtype=np.int64)
    report = np.zeros(7, dtype=np.int64)
    base = 0 if reading.zero_based else 1
    libsvm.parse(
        text, start, stop, base,
        b.labels, b.weights, b.indptr, b.indices, b.values, b.lines, faults, report,
    )  # fmt: skip
    n_rows, nnz, n_lines, _, n_qids, n_faults, n_weighted = report.tolist()
    raw = Raw(b, n_rows, nnz, n_lines, n_qids, n_weighted > 0, [])
    if comments or chunk.keeper is not None:
        raw.comments = comments_of(text, start, stop, b.lines[:n_rows])
    fault = None
    if n_faults:
        at = failed_conversion(text, start, stop)
        place = faults[0].tolist() if at < 0 else [n_lines - 1, at, libsvm.BAD_LABEL]
        fault = _fault(text, start, stop, *place)
        added = 0 if chunk.labelled else len(NO_LABEL)
        fault = fault._replace(column=max(1, fault.column - added))
    packed = _packed(raw) if chunk.keeper is not None else b""
    block, hashes = _block(chunk, raw, reading, pool, comments=comments)
    return Parsed(chunk, block, cells, n_lines, n_qids, n_faults, fault, hashes, packed)


def _packed(raw: Raw) -> bytes:
    from cwtool.data.rowpack import pack

    return pack(raw)


def _parsed_frame(
    chunk: Chunk, frame: Frame, reading: Reading, pool: Pool, *, comments: int
) -> Parsed:
    """The same for a frame of a file of rows. The last frame has the digests of the text."""
    from cwtool.data.rowfile import LAST, Last, damaged, load, too_large
    from cwtool.data.rowpack import COUNTS, as_text, unpack

    data, size = load(chunk, frame)
    cells = b""
    limited = chunk.longest < MAX_LINE and frame.kind != LAST and COUNTS.size <= size
    if limited and (needed := as_text(data.data, size, reading.added)) > chunk.longest:
        raise too_large(frame.file, needed, chunk.longest)
    try:
        if frame.kind == LAST:
            last = Last.unpacked(data[:size].tobytes())
            cells, chunk.stored, chunk.closing = last.cells, last.stored, last
            raw = Raw(pool.take(1, 1), 0, 0, 0, 0, False, [])
            raw.buffers.indptr[0] = 0
        else:
            raw = unpack(data, size, pool, room=reading.room, comments=comments)
    except UsageError:
        raise
    except ValueError as failure:
        raise damaged(frame.file, str(failure)) from None
    block, hashes = _block(chunk, raw, reading, pool, comments=comments)
    packed = data[:size].tobytes() if chunk.keeper is not None and not chunk.last else b""
    return Parsed(chunk, block, cells, raw.n_lines, raw.n_qids, 0, None, hashes, packed)


def _block(
    chunk: Chunk, raw: Raw, reading: Reading, pool: Pool, *, comments: int
) -> tuple[Block, Hashes | None]:
    """The rows after the reading settings were applied, and their hashes if a sample needs them.
    The block owns the buffers from now on."""
    b, n_rows = raw.buffers, raw.n_rows
    indptr = b.indptr[: n_rows + 1]
    nnz = prepared(reading, indptr, b.indices, b.values, raw.nnz)
    origin = Origin(chunk.path, 0, 1, b.lines[:n_rows])
    weight = b.weights[:n_rows] if raw.weighted else None
    notes = raw.comments if comments else None
    block = Block(indptr, b.indices[:nnz], b.values[:nnz], b.labels[:n_rows], origin, weight, notes)
    hashes = None if chunk.sample is None else row_hashes(block, chunk.sample.reached)
    pool.lend(b)
    return block, hashes


def row_hashes(block: Block, level: int = 0) -> Hashes:
    """The hashes of the rows that do not weigh 0, as far as a sample of this level keeps them."""
    hashes = np.empty(block.n_rows, dtype=np.uint64)
    found = rows.hashes(
        block.indptr, block.indices, block.values, block.labels, hashes, block.weight, level
    )
    return hashes[:found]


def prepared(reading: Reading, indptr: Longs, indices: Ints, values: Floats, nnz: int) -> int:
    """Fold the ids of rows with `nnz` entries, divide the rows by their lengths or standardize
    their columns, and add the bias, as the reading says, in place; the new number of entries. The
    arrays have room for all entries that are added."""
    if reading.hash_bits:
        nnz = rows.fold(indptr, indices[:nnz], values[:nnz], reading.hash_bits)
    if reading.normalize == "l2":
        rows.normalize(indptr, values[:nnz])
    elif reading.normalize == "columns":
        assert reading.columns is not None
        nnz = standardized(reading.columns, indptr, indices, values)
    if reading.bias:
        rows.append_column(indptr, indices, values, BIAS, 1.0)
        nnz += len(indptr) - 1
    return nnz


def _fault(text: Bytes, start: int, stop: int, line: int, at: int, code: int) -> Fault:
    before = text[start:at].tobytes()
    begin = before.rfind(b"\n") + 1
    around = before[begin:] + text[at : min(at + 200, stop)].tobytes().split(b"\n")[0]
    message, hint = describe(code, around, len(before) - begin)
    return Fault(line, len(before) - begin + 1, message, hint, around)
