"""How good probabilities are: log loss and expected calibration error."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import Floats, Ints
from cwtool.metrics.tally import UNIT, Counts, ratio, units
from cwtool.records import dataclass

Flags = NDArray[np.bool_]


@dataclass
class Reliability:
    """The quality of probabilities: log loss, and the expected calibration error over
    15 equal bins of the probability of the positive class. Sums are of whole 2^-30ths, so that
    they do not depend on the blocks that the rows come in. Rows with a weight other than 1 are
    counted apart, in 2^-20ths, because their sums are larger."""

    BINS = 15
    UNIT = 2.0**30
    counts: Counts = field(default_factory=lambda: np.zeros((3, 15), dtype=np.int64))
    loss: int = 0
    weighted: Counts = field(default_factory=lambda: np.zeros((3, 15), dtype=np.int64))
    weighted_loss: int = 0

    def add(self, y: Ints, p: Floats, weight: Floats | None = None) -> None:
        """Count these probabilities of class 1 for rows of the classes y, with these row weights
        (None: all 1)."""
        self.count(y == 1, p, np.where(y == 1, p, 1 - p), weight)

    def count(self, hit: Flags, p: Floats, right: Floats, weight: Floats | None) -> None:
        """Count the probability p of one class for each row: the positive class of two, or the
        predicted one of several. `hit` says whether the row is of that class, and `right` is the
        probability of the row's own class."""
        right = np.clip(right, 1e-15, 1)
        if weight is not None:
            other = weight != 1
            self._count_weighted(hit[other], p[other], right[other], units(weight[other], 0))
            hit, p, right = hit[~other], p[~other], right[~other]
        at = np.minimum((p * self.BINS).astype(np.int64), self.BINS - 1)
        for k, share in enumerate((None, np.rint(self.UNIT * p), self.UNIT * hit)):  # rows, p, hits
            self.counts[k] += np.bincount(at, weights=share, minlength=self.BINS).astype(np.int64)
        self.loss -= int(np.rint(self.UNIT * np.log(right)).astype(np.int64).sum())

    def _count_weighted(self, hit: Flags, p: Floats, right: Floats, n: Counts) -> None:
        at = np.minimum((p * self.BINS).astype(np.int64), self.BINS - 1)
        for k, share in enumerate((n, np.rint(n * p).astype(np.int64), n * hit)):
            np.add.at(self.weighted[k], at, share)
        self.weighted_loss -= int(np.rint(n * np.log(right)).astype(np.int64).sum())

    def bins(self) -> list[list[float]]:
        """Three sums over the rows of each bin of probabilities between 0 and 1: row weights, row
        weights times probabilities, and weights of the rows that are of the class."""
        found = self.counts / np.array([[1.0], [self.UNIT], [self.UNIT]]) + self.weighted / UNIT
        rounded: list[list[float]] = np.round(found.T, 3).tolist()
        return rounded

    def summary(self) -> dict[str, Any]:
        total = float(self.counts[0].sum()) + float(self.weighted[0].sum()) / UNIT
        apart = (self.counts[1] - self.counts[2]) / self.UNIT
        gap = float(np.abs(apart + (self.weighted[1] - self.weighted[2]) / UNIT).sum())
        return {
            "log_loss": ratio(self.loss / self.UNIT + self.weighted_loss / UNIT, total),
            "ece": ratio(gap, total),
        }
