"""The slope and offsets of probabilities of several classes, by maximum likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cwtool.data.rows import Floats, Ints
from cwtool.metrics.reliability import Flags
from cwtool.metrics.tally import HEAVIEST

LARGEST, SMALLEST = 1e100, 1e-100  # |z| is cut off at the first and means nothing below the second
FAR = 1e9  # |z| is cut off here where its typical gap is 1
STEPS = 100  # of Newton's method, at most
ENOUGH = 1e-9  # of f: the last step is the one by which it falls by less
FEW = 384  # rows; from fewer there are no offsets, so that labels and probabilities agree
CLASSES = 128  # up to which there are offsets: their Hessian takes time with the square


class Softmax(NamedTuple):
    """P(class k) = exp(a z_k + b_k) / sum_j exp(a z_j + b_j); b has no element where all are 0."""

    a: float
    b: Floats


class Scored(NamedTuple):
    """Scores with one column per class that is born in some row, -inf in rows where it is not; the
    columns of the rows' own classes, and the weights h of the rows. At least two classes are born
    in every row."""

    z: Floats
    y: Ints
    h: Floats
    gap: float  # mean gap between the two highest z of a row
    born: Flags  # whether each of all classes is born in some row

    @classmethod
    def of(cls, z: Floats, y: Ints, weight: Floats | None) -> Scored:
        """The rows that say something of a."""
        h = np.ones(len(y)) if weight is None else np.minimum(weight, HEAVIEST)
        known = (y >= 0) & (y < z.shape[1])
        known[known] = z[known, y[known]] > -np.inf
        known &= (z > -np.inf).sum(axis=1) > 1
        z, y, h = np.where(z > -np.inf, np.clip(z, -LARGEST, LARGEST), z)[known], y[known], h[known]
        born: Flags = np.any(z > -np.inf, axis=0)
        if len(y) == 0:
            return cls(z[:, born], y, h, 0.0, born)
        z, y = np.ascontiguousarray(z[:, born]), (np.cumsum(born) - 1)[y]
        second, first = np.partition(z, -2, axis=1)[:, -2:].T
        return cls(z, y, h, float((h * (first - second)).sum() / h.sum()), born)

    def of_all(self, b: Floats) -> Floats:
        """These offsets, and 0 for classes that are not born."""
        found = np.zeros(len(self.born))
        found[self.born] = b
        return found


def fit(rows: Scored, a: float | None = None) -> Softmax:
    """The best a, or this one, and the best b. All b are 0 unless twice the log-likelihood that
    they gain is above their number, as it is by chance in the mean, and with few rows or many
    classes."""
    alone, loss = _minimum(rows, a, shifted=False)
    classes = rows.z.shape[1]
    if classes > CLASSES or len(rows.y) < FEW:
        return alone
    joint, least = _minimum(rows, a, shifted=True)
    return joint if 2 * (loss - least) > classes - 1 else alone


def slope(rows: Scored) -> float:
    """The best a where all b are 0."""
    return _minimum(rows, None, shifted=False)[0].a


def joint_fit(rows: Scored) -> Softmax:
    """The best a and b."""
    return _minimum(rows, None, shifted=True)[0]


def _minimum(rows: Scored, a: float | None, *, shifted: bool) -> tuple[Softmax, float]:
    """min over a > 0, unless it is given, and over b if `shifted`, of f = sum_i h_i (-log
    softmax(a z_i + b)[y_i]) + log(1 + exp(a g)) + |b|^2 / 2, by Newton's method, and the minimum.
    g is the mean gap between the two highest z of a row: the second term is one more row, whose
    class comes second by g, which keeps a finite when no row is wrong. The last term holds an
    offset about as much as 4 rows of score 0 would; it keeps those of rare classes finite."""
    if rows.gap < SMALLEST:
        return Softmax(a or 1.0, np.zeros(len(rows.born) if shifted else 0)), 0.0
    at = np.append((a or 1 / rows.gap) * rows.gap, np.zeros(rows.z.shape[1]))
    free = np.arange(0 if a is None else 1, len(at) if shifted else 1)
    now, gradient, hessian = _at(at, rows, shifted=shifted)
    for _ in range(STEPS if len(free) else 0):
        step = np.zeros(len(at))
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], -gradient[free])
        if at[0] + step[0] <= 0:
            step *= 0.9 * at[0] / -step[0]
        fall = -float(step[free] @ gradient[free])
        if not np.isfinite(step).all():
            break
        if not fall > ENOUGH * (1 + now):
            at += step
            break
        while (there := _at(at + step, rows, shifted=shifted))[0] > now - fall / 10:
            step, fall = step / 2, fall / 2
            if not fall > ENOUGH**2 * now:
                break
        if not there[0] < now:
            break
        at, (now, gradient, hessian) = at + step, there
    return Softmax(float(at[0] / rows.gap), rows.of_all(at[1:]) if shifted else np.empty(0)), now


def _at(at: Floats, rows: Scored, *, shifted: bool) -> tuple[float, Floats, Floats]:
    """f, its gradient and its Hessian in a and b, where a is the slope for z / g; of a alone unless
    `shifted`."""
    a, b, y, h = at[0], at[1:], rows.y, rows.h
    every, born = np.arange(len(y)), rows.z > -np.inf
    z = np.clip(rows.z / rows.gap, -FAR, FAR)
    t = np.where(born, a * z + b, -np.inf)
    top = t.max(axis=1, keepdims=True)
    p = np.exp(t - top)
    total = p.sum(axis=1)
    extra = 1 / (1 + np.exp(-a))
    f = float(h @ (np.log(total) + top[:, 0] - t[every, y]) + np.logaddexp(0, a) + b @ b / 2)
    p /= total[:, None]
    mean = (p * z).sum(axis=1)
    away, q = z - mean[:, None], h[:, None] * p
    rise = float(h @ (mean - z[every, y]) + extra)
    curve = float((q * away**2).sum() + extra * (1 - extra))
    if not shifted:
        return f, np.array([rise]), np.array([[curve]])
    counts = q.sum(axis=0)
    gradient = np.append(rise, counts - np.bincount(y, h, len(b)) + b)
    hessian = np.empty((len(at), len(at)))
    hessian[0, 0] = curve
    hessian[0, 1:] = hessian[1:, 0] = (q * away).sum(axis=0)
    hessian[1:, 1:] = np.diag(counts + 1) - p.T @ q
    return f, gradient, hessian
