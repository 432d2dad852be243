"""The mean and the precision of bcw as the optimum and the curvature of the loss.

A batch is learned as  min over mu of  1/2 (mu - mu0)' P0 (mu - mu0) + C sum_i h_i l(xi_i)  with the
mean mu0 and the precision P0 of the batches before it (0 and I at first); l is the hinge loss with
a rounded corner, or the squared hinge loss (cwtool_ext/hinge.pyx). Then P = P0 + C X'HX over the
rows X where the loss is curved at the optimum, so that P is the second derivative of what was
minimized. The first batch is a support vector machine; later ones see the losses of all earlier
rows by their second-order expansion.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from cwtool.algorithms.batch import gram, metric
from cwtool.algorithms.batch.convex import Convex, minimize
from cwtool.algorithms.batch.learner import LEAST, MOST, Bounds, squared_norms
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool_ext import fortran, hinge
from cwtool_ext.dual_descent import DualDescent

TOLERANCE = 1e-3  # of the objective, relative
ROUGH = 3e-2  # the same for a sample of the rows, whose optimum is where the next search begins
# Rows of the sample: an eighth of all, but at least and at most so many for each feature. The more
# there are, the fewer visits of all rows are needed after it.
EIGHTH, LEAST_EACH, MOST_EACH = 8, 4, 64
FEWEST = 500  # rows of the sample
# mean of C h |x|^2 from which on a sample is fitted too closely, and up to which dual coordinate
# descent comes near in one pass, and in two
LOW, ONCE, TWICE = 0.05, 0.5, 10
FEW = 4  # times the rows of a sample: fewer rows are visited without a sample
STEPS = 4  # with a sample, at most
TELLING = 1000  # rows that tell whether all are about equally long
ROUNDING = 1e-6  # of the largest number of a precision matrix, with a wide margin
ENDED = 0.1  # share of the slope of a step that may be left at its end, if it has to be shortened


def symmetric(c: float, gram: Floats, v: Floats) -> Floats:
    """c G v of a matrix G that is given on and below the diagonal."""
    # the lower half in the order of C is the upper half in the order of Fortran
    found: Floats = fortran.blas().dsymv(c, gram.T, v, lower=0)
    return found


class Gaussian(NamedTuple):
    """mu0, and G0 on and below the diagonal, of P0 = I + C G0; None: G0 = 0."""

    mean: Floats
    gram: Floats | None
    C: float

    def times(self, v: Floats) -> Floats:
        """P0 v"""
        found: Floats = v.copy()
        if self.gram is not None and len(v):  # BLAS refuses vectors without numbers
            found += symmetric(self.C, self.gram, v)
        return found

    def check(self) -> None:
        """Raise ArithmeticError if P0 is none that rows have made: the search for an optimum, which
        there need not be, would take very many steps."""
        if self.gram is not None:
            precision = self.C * self.gram
            precision.flat[:: len(precision) + 1] += 1.0
            metric.cholesky(precision, ROUNDING)


class Loss(NamedTuple):
    """C h l of each row; the weights h are those of the rows."""

    C: float
    squared: bool

    def cost(self, rows: SlotRows) -> Floats:
        """C h of each row."""
        h = 1.0 if rows.weight is None else rows.weight
        return np.broadcast_to(np.clip(self.C * h, LEAST, MOST), rows.n_rows)


def loss_of(params: Any) -> Loss:
    """The loss that the parameters name."""
    return Loss(params.C, params.loss == "squared-hinge")


class ByFeatures(Convex):
    """The objective as a function of mu, with a matrix over pairs of features."""

    def __init__(self, prior: Gaussian, loss: Loss) -> None:
        self.prior, self.loss = prior, loss
        self.n, self.times = len(prior.mean), 1.0  # how often the loss of a row counts
        self.precision = np.empty((self.n, self.n))

    @abstractmethod
    def losses(self, mu: Floats) -> tuple[float, Floats]:
        """The sum of the losses, and minus its derivative."""

    @abstractmethod
    def gram_here(self) -> Floats:
        """X'HX over the rows that are curved where the losses were last computed, on and below the
        diagonal."""

    def look(self, x: Floats) -> float:
        away = x - self.prior.mean
        self.point, self.back = x, self.prior.times(away)
        loss, pulled = self.losses(x)
        self.gradient = self.back - pulled
        return float(away @ self.back) / 2 + loss

    def bend(self) -> None:
        self._fill(self.gram_here())
        if self.n and self.precision.diagonal().max() <= metric.LARGEST:  # no number is larger
            # in place; the lower half in the order of C is the upper half in the order of Fortran
            factored = fortran.lapack().dpotrf
            upper, failed = factored(self.precision.T, lower=0, clean=0, overwrite_a=1)
            self.factor = upper.T
            if not failed:
                return
            self.prior.check()
            self._fill(self.gram_here())
        self.factor = metric.cholesky(self.precision.copy())

    def _fill(self, gram: Floats) -> None:
        """P on and below the diagonal."""
        np.multiply(gram, self.loss.C * self.times, out=self.precision)
        if self.prior.gram is not None:
            self.precision += self.prior.C * self.prior.gram
        self.precision.flat[:: self.n + 1] += 1.0

    def solve(self, v: Floats) -> Floats:
        """P^-1 v, by the factor."""
        if self.n == 0:  # LAPACK refuses systems without unknowns
            return v
        # in the order of Fortran, without a copy, the factor is an upper triangle
        found: Floats = fortran.lapack().dpotrs(self.factor.T, v, lower=0)[0]
        return found

    def direction(self) -> Floats:
        return self.solve(-self.gradient)

    def slope(self, d: Floats) -> float:
        return float(self.gradient @ d)


class RowsInMemory(ByFeatures):
    """The losses of rows in memory, or of a sample of them, in which the loss of a row counts as
    often as there are rows for it."""

    def __init__(self, prior: Gaussian, loss: Loss, rows: SlotRows, y: Floats, jobs: int) -> None:
        super().__init__(prior, loss)
        self.rows, self.y, self.cost = rows, y, loss.cost(rows)
        # if C h has been limited, the matrix does not tell how the pull changes
        h = np.ones(1) if rows.weight is None else rows.weight
        self.exact = np.array_equal(np.clip(loss.C * h, LEAST, MOST), loss.C * h)
        # the part of the loss that each row lies in, now and where the matrix was computed; which
        # rows are in the matrix, and which are to be added or subtracted
        self.parts, self.before, self.inside, self.changed = np.zeros((4, rows.n_rows), np.int8)
        self.gram, self.products = np.zeros((self.n, self.n)), gram.Products(rows, self.n, jobs)
        # memory that is used again, because fresh memory costs as much as a look
        self.scores, self.other = np.empty((2, rows.n_rows))
        self.every = _visits(rows)
        self.sample(1)

    def sample(self, stride: int) -> None:
        """Restrict the objective to one of `stride` rows from now on."""
        self.some, h = np.ascontiguousarray(self.every[::stride]), self.rows.weight
        if h is None:
            self.times = len(self.every) / max(1, len(self.some))
        else:
            self.times = float(h.sum() / h[self.some].sum())
        self.known: tuple[Floats, Floats] | None = None  # where the matrix was computed; the pull
        self.before[:] = 0

    def losses(self, mu: Floats) -> tuple[float, Floats]:
        """As long as rows stay in their parts of the loss, C X'HX tells how their pull changes. So
        only rows that have left theirs are added up."""
        self.here, self.pulled, self.found = mu, np.empty(self.n), self.scores
        each = self.rows.csr, self.rows.alike, self.y, self.cost, self.loss.squared, self.some
        loss = hinge.of_rows(*each, mu, self.before, self.pulled, self.scores, self.parts)
        if self.known is not None and self.n:
            point, pulled = self.known
            self.pulled += pulled - symmetric(self.loss.C, self.gram, mu - point)
        return self.times * loss, self.times * self.pulled

    def direction(self) -> Floats:
        self.start = self.point, self.back, self.scores
        self.scores, self.other = self.other, self.scores
        return super().direction()

    def shorter(self, slope: float, expected: float) -> float:
        """Exact, because the scores at both ends of the step are known."""
        point, back, scores = self.start
        way = self.point - point
        numbers = np.array([back @ way, (self.back - back) @ way, expected * ENDED]) / self.times
        each = self.y, self.cost, self.loss.squared, self.some
        share = hinge.shorter(scores, self.scores, *each, *numbers)
        return share if share < 1 else 0.5  # rounding alone leads upwards

    def gram_here(self) -> Floats:
        """Only rows that have become curved since the last time, or are no longer, are added up."""
        np.equal(self.parts, hinge.CURVED, out=self.changed, casting="unsafe")
        self.changed -= self.inside
        self.products.add(self.gram, self.changed)
        self.inside += self.changed
        if self.exact:
            self.before[:] = self.parts
            self.known = self.here, self.pulled
        return self.gram


def _visits(rows: SlotRows) -> Longs:
    """The order in which rows are visited: short ones of different lengths by their length, because
    the processor cannot guess where a row ends, unless it ends as the row before."""
    lengths = np.diff(rows.indptr[:TELLING])
    order = rows.order
    if rows.alike and np.count_nonzero(np.diff(lengths)) >= len(lengths) / 2:
        rows.csr.by_length(order)
    return order


class ByRows(Convex):
    """The objective as a function of u with mu = mu0 + Sigma0 X'u, for fewer rows than features;
    K = X Sigma0 X', and f0 = X mu0 are the scores before the batch. At the optimum u is the pull
    of each row.

    A step: r are the pulls at u, e = r - u, and over the curved rows B
        z = e - (on B) (1/(C H_B) + K_BB)^-1 (K e)_B
    """

    def __init__(self, k: Floats, f0: Floats, y: Floats, cost: Floats, squared: bool) -> None:
        self.k, self.f0, self.y, self.cost, self.squared = k, f0, y, cost, squared
        self.pull, self.curved = np.empty(len(y)), np.empty(len(y))

    def look(self, x: Floats) -> float:
        moved = self.k @ x
        each = self.f0 + moved, self.y, self.cost, self.squared
        loss = hinge.of_scores(*each, self.pull, self.curved)
        self.e = self.pull - x
        return float(x @ moved) / 2 + loss

    def bend(self) -> None:
        self.some = np.flatnonzero(self.curved)
        inner = self.k[np.ix_(self.some, self.some)]
        inner[np.diag_indices(len(inner))] += 1 / self.cost[self.some]
        self.factor = metric.cholesky(inner) if len(inner) else inner

    def direction(self) -> Floats:
        z: Floats = self.e.copy()
        if len(self.some):
            seen = (self.k @ self.e)[self.some]
            z[self.some] -= fortran.lapack().dpotrs(self.factor, seen, lower=1)[0]
        return z

    def slope(self, d: Floats) -> float:
        return -float(self.e @ (self.k @ d))


class Optimum(NamedTuple):
    """mu, X'HX over the rows that are curved there, and the scores of all rows."""

    mean: Floats
    gram: Floats
    scores: Floats


def optimum(prior: Gaussian, loss: Loss, rows: SlotRows, y: Floats, jobs: int) -> Optimum:
    """The search begins with a sample of many rows. A sample in which one class has fewer rows than
    there are features is fitted too closely unless C is small, and its optimum is far from that of
    all rows. Then passes of dual coordinate descent take less time, if C is not large."""
    mu = prior.mean
    whole = RowsInMemory(prior, loss, rows, y, jobs)
    most = min(MOST_EACH * len(mu), rows.n_rows // EIGHTH)
    size = max(FEWEST, LEAST_EACH * len(mu), most)
    many = rows.n_rows >= FEW * size
    positive = np.count_nonzero(y > 0)
    rare = min(positive, rows.n_rows - positive) * size < len(mu) * rows.n_rows
    if many and rare and prior.gram is None and not mu.any():
        square = _squares(rows)
        typical = float(whole.cost @ square) / rows.n_rows
        if LOW < typical <= TWICE:
            mu, many = _descended(whole, square, 1 if typical <= ONCE else 2), False
    if many:
        whole.sample(rows.n_rows // size)
        mu = minimize(whole, mu, ROUGH, STEPS)
        whole.sample(1)
    # X'HX of all rows costs many looks at them if rows are long: that of the sample may do
    rough = many and rows.nnz >= gram.LONG * rows.n_rows
    mu = minimize(whole, mu, TOLERANCE, rough=rough)
    return Optimum(mu, whole.gram_here(), whole.found)


def _squares(rows: SlotRows) -> Floats:
    """|x|^2 of every row."""
    if rows.alike and rows.nnz:
        found: Floats = np.diff(rows.indptr) * (rows.scale * rows.values[0]) ** 2
        return found
    return squared_norms(rows)


def _descended(whole: RowsInMemory, square: Floats, passes: int) -> Floats:
    """mu after passes of dual coordinate descent from mu = 0 and P = I. The rounded hinge loss has
    the dual of the squared one with the bound of the hinge:  D = 1/(C h),  U = C h."""
    mu, rows, cost = np.zeros(whole.n), whole.rows, whole.cost
    upper = np.broadcast_to(np.inf, rows.n_rows) if whole.loss.squared else cost
    seeds = np.zeros(2, dtype=np.uint64)
    ridge = Bounds.of(whole.loss.C, "squared-hinge", rows.n_rows, rows.weight).ridge
    each = rows.csr, whole.y, square, ridge, upper
    DualDescent(*each, mu, seeds).run(TOLERANCE, (passes - 1) * rows.n_rows + 1)
    return mu
