"""Robust figures of the errors of a day of a feed, by which it is compared with other days.

The rows of a day are predicted before they are learned and cut into windows of 500 rows. Labels
that are wrong all over the day move the median window; labels that are wrong in one place make a
window that the model calls worse than a coin; a burst of new rows, which real feeds have, does
neither.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import Floats, Rows
from cwtool.messages.metrics_text import all_fitted
from cwtool.metrics.confusion import predicted
from cwtool.model import Model
from cwtool.records import dataclass

WINDOW = 500  # rows
SETTLED = 0.25  # share of the windows of a first day that the model has to get going


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
    auc: float | None = None  # of two classes

    def packed(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_run(cls, run: dict[str, Any]) -> Day | None:
        """The figures of a run in the history of a model; those of `train` are its progressive
        error and AUC alone, which a first batch has not."""
        if "day" in run:
            return cls(**run["day"])
        error = run.get("error")
        if error is None or not run["rows"] or all_fitted(run):
            return None
        rows, entries = (sum(f[name] for f in run["files"]) for name in ("rows", "nnz"))
        length, auc = entries / max(rows, 1), run.get("auc")
        return cls(run["rows"], error, error, error, 1, rows, 0.0, 1, 2, length, auc=auc)


class Watch:
    """Counts the errors of predictions in windows of rows, while rows are read."""

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

    def day(self, *, first: bool = False, auc: float | None = None) -> Day | None:
        """The figures of the rows so far, with the AUC that was measured on them. What is left at
        the end belongs to the last window. Of a `first` day the worst window is not looked for
        among the first ones."""
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
            auc,
        )
