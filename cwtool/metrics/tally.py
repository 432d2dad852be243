"""Metrics that are counted row by row, in whole numbers, so that a resumed run continues them
exactly."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import Floats, Ints, Longs
from cwtool.errors import Damage, DataError
from cwtool.records import dataclass
from cwtool_ext import tally

Counts = NDArray[np.int64]

UNIT = 1 << 20  # row weights are counted in whole 2^-20ths
HEAVIEST = 1 << 20  # a greater row weight is counted as this


@cache
def bin_centers() -> Floats:
    out = np.empty(tally.BINS)
    tally.centers(out)
    return out


@cache
def bin_edges() -> Floats:
    """The least score of each bin."""
    out = np.empty(tally.BINS)
    tally.edges(out)
    return out


def no_counts() -> Counts:
    return np.zeros((2, tally.BINS), dtype=np.int64)


def _confusion() -> Counts:
    return np.zeros((2, 2), dtype=np.int64)


def ratio(a: float, b: float) -> float | None:
    """a / b, or None where b is 0."""
    return float(a) / float(b) if b else None


def units(weight: Floats | None, n: int) -> Counts:
    """The weights of n rows in whole 2^-20ths; None: all 1."""
    if weight is None:
        return np.full(n, UNIT, dtype=np.int64)
    found: Counts = np.rint(np.minimum(weight, HEAVIEST) * UNIT).astype(np.int64)
    return found


def counted(weight: Floats | None, *columns: Any) -> tuple[Any, ...]:
    """The columns and then the weights of the rows whose weight is not 0."""
    if weight is None or weight.all():
        return *columns, weight
    return tuple(column[weight > 0] for column in (*columns, weight))


def uneven(weight: Floats | None) -> bool:
    """Whether some row has a weight other than 1."""
    return weight is not None and bool((weight != 1).any())


def check_range(weighted: Counts) -> None:
    """Refuse weights whose sum, in 2^-20ths, has gone past the range of whole numbers."""
    if weighted.min(initial=0) < 0:
        raise DataError(
            "the row weights add up to more than 8.8e12", "divide all of them by a constant"
        )


class AnyTally(Protocol):
    """Metrics of two classes or of several; those of one kind can be added."""

    def new(self) -> AnyTally:
        """An empty tally of the same kind."""

    def add(self, y: Ints, score: Floats, weight: Floats | None = None) -> None:
        """Count these scores of rows of the classes y."""

    def __add__(self, other: Any) -> AnyTally: ...

    def __sub__(self, other: Any) -> AnyTally: ...

    @property
    def rows(self) -> int: ...

    @property
    def measured(self) -> Any:
        """The counts as metrics take them: by weight, or by rows if all weigh 1."""

    @property
    def error(self) -> float | None: ...

    @property
    def auc(self) -> float | None: ...

    def summary(self) -> dict[str, Any]:
        """All metrics and counts, by name."""


class Weighted(NamedTuple):
    """What a Tally counts, in whole 2^-20ths of row weight instead of rows."""

    scores: Counts
    confusion: Counts


@dataclass
class Tally:
    """Error, precision, recall, F1 of the positive class; AUC and average precision from a
    histogram of the scores (0.4 % wide bins; scores in one bin count as equal). Rows count by
    their weights, and rows of weight 0 do not count."""

    scores: Counts = field(default_factory=no_counts)  # of rows, whatever their weights
    confusion: Counts = field(default_factory=_confusion)  # of rows: [actual, predicted]
    weighted: Weighted | None = None  # None: all rows so far have the weight 1
    threshold: float = 0.0  # the least score that is called class 1

    def new(self) -> Tally:
        return Tally()

    def add(self, y: Ints, score: Floats, weight: Floats | None = None) -> None:
        """Count these scores of rows of the classes y, with these row weights (None: all 1)."""
        y, score, weight = counted(weight, y, score)
        if self.weighted is None and uneven(weight):
            self.weighted = self.in_units()
        tally.add(y, score, self.scores, self.confusion, None, self.threshold)
        if self.weighted is not None:
            tally.add(y, score, *self.weighted, units(weight, len(y)), self.threshold)
            check_range(self.weighted.confusion)

    def check(self) -> None:
        """Raise Damage if counts that came from a file do not fit each other."""
        rows, weight = self.scores.sum(axis=1), self.confusion.sum(axis=1)
        if (rows != weight).any():
            raise Damage("the scores and the confusion of its rows do not fit each other")

    def in_units(self) -> Weighted:
        """What was counted, in 2^-20ths of row weight."""
        return self.weighted or Weighted(UNIT * self.scores, UNIT * self.confusion)

    def __iadd__(self, other: Tally) -> Tally:
        both = self + other
        self.scores, self.confusion, self.weighted = both.scores, both.confusion, both.weighted
        return self

    def __add__(self, other: Tally) -> Tally:
        return self._with(other, 1)

    def __sub__(self, other: Tally) -> Tally:
        return self._with(other, -1)

    def _with(self, other: Tally, sign: int) -> Tally:
        weighted = None
        if self.weighted or other.weighted:
            pairs = zip(self.in_units(), other.in_units(), strict=True)
            weighted = Weighted(*(a + sign * b for a, b in pairs))
        scores, confusion = (
            self.scores + sign * other.scores,
            self.confusion + sign * other.confusion,
        )
        return Tally(scores, confusion, weighted, self.threshold)

    def at(self, threshold: float) -> Tally:
        """The same scores, called by another threshold: exact where this is the edge of a bin, or 0
        and no score lies within 2^-32 of it."""
        called = np.where(bin_centers() == 0, 0.0, bin_edges()) >= threshold

        def confusion(scores: Counts) -> Counts:
            return np.stack([scores[:, ~called].sum(axis=1), scores[:, called].sum(axis=1)], axis=1)

        weighted = self.weighted and Weighted(self.weighted.scores, confusion(self.weighted.scores))
        return Tally(self.scores, confusion(self.scores), weighted, threshold)

    @property
    def rows(self) -> int:
        return int(self.confusion.sum())

    @property
    def measured(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scores and confusion as metrics count them: by weight, or by rows if all weigh 1."""
        if self.weighted is None:
            return self.scores, self.confusion
        return self.weighted.scores / UNIT, self.weighted.confusion / UNIT

    @property
    def ties(self) -> NDArray[Any]:
        """The rows of each class that score 0, or within 2^-32 of it, by weight."""
        if self.weighted is None:
            return self.scores[:, tally.BINS // 2]
        return self.weighted.scores[:, tally.BINS // 2] / UNIT

    @property
    def error(self) -> float | None:
        _, confusion = self.measured
        return ratio(confusion[0, 1] + confusion[1, 0], confusion.sum())

    @property
    def auc(self) -> float | None:
        """P(score of a positive > score of a negative), ties counting half."""
        negative, positive = self.measured[0]
        below = np.cumsum(negative) - negative
        won = float(positive @ below) + float(positive @ negative) / 2
        return ratio(won, float(positive.sum()) * float(negative.sum()))

    @property
    def balanced_error(self) -> float | None:
        """The mean of the error rates of both classes."""
        (tn, fp), (fn, tp) = self.measured[1].tolist()
        missed, alarms = ratio(fn, tp + fn), ratio(fp, tn + fp)
        return None if missed is None or alarms is None else (missed + alarms) / 2

    @property
    def average_precision(self) -> float | None:
        """Sum of (recall gained) x (precision there), from the highest score down."""
        negative, positive = self.measured[0][:, ::-1]
        hits, all_ = np.cumsum(positive), np.cumsum(positive + negative)
        steps = positive > 0
        if not steps.any():
            return None
        return float((positive[steps] * (hits[steps] / all_[steps])).sum() / positive.sum())

    def summary(self) -> dict[str, Any]:
        """Everything, by name; None where it is not defined."""
        (tn, fp), (fn, tp) = self.measured[1].tolist()
        names = ("tn", "fp", "fn", "tp")
        by_rows = dict(zip(names, self.confusion.ravel().tolist(), strict=True))
        found = {
            "rows": self.rows,
            "error": self.error,
            "auc": self.auc,
            "precision": ratio(tp, tp + fp),
            "recall": ratio(tp, tp + fn),
            "f1": ratio(2 * tp, 2 * tp + fp + fn),
            "average_precision": self.average_precision,
            "base_rate": ratio(tp + fn, tn + fp + fn + tp),
            "confusion": {name: by_rows[name] for name in ("tp", "fp", "tn", "fn")},
        }
        if self.weighted is not None:
            found["weight"] = tn + fp + fn + tp
            found["weighted_confusion"] = {"tp": tp, "fp": fp, "tn": tn, "fn": fn}
        return found


def sparse(counts: Counts) -> dict[str, NDArray[Any]]:
    """A histogram as the places and counts that are not zero."""
    at = np.flatnonzero(counts)
    return {"at": at.astype(np.int32), "n": counts.ravel()[at]}


def dense(at: NDArray[np.int32], n: Longs) -> Counts:
    out = no_counts()
    out.ravel()[at] = n
    return out
