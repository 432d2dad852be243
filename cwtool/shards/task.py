"""The work of one shard, which may be done by any process that can read the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cwtool.data.known import RowSample
from cwtool.data.parse import Block
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import FileReport, ReadReport
from cwtool.data.rows import Rows
from cwtool.data.spans import Span
from cwtool.errors import CwtoolError
from cwtool.merging.changes import changes
from cwtool.metrics.tally import AnyTally
from cwtool.model import Model, file, packing
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.shards.change import Change, Piece, load, save


@dataclass(frozen=True)
class Task:
    """A shard of a round: paths and byte ranges, never data. The result goes to `target`."""

    name: str
    base: str  # file of the model to go on from
    digest: str  # of this file
    target: str  # file of the change
    files: tuple[int, ...]  # numbers of the files of the spans
    learn: tuple[Span, ...]
    tail: tuple[Span, ...]  # not learned, but given back
    hold: int = 0  # of compressed files: the last rows, at most a quarter, that are the tail
    shard: int = 0
    pass_: int = 1
    seed: int = 0
    max_memory: int = 0
    read: ReadOptions = field(default_factory=ReadOptions)


def ready(number: int) -> int:
    """A process that answers has imported what shards need."""
    return number


def perform(task: Task) -> CwtoolError | None:
    """Do the work unless the file of its result exists. A fault in the data is returned as the
    result, so that the first fault in the order of the data can be reported."""
    target = Path(task.target)
    if target.exists():
        return None
    try:
        started = perf_counter()
        header, arrays, base = _base(task.base, task.digest)
        change = Shard(task, packing.unpack(header, arrays)).change()
        change.model = changes(change.model, base)
        change.model.known = RowSample()  # the base has it
        change.seconds = perf_counter() - started
        save(target, change)
    except CwtoolError as failure:
        return failure
    return None


@lru_cache(maxsize=1)
def _base(path: str, digest: str) -> tuple[dict[str, Any], file.Arrays, Model]:
    """The model that a round continues; a process that learns several shards reads it once."""
    header, arrays = file.load(Path(path))
    return header, arrays, packing.unpack(header, arrays)


class Shard:
    """A shard while it is learned."""

    def __init__(self, task: Task, model: Model) -> None:
        self.task, self.model = task, model
        self.run = Run(task.seed, 1, task.max_memory)
        self.report = ReadReport()
        self.tallies: dict[int, AnyTally] = {}  # by number of the span
        self.tail: list[Block] = []
        self.heaviest = 0.0

    def change(self) -> Change:
        """Learn the rows."""
        again = self.task.pass_ > 1
        read = replace(self.task.read, jobs=1, sampled=not again)
        blocks = read_blocks([*self.task.learn, *self.task.tail], read, self.report)
        error = self._relearn(blocks) if again else self._learn(blocks)
        pieces = [] if again else [self._piece(k, f) for k, f in enumerate(self.report.files)]
        return Change(self.model, pieces, self.tail, self.heaviest, error)

    def _learn(self, blocks: Iterator[Block]) -> tuple[float, float]:
        labels = self.model.labels
        rows = ((labels.encode(b), b.origin) for b in self._untailed(blocks))
        for some, origin in self.model.portions(rows, self.run):
            found = self.model.learn(some, self.run)
            tally = self.tallies.setdefault(origin.file, self.model.new_tally())
            tally.add(some.y, found.score, some.weight)
            if found.weight is not None:
                self.heaviest = max(self.heaviest, float(found.weight.max(initial=0.0)))
        return 0.0, 0.0

    def _relearn(self, blocks: Iterator[Block]) -> tuple[float, float]:
        """Visit rows that were learned before, in a new random order."""
        from cwtool.data.spool import Spool

        spool, tally = Spool(), self.model.new_tally()
        for block in self._untailed(blocks):
            rows = self.model.labels.encode(block)
            counted = None if rows.weight is None else rows.weight[rows.weight > 0]
            weight = self.model.class_weight.relearning(rows, self.model.labels)
            spool.add(rows.weighing(weight), counted)
        for rows, order, counted in spool.shuffled(
            self.task.seed, self.task.pass_, self.task.shard
        ):
            score = self.model.relearn(rows, order, self.run).score
            tally.add(rows.y, score, counted)
        rows_ = float(tally.rows)
        return rows_ * (tally.error or 0.0), rows_

    def _untailed(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """The blocks that are learned; the others become the tail. Their labels are checked here,
        where the line is known."""
        held: list[Block] = []
        n_held = n_rows = 0
        for block in blocks:
            n_rows += block.n_rows
            if block.origin.file >= len(self.task.learn):
                self.model.labels.encode(block)
                self.tail.append(self._numbered(cut(block, 0, block.n_rows)))
            elif not self.task.hold:
                yield block
            else:
                held.append(cut(block, 0, block.n_rows))
                n_held += block.n_rows
                while n_held - held[0].n_rows >= self.task.hold:
                    n_held -= held[0].n_rows
                    yield held.pop(0)
            del block
        learned = n_held - min(self.task.hold, n_rows // 4)
        for block in held:
            here = min(max(learned, 0), block.n_rows)
            if here:
                yield cut(block, 0, here)
            if here < block.n_rows:
                rest = cut(block, here, block.n_rows)
                self.model.labels.encode(rest)
                self.tail.append(self._numbered(rest))
            learned -= here

    def _numbered(self, block: Block) -> Block:
        """The block with the number that its file has in the run."""
        number = self.task.files[block.origin.file]
        return replace(block, origin=replace(block.origin, file=number, span=None))

    def _piece(self, k: int, report: FileReport) -> Piece:
        return piece_of(report, self.task.files[k], self.tallies.get(k, self.model.new_tally()))


def piece_of(report: FileReport, number: int, tally: AnyTally) -> Piece:
    """Counts and faults of a part of the file with this number."""
    return Piece(
        number,
        report.span.start if report.span else 0,
        report.bytes,
        report.rows,
        report.nnz,
        report.qids,
        report.bad_lines,
        report.first_bad,
        report.stored,
        bytes(report.cells),
        report.sample,
        tally,
    )


def cut(block: Block, start: int, stop: int) -> Block:
    """A copy of some rows of a block."""
    y = np.zeros(block.n_rows, dtype=np.int32)
    rows = Rows(block.indptr, block.indices, block.values, y, block.weight)
    some = rows.take(np.arange(start, stop))
    origin = replace(block.origin, lines=block.origin.lines[start:stop].copy())
    labels = block.labels[start:stop].copy()
    return Block(some.indptr, some.indices, some.values, labels, origin, some.weight)


def finished(tasks: Sequence[Task]) -> list[Change]:
    """The changes of all tasks, in the order of the shards."""
    return [load(Path(task.target)) for task in tasks]
