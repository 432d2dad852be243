"""The metric P = I + c X'HX, H the weights of the rows, in three forms, each with its dual
coordinate ascent.

whitened    rows L^-1 x with P = LL': for dense rows; BLAS prepares rows ahead of the ascent
covariance  Sigma = P^-1 itself and no square root: for sparse rows
kernel      X Sigma X' over the rows: for fewer rows than features (row_space.py)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import ClassVar

import numpy as np

from cwtool.ahead import ahead
from cwtool.algorithms.batch.dual_ascent import Ascended, Ascents, Start
from cwtool.algorithms.batch.gram import ROWS, blas
from cwtool.algorithms.batch.learner import Bounds
from cwtool.data.rows import Floats, SlotRows
from cwtool_ext import dual, fortran

STORE = 1 << 30  # bytes of whitened rows that are kept for another pass
LARGEST = 1e290  # numbers of a precision matrix: of larger ones the factor may overflow


class Metric(ABC):
    """P over the first n slots of `gram` = X'HX, factored."""

    name: ClassVar[str]

    def __init__(self, gram: Floats, n: int, c: float, jobs: int) -> None:
        self.n, self.c, self.jobs = n, c, jobs
        precision = c * gram[:n, :n]
        precision[np.diag_indices(n)] += 1.0
        self.factor = cholesky(precision)

    @classmethod
    def of(cls, factor: Floats, jobs: int) -> Metric:
        """The metric with this factor."""
        found = cls.__new__(cls)
        found.n, found.jobs, found.factor = len(factor), jobs, factor
        return found

    @property
    def prepared(self) -> Floats:
        """What visits of rows need of P: its factor, or its inverse."""
        return self.factor

    @classmethod
    def having(cls, prepared: Floats) -> Metric:
        """A metric for visits of rows alone, with what another one has `prepared`."""
        return cls.of(prepared, 1)

    def solve(self, b: Floats) -> Floats:
        """The solution of P x = b."""
        solved: Floats = fortran.cho_solve(self.factor, b)
        return solved

    def carried(self, rows: SlotRows, u: Floats) -> Floats:
        """P^-1 X'u, the mean that belongs to the dual variables u."""
        total = np.zeros((self.n, 1))
        dual.add_rows(rows.csr, u, total, 0)
        return self.solve(total[:, 0])

    def late_mean(self, rows: SlotRows, y: Floats, mu: Floats, a: Floats) -> Floats:
        """The mean of mu over the second half of a single pass that ended in mu: row i of N, of
        sign y_i, took part in the share 2 (1 - i/N) of that half, at most 1."""
        share = np.minimum(1.0, 2 * (1 - np.arange(rows.n_rows) / max(1, rows.n_rows)))
        return mu - self.carried(rows, a * y * (1 - share))

    @abstractmethod
    def ascend(
        self, rows: SlotRows, starts: list[Start], bounds: Bounds, passes: int
    ) -> list[Ascended]:
        """Visit the rows from each of the starts, at most `passes` times each. What depends on the
        rows alone is done once for all starts."""


def cholesky(precision: Floats, most: float = np.inf) -> Floats:
    """L with LL' = P from the lower half of P. P >= I, but rounding may hide that when rows are
    longer than about 1e8: then the diagonal is raised, by as little as helps. If `most` times the
    largest number of P does not help, ArithmeticError is raised."""
    np.clip(precision, -LARGEST, LARGEST, out=precision)
    raised, largest = 0.0, float(np.abs(precision).max(initial=1.0))
    while raised <= most * largest:
        # the lower half in the order of C is the upper half in the order of Fortran
        upper, failed = fortran.lapack().dpotrf(precision.T, lower=0, clean=1)
        if not failed:
            lower: Floats = upper.T
            return lower
        raised = max(10 * raised, 1e-14 * float(np.abs(precision).max()))
        precision[np.diag_indices(len(precision))] += raised
    raise ArithmeticError("a precision matrix is not positive definite")


class Whitened(Metric):
    name = "whitened"

    def ascend(
        self, rows: SlotRows, starts: list[Start], bounds: Bounds, passes: int
    ) -> list[Ascended]:
        from scipy.linalg import solve_triangular

        from cwtool_ext import dual_dense

        # w = L' mu, so that |w|^2 = mu' P mu
        under_way = Ascents.of(starts, [self.factor.T @ start.mu for start in starts])
        keep = passes > 1 and rows.n_rows * self.n * 8 <= STORE
        kept: list[tuple[int, Floats, Floats]] = []

        def portions() -> Iterator[tuple[int, Floats, Floats]]:
            if kept:
                yield from kept
                return
            for item in ahead(self.whitened(rows), range(0, rows.n_rows, ROWS), self.jobs):
                if keep:
                    kept.append(item)
                yield item

        def one_pass(now: Ascents) -> Floats:
            change = np.zeros(len(now.y))
            for s, x, v in portions():
                ridge, upper = (bound[s : s + len(x)] for bound in bounds)
                dual_dense.whitened_pass(x, now.y, v, ridge, upper, s, now.carried, now.a, change)
            return change

        return [
            found._replace(mu=solve_triangular(self.factor, found.mu, lower=True, trans="T"))
            for found in under_way.repeat(one_pass, passes)
        ]

    def whitened(self, rows: SlotRows) -> Callable[[int], tuple[int, Floats, Floats]]:
        """A function that whitens the next ROWS rows from a row number on: the row number, the
        whitened rows, their squared lengths."""
        from cwtool_ext import dual_dense

        csr = rows.csr  # made here, before several threads ask for it

        def rows_from(start: int) -> tuple[int, Floats, Floats]:
            x = np.empty((min(ROWS, rows.n_rows - start), self.n))
            v = np.empty(len(x))
            dual_dense.densify(csr, np.arange(start, start + len(x)), x)
            dual_dense.whiten(self.factor, x, v)
            return start, x, v

        return rows_from


class Covariance(Metric):
    name = "covariance"

    @cached_property
    def prepared(self) -> Floats:
        return np.ascontiguousarray(self.solve(np.eye(self.n)))

    @classmethod
    def having(cls, prepared: Floats) -> Metric:
        found = cls.__new__(cls)
        found.n, found.jobs, found.prepared = len(prepared), 1, prepared
        return found

    def ascend(
        self, rows: SlotRows, starts: list[Start], bounds: Bounds, passes: int
    ) -> list[Ascended]:
        sigma = self.prepared
        under_way = Ascents.of(starts, [start.mu for start in starts])
        v = np.empty(rows.n_rows)
        dual.variances(rows.csr, sigma, v)

        def one_pass(now: Ascents) -> Floats:
            each = zip(now.y, now.carried, now.a, strict=True)
            return np.array(
                [dual.covariance_pass(rows.csr, y, sigma, v, *bounds, mu, a) for y, mu, a in each]
            )

        return under_way.repeat(one_pass, passes)


class Kernel(Metric):
    """By the rows of a first batch: see row_space.py."""

    name = "kernel"

    def __init__(self, gram: Floats, n: int, c: float, jobs: int) -> None:
        self.n, self.c, self.jobs = n, c, jobs

    def solve(self, b: Floats) -> Floats:
        return np.zeros(self.n)  # used for a first batch only, where b is 0

    def carried(self, rows: SlotRows, u: Floats) -> Floats:
        return self.inner.carried(rows, u)

    def ascend(
        self, rows: SlotRows, starts: list[Start], bounds: Bounds, passes: int
    ) -> list[Ascended]:
        from cwtool.algorithms.batch.row_space import RowSpace, scaled

        self.inner = RowSpace(scaled(rows), self.n, self.c, rows.order)
        return self.inner.ascend(rows, starts, bounds, passes)


def cheapest_visit(rows: SlotRows, n: int, passes: int) -> type[Metric]:
    """The form of the metric with the fewest multiplications for each visit of rows like these,
    once the matrices that the form needs are computed."""
    nnz = rows.nnz / max(1, rows.n_rows)
    dense = n**2 / blas(n) + 2 * passes * n
    return Whitened if dense < nnz**2 / 2 + passes * nnz * n else Covariance


def cheapest(rows: SlotRows, n: int, passes: int, first: bool) -> type[Metric]:
    """The form with the fewest multiplications for n features, those in BLAS counted less: a
    Cholesky factor and triangular solves, Sigma x in plain loops, or the cube of the row count."""
    count, nnz = rows.n_rows, rows.nnz / max(1, rows.n_rows)
    cost = {
        Whitened: (n**3 / 3 + count * n**2) / blas(n) + 2 * passes * count * n,
        Covariance: n**3 / blas(n) + count * (nnz**2 / 2 + passes * nnz * n),
    }
    if first:
        cost[Kernel] = count**2 * nnz + 2 * count**3 / blas(count) + passes * count**2
    return min(cost, key=lambda kind: cost[kind])
