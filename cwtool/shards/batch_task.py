"""The work of a shard of a batch: to read its rows, to take a step, and to score its rows.

The rows stay in a file of the work folder, which all workers see; so do the arrays that a shard
keeps from one step to the next. Any worker can do any task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.algorithms.batch.learner import usable
from cwtool.algorithms.shards.questions import apart, packed
from cwtool.algorithms.shards.steps import Arrays, Shard, Step, columns_of
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.rows import Rows, joined
from cwtool.data.spans import Span
from cwtool.errors import CwtoolError
from cwtool.model import Model
from cwtool.model.class_weight import ClassWeight
from cwtool.model.scale import slotted
from cwtool.params import build
from cwtool.records import dataclass
from cwtool.registry import algorithm
from cwtool.run import Run
from cwtool.shards.change import contents, pack_pieces, write
from cwtool.shards.task import piece_of

ROWS = ("indptr", "indices", "values", "y")


@dataclass(frozen=True)
class Task(ABC):
    """Common part of the tasks of a shard: the source of its rows, and the file of the result."""

    name: str
    target: str
    rows: str  # file of the rows
    learn: tuple[Span, ...]
    tail: tuple[Span, ...] = ()

    @abstractmethod
    def work(self) -> None:
        """Do the task, and write its result to the file `target`."""

    def stored(self, labels: Labels) -> tuple[Rows, Arrays]:
        """The rows by columns of the shard, with the class numbers of these labels; and all
        arrays of their file."""
        arrays = contents(Path(self.rows))[1]
        indptr, indices, values, y = (arrays[name] for name in ROWS)
        then, now = arrays["labels"].tolist(), labels.several or []  # now there may be more of them
        if then != now[: len(then)]:
            number = {label: k for k, label in enumerate(now)}
            y = np.array([number[label] for label in then], dtype=np.int32)[y]
        return Rows(indptr, indices, values, y, arrays.get("weight")), arrays


def perform(task: Task) -> CwtoolError | None:
    """Do the work unless the file of its result exists; a fault in the data is returned as the
    result."""
    try:
        if not Path(task.target).exists():
            task.work()
    except CwtoolError as failure:
        return failure
    return None


@dataclass(frozen=True)
class Reading(Task):
    """Read the rows of a shard, and predict them if the model `base` has learned something."""

    base: str = ""
    files: tuple[int, ...] = ()  # numbers of the files of `learn`
    max_memory: int = 0
    read: ReadOptions = field(default_factory=ReadOptions)

    def work(self) -> None:
        model, report = Model.load(Path(self.base)), ReadReport()
        read = replace(self.read, jobs=1, sampled=True)
        blocks = model.labels.rows_of(read_blocks(self.learn, read, report))
        parts, counts = [], [0] * len(self.learn)
        for rows, origin in model.portions(blocks, Run(max_memory=self.max_memory)):
            if rows.weight is not None:
                rows = rows.take(np.flatnonzero(rows.weight))
            parts.append(rows)
            counts[origin.file] += rows.n_rows
        rows = joined(parts) if parts else Rows.from_lists([], [])
        found = self._met(model, rows, counts)
        tallies = [
            piece_of(f, k, model.new_tally()) for k, f in zip(self.files, report.files, strict=True)
        ]
        pieces, arrays = pack_pieces(tallies)
        header = {"pieces": pieces, "labels": model.labels.several, "rest": model.labels.rest}
        write(Path(self.target), header, found | arrays)

    def _met(self, model: Model, rows: Rows, counts: list[int]) -> Arrays:
        """Write the file of the rows; what the driver needs to know of them: their classes and
        weights, which of them can be learned, their ids, and their scores before learning."""
        ids, columns = columns_of(rows)
        of_rows: Arrays = {"y": rows.y, "file_rows": np.array(counts, dtype=np.int64)}
        if rows.weight is not None:
            of_rows["weight"] = rows.weight
        own = Rows(rows.indptr, columns, rows.values, rows.y, rows.weight)
        stored = of_rows | {"ids": ids} | {name: getattr(own, name) for name in ROWS}
        stored["labels"] = np.array(model.labels.several or [])
        write(Path(self.rows), {}, stored)
        by_slot = slotted(own, own.indices, model.scale.value)
        short = usable(by_slot).view(np.uint8)
        found = {**of_rows, "ids": ids, "learned": short}
        if not untrained(model):
            score, variance, _ = model.scores(rows)
            found |= {"score": score, "variance": variance}
        return found


def untrained(model: Model) -> bool:
    """Whether the model has learned no batch yet and so cannot predict."""
    batch: Any = model.several or model.batch
    return bool(batch.untrained(model.state))


@dataclass(frozen=True)
class Asked(Task):
    """Take steps, one after the other. `given` are files of arrays for all of them; `kept` and
    `keeps` those of what the shard keeps for itself, before the steps and after them."""

    steps: tuple[Step, ...] = ()
    algorithm: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)
    class_weight: ClassWeight = field(default_factory=ClassWeight)
    scale: float = 1.0
    shards: int = 1
    given: tuple[str, ...] = ()
    kept: str = ""
    keeps: str = ""

    @cached_property
    def shard(self) -> Shard:
        rows, arrays = self.stored(self.labels)
        weight = self.class_weight.relearning(rows, self.labels)
        by_slot = slotted(replace(rows, weight=weight), rows.indices, self.scale)
        kept = dict(contents(Path(self.kept))[1]) if self.kept else {}
        return Shard(by_slot, len(arrays["ids"]), self.shards, kept)

    def work(self) -> None:
        kind, n = algorithm(self.algorithm), len(self.steps)
        learner = kind(build(kind.Params, self.params))
        given = apart(_common(self.given[0]) | contents(Path(self.given[1]))[1], n)
        each = zip(self.steps, given, strict=True)
        found = packed([step(learner, self.shard, own) for step, own in each])
        if self.shard.kept:
            write(Path(self.keeps), {}, self.shard.kept)
        write(Path(self.target), {"keeps": bool(self.shard.kept)}, found)


@lru_cache(maxsize=1)
def _common(path: str) -> Arrays:
    """What all shards are given for a step, whose number and digest are in the name of the file; a
    process that gets several shards reads it once."""
    return dict(contents(Path(path))[1])


@lru_cache(maxsize=1)
def _learned(path: str, digest: str) -> Model:
    """The model of this file; so does one that scores several shards, with what scores need of the
    model once."""
    return Model.load(Path(path))


@dataclass(frozen=True)
class Scoring(Task):
    """Score the rows by a model that has learned them."""

    model: str = ""
    digest: str = ""  # of its file

    def work(self) -> None:
        model = _learned(self.model, self.digest)
        rows, arrays = self.stored(model.labels)
        score, variance, _ = model.scores(replace(rows, indices=arrays["ids"][rows.indices]))
        write(Path(self.target), {}, {"score": score, "variance": variance})
