"""Probabilities from scores, and how good they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import Floats, Ints
from cwtool.metrics import UNIT, Counts, bin_centers, counted, no_counts, ratio, uneven, units
from cwtool_ext import tally

Flags = NDArray[np.bool_]


@dataclass
class Calibration:
    """P(y = +1) = sigmoid(a s / sqrt(1 + v)), with a by maximum likelihood on the scores that
    were given before learning, the latest half or more of them."""

    margins: Counts = field(default_factory=no_counts)
    rows: int = 0
    weighted: Counts | None = None  # margins in 2^-20ths of weight; None: all rows weigh 1

    def add(self, y: Ints, score: Floats, variance: Floats, weight: Floats | None = None) -> None:
        """Count these scores, given before the rows of the classes y were learned. Rows count by
        their row weights, and rows of weight 0 do not count."""
        y, score, variance, weight = counted(weight, y, score, variance)
        if self.weighted is None and uneven(weight):
            self.weighted = UNIT * self.margins
        tally.add_margins(y, score, variance, self.rows, self.margins)
        if self.weighted is not None:
            part = units(weight, len(y))
            tally.add_margins(y, score, variance, self.rows, self.weighted, part)
        self.rows += len(y)

    def fit(self) -> float:
        """min over a > 0 of sum_i log(1 + exp(-a z_i)), z = y s / sqrt(1 + v), and one more row
        with z = -mean |z|, which keeps a finite when nothing was wrong."""
        counts = self.margins.sum(axis=0)
        if self.weighted is not None:
            counts = self.weighted.sum(axis=0) / UNIT
        used = np.flatnonzero(counts)
        z, n = bin_centers()[used], counts[used].astype(float)
        typical = float(np.abs(z) @ n) / n.sum() if len(used) else 0.0
        if typical == 0:
            return 1.0
        z, n = np.append(z, -typical), np.append(n, 1.0)
        low, high = -60.0, 60.0  # of log2(a * typical)
        for _ in range(100):  # the derivative in a is monotone: halve
            middle = (low + high) / 2
            a = 2.0**middle / typical
            slope = -float((n * z) @ _sigmoid(-a * z))
            low, high = (low, middle) if slope > 0 else (middle, high)
        return float(2.0 ** ((low + high) / 2) / typical)


def _sigmoid(t: Floats) -> Floats:
    """1 / (1 + exp(-t)) without overflow."""
    e = np.exp(-np.abs(t))
    return np.where(t >= 0, 1 / (1 + e), e / (1 + e))


def probability(a: float, score: Floats, variance: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return _sigmoid(a * (score / np.sqrt(1 + variance)))


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
        """Count what had the probability p by whether it came true (`hit`); `right` is the
        probability that each row gave to its own class."""
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

    def summary(self) -> dict[str, Any]:
        total = float(self.counts[0].sum()) + float(self.weighted[0].sum()) / UNIT
        apart = (self.counts[1] - self.counts[2]) / self.UNIT
        gap = float(np.abs(apart + (self.weighted[1] - self.weighted[2]) / UNIT).sum())
        return {
            "log_loss": ratio(self.loss / self.UNIT + self.weighted_loss / UNIT, total),
            "ece": ratio(gap, total),
        }
