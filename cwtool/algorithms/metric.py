"""The metric P = I + c X'X in three forms, each with its dual coordinate ascent.

whitened    rows L^-1 x, P = LL': dense rows, BLAS, blocks of rows overlapping with the ascent
covariance  Sigma = P^-1 itself and no square root: sparse rows
kernel      X Sigma X' over the rows of the first slot: fewer rows than features
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import ClassVar

import numpy as np

from cwtool.algorithms.slotted import rows_of
from cwtool.data.block import Block, Floats
from cwtool.parallel import ahead
from cwtool_ext import dual

ROWS = 256  # dense at a time
PARTS = 4  # of the rows, added up in this order whatever the number of threads
STORE = 1 << 30  # bytes of whitened rows that are kept for another epoch
SCATTERED = 6.0  # what a product costs that is added to a random place


def blas(n: int) -> float:
    """How much cheaper a product is in dense blocks of n columns (measured: 1.5, 3, 6 times for
    54, 123, 717 columns)."""
    return min(8.0, max(1.5, n / 40))


def add_gram(block: Block, gram: Floats, n: int, jobs: int) -> None:
    """gram += X'X on and below the diagonal."""
    nnz = block.nnz / max(1, block.n_rows)
    if SCATTERED * nnz**2 < n**2 / 2 / blas(n):
        dual.gram(*rows_of(block), gram)
        return

    def part(rows: range) -> Floats:
        total = np.zeros((n, n))
        dense = np.empty((min(ROWS, len(rows)), n))
        for start in range(rows.start, rows.stop, ROWS):
            some = dense[: min(ROWS, rows.stop - start)]
            dual.densify(*rows_of(block), start, some)
            dual.gram_dense(some, total)
        return total

    parts = PARTS if n <= 4000 else 1
    ends = np.linspace(0, block.n_rows, parts + 1).astype(int).tolist()
    ranges = [range(a, b) for a, b in pairwise(ends) if b > a]
    for total in ahead(part, ranges, jobs):
        gram[:n, :n] += total


class Metric(ABC):
    name: ClassVar[str]

    def __init__(self, gram: Floats, n: int, c: float, jobs: int) -> None:
        self.n, self.c, self.jobs = n, c, jobs
        precision = c * gram[:n, :n]
        precision[np.diag_indices(n)] += 1.0
        self.factor = cholesky(precision)

    def solve(self, b: Floats) -> Floats:
        """P^-1 b"""
        from scipy.linalg import cho_solve

        solved: Floats = cho_solve((self.factor, True), b)
        return solved

    def carried(self, block: Block, u: Floats) -> Floats:
        """P^-1 X'u"""
        total = np.zeros((self.n, 1))
        dual.add_rows(*rows_of(block), u, total, 0)
        return self.solve(total[:, 0])

    def late_mean(self, block: Block, mu: Floats, a: Floats) -> Floats:
        """The mean of mu over the second half of a single pass that ended in mu: row i of N took
        part in the share 2 (1 - i/N) of it, at most 1."""
        share = np.minimum(1.0, 2 * (1 - np.arange(block.n_rows) / max(1, block.n_rows)))
        return mu - self.carried(block, a * block.y * (1 - share))

    @abstractmethod
    def ascend(
        self, block: Block, mu: Floats, ridge: float, upper: float, epochs: int
    ) -> tuple[Floats, Floats, int]:
        """From mu, visit the rows `epochs` times; the new mu, the dual variables, the visits."""


def cholesky(precision: Floats) -> Floats:
    """L with LL' = P from the lower half of P. P >= I, but rounding may hide that when rows are
    longer than about 1e8: then the diagonal is raised by as little as helps."""
    from scipy.linalg import LinAlgError
    from scipy.linalg import cholesky as plain

    raised = 0.0
    while True:
        try:
            return np.ascontiguousarray(plain(precision, lower=True))
        except LinAlgError:
            raised = max(10 * raised, 1e-14 * float(precision.diagonal().max()))
            precision[np.diag_indices(len(precision))] += raised


def _converged(change: float, a: Floats) -> bool:
    return change <= 1e-12 * max(1.0, float(a.max(initial=0)))


def _repeat(visit: Callable[[], float], a: Floats, epochs: int) -> int:
    """Visits until nothing changes any more, at most so many."""
    done = 1
    while not _converged(visit(), a) and done < epochs:
        done += 1
    return done


class Whitened(Metric):
    name = "whitened"

    def ascend(
        self, block: Block, mu: Floats, ridge: float, upper: float, epochs: int
    ) -> tuple[Floats, Floats, int]:
        from scipy.linalg import solve_triangular

        w = self.factor.T @ mu  # |w|^2 = mu' P mu
        a = np.zeros(block.n_rows)
        keep = epochs > 1 and block.n_rows * self.n * 8 <= STORE
        kept: list[tuple[int, Floats, Floats]] = []

        def blocks() -> Iterator[tuple[int, Floats, Floats]]:
            if kept:
                yield from kept
                return
            for item in ahead(self._whitened(block), range(0, block.n_rows, ROWS), self.jobs):
                if keep:
                    kept.append(item)
                yield item

        def visit() -> float:
            return max(
                dual.whitened_pass(
                    x, block.y[s : s + len(x)], v, ridge, upper, w, a[s : s + len(x)]
                )
                for s, x, v in blocks()
            )

        done = _repeat(visit, a, epochs)
        return solve_triangular(self.factor, w, lower=True, trans="T"), a, done

    def _whitened(self, block: Block) -> Callable[[int], tuple[int, Floats, Floats]]:
        def rows_from(start: int) -> tuple[int, Floats, Floats]:
            x = np.empty((min(ROWS, block.n_rows - start), self.n))
            v = np.empty(len(x))
            dual.densify(*rows_of(block), start, x)
            dual.whiten(self.factor, x, v)
            return start, x, v

        return rows_from


class Covariance(Metric):
    name = "covariance"

    def ascend(
        self, block: Block, mu: Floats, ridge: float, upper: float, epochs: int
    ) -> tuple[Floats, Floats, int]:
        sigma = np.ascontiguousarray(self.solve(np.eye(self.n)))
        mu, a, v = mu.copy(), np.zeros(block.n_rows), np.empty(block.n_rows)
        dual.variances(*rows_of(block), sigma, v)

        def visit() -> float:
            return dual.covariance_pass(*rows_of(block), block.y, sigma, v, ridge, upper, mu, a)

        return mu, a, _repeat(visit, a, epochs)


class Kernel(Metric):
    """Sigma = I - c X'(I + c XX')^-1 X, so X Sigma X' = K (I + c K)^-1 with K = XX'."""

    name = "kernel"

    def __init__(self, gram: Floats, n: int, c: float, jobs: int) -> None:
        self.n, self.c, self.jobs = n, c, jobs

    def solve(self, b: Floats) -> Floats:
        return np.zeros(self.n)  # only for a first slot: nothing comes from before

    def carried(self, block: Block, u: Floats) -> Floats:
        from scipy.linalg import cho_solve

        pulled: Floats = self.x.T @ cho_solve(self.inner, u)
        return pulled

    def ascend(
        self, block: Block, mu: Floats, ridge: float, upper: float, epochs: int
    ) -> tuple[Floats, Floats, int]:
        from scipy.linalg import cho_factor, cho_solve
        from scipy.sparse import csr_matrix

        self.x = csr_matrix(
            (block.values * block.scale, block.indices, block.indptr), (block.n_rows, self.n)
        )
        k = (self.x @ self.x.T).toarray()
        self.inner = cho_factor(np.eye(block.n_rows) + self.c * k, lower=True)
        seen = np.ascontiguousarray(cho_solve(self.inner, k))
        f, a = np.zeros(block.n_rows), np.zeros(block.n_rows)
        done = _repeat(lambda: dual.kernel_pass(seen, block.y, ridge, upper, f, a), a, epochs)
        return self.carried(block, a * block.y), a, done


def cheapest(block: Block, n: int, epochs: int, first: bool) -> type[Metric]:
    """By multiplications: Cholesky and triangular solves in BLAS, Sigma x by hand, or N^3."""
    rows, nnz = block.n_rows, block.nnz / max(1, block.n_rows)
    cost = {
        Whitened: (n**3 / 3 + rows * n**2) / blas(n) + 2 * epochs * rows * n,
        Covariance: n**3 / blas(n) + rows * (nnz**2 / 2 + epochs * nnz * n),
    }
    if first:
        cost[Kernel] = rows**2 * nnz + 2 * rows**3 / blas(rows) + epochs * rows**2
    return min(cost, key=lambda kind: cost[kind])
