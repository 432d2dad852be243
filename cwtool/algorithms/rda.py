"""Regularized dual averaging with L1 (Xiao 2010)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.algorithms.sgd import LOSSES, LossParams
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import averaging


@dataclass(frozen=True)
class RdaParams(LossParams):
    lam: float = param(1e-4, "weight of the L1 norm", low=0)
    gamma: float = param(0.03, "the learning rate after t rows is 1 / (gamma sqrt t)", above=0)
    rho: float = param(0.0, "more L1 at the beginning: lam + gamma rho / sqrt t", low=0)


class Rda(Algorithm):
    """State: the sum of all gradients; numbers: rounds."""

    name = "rda"
    summary = "regularized dual averaging with L1"
    Params = RdaParams
    columns = ("gradient",)

    @property
    def _pull(self) -> tuple[float, float, float]:
        return self.params.lam, self.params.gamma, self.params.rho

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        out = Scores.zeros(block.n_rows)
        rounds = int(state.numbers.get("rounds", 0))
        averaging.learn(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            LOSSES[self.params.loss], *self._pull, rounds, block.scale, out.score,
        )  # fmt: skip
        state.numbers["rounds"] = rounds + len(order)
        return out

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = Scores.zeros(block.n_rows)
        averaging.scores(
            block.indptr, block.indices, block.values, state.features.table, *self._pull,
            int(state.numbers.get("rounds", 0)), block.scale, out.score,
        )  # fmt: skip
        return out

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        w = np.empty(len(slots))
        rounds = int(state.numbers.get("rounds", 0))
        averaging.weights(state.features.table[slots], *self._pull, rounds, w)
        return w, None


ALGORITHMS = {"rda": Rda}
