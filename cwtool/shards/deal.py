"""The tasks of a run: its bytes dealt out to rounds and shards, under names that tell them apart.

A task whose file is there was done, by this run or by one that was interrupted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

from cwtool.algorithms.base import Batch
from cwtool.data.spans import Span
from cwtool.model import Model, packing
from cwtool.model.file import save
from cwtool.records import dataclass
from cwtool.shards import ShardOptions, plan
from cwtool.shards.sources import Sources
from cwtool.shards.task import Task
from cwtool.train.options import TrainOptions

Spans = tuple[Span, ...]


@dataclass(frozen=True)
class Deal:
    """How the files are divided among rounds and shards."""

    sources: Sources
    sharding: ShardOptions
    options: TrainOptions
    tail_bytes: int  # that the shards of a round hold back

    def rounds(self, model: Model, before: int, head: int) -> list[tuple[int, int]]:
        """Where the rounds begin and end in the data behind the head; `before` it lie the bytes of
        earlier runs, about. Batch learners have one round."""
        total, start = before + self.sources.total, before + head
        if self.sharding.rounds or isinstance(model.algorithm, Batch):
            ends = plan.equal_ends(start, total, self.sharding.rounds or 1)
        else:
            ends = plan.ends_of(start, total, self.sharding.growth)
        ends = [end - before for end in ends]
        if self.sources.units:
            ends = plan.unit_ends(self.sources.sizes, ends)
        return list(pairwise([head, *ends]))

    def tasks(
        self, model: Model, folder: Path, number: int, start: int, stop: int, pass_: int
    ) -> tuple[Path, list[Task]]:
        """The file of the model that the round starts from, which is written, and the shards that
        have bytes to learn."""
        stamp = self._stamp(model, start, stop, pass_)
        base = folder / f"base-{number:03d}-{stamp}.cw"
        save(base, *packing.pack(model, calibrated=False))
        with base.open("rb") as file:
            file.seek(-32, 2)
            digest = file.read().hex()[:16]  # of the whole file
        hold = self.sharding.tail_rows // self.sharding.shards if self.sources.units else 0
        found = []
        for k, (files, learn, tail) in enumerate(self._shards(model, start, stop)):
            target = folder / f"{number:03d}-{k:05d}-{stamp}-{digest}.change"
            task = Task(
                f"shard {k + 1} of round {number}",
                str(base), digest, str(target), files, learn, tail, hold, k, pass_,
                self.options.seed, self.options.max_memory, self.options.read,
            )  # fmt: skip
            if learn:
                found.append(task)
        return base, found

    def _stamp(self, model: Model, start: int, stop: int, pass_: int) -> str:
        """A digest of all that the result of a round depends on besides the state of the model."""
        settings = asdict(self.sharding)
        del settings["engine"], settings["work_dir"]
        parts = [
            start, stop, pass_, self.sources.stamp(), settings, self.options.seed,
            self.options.read.max_bad_lines, self.tail_bytes, model.algorithm.name,
            asdict(model.algorithm.params),
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _shards(
        self, model: Model, start: int, stop: int
    ) -> Iterator[tuple[tuple[int, ...], Spans, Spans]]:
        """The numbers of the files, the spans to learn and those to hold back, of each shard."""
        sources, shards = self.sources, self.sharding.shards
        if sources.units:
            for numbers in plan.units_of(sources.sizes, start, stop, shards):
                yield tuple(numbers), sources.whole(numbers), ()
            return
        tail_bytes = 0 if isinstance(model.algorithm, Batch) else self.tail_bytes
        for cut in plan.cuts_of(start, stop, shards, tail_bytes):
            files, learn = sources.spans(cut.start, cut.tail)
            more, tail = sources.spans(cut.tail, cut.stop)
            yield files + more, learn, tail
