"""Scores of the rows of a batch, each by a model that has learned all other rows of it.

At the optimum  P0 (mu - mu0) = sum_i r_i x_i  with the pull r_i of each row (cwtool_ext/hinge.pyx),
and P = P0 + sum_i c_i x_i x_i', where c_i is the cost of a row at which the loss is curved and 0
for all others. One Newton step from mu to the optimum without row i leads to

    mu_i = mu - r_i P_i^-1 x_i,   P_i = P - c_i x_i x_i'

so that with the score f_i = x_i' mu and its variance v_i = x_i' P^-1 x_i

    x_i' P_i^-1 x_i = v_i / (1 - c_i v_i),   x_i' mu_i = f_i - r_i v_i / (1 - c_i v_i)

This is the approximate leave-one-out of Rad and Maleki (2020). It is exact if no other row passes a
corner of the loss.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.data.rows import Floats
from cwtool_ext import hinge

LEAST = 1e-6  # of 1 - c v, which is above 0 but for rounding


def left_out(fitted: Scores, y: Floats, cost: Floats, squared: bool) -> Scores:
    """Scores and variances of rows with the signs y, without the row itself; `fitted` are those
    with it, and `cost` is 0 for a row that was not learned."""
    pull, curved = np.empty((2, len(y)))
    hinge.of_scores(fitted.score, y, cost, squared, pull, curved)
    variance = fitted.variance / np.maximum(1 - cost * curved * fitted.variance, LEAST)
    return Scores(fitted.score - pull * variance, variance)
