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

from cwtool.algorithms import metric
from cwtool.algorithms.batch import LEAST, MOST, weights
from cwtool.algorithms.convex import Convex, minimize
from cwtool.data.rows import Floats, SlotRows
from cwtool_ext import fortran, hinge

TOLERANCE = 1e-3  # of the objective, relative
ROUGH = 1e-2  # the same for a sample of the rows, whose optimum is where the next search begins
# Rows of the sample: an eighth of all, but at least and at most so many for each feature. The more
# there are, the fewer visits of all rows are needed after it.
EIGHTH, LEAST_EACH, MOST_EACH = 8, 4, 64
FEWEST = 500  # rows of the sample
FEW = 4  # times the rows of a sample: fewer rows are visited without a sample
STEPS = 6  # with a sample
ITERATIONS = 10  # of conjugate gradients for a step
CLOSE = 0.1  # share of the squared gradient that may be left after them


class Gaussian(NamedTuple):
    """mu0, and G0 on and below the diagonal, of P0 = I + C G0; None: G0 = 0."""

    mean: Floats
    gram: Floats | None
    C: float

    def times(self, v: Floats) -> Floats:
        """P0 v"""
        found: Floats = v.copy()
        if self.gram is not None:
            # the lower half in the order of C is the upper half in the order of Fortran
            found += fortran.blas().dsymv(self.C, self.gram.T, v, lower=0)
        return found


class Loss(NamedTuple):
    """C h l of each row; the weights h are those of the rows."""

    C: float
    squared: bool

    def cost(self, rows: SlotRows) -> Floats:
        """C h of each row."""
        h = 1.0 if rows.weight is None else rows.weight
        return np.broadcast_to(np.clip(self.C * h, LEAST, MOST), rows.n_rows)


def loss_of(params: Any) -> Loss:
    """The loss by these parameters."""
    return Loss(params.C, params.loss == "squared-hinge")


class ByFeatures(Convex):
    """The objective as a function of mu, with a matrix over pairs of features."""

    def __init__(self, prior: Gaussian, loss: Loss) -> None:
        self.prior, self.loss = prior, loss
        self.n = len(prior.mean)

    @abstractmethod
    def losses(self, mu: Floats) -> tuple[float, Floats]:
        """The sum of the losses, and minus its derivative."""

    @abstractmethod
    def gram_here(self) -> Floats:
        """X'HX over the rows that are curved where the losses were last computed, on and below the
        diagonal."""

    def look(self, x: Floats) -> float:
        away = x - self.prior.mean
        back = self.prior.times(away)
        loss, pulled = self.losses(x)
        self.gradient = back - pulled
        return float(away @ back) / 2 + loss

    def bend(self) -> None:
        precision = self.loss.C * self.gram_here()
        if self.prior.gram is not None:
            precision += self.prior.C * self.prior.gram
        precision[np.diag_indices(self.n)] += 1.0
        self.factor = metric.cholesky(precision)

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
    def __init__(self, prior: Gaussian, loss: Loss, rows: SlotRows, y: Floats, jobs: int) -> None:
        super().__init__(prior, loss)
        self.rows, self.y, self.jobs, self.cost = rows, y, jobs, loss.cost(rows)
        self.curved = np.empty(rows.n_rows)

    def losses(self, mu: Floats) -> tuple[float, Floats]:
        pulled = np.empty(self.n)
        each = self.rows.csr, self.y, self.cost, self.loss.squared
        return hinge.of_rows(*each, mu, pulled, self.curved), pulled

    def gram_here(self) -> Floats:
        gram = np.zeros((self.n, self.n))
        metric.add_gram(self.rows, gram, self.n, self.jobs, self.curved)
        return gram


class RowsWithSample(RowsInMemory):
    """Many rows, with the factor of P over a sample of them. Directions are found by conjugate
    gradients, which visit the curved rows once in an iteration and are preconditioned by the
    factor; X'HX over all rows is computed for a new factor only when so many iterations were made
    that they cost as much as that."""

    def __init__(
        self, prior: Gaussian, loss: Loss, rows: SlotRows, y: Floats, jobs: int, factor: Floats
    ) -> None:
        super().__init__(prior, loss, rows, y, jobs)
        self.factor, self.made, self.price = factor, 0, _price(rows, self.n)

    def bend(self) -> None:
        if self.made > self.price:
            super().bend()
            self.made = 0

    def direction(self) -> Floats:
        d, left = np.zeros(self.n), -self.gradient
        along = z = self.solve(left)
        first = size = float(left @ z)
        out = np.empty(self.n)
        for _ in range(ITERATIONS):
            hinge.bent_along(self.rows.csr, self.cost, self.curved, along, out)
            out += self.prior.times(along)
            length = size / float(along @ out)
            d += length * along
            left -= length * out
            z = self.solve(left)
            self.made += 1
            before, size = size, float(left @ z)
            if not size > CLOSE * first:
                break
            along = z + size / before * along
        return d


def _price(rows: SlotRows, n: int) -> float:
    """What X'HX and its factor cost, in visits of all rows: a row takes nnz^2/2 products at random
    places or n^2/2 in BLAS, and 2 nnz at random places when it is visited."""
    nnz = max(1.0, rows.nnz / rows.n_rows)
    fast = 2 * metric.blas(n)
    one = min(nnz**2 / 2, n**2 / 2 / fast)
    return (one + n**3 / 3 / fast / rows.n_rows) / (2 * nnz)


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


def optimum(
    prior: Gaussian, loss: Loss, rows: SlotRows, y: Floats, jobs: int
) -> tuple[Floats, Floats]:
    """mu, and X'HX over the curved rows. The search begins with samples of the rows, in which the
    loss of a row counts as often as there are rows for it."""
    mu = prior.mean
    most = min(MOST_EACH * len(mu), rows.n_rows // EIGHTH)
    size = max(FEWEST, LEAST_EACH * len(mu), most)
    if rows.n_rows < FEW * size:
        whole = RowsInMemory(prior, loss, rows, y, jobs)
        return minimize(whole, mu, TOLERANCE), whole.gram_here()
    some = np.arange(0, rows.n_rows, rows.n_rows // size)
    part = rows.take(some)
    share = float(weights(part).sum() / weights(rows).sum())
    sample = RowsInMemory(prior, loss._replace(C=loss.C / share), part, y[some], jobs)
    mu = minimize(sample, mu, ROUGH, STEPS)
    many = RowsWithSample(prior, loss, rows, y, jobs, sample.factor)
    return minimize(many, mu, TOLERANCE), many.gram_here()
