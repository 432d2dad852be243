"""The threshold: the least score that is called the positive class.

It is given as a number, or found from the scores of the training rows before they were learned: the
edge of their histogram with the least loss. Another operating point is another line in LOSSES, or
in BOUNDS if it has a number.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, ulp
from typing import NamedTuple

import numpy as np

from cwtool.data.rows import Floats
from cwtool.errors import UsageError
from cwtool.metrics.tally import Tally, bin_edges

LEAST = 1e-300  # slope that scores are divided by; a file may have 0
ABOVE_ZERO = ulp(0.0)  # the least number above 0: scores of exactly 0 are below it


class Cells(NamedTuple):
    """The confusion at each edge: true and false positives, false and true negatives."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats


def _f1(at: Cells) -> Floats:
    """-F1 = -2 tp / (2 tp + fp + fn)"""
    return -2 * at.tp / (2 * at.tp + at.fp + at.fn)


def _error(at: Cells) -> Floats:
    """fp + fn, the number of errors"""
    return at.fp + at.fn


def _balanced(at: Cells) -> Floats:
    """(fn / P + fp / N) P N, with P rows of the positive class and N of the other"""
    return at.fn * (at.fp + at.tn) + at.fp * (at.tp + at.fn)


def _fpr(at: Cells, rate: float) -> Floats:
    """-tp where fp / N <= rate"""
    return np.where(at.fp <= rate * (at.fp + at.tn), -at.tp, np.inf)


def _precision(at: Cells, share: float) -> Floats:
    """-tp where tp / (tp + fp) >= share"""
    return np.where(at.tp >= share * (at.tp + at.fp), -at.tp, np.inf)


LOSSES: dict[str, Callable[[Cells], Floats]] = {"error": _error, "f1": _f1, "balanced": _balanced}
OF_SEVERAL = ("error", "balanced")  # those that several classes have too
# losses with a number from 0 to 1, as in fpr=0.001
BOUNDS: dict[str, Callable[[Cells, float], Floats]] = {"fpr": _fpr, "precision": _precision}


class OperatingPoint:
    """How the threshold of a model is found: `setting` is a number, the name of a loss, or empty.
    An empty one is 0, and rows that score exactly 0 are of the class that is more frequent in
    training; of the positive one if both are equally frequent. For batch learners it is the
    class that is more frequent among the training rows that score 0, if these are
    more than 5 % of the rows."""

    def __init__(self, setting: str = "") -> None:
        self.number: float | None = None
        self.loss: Callable[[Cells], Floats] | None = LOSSES.get(setting)
        name, equals, bound = setting.partition("=")
        if name in BOUNDS and equals:
            share = _share(name, bound)
            self.loss = lambda at: BOUNDS[name](at, share)
            setting = f"{name}={share!r}"
        elif setting and self.loss is None:
            self.number = _number(setting)
        self.setting = setting if self.number is None else repr(self.number)

    def __bool__(self) -> bool:
        return self.setting != ""

    def threshold(self, scores: Tally, negatives: float, positives: float) -> float:
        """The threshold of a model by the scores of some of the rows that it has learned. So many
        rows of each class tell which class is the more frequent one."""
        if self.number is not None:
            return self.number
        if not self or not scores.measured[1].sum(axis=1).all():  # nothing to tell apart
            return 0.0 if positives >= negatives else ABOVE_ZERO
        assert self.loss is not None
        return _best(self.loss(_cells(scores)))

    def exact(self, scores: Floats, at: Cells) -> float:
        """The threshold by the confusion at each of these scores, all different, the highest first.
        If none of them will do, it is above all of them."""
        if self.number is not None or self.loss is None:
            return self.number or 0.0
        loss = self.loss(at)
        if not np.isfinite(loss).any():
            return float(np.nextafter(scores[0], np.inf))
        return float(scores[int(np.argmin(loss))])

    def check_several(self) -> None:
        """Refuse settings that are not defined for several classes."""
        if self and self.setting not in OF_SEVERAL:
            raise UsageError(
                f"`threshold={self.setting}` is for two classes, and there are more",
                "use `threshold=error` or `threshold=balanced`, or leave it out",
            )

    def shifts(self, counts: Floats, slope: float, b: Floats) -> Floats:
        """For several classes, what is taken from the score of each class k before the greatest
        is chosen, with the slope a and offset b_k of its probability: -b_k / a, so that the class
        of the largest probability arg max_k a z_k + b_k is called; with `balanced`
        (ln((n_k + 1) / (N + K)) - b_k) / a, with n_k of the N training rows in class k, so that
        arg max_k a z_k + b_k - ln((n_k + 1) / (N + K)) is called."""
        self.check_several()
        moved = -b
        if self.setting == "balanced":
            moved = moved + np.log((counts + 1) / (counts.sum() + len(counts)))
        shifts: Floats = moved / max(slope, LEAST)
        return shifts


def _number(setting: str) -> float:
    try:
        number = float(setting)
    except ValueError:
        number = np.nan
    if not isfinite(number):
        raise UsageError(
            f"`threshold` is {setting!r}; it must be {', '.join(LOSSES)}, fpr=RATE, "
            "precision=SHARE or a number",
            "write for example `threshold=f1`",
        )
    return number


def _share(name: str, text: str) -> float:
    """The number behind fpr= or precision=."""
    try:
        share = float(text)
    except ValueError:
        share = np.nan
    if not 0 < share < 1:
        raise UsageError(
            f"`threshold` is '{name}={text}'; the number must be between 0 and 1",
            "write for example `threshold=fpr=0.001`",
        )
    return share


def _cells(tally: Tally) -> Cells:
    """The confusion if the scores of each bin and of those above are called positive."""
    negative, positive = (scores.astype(float) for scores in tally.measured[0])
    tp, fp = (np.cumsum(scores[::-1])[::-1] for scores in (positive, negative))
    return Cells(tp, fp, tp[0] - tp, fp[0] - fp)


def _best(loss: Floats) -> float:
    """The edge with the least loss; of equal ones that nearest to 0. If no edge will do, the
    highest."""
    edges = bin_edges()
    if not np.isfinite(loss).any():
        return float(edges[-1])
    equal = np.flatnonzero(loss == loss.min())
    return float(edges[equal[np.argmin(np.abs(edges[equal]))]])
