"""The objective of bcw as a function of mu, for rows of any number and a matrix over pairs of
features: minimized by Newton steps with its second derivative P, see `minimize`."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from cwtool.algorithms.batch import gram, metric
from cwtool.algorithms.batch.convex import Convex
from cwtool.algorithms.batch.learner import LEAST, MOST
from cwtool.algorithms.batch.regularized_loss import Gaussian, Loss, symmetric
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool_ext import fortran, hinge

TELLING = 1000  # rows that tell whether all are about equally long
ROUNDED = 1e10  # number of C X'HX from which on differences of it are not exact enough
ENDED = 0.1  # share of the slope of a step that may be left at its end, if it has to be shortened


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
        """Compute P = P0 + C X'HX from X'HX, both on and below the diagonal."""
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
        """The sum of the losses, and minus its derivative. While rows stay in their part
        of the loss (zero, curved or straight), C X'HX tells how their pull changes with mu, so that
        only rows that have changed their part since the matrix was computed are added up."""
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
        """Only rows that have become curved since the last time, or are no longer, are added up,
        unless the rounding of long rows would be left of those that are subtracted."""
        np.equal(self.parts, hinge.CURVED, out=self.changed, casting="unsafe")
        if self._rounded():
            self.gram[:] = self.inside[:] = 0
        self.changed -= self.inside
        self.products.add(self.gram, self.changed)
        self.inside += self.changed
        if self.exact and not self._rounded():
            self.before[:] = self.parts
            self.known = self.here, self.pulled
        else:
            self.before[:], self.known = 0, None
        return self.gram

    def _rounded(self) -> bool:
        """Whether the rounding of C X'HX is not small beside the 1 of each feature in P."""
        return bool(self.loss.C * self.gram.diagonal().max(initial=0) > ROUNDED)


def _visits(rows: SlotRows) -> Longs:
    """The order in which rows are visited: short ones of different lengths by their length, because
    the processor cannot guess where a row ends, unless it ends as the row before."""
    lengths = np.diff(rows.indptr[:TELLING])
    order = rows.order
    if rows.alike and np.count_nonzero(np.diff(lengths)) >= len(lengths) / 2:
        rows.csr.by_length(order)
    return order
