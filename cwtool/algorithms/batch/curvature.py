"""The mean and the precision of bcw as the optimum and the curvature of the loss.

A batch is learned as  min over mu of  1/2 (mu - mu0)' P0 (mu - mu0) + C sum_i h_i l(xi_i)  with the
mean mu0 and the precision P0 of the batches before it (0 and I at first); l is the hinge loss with
a rounded corner, or the squared hinge loss (cwtool_ext/hinge.pyx). Then P = P0 + C X'HX over the
rows X where the loss is curved at the optimum, so that P is the second derivative of what was
minimized. The first batch is a support vector machine; later ones see the losses of all earlier
rows by their second-order expansion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cwtool.algorithms.batch import gram
from cwtool.algorithms.batch.convex import minimize
from cwtool.algorithms.batch.learner import Bounds, squared_norms
from cwtool.algorithms.batch.over_features import RowsInMemory
from cwtool.algorithms.batch.regularized_loss import Gaussian, Loss
from cwtool.data.rows import Floats, SlotRows
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
