"""Blocks of chosen features, and the learning of rows over them.

Block k has P_k = I + c G_k, Sigma_k = P_k^-1. With m_k = Sigma_k s_k, s_k = sum b_i y_i x_i:
    primal  sigma/2 sum |w_k|^2 + 1/2 (sum |w_k|)^2 - w.z_past + C/q sum xi^q
    dual    sum b - (q-1)/(2C) sum b^2 - Omega*(z),  |z_k|^2 = a_k^2 = m_k' P_k m_k
(Tan et al. 2016, eq. 13-16; z_past comes from slots before and stays as it is).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from cwtool.algorithms.inverted import Matrix
from cwtool.algorithms.metric import cholesky
from cwtool.data.block import Floats, Ints, Longs
from cwtool_ext import sbcw as kernel

FLOOR = 1e-10  # of the share of a block


@dataclass
class Groups:
    """The blocks, one behind the other: row j of `gram` and `sigma` is that of position j within
    its own block."""

    c: float
    width: int
    sizes: list[int] = field(default_factory=list)
    gram: Floats = field(default_factory=lambda: np.empty(0))
    sigma: Floats = field(default_factory=lambda: np.empty(0))
    share: Floats = field(default_factory=lambda: np.empty(0))  # d, sums to 1

    def __post_init__(self) -> None:
        if not self.sizes:
            self.gram, self.sigma = np.zeros((2, 0, self.width))
            self.share = np.empty(0)

    @property
    def first(self) -> Longs:
        return np.cumsum([0, *self.sizes], dtype=np.int64)

    @property
    def owner(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)

    def parts(self) -> Iterator[tuple[int, slice]]:
        """Each block and its positions."""
        ends = self.first.tolist()
        yield from ((k, slice(ends[k], ends[k + 1])) for k in range(len(self.sizes)))

    def add(self, gram: Floats) -> None:
        """A new block; it takes an equal share from the others."""
        n = len(gram)
        self.sizes.append(n)
        padding = np.zeros((n, self.width))
        self.gram, self.sigma = (np.vstack([a, padding]) for a in (self.gram, self.sigma))
        self.grow(len(self.sizes) - 1, gram)
        each = 1 / len(self.sizes)
        self.share = np.append(self.share * (1 - each), each)

    def grow(self, k: int, gram: Floats) -> None:
        """G_k += gram"""
        from scipy.linalg import cho_solve

        start, n = int(self.first[k]), self.sizes[k]
        total = self.gram[start : start + n, :n]
        total += gram
        inverse = cho_solve((cholesky(np.eye(n) + self.c * total), True), np.eye(n))
        self.sigma[start : start + n, :n] = (inverse + inverse.T) / 2

    def solve(self, s: Floats) -> Floats:
        """m = Sigma s"""
        return np.asarray((self.sigma * self._beside(s)).sum(axis=1))

    def squares(self, m: Floats) -> Floats:
        """a_k^2 = m_k' P_k m_k"""
        if not self.sizes:
            return np.empty(0)
        each = m * (m + self.c * (self.gram * self._beside(m)).sum(axis=1))
        total: Floats = np.add.reduceat(each, self.first[:-1])
        return total

    def _beside(self, values: Floats) -> Floats:
        """For each position the values of its block; what is beyond meets zeros."""
        at = self.first[self.owner][:, None] + np.arange(self.width)
        return np.asarray(np.append(values, np.zeros(self.width))[at])


@dataclass
class Solution:
    mu: Floats
    beta: Floats
    share: Floats
    primal: float = np.inf
    dual: float = -np.inf

    def near(self, tol: float) -> bool:
        return self.primal - self.dual <= tol * abs(self.primal)


@dataclass
class Rows:
    """The rows over the chosen features, by position."""

    y: Floats
    groups: Groups
    C: float
    q: int
    sigma: float
    order: Callable[[], Longs]
    x: Matrix
    n: Floats  # x_i' Sigma_k x_i, at the first entry of row i in block k
    past: Floats  # s of slots before, by position

    @classmethod
    def empty(
        cls, y: Floats, groups: Groups, C: float, q: int, sigma: float, order: Callable[[], Longs]
    ) -> Rows:
        """Over no features yet."""
        nothing = np.empty(0)
        return cls(y, groups, C, q, sigma, order, Matrix.empty(len(y), 0), nothing, nothing)

    def widened(self, columns: Matrix, new: Longs, past: Floats) -> Rows:
        """Over new features as well, which `groups` has as blocks already."""
        position = len(self.past)
        x, n = self.x.widened(self.n, columns, new, position)
        rows = replace(self, x=x, n=n, past=np.append(self.past, past))
        kernel.norms(*x, *rows.blocks, position, n)
        return rows

    def __post_init__(self) -> None:
        self.blocks = self.groups.owner, self.groups.first, self.groups.sigma
        self.upper = self.C if self.q == 1 else np.inf
        self.ridge = 0.0 if self.q == 1 else 1 / self.C

    def start(self) -> Solution:
        return Solution(np.zeros(len(self.past)), np.zeros(len(self.y)), self.groups.share)

    def carried(self, beta: Floats) -> Floats:
        """m for these dual variables."""
        return self.groups.solve(self.past + self.x.sums(beta * self.y, len(self.past)))

    def metric(self, before: Solution, passes: int, tol: float) -> Solution:
        """(sum |w_k|)^2 = min over d of sum |w_k|^2 / d_k: ascent with d fixed for a pass, then
        the best d. Also for sigma = 0. The best pass by its primal."""
        best, beta = before, before.beta.copy()
        m, share, dual = self.carried(beta), before.share, before.dual
        for _ in range(passes):
            metric = 1 / (self.sigma + 1 / np.maximum(share, FLOOR))
            kernel.metric_pass(
                *self.x, self.y, self.order(), *self.blocks, self.n, metric, self.ridge,
                self.upper, m, beta,
            )  # fmt: skip
            a = np.sqrt(self.groups.squares(m))
            norms = metric * a
            share = norms / norms.sum() if norms.sum() > 0 else share
            found = self.judged(m, a, beta, metric, share)
            dual = max(dual, found.dual)
            if found.primal < best.primal:
                best = found
            best.dual = dual
            if best.near(tol):
                break
        return best

    def conjugate(
        self, before: Solution, passes: int, tol: float, *, exact: bool, ridge: float
    ) -> Solution:
        """Ascent in the dual itself, w = grad Omega*(z); share is kept for the other way."""
        beta = before.beta.copy()
        m = self.carried(beta)
        work = np.empty((5, max(1, len(self.groups.sizes))))
        found = before
        for _ in range(passes):
            square = self.groups.squares(m)
            kernel.conjugate_pass(
                *self.x, self.y, self.order(), *self.blocks, self.n, self.sigma, ridge,
                self.upper, exact, square, work, m, beta,
            )  # fmt: skip
            a = np.sqrt(self.groups.squares(m))
            t = np.empty(len(a))
            kernel.omega(a, self.sigma, t)
            ratio = np.divide(t, a, out=np.zeros(len(a)), where=a > 0)
            found = self.judged(m, a, beta, ratio, before.share)
            if found.near(tol):
                break
        return found

    def judged(self, m: Floats, a: Floats, beta: Floats, ratio: Floats, share: Floats) -> Solution:
        """Primal and dual for w_k = ratio_k z_k, a_k = |z_k|."""
        mu = np.repeat(ratio, self.groups.sizes) * m
        xi = np.maximum(0, 1 - self.y * self.x.products(mu))
        norms = ratio * a
        primal = (
            self.sigma / 2 * float(norms @ norms)
            + float(norms.sum()) ** 2 / 2
            - float(mu @ self.past)
            + self.C / self.q * float((xi**self.q).sum())
        )
        t = np.empty(len(a))
        S = kernel.omega(a, self.sigma, t)
        dual = (
            float(beta.sum())
            - (self.q - 1) / (2 * self.C) * float(np.square(beta).sum())
            - self.sigma / 2 * float(t @ t)
            - S**2 / 2
        )
        return Solution(mu, beta.copy(), share, primal, dual)
