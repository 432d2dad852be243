"""Confidence-weighted sparse learning (Wu 2013): AROW whose weights shrink, or are few."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.algorithms.covariance import PROJECTIONS
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.params import AUTO, param
from cwtool.state import State
from cwtool_ext import budget, diagonal, smooth

SMIN = 1e-12  # no variance falls below
RANKINGS = ("mahalanobis", "certain", "weight", "printed")


@dataclass(frozen=True)
class ConfidenceParams:
    r: float = param(1.0, "regularization: larger steps slower", above=0)
    prior: float | str = param(
        AUTO,
        "variance of a weight before any data; auto = 1 / typical squared norm of the first 1,000 "
        "rows, which frees the other parameters from the scale of the rows",
        kind=float,
        above=0,
        auto=True,
    )


@dataclass(frozen=True)
class CwSparseParams(ConfidenceParams):
    mode: str = param(
        "smooth-da",
        "how weights come to be zero: shrunk row by row, shrunk as a sum of all rows, or only "
        "the best of them kept",
        choices=("smooth-tg", "smooth-da", "aggressive"),
    )
    lam: float = param(0.001, "smooth: weight of the L1 norm", low=0)
    budget: int = param(1000, "aggressive: so many weights are kept", low=1)
    ranking: str = param(
        "mahalanobis",
        "aggressive: the best by |mu|/sigma, 1/sigma, |mu|, or as printed in the paper",
        choices=RANKINGS,
    )
    projection: str = param("kl", "smooth: as of arow", choices=tuple(PROJECTIONS))
    every_round: bool = param(False, "smooth: shrink also in rounds without an error")
    proximal: bool = param(False, "smooth-da: centred at the weights so far, not at zero")


class Confident(Algorithm):
    """A diagonal Sigma, s_j = 1 / (1 + p_j), in the second column of the table."""

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = Scores.zeros(block.n_rows)
        self.look(block, state, out)
        # a feature never seen still has its prior variance
        return Scores(out.score, out.variance + unknown)

    @abstractmethod
    def look(self, block: Block, state: State, out: Scores) -> None:
        """mu.x and x'Sigma x."""


class Smooth(Confident):
    """mu_j or its dual, p_j; numbers: C, the sum of all shrinking."""

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        out, p = Scores.zeros(block.n_rows), self.params
        state.numbers["shrinking"] = smooth.learn(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            p.r, p.lam, PROJECTIONS[p.projection], SMIN, p.every_round, p.proximal,
            state.numbers.get("shrinking", 0.0), block.scale, *out,
        )  # fmt: skip
        return out

    def look(self, block: Block, state: State, out: Scores) -> None:
        smooth.scores(
            block.indptr, block.indices, block.values, state.features.table,
            state.numbers.get("shrinking", 0.0), block.scale, *out,
        )  # fmt: skip

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        table, mu = state.features.table[slots], np.empty(len(slots))
        smooth.means(table, state.numbers.get("shrinking", 0.0), mu)
        return mu, 1 / (1 + table[:, 1])


class SmoothTg(Smooth):
    columns = ("mean", "precision", "paid")


class SmoothDa(Smooth):
    columns = ("dual", "precision")


class Budget(Confident):
    """mu_j, p_j; arrays: the ids that have a weight."""

    columns = ("mean", "precision")

    @property
    def ranking(self) -> str:
        return str(self.params.ranking)

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        out, features = Scores.zeros(block.n_rows), state.features
        chosen = state.arrays.get("chosen", np.empty(0, dtype=np.int32))
        kept = np.zeros(min(self.params.budget, features.count) or 1, dtype=np.int32)
        kept[: len(chosen)] = features.slots_of(chosen)
        count = budget.learn(
            block.indptr, block.indices, block.values, block.y, order, features.table,
            RANKINGS.index(self.ranking), self.params.r, kept, len(chosen), features.direct,
            features.keys, 1 / SMIN, block.scale, *out,
        )  # fmt: skip
        state.arrays["chosen"] = np.sort(features.ids_of(kept[:count]))
        return out

    def look(self, block: Block, state: State, out: Scores) -> None:
        diagonal.scores(
            block.indptr, block.indices, block.values, state.features.table, block.scale, *out
        )

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        table = state.features.table[slots]
        return table[:, 0], 1 / (1 + table[:, 1])


class CwSparse(Algorithm):
    name = "cw-sparse"
    summary = "confidence-weighted with few weights"
    Params = CwSparseParams
    modes: ClassVar[dict[str, type[Confident]]] = {
        "smooth-tg": SmoothTg,
        "smooth-da": SmoothDa,
        "aggressive": Budget,
    }

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        self.mode = self.modes[params.mode](params)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.mode.columns

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        return self.mode.learn(block, state, order)

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        return self.mode.scores(block, state, unknown)

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        return self.mode.weights(state, slots)


ALGORITHMS = {"cw-sparse": CwSparse}
