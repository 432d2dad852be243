"""The rules by which columns are merged: weights, means or sums with their precisions."""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.covariance.forgetting import HalfLife
from cwtool.algorithms.merging.base import INC, NAT, SUM, Merging, Part, Rule, power
from cwtool.algorithms.merging.merged_columns import (
    ColumnsMerger,
    Flags,
    Moved,
    Moves,
    rounds_of,
)
from cwtool.data.rows import Floats

FADED = 1e-9  # relative difference up to which a precision has only been forgotten


class WeightsMerger(ColumnsMerger):
    """w = w_0 + c^(e - 1) sum (w_i - w_0).

    To average, U_0 = T_0 w_0 - debt_0 is the sum of the T_0 weight vectors of the base:
    U = U_0 + sum (T_i w_i - debt_i - U_0) over all parts, and debt = T w - U.
    """

    def converted(self, columns: Floats, unit: float) -> Floats:
        return columns if unit == 1 else columns * unit

    def step(self, base: Floats, c: Floats, moved: list[Moved], rule: Rule) -> Floats:
        found: Floats = base.copy()
        A = np.zeros(len(base))
        for rows, columns in moved:
            A[rows] += columns[:, 0] - base[rows, 0]
        found[:, 0] += power(c, rule.exponent) * A
        return found

    def rule(self, moves: Moves, rule: Rule) -> Floats:
        found, base = super().rule(moves, rule), moves.base
        if found.shape[1] == 1 or len(self.parts) == 1:
            return found
        before = self._rounds(self.base, len(base))
        T, U0 = before.copy(), before * base[:, 0] - base[:, 1]
        U = U0.copy()
        for part, (rows, columns) in zip(self.parts, moves.moved, strict=True):
            own, rounds = base.copy(), self._rounds(part, len(base))
            own[rows] = columns
            U += rounds * own[:, 0] - own[:, 1] - U0
            T += rounds - before
        found[:, 1] = T * found[:, 0] - U
        return found

    @staticmethod
    def _rounds(part: Part, n: int) -> Floats:
        """The rounds of the place of each row."""
        state = part.state
        by_place = rounds_of(part) if "rounds" in state.arrays else [state.numbers["rounds"]]
        return np.tile(np.array(by_place, dtype=np.float64), n // len(part.places))


class PrecisionMerger(ColumnsMerger):
    """Columns of which the second is the precision gained.

    With a half-life H, the precision of the base fades by the rows n_i of every part. Each part
    has p_i = p_0 2^(-n_i / H) + d_i, and gets p_0 2^(-sum n_i / H) + d_i.
    """

    def _fading(self, part: Part) -> float:
        """What the part has multiplied the precision of the base by."""
        half_life: HalfLife | None = getattr(self.algorithm, "half_life", None)
        if half_life is None:
            return 1.0
        step = half_life.step
        times = [int(one.state.numbers["visits"]) // step for one in (self.base, part)]
        return float(2.0 ** (-(times[1] - times[0]) * step / half_life.length))

    def differs(self, there: Floats, base: Floats, part: int) -> Flags:
        fading = self._fading(self.parts[part])
        if fading == 1 or len(self.parts) == 1:
            return super().differs(there, base, part)
        faded = fading * base[:, 1]
        found: Flags = there[:, 0].view(np.int64) != base[:, 0].view(np.int64)
        found |= np.abs(there[:, 1] - faded) > FADED * faded
        return found

    def brought(self, there: Floats, base: Floats, part: int) -> Floats:
        own, total = self._fading(self.parts[part]), self._total_fading()
        if own != total:
            there = there.copy()
            there[:, 1] += (total - own) * base[:, 1]
        return self.converted(there, self.parts[part].unit)

    def starting(self, base: Floats) -> Floats:
        total = self._total_fading()
        return self.converted(base if total == 1 else base * np.array([1, total]), self.base.unit)

    def _total_fading(self) -> float:
        return float(np.prod([self._fading(part) for part in self.parts]))


class DiagonalMerger(PrecisionMerger):
    """mu and the precision gained p, P = 1 + p. With delta_i = mu_i - mu_0 and d_i = p_i - p_0,
    D = sum d_i, A = sum delta_i, B = sum d_i delta_i, N = sum (P_i mu_i - P_0 mu_0):

    inc     mu = mu_0 + B / D  (D = 0: A / c)
    nat(e)  mu = (P_0 mu_0 + k N) / (P_0 + k D),  k = c^(e - 1)
    both    p = p_0 + D / c
    """

    def converted(self, columns: Floats, unit: float) -> Floats:
        return columns if unit == 1 else columns * np.array([unit, 1 / unit**2])

    def step(self, base: Floats, c: Floats, moved: list[Moved], rule: Rule) -> Floats:
        mu0, p0 = base[:, 0], base[:, 1]
        P0 = 1 + p0
        D, A, B, N = np.zeros((4, len(base)))
        for rows, columns in moved:
            mu, p = columns[:, 0], columns[:, 1]
            d, delta = p - p0[rows], mu - mu0[rows]
            D[rows] += d
            if rule == INC:
                A[rows] += delta
                B[rows] += d * delta
            else:
                N[rows] += (1 + p) * mu - P0[rows] * mu0[rows]
        if rule == INC:
            mean = mu0 + np.where(D == 0, A / c, B / np.where(D == 0, 1, D))
        else:
            k = power(c, rule.exponent)
            mean = (P0 * mu0 + k * N) / (P0 + k * D)
        return np.column_stack([mean, p0 + D / c])


class NaturalMerger(PrecisionMerger):
    """theta and the precision gained p; mu = theta / (1 + p). With A = sum (theta_i - theta_0),
    D = sum (p_i - p_0) and k = c^(e - 1): mu = (theta_0 + k A) / (1 + p_0 + k D), p = p_0 + D / c,
    theta = mu (1 + p)."""

    def converted(self, columns: Floats, unit: float) -> Floats:
        if unit == 1:
            return columns
        theta, p = columns.T
        mean, q = theta / (1 + p) * unit, p / unit**2
        return np.column_stack([mean * (1 + q), q])

    def step(self, base: Floats, c: Floats, moved: list[Moved], rule: Rule) -> Floats:
        theta0, p0 = base[:, 0], base[:, 1]
        A, D = np.zeros((2, len(base)))
        for rows, columns in moved:
            A[rows] += columns[:, 0] - theta0[rows]
            D[rows] += columns[:, 1] - p0[rows]
        k = power(c, rule.exponent)
        mean, p = (theta0 + k * A) / (1 + p0 + k * D), p0 + D / c
        return np.column_stack([mean * (1 + p), p])


STEPS = tuple(NAT[e] for e in ("1/4", "1/2", "3/4", "1"))
WEIGHTS = Merging(WeightsMerger, tuple(SUM.values()), SUM["0"], SUM["0"])
DIAGONAL = Merging(DiagonalMerger, (INC, *STEPS), INC, INC)
NATURAL = Merging(NaturalMerger, tuple(NAT.values()), NAT["0"], NAT["0"])
