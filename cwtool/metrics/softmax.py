"""Probabilities of several classes from their scores, and how good they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import Floats, Ints
from cwtool.errors import Damage
from cwtool.metrics.confusion import predicted
from cwtool.metrics.reliability import Flags, Reliability
from cwtool.metrics.softmax_fit import LARGEST, Scored, Softmax, fit
from cwtool.metrics.tally import counted

ROWS = 1024  # the most rows that the slope is fitted to
ROOM = 1 << 20  # the most numbers that are kept for that


def standardized(score: Floats, variance: Floats) -> Floats:
    """z = s / sqrt(1 + u), one column per class and one u per row; -inf: no row yet."""
    return score / np.sqrt(1 + variance)[:, None]


def probability(a: float, score: Floats, variance: Floats, b: Floats | None = None) -> Floats:
    """softmax(a z + b), with b = 0 for classes that it has no element for; 0 for a class that has
    had no row yet (z = -inf), and for no other."""
    z = standardized(score, variance)
    born, top = z > -np.inf, z.max(axis=1, initial=-np.inf, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        t = np.where(born, a * (z - top), -np.inf)
        if b is not None and len(b):
            t += offsets(b, z.shape[1])
            t -= t.max(axis=1, initial=-np.inf, keepdims=True)
        e = np.where(born, np.maximum(np.exp(t), np.finfo(float).tiny), 0.0)
    total = e.sum(axis=1, keepdims=True)
    return e / np.where(total > 0, total, 1)


def offsets(b: Floats, classes: int) -> Floats:
    """The offsets of so many classes; those that came after the fit have 0."""
    return np.append(b, np.zeros(classes))[:classes]


def room(classes: int) -> int:
    """The number of rows that a ring keeps of so many classes."""
    return max(min(ROWS, ROOM // max(classes, 1)), 1)


class Ring:
    """The latest scores that were given before learning, to fit the probabilities
    softmax(a z + b) to: those of the last 1,024 rows, or as many as fit into 2^20 numbers. Rows of
    weight 0 and rows that were scored before the first row of their class are not counted."""

    def __init__(self) -> None:
        self.rows = 0  # that were counted so far
        self.z: Floats = np.empty((0, 0))  # the latest of them, the oldest first
        self.y: Ints = np.empty(0, dtype=np.int32)
        self.weight: Floats = np.empty(0)

    def add(
        self,
        y: Ints,
        score: Floats,
        variance: Floats,
        weight: Floats | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Remember these scores, one column per class, given before the rows of the classes y were
        learned; `variance` has one number per row. Rows that are scored `at_once`, by one model,
        are remembered as any others."""
        self._latest(y, score, np.sqrt(1 + variance), weight)

    def count(
        self, y: Ints, score: Floats, z: Floats, weight: Floats | None, *, at_once: bool
    ) -> None:
        """Remember z, with the variances of the scores."""
        self._latest(y, z, np.ones(len(y)), weight)

    def _latest(self, y: Ints, score: Floats, root: Floats, weight: Floats | None) -> None:
        """Remember z = score / root of the latest rows, the only ones that it is computed for."""
        y, score, root, weight = counted(weight, y, score, root)
        there = np.flatnonzero(_known(y, score, -np.inf, root))
        left = len(there) - room(max(score.shape[1], self.z.shape[1]))
        if left > 0:
            self.rows += left
            there = there[left:]
        with np.errstate(invalid="ignore"):
            z = score[there] / root[there, None]
        z[np.isnan(z)] = 0.0  # an infinite score with an infinite variance tells nothing
        z = np.minimum(z, LARGEST)  # -inf: a class that is not born
        self.extend(z, y[there], np.ones(len(there)) if weight is None else weight[there])

    def extend(self, z: Floats, y: Ints, weight: Floats) -> None:
        """Remember these rows, whose classes are born, as the latest."""
        self.rows += len(z)
        classes = max(z.shape[1], self.z.shape[1])
        most = room(classes)
        self.z = np.concatenate([widened(self.z, classes), widened(z, classes)])[-most:]
        self.y = np.concatenate([self.y, y])[-most:]
        self.weight = np.concatenate([self.weight, weight])[-most:]

    def fit(self) -> Softmax:
        """The slope and offsets by maximum likelihood on the rows that are kept."""
        return fit(Scored.of(self.z, self.y, self.weight))

    def pack(self) -> dict[str, NDArray[Any]]:
        """The ring as arrays of a model file; `rows` is to be kept beside them."""
        arrays: dict[str, NDArray[Any]] = {"ring.z": self.z, "ring.y": self.y}
        if (self.weight != 1).any():
            arrays["ring.weight"] = self.weight
        return arrays

    @classmethod
    def unpack(cls, rows: int, arrays: dict[str, NDArray[Any]], classes: int) -> Ring:
        """The ring that was packed, of so many classes; Damage if it cannot be."""
        ring = cls()
        for name, dtype, dimensions in (("z", "<f8", 2), ("y", "<i4", 1), ("weight", "<f8", 1)):
            found = arrays.get(f"ring.{name}")
            if found is None and name == "weight":
                found = np.ones(len(ring.y))
            if found is None or found.dtype.str != dtype or found.ndim != dimensions:
                raise Damage(f"the array ring.{name} is missing or of another kind")
            setattr(ring, name, found.copy())  # not a view that keeps the whole file in memory
        ring.rows = rows
        ring._check(classes)
        return ring

    def _check(self, classes: int) -> None:
        n = len(self.z)
        fits = n == len(self.y) == len(self.weight) and n <= min(ROWS, self.rows)
        if not fits or self.z.shape[1] > classes or (n and self.z.shape[1] == 0):
            raise Damage("the array ring.z does not fit the others")
        if n and not (self.z < np.inf).all():
            raise Damage("the array ring.z has a value that cannot be")
        if not _known(self.y, self.z, -np.inf).all():
            raise Damage("the array ring.y has a class that cannot be")
        if not ((self.weight > 0) & (self.weight < np.inf)).all():
            raise Damage("the array ring.weight has a value that cannot be")


def _known(y: Ints, values: Floats, unborn: float, root: Floats | None = None) -> Flags:
    """Which rows have a class that was born when they were scored: their values, one column a
    class and divided by a root a row, show that by being greater than `unborn`."""
    known: Flags = (y >= 0) & (y < values.shape[1])
    rows = np.flatnonzero(known)
    own = values[rows, y[rows]]
    with np.errstate(invalid="ignore"):  # infinite scores with an infinite variance do not count
        known[rows] = (own if root is None else own / root[rows]) > unborn
    return known


def widened(z: Floats, classes: int) -> Floats:
    """The rows with columns for so many classes; new classes have had no row."""
    if z.shape[1] == classes:
        return z
    return np.pad(z, ((0, 0), (0, classes - z.shape[1])), constant_values=-np.inf)


class SoftmaxReliability:
    """The quality of probabilities of several classes: log loss, and the expected calibration
    error of the predicted class over 15 equal bins of its probability. Rows whose class is not born
    are left out of both and counted apart."""

    def __init__(self, labels: list[float]) -> None:
        self.labels = labels
        self.of_known = Reliability()
        self.new_class_rows = 0

    def add(self, y: Ints, p: Floats, weight: Floats | None = None) -> None:
        """Count these probabilities, one column per class, of rows of the classes y (-1: never
        learned), with these row weights (None: all 1)."""
        y, p, weight = counted(weight, y, p)
        known = _known(y, p, 0.0)
        self.new_class_rows += int(len(y) - known.sum())
        y, p = y[known], p[known]
        right = p[np.arange(len(y)), y]
        hit = predicted(self.labels, p) == y
        top = p.max(axis=1, initial=0.0)
        self.of_known.count(hit, top, right, None if weight is None else weight[known])

    def bins(self) -> list[list[float]]:
        """The bins of the probabilities of the predicted classes."""
        return self.of_known.bins()

    def summary(self) -> dict[str, Any]:
        return {**self.of_known.summary(), "new_class_rows": self.new_class_rows}
