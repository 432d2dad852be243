"""Metrics of two classes that need the score of every row: exact AUC and average precision, recall
at small false positive rates, precision among the highest scores, and the Brier score."""

from __future__ import annotations

from typing import Any

import numpy as np

from cwtool import memory
from cwtool.data.rows import Floats, Ints
from cwtool.metrics.tally import HEAVIEST, counted, ratio
from cwtool.metrics.threshold import Cells

RATES = (0.001, 0.01)  # false positive rates at which the recall is shown
POINTS = 200  # of a curve that is drawn
ROW = 150  # bytes for each row while the metrics are computed, at most
TOPS = (10, 100, 1000)  # numbers of highest scores among which the precision is shown


class Ranking:
    """Scores, classes and probabilities of all rows: 17 bytes per row, and 8 more if they weigh."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, Floats, Floats, Floats | None]] = []
        self.n_rows = 0
        self.most = 0  # bytes that it may take; 0: no limit

    def add(self, y: Ints, score: Floats, p: Floats, weight: Floats | None = None) -> None:
        y, score, p, weight = counted(weight, y, score, p)
        weight = None if weight is None else np.minimum(weight, HEAVIEST)
        self._parts.append(((y == 1), score.copy(), p, weight))
        self.n_rows += len(y)
        if self.most:
            memory.check(
                f"the ranking of {self.n_rows:,} rows or more by their scores", ROW * self.n_rows,
                self.most, "give fewer rows",
            )  # fmt: skip

    def columns(self) -> tuple[Any, Floats, Floats, Floats]:
        """Whether each row is positive, its score, probability and weight."""
        hit, score, p, weight = zip(*self._parts, strict=True)
        ones = [np.ones(len(h)) if w is None else w for h, w in zip(hit, weight, strict=True)]
        found = [np.concatenate(column) for column in (hit, score, p, ones)]
        return found[0], found[1], found[2], found[3]

    def summary(self) -> dict[str, Any]:
        """Everything, by name; None where it is not defined."""
        if not self.n_rows:
            return {}
        hit, score, p, weight = self.columns()
        _, at = cells(hit, score, weight)
        total = float(weight.sum())
        return {
            "auc": auc(at),
            "average_precision": average_precision(at),
            "brier": ratio(float(weight @ (p - hit) ** 2), total),
            "recall_at_fpr": {f"{rate:g}": recall_at(at, rate) for rate in RATES},
            "precision_at": {str(k): precision_at(hit, score, k) for k in TOPS if k < len(hit)},
        }

    def curves(self) -> tuple[tuple[list[float], list[float]], list[tuple[float, float]]]:
        """At most POINTS pairs of true and false positives, from the highest score down, and for 15
        bins of the probability its mean and the share of positive rows."""
        hit, score, p, weight = self.columns()
        _, at = cells(hit, score, weight)
        some = np.unique(np.linspace(0, len(at.tp) - 1, POINTS).astype(np.int64))
        bins = []
        for k in range(15):
            here = (np.minimum((p * 15).astype(np.int64), 14) == k) & (weight > 0)
            if here.any():
                of = weight[here] / weight[here].sum()
                bins.append((float(of @ p[here]), float(of @ hit[here])))
        return (at.tp[some].tolist(), at.fp[some].tolist()), bins


def cells(hit: Any, score: Floats, weight: Floats) -> tuple[Floats, Cells]:
    """The different scores, the highest first, and the confusion if each is the threshold."""
    order = np.argsort(-score, kind="stable")
    score, hit, weight = score[order], hit[order], weight[order]
    last = np.append(score[1:] != score[:-1], True)  # of the rows with equal scores
    tp, fp = np.cumsum(weight * hit)[last], np.cumsum(weight * ~hit)[last]
    return score[last], Cells(tp, fp, tp[-1] - tp, fp[-1] - fp)


def auc(at: Cells) -> float | None:
    """P(score of a positive > score of a negative), ties counting half: the area under the curve
    of tp over fp, by trapezoids."""
    tp, fp = (np.concatenate([[0.0], x]) for x in (at.tp, at.fp))
    area = float((np.diff(fp) * (tp[1:] + tp[:-1])).sum()) / 2
    return ratio(area, float(tp[-1] * fp[-1]))


def average_precision(at: Cells) -> float | None:
    """Sum of (recall gained) x (precision there), from the highest score down."""
    gained = np.diff(at.tp, prepend=0.0)
    return ratio(float((gained * at.tp / (at.tp + at.fp)).sum()), float(at.tp[-1]))


def recall_at(at: Cells, rate: float) -> float | None:
    """The greatest recall with fp / N <= rate."""
    allowed = at.tp[at.fp <= rate * at.fp[-1]]
    return ratio(float(allowed[-1]) if len(allowed) else 0.0, float(at.tp[-1]))


def precision_at(hit: Any, score: Floats, k: int) -> float:
    """The share of positive rows among the k highest scores, the first rows of equal ones."""
    return float(hit[np.argsort(-score, kind="stable")[:k]].mean())
