"""Whether a day of a feed is like the days before it: robust figures of its errors, and rules.

The rows of a day are predicted before they are learned and cut into windows of 500 rows. Labels
that are wrong all over the day move the median window; labels that are wrong in one place make a
window that the model calls worse than a coin; a burst of new rows, which real feeds have, does
neither.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.confusion import predicted
from cwtool.data.rows import Floats, Rows
from cwtool.metrics_text import percent
from cwtool.model import Model

WINDOW = 500  # rows
SIGMAS = 3.0  # standard deviations that chance may add to any limit
ODDS = 4.0  # times that the odds of the positive class may rise or fall
LENGTH = 1.25  # times that the entries a row may rise or fall
FEWEST = 20  # rows of a day below which it may have one class
SETTLED = 0.25  # share of the windows of a first day that the model has to get going


@dataclass(frozen=True)
class Limits:
    """What a day may be, compared with the days before it."""

    tolerance: float = 2.0  # times the usual error
    wrong_labels: float = 0.1  # share of labels that are wrong, as far as errors tell
    days: int = 7  # days before that are compared with


@dataclass(frozen=True)
class Day:
    """The figures of a day."""

    rows: int
    error: float
    median: float  # error of the median window
    worst: float  # error of the worst window
    worst_row: int  # the first row of that window, counted from 1
    worst_rows: int  # its number of rows
    spread: float  # standard deviation of the errors of the windows
    windows: int
    classes: int
    entries: float  # a row
    base_rate: float | None = None  # share of the positive class, of two

    def packed(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_run(cls, run: dict[str, Any]) -> Day | None:
        """The figures of a run in the history of a model; those of `train` are its progressive
        error alone."""
        if "day" in run:
            return cls(**run["day"])
        error = run.get("error")
        if error is None or not run["rows"]:
            return None
        rows, entries = (sum(f[name] for f in run["files"]) for name in ("rows", "nnz"))
        return cls(run["rows"], error, error, error, 1, rows, 0.0, 1, 2, entries / max(rows, 1))


class Watch:
    """The errors of predictions by windows of rows, as the rows come by."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._wrong: list[int] = []  # errors of each full window
        self._rest: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._classes: dict[int, int] = {}
        self._rows = self._entries = 0

    def add(self, rows: Rows, score: Floats) -> None:
        """Count the errors of these scores. Scores of two classes are called by their sign,
        whatever the threshold of the model."""
        self._rows += rows.n_rows
        self._entries += rows.nnz
        several = self.model.labels.several
        if several is None:
            wrong = (score >= 0) != (rows.y == 1)
        else:
            wrong = predicted(several, score) != rows.y
        y = rows.y
        if rows.weight is not None:
            wrong, y = wrong[rows.weight > 0], y[rows.weight > 0]
        for class_, n in zip(*np.unique(y, return_counts=True), strict=True):
            self._classes[int(class_)] = self._classes.get(int(class_), 0) + int(n)
        self._rest = np.concatenate([self._rest, wrong])
        full = len(self._rest) // WINDOW
        cut = self._rest[: full * WINDOW].reshape(full, WINDOW)
        self._wrong += cut.sum(axis=1).tolist()
        self._rest = self._rest[full * WINDOW :]

    def day(self, *, first: bool = False) -> Day | None:
        """The figures of the rows so far. What is left at the end belongs to the last window. Of a
        `first` day the worst window is not looked for among the first ones."""
        wrong = np.array([*self._wrong, 0], dtype=float)
        sizes = np.full(len(wrong), float(WINDOW))
        wrong[-1], sizes[-1] = self._rest.sum(), len(self._rest)
        if len(wrong) > 1:
            wrong = np.append(wrong[:-2], wrong[-2] + wrong[-1])
            sizes = np.append(sizes[:-2], sizes[-2] + sizes[-1])
        n_rows = int(sizes.sum())
        if n_rows == 0:
            return None
        error = wrong / sizes
        begin = round(SETTLED * len(error)) if first else 0
        worst = begin + int(np.argmax(error[begin:]))
        positive = self._classes.get(1, 0) / n_rows if self.model.labels.several is None else None
        return Day(
            n_rows,
            float(wrong.sum()) / n_rows,
            float(np.median(error)),
            float(error[worst]),
            worst * WINDOW + 1,
            int(sizes[worst]),
            float(error.std()),
            len(error),
            len(self._classes),
            self._entries / self._rows,
            positive,
        )


def complaints(day: Day, history: list[dict[str, Any]], limits: Limits) -> list[str]:
    """What is wrong with a day: a sentence for each rule that it breaks."""
    runs = [one for one in map(Day.of_run, history) if one]
    past = runs[-limits.days :] if limits.days else []
    found = [_worst(day, past), _one_class(day)]
    if past:
        found += [_error(day, past, limits), _labels(day, past, limits)]
        found += [_base_rate(day, past), _entries(day, past)]
    return [sentence for sentence in found if sentence]


def _usual(past: list[Day], name: str) -> float:
    return float(np.median([getattr(day, name) for day in past]))


def _noise(p: float, n: float) -> float:
    """3 standard deviations of the share of errors among n rows, each wrong with probability p."""
    p = (p * n + 1) / (n + 2)
    return SIGMAS * sqrt(p * (1 - p) / n)


def _error(day: Day, past: list[Day], limits: Limits) -> str | None:
    """error <= tolerance m + 3 s, with the median m of the past errors, and s the larger of the
    binomial deviation and of that by the usual spread of windows."""
    usual = _usual(past, "error")
    spread = SIGMAS * _usual(past, "spread") / sqrt(day.windows)
    limit = limits.tolerance * usual + max(_noise(usual, day.rows), spread)
    if day.error <= limit:
        return None
    return (
        f"its error is {percent(day.error)}, usually it is {percent(usual)}, and at most "
        f"{percent(limit)} is allowed"
    )


def _labels(day: Day, past: list[Day], limits: Limits) -> str | None:
    """f <= wrong_labels: if a share f of the labels is inverted, an error e becomes
    e + f (1 - 2 e)."""
    usual = _usual(past, "median")
    if usual >= 0.45:
        return None
    share = (day.median - usual - 1.25 * _noise(usual, day.rows)) / (1 - 2 * usual)
    if share <= limits.wrong_labels:
        return None
    return f"as far as errors tell, {percent(min(1.0, share))} or more of its labels are wrong"


def _worst(day: Day, past: list[Day]) -> str | None:
    """No window has more errors than a coin makes, nor, where errors are frequent, loses more than
    half of the way from the usual error to 1."""
    usual = _usual(past, "median") if past else day.median
    limit = max(0.5, (1 + usual) / 2 if usual > 0.25 else 0.0) + _noise(0.5, day.worst_rows)
    if day.worst <= limit:
        return None
    last = day.worst_row + day.worst_rows - 1
    return (
        f"{percent(day.worst)} of the rows {day.worst_row:,} to {last:,} are predicted wrong; a "
        "coin does better"
    )


def _one_class(day: Day) -> str | None:
    return "all of its rows have one label" if day.classes == 1 and day.rows >= FEWEST else None


def _base_rate(day: Day, past: list[Day]) -> str | None:
    """|logit(p) - logit(q)| <= ln(ODDS) + 3 sd, sd^2 = 1 / positives + 1 / negatives."""
    rates = [one.base_rate for one in past if one.base_rate is not None]
    if not rates or day.base_rate is None:
        return None
    usual = float(np.median(rates))
    positive, negative = (day.rows * p + 0.5 for p in (day.base_rate, 1 - day.base_rate))
    expected = log((day.rows * usual + 0.5) / (day.rows * (1 - usual) + 0.5))
    noise = SIGMAS * sqrt(1 / positive + 1 / negative)
    if abs(log(positive / negative) - expected) <= log(ODDS) + noise:
        return None
    return f"{percent(day.base_rate)} of its rows are positive; usually it is {percent(usual)}"


def _entries(day: Day, past: list[Day]) -> str | None:
    """|ln(x / m)| <= max(ln(LENGTH), 3 s), with the median m of the entries a row of the days
    before, and s the usual distance of these from it: rows that were cut off are shorter."""
    usual = _usual(past, "entries")
    if not (usual and day.entries):
        return None
    apart = [abs(log(one.entries / usual)) for one in past if one.entries]
    chance = SIGMAS * max(1.48 * float(np.median(apart)), 1 / sqrt(day.rows))
    if abs(log(day.entries / usual)) <= max(log(LENGTH), chance):
        return None
    return f"its rows have {day.entries:.1f} entries; usually it is {usual:.1f}"
