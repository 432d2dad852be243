"""One chunk of text becomes one block, with everything that went wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cwtool.data.block import BIAS, Block
from cwtool.data.chunks import Bytes, Chunk, load
from cwtool.data.faults import describe
from cwtool.data.sources import display
from cwtool_ext import libsvm, rows

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Reading:
    """What a row is made of; kept in the model, so that every file is read the same way."""

    zero_based: bool = False
    normalize: str = "none"
    bias: bool = False
    hash_bits: int = 0


class Fault(NamedTuple):
    """A bad line: its number counted from the start of the chunk, and what is wrong in it."""

    line: int
    column: int
    message: str
    hint: str


@dataclass(slots=True)
class Parsed:
    chunk: Chunk
    block: Block
    cells: bytes
    n_lines: int
    n_qids: int
    n_faults: int
    fault: Fault | None  # the first


class Buffers:
    """Arrays that a block is parsed into, used again when the block is released."""

    def __init__(self, n_rows: int, nnz: int) -> None:
        self.labels = np.empty(n_rows)
        self.indptr = np.empty(n_rows + 1, dtype=np.int64)
        self.indices = np.empty(nnz, dtype=np.int32)
        self.values = np.empty(nnz)
        self.lines = np.empty(n_rows, dtype=np.int32)

    @classmethod
    def take(cls, pool: list[Buffers], n_rows: int, nnz: int) -> Buffers:
        """From the pool if one there is large enough; fresh memory costs a third of parsing."""
        while pool:
            found = pool.pop()
            if len(found.labels) >= n_rows and len(found.values) >= nnz:
                return found
        return cls(n_rows + n_rows // 4, nnz + nnz // 16)


def parse(chunk: Chunk, reading: Reading, pool: list[Buffers]) -> Parsed:
    """Runs in a worker thread; all that is long in it lets go of the interpreter."""
    text, start, stop, cells = load(chunk)
    if chunk.first and text[start : start + 3].tobytes() == BOM:
        start += 3
    n_rows, nnz = libsvm.count_lines(text, start, stop), libsvm.capacity(stop - start)[1]
    b = Buffers.take(pool, n_rows, nnz + (n_rows if reading.bias else 0))
    faults = np.empty((1, 3), dtype=np.int64)
    report = np.zeros(6, dtype=np.int64)
    base = 0 if reading.zero_based else 1
    libsvm.parse(
        text, start, stop, base,
        b.labels, b.indptr, b.indices, b.values, b.lines, faults, report,
    )  # fmt: skip
    n_rows, nnz, n_lines, _, n_qids, n_faults = report.tolist()
    indptr = b.indptr[: n_rows + 1]
    if reading.hash_bits:
        nnz = rows.fold(indptr, b.indices[:nnz], b.values[:nnz], reading.hash_bits)
    if reading.normalize == "l2":
        rows.normalize(indptr, b.values[:nnz])
    if reading.bias:
        rows.append_column(indptr, b.indices, b.values, BIAS, 1.0)
        nnz += n_rows
    block = Block(
        indptr, b.indices[:nnz], b.values[:nnz], b.labels[:n_rows], b.lines[:n_rows],
        display(chunk.path), release=lambda: pool.append(b),
    )  # fmt: skip
    fault = _fault(text, start, stop, *faults[0].tolist()) if n_faults else None
    return Parsed(chunk, block, cells, n_lines, n_qids, n_faults, fault)


def _fault(text: Bytes, start: int, stop: int, line: int, at: int, code: int) -> Fault:
    before = text[start:at].tobytes()
    begin = before.rfind(b"\n") + 1
    around = before[begin:] + text[at : min(at + 200, stop)].tobytes().split(b"\n")[0]
    message, hint = describe(code, around, len(before) - begin)
    return Fault(line, len(before) - begin + 1, message, hint)
