"""Files of rows, from LIBSVM text that is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO

import numpy as np

from cwtool.convert.libsvm_text import blocks
from cwtool.convert.row import Input
from cwtool.data.buffers import Pool
from cwtool.data.chunks import ROOM, Chunk
from cwtool.data.digest import Digest
from cwtool.data.parse import Reading, parse
from cwtool.data.rowfile import LAST, ROWS, Last, Writer
from cwtool.errors import DataError


class Kept:
    """The store that takes the rows of all sources into one file of rows."""

    def __init__(self, out: IO[bytes]) -> None:
        self.writer = Writer(out)
        self.last = Last(b"", b"", 0, 0, 0)

    def entry(self, path: str, zero_based: bool) -> Kept:
        return self

    def chunks(self, labelled: bool | None, labels: tuple[float, ...]) -> Iterator[Chunk] | None:
        """None: the file does not exist before it is written."""
        return None

    def keeper(self, first: bytes) -> Kept:
        return self

    def add(self, frame: bytes) -> None:
        if frame:
            self.writer.frame(ROWS, frame)

    def finish(
        self, cells: bytes, stored: bytes, rows: int, lines: int, qids: int, *, whole: bool
    ) -> None:
        last = self.last
        self.last = Last(
            last.cells + cells, last.stored + stored, last.rows + rows, last.lines + lines,
            last.qids + qids,
        )  # fmt: skip

    def abandon(self) -> None:
        """Without its last frame the file is not complete."""

    def close(self) -> None:
        self.writer.frame(LAST, self.last.packed())


def copied(paths: Sequence[str], of: Input, out: IO[bytes]) -> int:
    """Write the rows of LIBSVM texts or of files of rows; the number of rows. The digest of one
    text is kept, so that a model that has learned the text knows its rows."""
    kept = Kept(out)
    of = replace(of, read=replace(of.read, store=kept, prompt=False))
    for path in paths:
        for _ in blocks(path, of):
            pass
    kept.close()
    return kept.last.rows


class FromText:
    """LIBSVM text that is written becomes a file of rows, with the digest of this text."""

    def __init__(self, out: IO[bytes], block_bytes: int) -> None:
        self.kept, self.block_bytes = Kept(out), block_bytes
        self.waiting: list[bytes] = []
        self.size = 0
        self.digest, self.pool = Digest(), Pool()

    def write(self, data: bytes) -> None:
        self.waiting.append(data)
        self.size += len(data)
        if self.size >= self.block_bytes:
            self._pack()

    def flush(self) -> None:
        """Rows are written when there are enough of them."""

    def _pack(self) -> None:
        data = b"".join(self.waiting)
        self.waiting, self.size = [], 0
        self.digest.update(data)
        text = np.frombuffer(data + ROOM, dtype=np.uint8)
        chunk = Chunk("", len(data), False, False, stop=len(data), text=text, keeper=self.kept)
        parsed = parse(chunk, Reading(), self.pool)
        if parsed.fault is not None:
            raise DataError(f"a row cannot be written: {parsed.fault.message}", parsed.fault.hint)
        self.kept.add(parsed.packed)
        self.kept.finish(b"", b"", parsed.block.n_rows, parsed.n_lines, parsed.n_qids, whole=True)

    def finish(self) -> None:
        self._pack()
        self.kept.finish(self.digest.take(end=True), b"", 0, 0, 0, whole=True)
        self.kept.close()
