"""Metrics of several classes, from a confusion matrix that is counted row by row in whole
numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.labels import written
from cwtool.data.rows import Floats, Ints, Longs
from cwtool.errors import Damage
from cwtool.metrics.tally import UNIT, Counts, check_range, counted, ratio, uneven, units
from cwtool_ext import tally

# a file with more than ROOM classes has counts of at least one in PART: memory is taken for all
ROOM, PART = 1024, 4


def label_order(labels: list[float]) -> Longs:
    """The class numbers by ascending label."""
    return np.argsort(labels, kind="stable").astype(np.int64, copy=False)


def predicted(labels: list[float], score: Floats) -> Ints:
    """The class with the highest score of each row, and of equal ones that with the smallest
    label; -1 where no class has a score above -inf."""
    found = np.full(len(score), -1, dtype=np.int32)
    if score.shape[1]:
        order = label_order(labels[: score.shape[1]])
        tally.highest(np.ascontiguousarray(score), order, found)
    return found


class Confusion:
    """A confusion matrix with error, macro and weighted F1, and balanced error. Rows count by
    their weights, and rows of weight 0 do not count.

    `counts[1 + actual, 1 + predicted]` are rows. Row 0 is for labels that were never learned, and
    column 0 for rows that had no prediction. `weighted` is the same in 2^-20ths of row weight, or
    None as long as all rows have the weight 1. `labels` are the labels by class number; when the
    list has grown, the matrix grows with the next rows."""

    def __init__(
        self, labels: list[float], counts: Counts | None = None, weighted: Counts | None = None
    ) -> None:
        self.labels = labels
        self.counts = np.zeros((1, 1), dtype=np.int64) if counts is None else counts
        self.weighted = weighted

    def new(self) -> Confusion:
        return Confusion(self.labels)

    def add(self, y: Ints, score: Floats, weight: Floats | None = None) -> None:
        """Count these scores, one column per class, of rows of the classes y (-1: never learned),
        with these row weights (None: all 1)."""
        y, score, weight = counted(weight, y, score)
        if not len(y):
            return
        if self.weighted is None and uneven(weight):
            self.weighted = self.in_units()
        self._reach(len(self.labels))
        size = len(self.counts)
        at = (y.astype(np.int64) + 1) * size + predicted(self.labels, score) + 1
        if len(at) < size * size:
            np.add.at(self.counts.reshape(-1), at, 1)
        else:
            self.counts += np.bincount(at, minlength=size * size).reshape(size, size)
        if self.weighted is not None:
            np.add.at(self.weighted.reshape(-1), at, units(weight, len(y)))
            check_range(self.weighted)

    def _reach(self, classes: int) -> None:
        """Enlarge the matrix to this number of classes."""
        self.counts = _grown(self.counts, classes)
        if self.weighted is not None:
            self.weighted = _grown(self.weighted, classes)

    def in_units(self) -> Counts:
        """What was counted, in 2^-20ths of row weight."""
        return UNIT * self.counts if self.weighted is None else self.weighted

    def __iadd__(self, other: Confusion) -> Confusion:
        both = self + other
        self.counts, self.weighted = both.counts, both.weighted
        return self

    def __add__(self, other: Confusion) -> Confusion:
        return self._with(other, 1)

    def __sub__(self, other: Confusion) -> Confusion:
        return self._with(other, -1)

    def _with(self, other: Confusion, sign: int) -> Confusion:
        classes = max(len(self.counts), len(other.counts)) - 1
        for one in (self, other):
            one._reach(classes)
        put = np.add if sign > 0 else np.subtract
        weighted = None
        if self.weighted is not None or other.weighted is not None:
            weighted = put(self.in_units(), other.in_units())
        return Confusion(self.labels, put(self.counts, other.counts), weighted)

    def moved(self, labels: list[float]) -> Confusion:
        """The same counts with classes in the order of these labels, which may include further
        labels."""
        place = {label: k for k, label in enumerate(labels, 1)}
        to = np.array([0, *(place[label] for label in self.labels)])

        def wide(counts: Counts) -> Counts:
            at = to[: len(counts)]
            if (at == np.arange(len(at))).all():
                return _grown(counts.copy(), len(labels))
            found = np.zeros((len(labels) + 1,) * 2, dtype=np.int64)
            found[np.ix_(at, at)] = counts
            return found

        weighted = None if self.weighted is None else wide(self.weighted)
        return Confusion(labels, wide(self.counts), weighted)

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    @property
    def measured(self) -> NDArray[Any]:
        """The matrix as metrics count it: by weight, or by rows if all weigh 1."""
        return self.counts if self.weighted is None else self.weighted / UNIT

    @property
    def error(self) -> float | None:
        matrix = self.measured
        total = float(matrix.sum())
        return ratio(total - float(np.trace(matrix[1:, 1:])), total)

    @property
    def auc(self) -> float | None:
        """None: AUC is not defined for several classes."""
        return None

    def summary(self) -> dict[str, Any]:
        """Everything, by name; None where it is not defined. `confusion` has a list of counts by
        predicted class for each actual class, both in the order of `classes`. Where there are such
        rows, `other` has the counts by predicted class of rows whose label was never learned, and
        `unpredicted` has the counts by actual class, the last one for other labels, of rows that
        had no prediction."""
        self._reach(len(self.labels))
        order = label_order(self.labels)
        names = [written(self.labels[k]) for k in order]
        found: dict[str, Any] = {"rows": self.rows, "error": self.error}
        found |= _scores(names, self._in_label_order(self.measured, order))
        found |= {"classes": names} | _matrix(self._in_label_order(self.counts, order))
        if self.weighted is not None:
            by_weight = self._in_label_order(self.measured, order)
            found["weight"] = float(by_weight.sum())
            found |= {f"weighted_{name}": part for name, part in _matrix(by_weight).items()}
        return found

    @staticmethod
    def _in_label_order(matrix: NDArray[Any], order: Longs) -> NDArray[Any]:
        """Rows and columns by ascending label, other labels and no prediction last."""
        at = np.append(order + 1, 0)
        by_label: NDArray[Any] = matrix[np.ix_(at, at)]
        return by_label

    def pack(self) -> dict[str, Counts]:
        """The counts as arrays of a model file, where they must be of a part of the classes."""
        if len(self.labels) >= ROOM:
            self._reach((len(self.labels) + 1) // PART)
        arrays = {"confusion": self.counts}
        if self.weighted is not None:
            arrays["confusion.weight"] = self.weighted
        return arrays

    @classmethod
    def unpack(
        cls, labels: list[float], arrays: dict[str, NDArray[Any]], room: int = ROOM
    ) -> Confusion:
        """What was packed; the arrays are copied. Damage if they cannot be those of so many
        classes; there may be `room` classes that no row was counted of yet."""
        if "confusion" not in arrays:
            raise Damage("it has no array confusion")
        size = len(arrays["confusion"]) if arrays["confusion"].ndim else 0
        if not 0 < size <= len(labels) + 1 <= max(room, PART * size):
            raise Damage("the array confusion does not fit the labels")
        for name in ("confusion", "confusion.weight"):
            found = arrays.get(name)
            if found is None:
                continue
            if found.shape != (size, size) or found.dtype.str != "<i8" or (found < 0).any():
                raise Damage(f"the array {name} is no table of counts")
            if float(found.sum(dtype=np.float64)) >= 2.0**63:
                raise Damage(f"the array {name} has a value that cannot be")
        weighted = arrays.get("confusion.weight")
        return cls(
            labels, arrays["confusion"].copy(), None if weighted is None else weighted.copy()
        )


class Uncounted(Confusion):
    """A table that stays empty, for models that only give scores, because one of many classes is
    large."""

    def add(self, y: Ints, score: Floats, weight: Floats | None = None) -> None:
        pass


def _grown(counts: Counts, classes: int) -> Counts:
    """The matrix enlarged to this number of classes."""
    more = classes + 1 - len(counts)
    return np.pad(counts, (0, more)) if more > 0 else counts


def _matrix(by_label: NDArray[Any]) -> dict[str, Any]:
    """The matrix by label, with the parts beside it that have rows."""
    other, none = by_label[-1], by_label[:, -1]
    found: dict[str, Any] = {"confusion": by_label[:-1, :-1].tolist()}
    if other.any():
        found["other"] = other[:-1].tolist()
    if none.any():
        found["unpredicted"] = (none if other.any() else none[:-1]).tolist()
    return found


def _scores(names: list[str], by_label: NDArray[Any]) -> dict[str, Any]:
    """F1 = 2 tp / (2 tp + fp + fn), 0 where that is 0/0; macro_f1: its mean over the classes that
    have actual or predicted rows; weighted_f1: its mean by actual rows; balanced_error: 1 - the
    mean recall of the classes that have actual rows."""
    right = np.diagonal(by_label)[:-1]
    actual, said = by_label[:-1].sum(axis=1), by_label[:, :-1].sum(axis=0)
    both = actual + said  # = 2 tp + fp + fn
    f1 = 2 * right / np.where(both > 0, both, 1)
    known, there = both > 0, actual > 0
    recall = right[there] / actual[there]
    per_class = [
        {"label": name, "precision": ratio(r, s), "recall": ratio(r, a), "f1": f, "support": a}
        for name, r, s, a, f in zip(
            names, right.tolist(), said.tolist(), actual.tolist(), f1.tolist(), strict=True
        )
    ]
    return {
        "macro_f1": ratio(f1[known].sum(), known.sum()),
        "weighted_f1": ratio((actual * f1).sum(), actual.sum()),
        "balanced_error": 1 - float(recall.mean()) if there.any() else None,
        "per_class": per_class,
    }
