"""The learning of rows over groups of chosen features, by dual coordinate ascent.

With m_k = Sigma_k s_k, s_k = sum b_i y_i x_i over group k:
    primal  sigma/2 sum |w_k|^2 + 1/2 (sum |w_k|)^2 - w.z_past + C/q sum h xi^q
    dual    sum b - (q-1)/(2C) sum b^2/h - Omega*(z),  |z_k|^2 = a_k^2 = m_k' P_k m_k
(Tan et al. 2016, eq. 13-16; z_past comes from earlier batches and stays as it is; h are the weights
of the rows).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.batch.learner import Bounds
from cwtool.algorithms.batch.rows_by_column import Matrix, gram_of_rows
from cwtool.algorithms.selection.final_weights import Errors
from cwtool.algorithms.selection.groups import Groups
from cwtool.data.rows import Floats, Longs
from cwtool.order import permutation, seeded
from cwtool.records import dataclass
from cwtool_ext import conjugate, sbcw

FLOOR = 1e-10  # smallest share of a group, so that none is lost for good
FURTHER = 30  # passes after a new group, at most
SAMPLE = 8192  # rows with an error that second derivatives are taken from, at most


@dataclass
class Solution:
    """Weights mu by position, dual variables beta by row, shares by group, and the objectives."""

    mu: Floats
    beta: Floats
    share: Floats
    primal: float = np.inf
    dual: float = -np.inf

    def near(self, tol: float) -> bool:
        """Whether the duality gap is at most this share of the primal objective."""
        return self.primal - self.dual <= tol * abs(self.primal)

    @property
    def gap(self) -> float:
        """The duality gap relative to the primal objective."""
        return (self.primal - self.dual) / abs(self.primal) if self.primal else 0.0


@dataclass
class Subproblem:
    """Rows over the chosen features, by position."""

    y: Floats
    groups: Groups
    C: float
    q: int
    sigma: float
    seeds: Callable[[], Sequence[int]]  # of the order of the rows in the next pass
    x: Matrix
    n: Floats  # x_i' Sigma_k x_i, at the first entry of row i in group k
    past: Floats  # s of earlier batches, by position
    weight: Floats | None = None  # of each row; None: all 1
    goes_back: ClassVar[bool] = True  # whether a solution may be that of an earlier pass

    @classmethod
    def empty(
        cls, y: Floats, groups: Groups, C: float, q: int, sigma: float,
        seeds: Callable[[], Sequence[int]], weight: Floats | None = None, **more: Any,
    ) -> Subproblem:  # fmt: skip
        """The rows before any feature was chosen."""
        x, none = Matrix.empty(len(y), 0), np.empty(0)
        return cls(y, groups, C, q, sigma, seeds, x, none, none, weight, **more)

    def widened(self, columns: Any, new: Longs) -> Subproblem:
        """The rows over the columns `new` as well, which `groups` already has as groups; without
        what earlier batches say of them."""
        position, every = len(self.past), np.arange(len(new))
        x, n = self.x.widened(self.n, columns.x.take(new), every, position)
        wide = replace(self, x=x, n=n, past=np.append(self.past, np.zeros(len(new))))
        sbcw.norms(x.csr, *wide.covariance, position, n)
        return wide

    def joined(self, wide: Subproblem, groups: Groups, new: Longs, past: Floats) -> Subproblem:
        """This problem over the rows of `wide`, which are over the columns `new` as well."""
        return replace(self, groups=groups, x=wide.x, n=wide.n, past=np.append(self.past, past))

    def __post_init__(self) -> None:
        self.covariance = self.groups.owner, self.groups.first, self.groups.sigma
        loss = "hinge" if self.q == 1 else "squared-hinge"
        self.bounds = Bounds.of(self.C, loss, len(self.y), self.weight)

    def beside(self, columns: Any, some: Longs) -> Subproblem:
        """A sample of the rows with a C for it, over these columns as well, for `errors`."""
        every, rows = np.arange(len(some)), sample_of(len(self.y), SAMPLE)
        x = self.x.widened(self.n, columns.x.take(some), every, len(self.past))[0].take(rows)
        weight = None if self.weight is None else self.weight[rows]
        C = self.C * len(self.y) / max(1, len(rows))
        return replace(self, y=self.y[rows], C=C, x=x, n=np.empty(0), weight=weight)

    def _order(self) -> Longs:
        return seeded(len(self.y), self.seeds())

    def start(self, before: Solution | None = None) -> Solution:
        """The dual variables before, or all at 0."""
        beta = np.zeros(len(self.y)) if before is None else before.beta
        return Solution(np.zeros(len(self.past)), beta, self.groups.share)

    def products(self, columns: Any, beta: Floats) -> Floats:
        """sum b_i y_i x_i over the rows, for all columns of the batch."""
        found: Floats = columns.x.products(beta * self.y)
        return found

    def bend(self, mu: Floats) -> tuple[Floats, Floats]:
        """X'HX over the rows with an error at these weights, or over a sample of them, and the sum
        of h_i xi_i y_i x_i."""
        return bend_of(self.x, pulls(self.x, self.y, self.weight, mu), len(mu), SAMPLE)

    def moments(self, columns: Any, mu: Floats, step: Floats) -> tuple[Floats, Floats]:
        """The sums of C h_i xi_i y_i x_i and of h_i x_i^2 over the rows with an error at these
        weights, for all columns of the batch; xi is the error after this step."""
        h, pull = pulls(self.x, self.y, self.weight, mu, step)
        found: tuple[Floats, Floats] = columns.x.moments(self.C * pull, h)
        return found

    def across(self, columns: Any, chosen: Longs, some: Longs, mu: Floats) -> tuple[Floats, Floats]:
        """The products of the columns `some` with those chosen, and with themselves, over the same
        rows as `bend`."""
        h = sampled(pulls(self.x, self.y, self.weight, mu)[0], SAMPLE)
        found: tuple[Floats, Floats] = columns.across(self.x, chosen, some, h)
        return found

    def carried(self, beta: Floats) -> Floats:
        """m for these dual variables."""
        return self.groups.solve(self.past + self.x.sums(beta * self.y, len(self.past)))

    def metric(self, before: Solution, passes: int, tol: float, enough: float = np.inf) -> Solution:
        """(sum |w_k|)^2 = min over d of sum |w_k|^2 / d_k: ascent with d fixed for a pass, then
        the best d. It also works for sigma = 0. After `passes` up to FURTHER passes follow, until
        the relative gap is at most `enough`. Returns the pass with the lowest primal."""
        best, beta = before, before.beta.copy()
        m, share, dual = self.carried(beta), before.share, before.dual
        most = passes if enough == np.inf else passes + FURTHER
        for done in range(1, most + 1):
            metric = self.metric_of(share)
            self.metric_pass(metric, m, beta)
            a = np.sqrt(self.groups.squares(m))
            norms = metric * a
            share = norms / norms.sum() if norms.sum() > 0 else share
            found = self.judged(m, a, beta, metric, share)
            dual = max(dual, found.dual)
            if found.primal < best.primal or not self.goes_back:
                best = found
            best.dual = dual
            if best.near(tol) or (done >= passes and best.near(enough)):
                break
        return best

    def metric_of(self, share: Floats) -> Floats:
        """D_k with 1 / D_k = sigma + 1 / d_k, for the share d_k of each group."""
        return np.asarray(1 / (self.sigma + 1 / np.maximum(share, FLOOR)))

    def metric_pass(self, metric: Floats, m: Floats, beta: Floats) -> None:
        """Move m and the dual variables by a pass over the rows with the metric of each group."""
        sbcw.metric_pass(
            self.x.csr, self.y, self._order(), *self.covariance, self.n, metric, *self.bounds,
            m, beta,
        )  # fmt: skip

    def conjugate(
        self, before: Solution, passes: int, tol: float, *, exact: bool, ridge: Floats
    ) -> Solution:
        """Ascent in the dual itself, w = grad Omega*(z). The shares stay as they are."""
        beta = before.beta.copy()
        m = self.carried(beta)
        work = np.empty((5, max(1, len(self.groups.sizes))))
        found = before
        for _ in range(passes):
            square = self.groups.squares(m)
            conjugate.conjugate_pass(
                self.x.csr, self.y, self._order(), *self.covariance, self.n, self.sigma, ridge,
                self.bounds.upper, exact, square, work, m, beta,
            )  # fmt: skip
            a = np.sqrt(self.groups.squares(m))
            t = np.empty(len(a))
            conjugate.omega(a, self.sigma, t)
            ratio = np.divide(t, a, out=np.zeros(len(a)), where=a > 0)
            found = self.judged(m, a, beta, ratio, before.share)
            if found.near(tol):
                break
        return found

    def judged(self, m: Floats, a: Floats, beta: Floats, ratio: Floats, share: Floats) -> Solution:
        """Primal and dual objective for w_k = ratio_k z_k, a_k = |z_k|."""
        mu = np.repeat(ratio, self.groups.sizes) * m
        loss, linear, square = self.sums(mu, beta)
        norms = ratio * a
        total = float(norms.sum())
        primal = (
            self.sigma / 2 * float(norms @ norms)
            + total * total / 2
            - float(mu @ self.past)
            + self.C / self.q * loss
        )
        t = np.empty(len(a))
        S = conjugate.omega(a, self.sigma, t)
        dual = (
            linear
            - (self.q - 1) / (2 * self.C) * square
            - self.sigma / 2 * float(t @ t)
            - S * S / 2
        )
        return Solution(mu, beta.copy(), share, primal, dual)

    def errors(self, mu: Floats) -> Errors:
        """The rows with an error at these weights."""
        return Errors.over(self.x, self.y, self.weight, mu)

    def sums(self, mu: Floats, beta: Floats) -> tuple[float, float, float]:
        """The sums over the rows of h xi^q, b and b^2/h."""
        return sums_over(self.x, self.y, self.q, self.weight, mu, beta)


def pulls(
    x: Matrix, y: Floats, weight: Floats | None, mu: Floats, step: Floats | None = None
) -> tuple[Floats, Floats]:
    """For each of the rows x with the signs y: its weight h if it has an error xi at the weights
    mu, else 0, and h xi y, with the xi after this step."""
    left = 1 - y * x.products(mu)
    h = np.where(left > 0, 1.0 if weight is None else weight, 0.0)
    if step is not None:
        left -= y * x.products(step)
    return h, h * left * y


def bend_of(
    x: Matrix, pulled: tuple[Floats, Floats], width: int, most: int
) -> tuple[Floats, Floats]:
    """X'HX of a sample of the rows, and X'p, with the `pulls` (h, p) of all rows."""
    h, pull = pulled
    return gram_of_rows(x, sampled(h, most), width), x.sums(pull, width)


def sample_of(n: int, most: int) -> Longs:
    """The numbers of `most` of n rows at random, or of all if there are no more."""
    return np.arange(n) if n <= most else np.sort(permutation(n, 0)[:most])


def sampled(h: Floats, most: int) -> Floats:
    """The weights h of about `most` of the rows that have one, and 0 for the others: rows of large
    weights, and a random sample of the rest, whose weights are multiplied so that they stand for
    all of these."""
    rows = np.flatnonzero(h)
    if len(rows) <= most:
        return h
    heavy = h > 2 * h.sum() / most
    rows = np.flatnonzero((h > 0) & ~heavy)
    some, found = rows[permutation(len(rows), 0)[:most]], np.where(heavy, h, 0.0)
    found[some] = h[some] * (h[rows].sum() / h[some].sum())
    return found


def sums_over(
    x: Matrix, y: Floats, q: int, weight: Floats | None, mu: Floats, beta: Floats
) -> tuple[float, float, float]:
    """The sums over the rows x with the signs y of h xi^q, b and b^2/h."""
    loss = np.maximum(0, 1 - y * x.products(mu)) ** q
    square = np.square(beta)
    if weight is not None:
        loss, square = weight * loss, square / weight
    return float(loss.sum()), float(beta.sum()), float(square.sum())
