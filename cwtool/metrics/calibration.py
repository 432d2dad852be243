"""Probabilities from scores."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import NamedTuple

import numpy as np

from cwtool.data.rows import Floats, Ints
from cwtool.metrics.sigmoid import LARGEST, Sigmoid, bent, standardized
from cwtool.metrics.tally import HEAVIEST, UNIT, Counts, bin_centers, counted, no_counts, units
from cwtool.records import dataclass
from cwtool_ext import tally

TINY = sys.float_info.min
LEAST = 2.0**-60  # slope for scores whose typical size is 1
SIGNIFICANT = 3.84  # of chi^2 with one degree of freedom: exceeded with a probability of 5 %
CERTAIN = 10.83  # the same: exceeded with a probability of 0.1 %
FINEST, COARSEST = 2.0**-16, 2.0**31  # the largest score of those that are counted as they are
BENDS = 2.0 ** np.arange(9)  # k of g(z), for scores whose typical size is 1


class Own(NamedTuple):
    """Scores of a model, of rows that it has learned. They are at least as large as those of new
    rows. Scores that other models gave on the way to it, and that are larger all the same, tell
    that those models were larger."""

    score: Floats
    variance: Floats
    weight: Floats | None  # of the rows

    def standardized(self) -> Own:
        """The same with z = s / sqrt(1 + v) as the scores."""
        return self._replace(score=standardized(self.score, self.variance))

    def limit(self, z: Floats, n: Floats) -> Floats:
        """sign(z) min(|z|, q), where q is the |score| that has the rank of |z| among n_k rows of
        each z_k; between two ranks q is linear."""
        size, at = np.unique(np.abs(z), return_inverse=True)
        order = np.argsort(np.abs(self.score), kind="stable")
        weight = np.ones(len(order)) if self.weight is None else self.weight[order]
        weight = np.minimum(weight, HEAVIEST)
        rows: Floats = np.bincount(at, n).astype(np.float64)
        q = np.interp(_ranks(rows), _ranks(weight), np.abs(self.score)[order])
        limited: Floats = np.sign(z) * np.minimum(size, q)[at]
        return limited


def _ranks(n: Floats) -> Floats:
    """The share of rows before each k, of which there are n_k, with half of these."""
    last = np.cumsum(n)
    found: Floats = (last - n / 2) / last[-1]
    return found


@dataclass
class Calibration:
    """P(y = +1) = sigmoid(a g(z) + b), by maximum likelihood on scores that were given before their
    rows were learned. z is the score s, or s / sqrt(1 + v), and g(z) is z or asinh(k z) / k.
    Earlier scores count less and less: after n rows, half of the weight lies on about the last n/8
    of them, or n/2 of few rows."""

    counts: Counts = field(default_factory=no_counts)  # [class, bin of s / sqrt(1 + v)]; 2^-20ths
    rows: int = 0
    plain: Counts | None = None  # [class, bin of s]; None: as `counts`, since all v were 0
    unit: float = 1.0  # of the scores that are counted; not 1 only if it is not kept in a model

    def add(
        self,
        y: Ints,
        score: Floats,
        variance: Floats,
        weight: Floats | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Count these scores, given before the rows of the classes y were learned; `at_once` if by
        one model, so that the first are as good as the last. Rows count by their row weights, and
        rows of weight 0 do not count."""
        self.count(y, score, standardized(score, variance), weight, at_once=at_once)

    def count(
        self, y: Ints, score: Floats, z: Floats, weight: Floats | None, *, at_once: bool
    ) -> None:
        """Count these scores, and z beside them."""
        y, score, z, weight = counted(weight, y, score, z)
        number = units(weight, len(y))
        if self.unit != 1:
            score, z = score / self.unit, z / self.unit
        if self.plain is None and (score != z).any():
            self.plain = self.counts.copy()
        tally.add_fading(y, z, self.rows, self.counts, number, at_once)
        if self.plain is not None:
            tally.add_fading(y, score, self.rows, self.plain, number, at_once)
        self.rows += len(y)

    @classmethod
    def of_margins(cls, margins: Counts, positive: Counts | None, rows: int) -> Calibration:
        """From counts of margins y z in 2^-20ths, as earlier versions kept them, and the part of
        them that is of class 1. If that is not known, half of each margin counts for each class,
        for which the best b is 0."""
        if positive is None:
            half = margins // 2
            return cls(np.stack([half[::-1], half]), rows)
        return cls(np.stack([(margins - positive)[::-1], positive]), rows)

    def fit(self, own: Own | None = None, *, shifted: bool = True) -> Sigmoid:
        """a > 0, b and k by maximum likelihood; `own` are scores that limit those counted, and b is
        0 unless `shifted`.
        The simpler form stands unless the likelihood ratio says that it is wrong, which it is when
        twice the log-likelihood that the other one gains is above SIGNIFICANT: b is 0, so that
        probabilities above 1/2 are those of scores above 0, and z is s, so that probabilities are
        in the order of scores. k is 0 unless it gains CERTAIN. Of models of earlier versions s
        alone was not counted; z is s / sqrt(1 + v) until nearly all weight is on later rows."""
        found, loss = self._fit(self.counts, own and own.standardized(), shifted=shifted)
        if self.plain is None:
            return found
        plain, plain_loss = self._fit(self.plain, own, shifted=shifted)
        known = self.plain.sum() > 0.99 * self.counts.sum()
        if known and not 2 * (plain_loss - loss) > SIGNIFICANT:
            return plain
        return found._replace(by_variance=True)

    def line(self) -> tuple[float, float]:
        """a > 0 and b by maximum likelihood for z = s / sqrt(1 + v), b whatever it is."""
        z, n, typical = _points(self.counts)
        if typical == 0:
            return 1.0, _log_odds(n.sum(axis=1))
        a, b = joint_fit(z, n)
        return float(a) / typical / self.unit, b

    def _fit(self, counts: Counts, own: Own | None, *, shifted: bool) -> tuple[Sigmoid, float]:
        found, loss = _fit(counts, own, shifted=shifted)
        return found._replace(a=found.a / self.unit, k=found.k / self.unit), loss


def _fit(counts: Counts, own: Own | None, *, shifted: bool) -> tuple[Sigmoid, float]:
    """The best probabilities by z, and their loss. With k, the loss is raised by what k had to
    gain, so that z and k are chosen by the same measure."""
    z, n, typical = _points(counts, own)
    if typical == 0:
        at = 1.0, _log_odds(n.sum(axis=1))
        return Sigmoid(*at, by_variance=False), log_loss(at, 0 * z, n)
    k, joint = _bend(z, n)
    z = bent(z, k)
    alone = joint_fit(z, n, shifted=False)
    gained = 2 * (log_loss(alone, z, n) - log_loss(joint, z, n))
    a, b = joint if shifted and gained > SIGNIFICANT else alone
    # a quotient may be infinite: scores may be as small as 5e-324
    slope, bend = min(float(a) / typical, LARGEST), min(k / typical, LARGEST)
    found = Sigmoid(slope, b, by_variance=False, k=bend)
    return found, log_loss((a, b), z, n) + (CERTAIN / 2 if k else 0.0)


def _bend(z: Floats, n: Floats) -> tuple[float, tuple[float, float]]:
    """k, with the best a and b for it: the last one for which the loss still falls, or 0 if that
    gains too little."""
    found = 0.0, joint_fit(z, n)
    straight, loss = found, log_loss(found[1], z, n)
    wanted = loss - CERTAIN / 2
    for k in BENDS.tolist():
        x = bent(z, k)
        joint = joint_fit(x, n)
        now = log_loss(joint, x, n)
        if not now < loss:
            break
        found, loss = (k, joint), now
    return found if loss < wanted else straight


def _points(counts: Counts, own: Own | None = None) -> tuple[Floats, Floats, float]:
    """Scores z / typical with typical = mean |z|, the rows of each class that have them, and
    typical. No z is larger than that of `own` with its rank. There is a quarter of a row more of
    each class with y z = -typical, half a mistake in all as by the prior of Jeffreys, which keeps a
    finite when nothing was wrong."""
    used = np.flatnonzero(counts[0] | counts[1])
    z, n = bin_centers()[used], counts[:, used] / UNIT
    both = n.sum(axis=0)
    if own is not None and len(used):
        z = own.limit(z, both)
    typical = float(np.abs(z) @ both / n.sum()) if len(used) else 0.0
    with np.errstate(over="ignore"):  # NumPy 1 warns of quotients 0 / 5e-324, which are 0
        z = np.append(z / (typical or 1.0), [1.0, -1.0])
    return z, np.column_stack([n, [0.25, 0.0], [0.0, 0.25]]), typical


def unit_of(score: Floats) -> float:
    """1, or a power of two near the largest of scores that are so large or so small that not all
    of them would have a bin of their own size."""
    largest = float(np.abs(score).max(initial=0.0))
    if FINEST <= largest <= COARSEST or not 0 < largest < np.inf:
        return 1.0
    return float(2.0 ** np.clip(np.frexp(largest)[1], -500, 500))


def fadings(first: int, last: int) -> int:
    """How often counts are halved after row `first` and up to row `last`, at most 63: at powers of
    two, and from 4,096 on at every eighth of the way between two of them."""
    powers = [1 << k for k in range(int(last).bit_length())]
    at = [p + j * p // 8 for p in powers for j in range(8 if p >= 4096 else 1)]
    return min(sum(first < t <= last for t in at), 63)


def _log_odds(rows: Floats) -> float:
    return float(np.log(rows[1] / rows[0]))


def joint_fit(z: Floats, n: Floats, *, shifted: bool = True) -> tuple[float, float]:
    """min over a > 0 and b of f = sum_k n_1k L(a z_k + b) + n_0k L(-a z_k - b) with
    L(t) = log(1 + exp(-t)), by Newton's method; b is 0 unless `shifted`. Each step is halved until
    f falls, as far as rounding lets f tell. The steps end when they no longer shrink. There are
    n_1k rows of class 1 and n_0k of class 0."""
    total = n.sum(axis=1) if shifted else np.ones(2)
    with np.errstate(over="ignore", invalid="ignore"):  # steps that overflow are not taken
        if not total[0] * (n[1] @ z) > total[1] * (n[0] @ z):  # the scores tell nothing
            return LEAST, _log_odds(total)
        a, b = _minimum(z, n, shifted=shifted)
    return max(a, LEAST), b


def _minimum(z: Floats, n: Floats, *, shifted: bool) -> tuple[float, float]:
    """a and b where the steps of `joint_fit` end."""
    at, last = np.array([1.0, 0.0]), np.inf
    both = n.sum(axis=0)
    now, t, e = _loss_at(at, z, n, both)
    for _ in range(200):
        step, fall = _newton(t, e, z, n, both, shifted=shifted)
        rounding = 1e-12 * now
        if not (fall >= rounding or 0 < fall < last / 4) or not np.isfinite(step).all():
            break
        while not (there := _loss_at(at + step, z, n, both))[0] <= now - fall / 10 + rounding:
            step, fall = step / 2, fall / 2
        at, last, (now, t, e) = at + step, fall, there
    return float(at[0]), float(at[1])


def log_loss(at: tuple[float, float], z: Floats, n: Floats) -> float:
    """f at this a and b."""
    return _loss_at(np.array(at), z, n, n.sum(axis=0))[0]


def _loss_at(at: Floats, z: Floats, n: Floats, both: Floats) -> tuple[float, Floats, Floats]:
    """f at this a and b, t = a z + b, and e = exp(-|t|): L(t) = max(-t, 0) + log(1 + e). `both` are
    the rows of both classes together."""
    a, b = at
    t = a * z + b
    size = np.abs(t)
    e = np.exp(-size)
    wrong = n[1] @ (size - t) + n[0] @ (size + t)  # size - t is 2 max(-t, 0)
    return float(wrong / 2 + both @ np.log1p(e)), t, e


def _newton(
    t: Floats, e: Floats, z: Floats, n: Floats, both: Floats, *, shifted: bool
) -> tuple[Floats, float]:
    """Newton's step -H^-1 g, and g' H^-1 g, about twice what f falls by; t and e are those of
    `_loss_at`. With z less its mean, weighted by the second derivative h of L, H is diagonal.
    Unless `shifted`, b stays."""
    q = 1 / (1 + e)
    other = e * q
    rest, h = n[1] - both * np.where(t >= 0, q, other), both * (other * q)
    total = max(h.sum(), TINY)
    mean = (h @ z) / total if shifted else 0.0
    apart = z - mean
    spread = max(h @ apart**2, TINY)
    down_a, down_b = rest @ apart, rest.sum() if shifted else 0.0
    step_a = down_a / spread
    step = np.array([step_a, down_b / total - mean * step_a])
    return step, float(down_a * step_a + down_b * down_b / total)
