"""The objective of bcw as a function of the dual variables of the rows, where there are fewer rows
than features."""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.batch import metric
from cwtool.algorithms.batch.convex import Convex
from cwtool.data.rows import Floats
from cwtool_ext import fortran, hinge


class ByRows(Convex):
    """The objective as a function of u with mu = mu0 + Sigma0 X'u; K = X Sigma0 X', and f0 = X mu0
    are the scores before the batch. The pull of a row is minus the derivative of its loss in its
    score; at the optimum u has the pulls of all rows.

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
