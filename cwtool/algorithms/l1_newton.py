"""Newton steps for  min ||w||_1 + C/2 sum h_i max(0, 1 - y_i w.x_i)^2  over few features.

With the rows that have a loss, the objective is  g.d + d'Hd/2 + ||w + d||_1  at w + d, where H = C
sum h_i x_i x_i'. Its minimum is found over H alone, and is the optimum itself once the rows with a
loss stay the same (Yuan, Ho, Lin 2012 do the same for the logistic loss).
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.inverted import Matrix
from cwtool.data.rows import Floats, Longs
from cwtool_ext import inverted, quadratic

SWEEPS = 2000  # of the descent over H, at most
ENOUGH = 0.01  # share of the predicted decrease that a step has to reach
HALVINGS = 20  # of a step, at most
PASSES = 100  # entries of H that may be added up for an entry of the rows


def pays(lengths: Longs, features: int) -> bool:
    """Whether Newton steps cost less than descent over the rows, which have so many entries each:
    H is no larger than the rows, and adding it up, sum of l^2/2 products, takes no longer than some
    tens of passes."""
    nnz = float(lengths.sum())
    return features**2 <= nnz and float(np.square(lengths, dtype=np.float64).sum()) <= (
        2 * PASSES * nnz
    )


class Newton:
    """The rows z_i = y_i x_i by row, and the Gram matrix of those that have a loss."""

    def __init__(self, z: Matrix, weight: Floats | None, rows: int) -> None:
        """Of the columns z and the weights of the rows."""
        self.z = Matrix.empty(rows, len(z.value))
        inverted.transpose(z.csr, np.arange(rows, dtype=np.int32), *self.z.arrays)
        self.weight = np.ones(rows) if weight is None else weight
        self.inside = np.zeros(rows, dtype=np.bool_)  # the rows whose products are in `gram`
        self.gram = np.zeros((z.count, z.count))

    def step(
        self, w: Floats, m: Floats, g: Floats, C: float, among: Longs, goal: float
    ) -> tuple[Floats, Floats] | None:
        """The weights and margins after a step from w and m, where the gradient of all losses is C
        g; only features `among` change. The violation of optimality of the quadratic is reduced to
        `goal`. None if no step decreases the objective."""
        H = self._hessian(m)[np.ix_(among, among)]
        new, slope = w.copy(), g[among]
        v = new[among]
        quadratic.descent(H, 1 / C, goal / C, SWEEPS, slope, v)
        new[among] = v
        d = new - w
        q = self.z.products(d)
        l1 = float(np.abs(new).sum() - np.abs(w).sum())
        predicted = C * float(g @ d) + l1
        xi = np.maximum(1 - m, 0)
        share = 1.0
        for _ in range(HALVINGS):
            after = np.maximum(1 - (m + share * q), 0)
            change = C / 2 * float(self.weight @ ((after - xi) * (after + xi)))
            change += float(np.abs(w + share * d).sum() - np.abs(w).sum())
            if change <= ENOUGH * share * predicted:
                return (new if share == 1 else w + share * d), m + share * q
            share /= 2
        return None

    def _hessian(self, m: Floats) -> Floats:
        """The Gram matrix of the rows that have a loss at these margins."""
        inside = m < 1
        changed = np.flatnonzero(inside != self.inside)
        sign = np.where(inside[changed], 1.0, -1.0)
        quadratic.add_gram(self.z.csr, changed, sign * self.weight[changed], self.gram)
        self.inside = inside
        whole: Floats = np.tril(self.gram) + np.tril(self.gram, -1).T
        return whole
