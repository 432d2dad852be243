"""What bcw minimizes for a batch:  1/2 (mu - mu0)' P0 (mu - mu0) + C sum_i h_i l(xi_i)  with a loss
l of cwtool_ext/hinge.pyx and the weights h of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cwtool.algorithms.batch import metric
from cwtool.algorithms.batch.learner import LEAST, MOST
from cwtool.data.rows import Floats, SlotRows
from cwtool_ext import fortran

ROUNDING = 1e-6  # of the largest number of a precision matrix, with a wide margin


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
        """The product of the prior precision P0 with a vector v over the features."""
        found: Floats = v.copy()
        if self.gram is not None and len(v):  # BLAS refuses vectors without numbers
            found += symmetric(self.C, self.gram, v)
        return found

    def check(self) -> None:
        """Raise ArithmeticError if P0 is not positive definite, as in a damaged model: then there
        need be no optimum, and the search for it would take very many steps."""
        if self.gram is not None:
            precision = self.C * self.gram
            precision.flat[:: len(precision) + 1] += 1.0
            metric.cholesky(precision, ROUNDING)


class Loss(NamedTuple):
    """The loss C h l(xi) of a row with the weight h; l is the squared or the rounded hinge loss."""

    C: float
    squared: bool

    def cost(self, rows: SlotRows) -> Floats:
        """C times the weight h of each row."""
        h = 1.0 if rows.weight is None else rows.weight
        return np.broadcast_to(np.clip(self.C * h, LEAST, MOST), rows.n_rows)


def loss_of(params: Any) -> Loss:
    """The loss that the parameters name."""
    return Loss(params.C, params.loss == "squared-hinge")
