"""The shards of a batch as an algorithm uses them: it sends a step to all shards and gets their
results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cwtool.algorithms.batch.learner import learnable
from cwtool.algorithms.shards.questions import Asks, Question, apart, packed
from cwtool.algorithms.shards.steps import Arrays
from cwtool.data.rows import Ints, Rows, SlotRows
from cwtool.model import Model
from cwtool.model.scale import slotted
from cwtool.parallel import Engine
from cwtool.shards import ShardOptions
from cwtool.shards.batch_task import Asked, Reading, perform
from cwtool.shards.change import contents, write
from cwtool.shards.working import run_all

Tell = Callable[[dict[str, Any]], None]


class Asking(Asks):
    """Steps that are asked of all shards, through files of the work folder. The name of a result
    has a digest of everything that was asked before it, so that a run that was interrupted finds
    what is finished."""

    def __init__(
        self, engine: Engine, folder: Path, model: Model, sharding: ShardOptions,
        reads: Sequence[Reading], met: Sequence[Arrays], tell: Tell,
    ) -> None:  # fmt: skip
        self.engine, self.folder, self.model, self.tell = engine, folder, model, tell
        self.reads, self.rounds, self.gap = reads, sharding.rounds, sharding.gap
        self.slots: list[Ints] = [model.index.known(a["ids"]).copy() for a in met]
        self.ends = np.cumsum([int(a["learned"].sum()) for a in met]).tolist()
        self.rows = self._without_entries(met)
        self.first: SlotRows  # the rows of the head, before any is left out
        self.head: SlotRows
        self.digest = hashlib.sha256(reads[0].target.encode()).hexdigest()[:16]
        self.asked = 0
        self.keeps = [False] * len(reads)  # whether a shard keeps something from its last step
        self.written: list[Path] = []

    def _without_entries(self, met: Sequence[Arrays]) -> SlotRows:
        """The rows that are learned."""
        some = np.concatenate([a["learned"] for a in met]).view(np.bool_)
        rows = self._weighed(rows_of(met)).take(np.flatnonzero(some))
        return learnable(slotted(rows, rows.indices))

    def _weighed(self, rows: Rows) -> Rows:
        return rows.weighing(self.model.class_weight.relearning(rows, self.model.labels))

    def begin(self, head: Rows) -> None:
        """Have these first rows, whose features are all known."""
        rows = self._weighed(head)
        slots = self.model.index.known(rows.indices)
        self.first = slotted(rows, slots, self.model.scale.value)
        self.head = learnable(self.first)

    def answers(self, questions: Sequence[Question]) -> list[list[Arrays]]:
        began = perf_counter()
        self.asked += 1
        before = self.digest
        self.digest = _digest(self.digest, questions)
        shared = self._path("common")
        down = write(shared, {}, packed([q.common for q in questions])) * len(self.reads)
        tasks = []
        for k in range(len(self.reads)):
            own = packed([q.given[k] for q in questions])
            down += write(self._path(f"{k:05d}.given"), {}, own)
            tasks.append(self._task(questions, k, shared, before))
        run_all(self.engine, perform, tasks)
        headers, found = zip(*(contents(Path(task.target)) for task in tasks), strict=True)
        self.keeps = [header["keeps"] for header in headers]
        up = sum(Path(task.target).stat().st_size for task in tasks)
        done = {path for task in tasks for path in (*task.given, task.kept) if path}
        for path in done:  # those that a repeated run needs stay
            Path(path).unlink(missing_ok=True)
        self.written += map(Path, done)
        self.written += [Path(path) for task in tasks for path in (task.target, task.keeps)]
        self.tell({
            "round": self.asked, "shards": len(tasks), "step": _names(questions),
            "bytes": up + down, "seconds": {"tasks": perf_counter() - began},
        })  # fmt: skip
        by_shard = [apart(one, len(questions)) for one in found]
        return [list(of_question) for of_question in zip(*by_shard, strict=True)]

    def _path(self, what: str, number: int | None = None, digest: str = "") -> Path:
        number = self.asked if number is None else number
        return self.folder / f"step-{number:04d}-{digest or self.digest}.{what}"

    def _task(self, asked: Sequence[Question], k: int, shared: Path, before: str) -> Asked:
        kept = self._path(f"{k:05d}.kept", self.asked - 1, before)
        keeps = self._path(f"{k:05d}.kept")
        target = self._path(f"{k:05d}.part")
        model, read = self.model, self.reads[k]
        return Asked(
            f"shard {k + 1}, step {self.asked}", str(target), read.rows, read.learn, (),
            tuple(q.step for q in asked), model.algorithm.name,
            asdict(model.algorithm.params), model.labels, model.class_weight, model.scale.value,
            len(self.reads), (str(shared), str(self._path(f"{k:05d}.given"))),
            str(kept) if self.keeps[k] else "", str(keeps),
        )  # fmt: skip


def rows_of(met: Sequence[Arrays]) -> Rows:
    """The rows of all shards without their entries."""
    y = np.concatenate([a["y"] for a in met])
    weight = None
    if any("weight" in a for a in met):
        weight = np.concatenate([a.get("weight", np.ones(len(a["y"]))) for a in met])
    indptr = np.zeros(len(y) + 1, dtype=np.int64)
    return Rows(indptr, np.empty(0, dtype=np.int32), np.empty(0), y, weight)


def _names(questions: Sequence[Question]) -> str:
    """The names of the steps, each once."""
    names = dict.fromkeys(q.step.__name__.replace("_", " ") for q in questions)
    return ", ".join(names)


def _digest(before: str, questions: Sequence[Question]) -> str:
    found = hashlib.sha256(before.encode())
    for step, given, common, _ in questions:
        found.update(f" {step.__module__} {step.__name__}".encode())
        for arrays in (*given, common):
            for name, array in arrays.items():
                found.update(f"{name} {array.dtype} {array.shape}".encode())
                found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()[:16]
