"""The objective of bcw over a batch whose rows are in shards, which answer with sums over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cwtool.algorithms.batch.over_features import ByFeatures, RowsInMemory
from cwtool.algorithms.batch.regularized_loss import Gaussian, Loss, loss_of
from cwtool.algorithms.shards.cocoa import add_parts, packed
from cwtool.algorithms.shards.steps import Arrays, Shard, Shards
from cwtool.data.rows import Floats


class RowsInShards(ByFeatures):
    def __init__(self, prior: Gaussian, loss: Loss, shards: Shards, class_: int) -> None:
        super().__init__(prior, loss)
        self.shards, self.common = shards, {"class": np.array([class_])}

    def losses(self, mu: Floats) -> tuple[float, Floats]:
        self.own = [{"mu": mu[slots]} for slots in self.shards.slots]
        self.gram: Floats | None = None  # of this point
        parts = self.shards.ask(losses_of, self.own, self.common)
        total, pulled = 0.0, np.zeros(self.n)
        for part, slots in zip(parts, self.shards.slots, strict=True):
            total += float(part["loss"][0])
            pulled[slots] += part["pulled"]
        return total, pulled

    def gram_here(self) -> Floats:
        if self.gram is None:
            self.gram = np.zeros((self.n, self.n))
            parts = self.shards.ask(curved_gram_of, self.own, self.common)
            add_parts(self.gram, parts, self.shards.slots)
        return self.gram


# -- steps of a shard -----------------------------------------------------------------------------


def losses_of(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The sum of the losses of the rows, and minus its derivative."""
    loss, pulled = _here(algorithm, shard, given).losses(given["mu"])
    return {"loss": np.array([loss]), "pulled": pulled}


def curved_gram_of(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """X'HX over the curved rows and the columns of the shard, on and below the diagonal."""
    here = _here(algorithm, shard, given)
    here.losses(given["mu"])
    return packed(here.gram_here())


def _here(algorithm: Any, shard: Shard, given: Arrays) -> RowsInMemory:
    flat = Gaussian(np.zeros(shard.columns), None, 0.0)
    y = shard.rows.signs(int(given["class"][0]))
    return RowsInMemory(flat, loss_of(algorithm.params), shard.rows, y, 1)
