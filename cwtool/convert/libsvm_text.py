"""LIBSVM text, read by the parser of training."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

from cwtool.convert.classes import Classes
from cwtool.convert.lines import BATCH
from cwtool.convert.naming import Naming
from cwtool.convert.output import Text
from cwtool.convert.row import Input, Row
from cwtool.data import writer
from cwtool.data.labels import written
from cwtool.data.parse import Block
from cwtool.data.pipeline import read_blocks
from cwtool.data.reports import ReadReport
from cwtool_ext import text


def blocks(path: str, of: Input) -> Iterator[Block]:
    """The rows of a file in blocks; bad lines are counted."""
    report = ReadReport()
    try:
        yield from read_blocks([path], of.read, report)
    finally:
        of.met.bad_lines += report.bad_lines
        if report.qids:
            of.tell(f"qid: was left out of {report.qids:,} rows")


def read(path: str, of: Input) -> Iterator[list[Row]]:
    """The rows of a file; the names of its features are their ids, or those of `name_of`, and its
    labels are numbers, or names of `label_of`."""
    for block in blocks(path, of):
        for start in range(0, block.n_rows, BATCH):
            yield _rows(block, slice(start, start + BATCH), of)


def _rows(block: Block, some: slice, of: Input) -> list[Row]:
    """Some rows of a block."""
    ends = block.indptr[some.start : some.stop + 1].tolist()
    names = (of.name_of(j + 1) for j in block.indices[ends[0] : ends[-1]].tolist())
    entries = zip(names, block.values[ends[0] : ends[-1]].tolist(), strict=True)
    labels = [of.label_of(written(y)) for y in block.labels[some].tolist()]
    weight = [1.0] * len(labels) if block.weight is None else block.weight[some].tolist()
    comments = block.comments[some] if block.comments else [""] * len(labels)
    rows = zip(labels, pairwise(ends), weight, comments, strict=True)
    return [
        Row(label, list(islice(entries, b - a)), h, comment) for label, (a, b), h, comment in rows
    ]


def copied(path: str, of: Input) -> Iterator[tuple[str, int]]:
    """The lines of a file as they are written, block by block, and the number of rows in each."""
    for block in blocks(path, of):
        yield "".join(writer.block_lines(block)), block.n_rows


class Writer:
    """Lines of LIBSVM text, with ids of a dictionary or hashed ones."""

    def __init__(self, out: Text, naming: Naming, classes: Classes) -> None:
        self.out, self.naming, self.classes = out, naming, classes

    def write(self, rows: list[Row]) -> None:
        self.out.writelines(map(self._line, rows))

    def close(self) -> None:
        """Nothing is left to be written."""

    def _line(self, row: Row) -> str:
        features = text.named_features(row.entries, self.naming.ids, self.naming.id_of)
        return writer.line(self.classes.number(row.label), features, row.weight, row.comment)
