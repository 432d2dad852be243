"""Blocks of chosen features, and the learning of rows over them.

Block k has P_k = I + c G_k, Sigma_k = P_k^-1. With m_k = Sigma_k s_k, s_k = sum b_i y_i x_i:
    primal  sigma/2 sum |w_k|^2 + 1/2 (sum |w_k|)^2 - w.z_past + C/q sum xi^q
    dual    sum b - (q-1)/(2C) sum b^2 - Omega*(z),  |z_k|^2 = a_k^2 = m_k' P_k m_k
(Tan et al. 2016, eq. 13-16; z_past comes from slots before and stays as it is).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
        m = np.empty(len(s))
        for _, at in self.parts():
            m[at] = self.sigma[at, : at.stop - at.start] @ s[at]
        return m

    def squares(self, m: Floats) -> Floats:
        """a_k^2 = m_k' P_k m_k"""
        return np.array(
            [
                m[at] @ m[at] + self.c * (m[at] @ self.gram[at, : at.stop - at.start] @ m[at])
                for _, at in self.parts()
            ]
        )


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
    """The rows over the chosen features: x is a SciPy CSR matrix by position."""

    x: Any
    y: Floats
    past: Floats  # s of slots before, by position
    groups: Groups
    C: float
    q: int
    sigma: float
    order: Callable[[], Longs]

    def __post_init__(self) -> None:
        g = self.groups
        self.csr = self.x.indptr.astype(np.int64), self.x.indices.astype(np.int32), self.x.data
        self.blocks = g.owner, g.first, g.sigma
        self.n = np.empty(self.x.nnz)
        kernel.norms(*self.csr, *self.blocks, self.n)
        self.upper = self.C if self.q == 1 else np.inf
        self.ridge = 0.0 if self.q == 1 else 1 / self.C

    def start(self) -> Solution:
        return Solution(np.zeros(self.x.shape[1]), np.zeros(len(self.y)), self.groups.share)

    def carried(self, beta: Floats) -> Floats:
        """m for these dual variables."""
        return self.groups.solve(self.past + self.x.T @ (beta * self.y))

    def metric(self, before: Solution, passes: int, tol: float) -> Solution:
        """(sum |w_k|)^2 = min over d of sum |w_k|^2 / d_k: ascent with d fixed for a pass, then
        the best d. Also for sigma = 0. The best pass by its primal."""
        best, beta = before, before.beta.copy()
        m, share, dual = self.carried(beta), before.share, before.dual
        for _ in range(passes):
            metric = 1 / (self.sigma + 1 / np.maximum(share, FLOOR))
            kernel.metric_pass(
                *self.csr, self.y, self.order(), *self.blocks, self.n, metric, self.ridge,
                self.upper, m, beta,
            )  # fmt: skip
            norms = metric * np.sqrt(self.groups.squares(m))
            share = norms / norms.sum() if norms.sum() > 0 else share
            found = self.judged(m, beta, metric, share)
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
                *self.csr, self.y, self.order(), *self.blocks, self.n, self.sigma, ridge,
                self.upper, exact, square, work, m, beta,
            )  # fmt: skip
            a = np.sqrt(self.groups.squares(m))
            t = np.empty(len(a))
            kernel.omega(a, self.sigma, t)
            ratio = np.divide(t, a, out=np.zeros(len(a)), where=a > 0)
            found = self.judged(m, beta, ratio, before.share)
            if found.near(tol):
                break
        return found

    def judged(self, m: Floats, beta: Floats, ratio: Floats, share: Floats) -> Solution:
        """Primal and dual for w_k = ratio_k z_k."""
        a = np.sqrt(self.groups.squares(m))
        mu = np.repeat(ratio, self.groups.sizes) * m
        xi = np.maximum(0, 1 - self.y * (self.x @ mu))
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
            - (self.q - 1) / (2 * self.C) * float(beta @ beta)
            - self.sigma / 2 * float(t @ t)
            - S**2 / 2
        )
        return Solution(mu, beta.copy(), share, primal, dual)
