"""Metrics that grow row by row, in whole numbers, so that a resumed run continues them exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.block import Floats, Ints, Longs
from cwtool_ext import tally

Counts = NDArray[np.int64]


@cache
def bin_centers() -> Floats:
    out = np.empty(tally.BINS)
    tally.centers(out)
    return out


def _counts() -> Counts:
    return np.zeros((2, tally.BINS), dtype=np.int64)


def _confusion() -> Counts:
    return np.zeros((2, 2), dtype=np.int64)


def ratio(a: float, b: float) -> float | None:
    """a / b, or nothing to say."""
    return float(a) / float(b) if b else None


@dataclass
class Tally:
    """Error, precision, recall, F1 of the positive class; AUC and average precision from a
    histogram of the scores (0.4 % wide bins; scores in one bin count as equal)."""

    scores: Counts = field(default_factory=_counts)
    confusion: Counts = field(default_factory=_confusion)  # [actual, predicted]

    def add(self, y: Floats, score: Floats) -> None:
        tally.add(y, score, self.scores, self.confusion)

    def __iadd__(self, other: Tally) -> Tally:
        self.scores += other.scores
        self.confusion += other.confusion
        return self

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.scores + other.scores, self.confusion + other.confusion)

    @property
    def rows(self) -> int:
        return int(self.confusion.sum())

    @property
    def error(self) -> float | None:
        return ratio(self.confusion[0, 1] + self.confusion[1, 0], self.rows)

    @property
    def auc(self) -> float | None:
        """P(score of a positive > score of a negative), ties counting half."""
        negative, positive = self.scores
        below = np.cumsum(negative) - negative
        won = float(positive @ below) + float(positive @ negative) / 2
        return ratio(won, float(positive.sum()) * float(negative.sum()))

    @property
    def average_precision(self) -> float | None:
        """Sum of (recall gained) x (precision there), from the highest score down."""
        negative, positive = self.scores[:, ::-1]
        hits, all_ = np.cumsum(positive), np.cumsum(positive + negative)
        steps = positive > 0
        if not steps.any():
            return None
        return float((positive[steps] * (hits[steps] / all_[steps])).sum() / positive.sum())

    def summary(self) -> dict[str, Any]:
        """Everything, by name; None where it is not defined."""
        (tn, fp), (fn, tp) = self.confusion.tolist()
        return {
            "rows": self.rows,
            "error": self.error,
            "auc": self.auc,
            "precision": ratio(tp, tp + fp),
            "recall": ratio(tp, tp + fn),
            "f1": ratio(2 * tp, 2 * tp + fp + fn),
            "average_precision": self.average_precision,
            "base_rate": ratio(tp + fn, self.rows),
            "confusion": {"tp": tp, "fp": fp, "tn": tn, "fn": fn},
        }


@dataclass
class Calibration:
    """P(y = +1) = sigmoid(a s / sqrt(1 + v)), with a by maximum likelihood on the scores that
    were given before learning, the latest half or more of them."""

    margins: Counts = field(default_factory=_counts)
    rows: int = 0

    def add(self, y: Floats, score: Floats, variance: Floats) -> None:
        tally.add_margins(y, score, variance, self.rows, self.margins)
        self.rows += len(y)

    def fit(self) -> float:
        """min over a > 0 of sum_i log(1 + exp(-a z_i)), z = y s / sqrt(1 + v), and one more row
        with z = -mean |z|, which keeps a finite when nothing was wrong."""
        counts = self.margins.sum(axis=0)
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
    """How far probabilities can be trusted: log loss, and the expected calibration error over
    15 equal bins of the probability of the positive class. Sums are of whole 2^-30ths, so that
    they do not depend on the blocks that the rows come in."""

    BINS = 15
    UNIT = 2.0**30
    counts: Counts = field(default_factory=lambda: np.zeros((3, 15), dtype=np.int64))
    loss: int = 0

    def add(self, y: Floats, p: Floats) -> None:
        at = np.minimum((p * self.BINS).astype(np.int64), self.BINS - 1)
        actual = self.UNIT * (y > 0)
        for k, weight in enumerate((None, np.rint(self.UNIT * p), actual)):  # rows, p, positives
            self.counts[k] += np.bincount(at, weights=weight, minlength=self.BINS).astype(np.int64)
        right = np.clip(np.where(y > 0, p, 1 - p), 1e-15, 1)
        self.loss -= int(np.rint(self.UNIT * np.log(right)).astype(np.int64).sum())

    def summary(self) -> dict[str, Any]:
        rows = float(self.counts[0].sum())
        gap = float(np.abs(self.counts[1] - self.counts[2]).sum())
        return {
            "log_loss": ratio(self.loss / self.UNIT, rows),
            "ece": ratio(gap / self.UNIT, rows),
        }


def kappa(first: Ints, second: Ints, p: int) -> float:
    """Cohen's kappa of two supports out of p features, each ascending: agreement beyond chance;
    2 (p n11 - n1 n2) / (p (n1 + n2) - 2 n1 n2), and 1 where both are empty or full."""
    n1, n2 = len(first), len(second)
    merged = np.sort(np.concatenate([first, second]), kind="stable")  # two runs: one merge
    both = int(np.count_nonzero(merged[1:] == merged[:-1]))
    below = p * (n1 + n2) - 2 * n1 * n2
    return 2 * (p * both - n1 * n2) / below if below else 1.0


def stability(supports: Sequence[Ints], p: int) -> float | None:
    """The mean kappa over all pairs of supports."""
    pairs = [kappa(a, b, p) for a, b in combinations(supports, 2)]
    return ratio(sum(pairs), len(pairs))


def sparsity(support: Ints, p: int) -> float | None:
    """The share of p features that have no weight."""
    return ratio(p - len(support), p)


def density_shares(support: Ints, ids: Ints, nnz: Longs, n_rows: int) -> list[dict[str, Any]]:
    """How many of the features of each density level (nonzeros / rows, by powers of ten) are in
    the support; Ma 2017, Figure 3.3."""
    level = np.ceil(np.log10(np.maximum(nnz, 1) / max(n_rows, 1)) - 1e-12).astype(np.int64)
    chosen = np.isin(ids, support)
    return [
        {
            "density_up_to": 10.0**k,
            "features": int((level == k).sum()),
            "selected": int((chosen & (level == k)).sum()),
            "share": ratio(int((chosen & (level == k)).sum()), int((level == k).sum())),
        }
        for k in np.unique(level).tolist()
    ]


def sparse(counts: Counts) -> dict[str, NDArray[Any]]:
    """A histogram as the places and counts that are not zero."""
    at = np.flatnonzero(counts)
    return {"at": at.astype(np.int32), "n": counts.ravel()[at]}


def dense(at: NDArray[np.int32], n: Longs) -> Counts:
    out = _counts()
    out.ravel()[at] = n
    return out
