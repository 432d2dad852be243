"""Shards in memory, for tests of algorithms that learn a batch in shards."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cwtool.algorithms.batch.learner import learnable
from cwtool.algorithms.shards.questions import Asks, Question
from cwtool.algorithms.shards.steps import Arrays, Shard, columns_of
from cwtool.data.rows import Rows, SlotRows, joined
from cwtool.model.scale import slotted
from cwtool.shards import GAP
from cwtool.state import FeatureIndex


class InMemory(Asks):
    """Rows cut into shards; the features of all of them are known to the index of a state."""

    def __init__(
        self, algorithm: Any, parts: Sequence[Rows], index: FeatureIndex, rounds: int = 0
    ) -> None:
        self.algorithm, self.rounds, self.gap = algorithm, rounds, GAP
        self.asked: list[str] = []
        self.slots, self.shards = [], []
        for rows in parts:
            ids, columns = columns_of(rows)
            self.slots.append(index.observe(ids).copy())
            self.shards.append(Shard(slotted(rows, columns), len(ids), len(parts)))
        every = joined(parts)
        self.head: SlotRows = slotted(every, index.known(every.indices).copy())
        kept = [learnable(shard.given) for shard in self.shards]
        bare = joined([
            Rows(np.zeros(r.n_rows + 1, dtype=np.int64), r.indices[:0], r.values[:0], r.y, r.weight)
            for r in kept
        ])  # fmt: skip
        self.rows = slotted(bare, bare.indices)
        self.ends = np.cumsum([r.n_rows for r in kept]).tolist()

    def answers(self, questions: Sequence[Question]) -> list[list[Arrays]]:
        self.asked += [question.step.__name__ for question in questions]

        def steps(q: Question) -> list[Arrays]:
            each = zip(self.shards, q.given, strict=True)
            return [q.step(self.algorithm, shard, q.common | own) for shard, own in each]

        return [steps(question) for question in questions]
