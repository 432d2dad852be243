"""k nearest neighbours, in scaled columns."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cwtool.algorithms.base import Scores
from cwtool.algorithms.neighbours import BLOCK_BYTES, nearest, vote
from cwtool.algorithms.remembered import Remembered, RememberedParams
from cwtool.algorithms.slotted import LONGEST, squared_norms
from cwtool.data.block import Block, Floats, Ints
from cwtool.params import AUTO, param
from cwtool.state import State

DENSE = 0.1  # share of entries from which rows are kept as a dense matrix
FARTHEST = 1e30  # scaled values of a row to be predicted
SCALES = (AUTO, "std", "global")


@dataclass(frozen=True)
class KnnParams(RememberedParams):
    k: int = param(3, "neighbours that vote", low=1, high=1024)
    scale: str = param(
        AUTO,
        "std: columns are divided by their standard deviations;  global: by one number, so that "
        "they stay as they are to each other;  auto: the one with the lower leave-one-out error "
        "of 3 neighbours",
        choices=SCALES,
    )


def deviations(rows: csr_array) -> tuple[Floats, Floats]:
    """Mean and population standard deviation of each column; 0 where it is as good as constant."""
    n, p = rows.shape
    mean = np.bincount(rows.indices, rows.data, minlength=p) / max(n, 1)
    there = np.bincount(rows.indices, minlength=p)
    away = np.bincount(rows.indices, (rows.data - mean[rows.indices]) ** 2, minlength=p)
    sd = np.sqrt((away + (n - there) * mean**2) / max(n, 1))
    return mean, np.where(sd <= 1e-12 * np.maximum(1, np.abs(mean)), 0, sd)


def divisors(sd: Floats, scale: str) -> Floats:
    """What the columns are divided by: their own deviation, or the root of the mean square."""
    live = sd > 0
    if scale == "std" or not live.any():
        return sd
    return np.where(live, np.sqrt(np.mean(sd[live] ** 2)), 0)


def divided(rows: csr_array, by: Floats) -> csr_array:
    """Rows with scaled columns, without those that are divided by 0."""
    kept = by[rows.indices] > 0
    values = np.clip(rows.data[kept] / by[rows.indices[kept]], -FARTHEST, FARTHEST)
    indptr = np.append(0, np.cumsum(kept))[rows.indptr]
    return csr_array((values, rows.indices[kept], indptr), shape=(rows.shape[0], len(by)))


class Neighbours(Remembered):
    """Predicts by the nearest of the rows it remembers, seen as points in some space."""

    def bytes_needed(self, rows: csr_array) -> float:
        n, p = rows.shape
        entries = 16 * n * p if is_dense(rows) else 64 * rows.nnz
        return float(entries + 2 * self.jobs * BLOCK_BYTES + 64 * n * self.params.k)

    @abstractmethod
    def points(self, rows: csr_array, state: State) -> Any:
        """Where these rows lie: a dense array, or CSR."""

    def remembered(self, state: State) -> Any:
        """The points of all rows that are remembered."""
        if "points" not in state.scratch:
            state.scratch["points"] = self.points(self.rows(state), state)
        return state.scratch["points"]

    def predict(self, rows: csr_array, state: State, *, loo: bool = False) -> Floats:
        points = self.remembered(state)
        here = points if loo else self.points(rows, state)
        positive = state.arrays["y"] > 0
        near = nearest(here, points, positive, self.params.k, loo=loo, jobs=self.jobs)
        return self.score(near)

    def score(self, near: Any) -> Floats:
        return vote(near)

    def fitted(self, block: Block, state: State) -> Scores:
        """Without a row as its own neighbour."""
        out = super().fitted(block, state)
        if not self.untrained(state):
            learned = squared_norms(block) <= LONGEST
            out.score[learned] = self.predict(self.rows(state), state, loo=True)
        return out

    def best_scale(self, rows: csr_array, y: Floats, sd: Floats) -> str:
        """As asked for, or with fewer errors when each row is predicted by the others."""
        if self.params.scale != AUTO:
            return str(self.params.scale)
        wrong = {}
        for scale in SCALES[1:]:
            points = as_dense(divided(rows, divisors(sd, scale)), is_dense(rows))
            near = nearest(points, points, y > 0, 3, loo=True, jobs=self.jobs)
            wrong[scale] = int(np.count_nonzero((vote(near) >= 0) != (y > 0)))
        self.notes.append(f"leave-one-out errors: std {wrong['std']}, global {wrong['global']}")
        return min(wrong, key=lambda scale: wrong[scale])


def is_dense(rows: csr_array) -> bool:
    return bool(rows.nnz >= DENSE * rows.shape[0] * rows.shape[1])


def as_dense(rows: csr_array, dense: bool) -> Any:
    return rows.toarray() if dense else rows


class KNN(Neighbours):
    name = "knn"
    summary = "k nearest neighbours"
    Params = KnnParams
    columns = ("divisor",)

    def fit(self, rows: csr_array, y: Floats, state: State) -> None:
        _, sd = deviations(rows)
        by = divisors(sd, self.best_scale(rows, y, sd))
        state.features.column("divisor")[: len(by)] = by

    def points(self, rows: csr_array, state: State) -> Any:
        by = state.features.column("divisor")[: rows.shape[1]]
        return as_dense(divided(rows, by), is_dense(self.rows(state)))

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        return np.zeros(len(slots)), None


ALGORITHMS = {"knn": KNN}
