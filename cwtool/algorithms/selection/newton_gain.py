"""The gain of a feature: by how much a Newton step of its weight lowers the objective, times two.

As long as the same rows have an error, 1 - y w.x > 0, the squared hinge loss is quadratic with the
second derivatives H = C X'HX over these rows. Feature j as a group of its own has the penalty
b_j w_j^2 / 2, and g_j is minus the derivative at w_j = 0. If the weights of the chosen features S,
with their penalty w'L w / 2, move as well, they first move by v = (L + H_SS)^-1 g_S, and

    gain_j = r_j^2 / (b_j + H_jj - H_jS (L + H_SS)^-1 H_Sj),    r_j = g_j - H_jS v

It tells what a column adds that is like others, as columns of tables are: their means alone make
most of x_j'Hx_j. As it lies between r_j^2 / (b_j + H_jj) and r_j^2 / b_j, it is measured for those
features that may have one of the largest gains, and the lower bound is taken for the others.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.batch.metric import cholesky
from cwtool.algorithms.selection.final_weights import MOST
from cwtool.algorithms.selection.group_selection import Side, largest
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats, Longs
from cwtool_ext import fortran

MEASURED = 32  # features whose gain is measured, at most; twice those of a group if this is more


def newton_gain(side: Side, columns: AnyColumns, own: Floats) -> Floats:
    """The gain of each column; `own` is b. More than MOST chosen features do not move."""
    problem, mu, C, chosen = side.problem, side.found.mu, side.params.C, side.chosen
    together, step = 0 < len(chosen) <= MOST, np.zeros(len(mu))
    if together:
        penalty = side.penalty
        gram, pulled = problem.bend(mu)
        lower = cholesky(penalty + C * gram)
        step = fortran.cho_solve(lower, problem.past + C * pulled - penalty @ mu)
    pull, square = problem.moments(columns, mu, step)
    square_r = (side.past + pull) ** 2
    gain: Floats = square_r / (own + C * square)
    if together:
        gain[chosen] = square_r[chosen] = 0
        some = _contenders(square_r, own, gain, side.params.width)
        across, squares = problem.across(columns, chosen, some, mu)
        solved = fortran.cho_solve(lower, C * across.T)
        left = C * (squares - (solved * across.T).sum(axis=0))  # above 0 but for rounding
        gain[some] = square_r[some] / (own[some] + np.maximum(left, 0))
    return gain


def _contenders(square_r: Floats, own: Floats, low: Floats, n: int) -> Longs:
    """The columns whose upper bound reaches the n-th largest of the lower bounds, or if these are
    too many those with the largest upper bounds."""
    n = min(n, len(low))
    least = low.max(initial=0) if n <= 1 else np.partition(low, len(low) - n)[len(low) - n]
    some = np.flatnonzero((square_r >= least * own) & (square_r > 0))
    most = max(MEASURED, 2 * n)
    return some if len(some) <= most else some[largest(square_r[some] / own[some], most)]
