"""Newton steps for the squared hinge loss over few features:

    min  ||w||_1            + 1/2 sum c_i max(0, 1 - y_i w.x_i)^2      (l1svm; c_i = C h_i)
    min  1/2 |w - w0|^2     + 1/2 sum c_i max(0, 1 - y_i w.x_i)^2      (dcd)

As long as the same rows have a loss, the sum is quadratic, with the second derivatives H = sum c_i
x_i x_i' over these rows. The minimum with the norm is found over H alone, at a cost that does not
depend on the number of rows, and is the optimum itself once the rows with a loss stay the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.data.rows import Floats, Longs
from cwtool_ext import inverted, quadratic

SWEEPS = 2000  # of the descent over H, at most
ENOUGH = 0.01  # share of the predicted decrease that a step has to reach
HALVINGS = 20  # of a step, at most
DEAREST = 100  # products for an entry of the rows that H may cost
PRODUCTS = 2  # that take as long as visiting an entry in coordinate descent
OTHER = 10  # passes that take as long as all the rest: rows by column and back, and some steps

Place = tuple[Floats, Floats]  # weights, and the margins y w.x of the rows


def passes_for(lengths: Longs, features: int) -> float:
    """How many passes of coordinate descent take as long as Newton steps: adding up H, which are
    sum of l^2/2 products over the rows with l entries each, and the rest. Infinite if H costs too
    much, or if it would be larger than the rows."""
    nnz = max(1.0, float(lengths.sum()))
    products = float(np.square(lengths, dtype=np.float64).sum()) / 2 / nnz
    return products / PRODUCTS + OTHER if features**2 <= nnz and products <= DEAREST else np.inf


class Newton:
    """The rows z_i = y_i x_i by row, and the Gram matrix of those that have a loss."""

    def __init__(self, z: Matrix, weight: Floats | None, rows: int) -> None:
        """Of the columns z and the weights h of the rows, or their c."""
        self.z = Matrix.empty(rows, len(z.value))
        inverted.transpose(z.csr, np.arange(rows, dtype=np.int32), *self.z.arrays)
        self.weight = np.ones(rows) if weight is None else weight
        self.inside = np.zeros(rows, dtype=np.bool_)  # the rows whose products are in `gram`
        self.gram = np.zeros((z.count, z.count))
        self.swept = 0.0  # sweeps of the descent over H, in passes that take as long
        self._sweep = z.count**2 / (PRODUCTS * max(1, len(z.value)))

    def l1_step(self, at: Place, g: Floats, C: float, among: Longs, goal: float) -> Place | None:
        """A step with the l1 norm from where the gradient of the losses is C g; only features
        `among` change. The violation of optimality of the quadratic is reduced to `goal`. None if
        no step decreases the objective."""
        w, m = at
        new, slope = w.copy(), g[among]
        v = new[among]
        H = self.hessian(m)[np.ix_(among, among)]
        self.swept += self._sweep * quadratic.descent(H, 1 / C, goal / C, SWEEPS, slope, v)
        new[among] = v

        def norm(w: Floats) -> float:
            return float(np.abs(w).sum()) / C

        return self._along(at, new, float(g @ (new - w)) + norm(new) - norm(w), norm)

    def ridge_step(self, at: Place, w0: Floats, g: Floats) -> Place | None:
        """A step with the norm |w - w0|^2/2 from where the gradient of the objective is g. None if
        no step decreases the objective."""
        w, m = at
        H = self.hessian(m)
        H[np.diag_indices(len(w))] += 1
        d = np.zeros(len(w))
        quadratic.solve(H, -g, d)

        def norm(w: Floats) -> float:
            return float((w - w0) @ (w - w0)) / 2

        return self._along(at, w + d, float(g @ d) / 2, norm)

    def losses(self, m: Floats) -> tuple[Floats, Floats]:
        """max(0, 1 - m) of each row, and the gradient of the sum of losses."""
        xi = np.maximum(1 - m, 0)
        return xi, -self.z.sums(self.weight * xi, len(self.gram))

    def _along(
        self, at: Place, new: Floats, predicted: float, norm: Callable[[Floats], float]
    ) -> Place | None:
        """Backtracking: of the steps to the new weights, to half of the way, a quarter and so on,
        the first that lowers norm plus losses by at least ENOUGH of the predicted decrease. None if
        HALVINGS halvings do not find one."""
        w, m = at
        d = new - w
        q = self.z.products(d)
        xi, share = np.maximum(1 - m, 0), 1.0
        for _ in range(HALVINGS):
            there = new if share == 1 else w + share * d
            after = np.maximum(1 - (m + share * q), 0)
            change = float(self.weight @ ((after - xi) * (after + xi))) / 2 + norm(there) - norm(w)
            if change <= ENOUGH * share * predicted:
                return there, m + share * q
            share /= 2
        return None

    def hessian(self, m: Floats) -> Floats:
        """The Gram matrix of the rows that have a loss at these margins."""
        inside = m < 1
        changed = np.flatnonzero(inside != self.inside)
        sign = np.where(inside[changed], 1.0, -1.0)
        quadratic.add_gram(self.z.csr, changed, sign * self.weight[changed], self.gram)
        self.inside = inside
        whole: Floats = np.tril(self.gram) + np.tril(self.gram, -1).T
        return whole
