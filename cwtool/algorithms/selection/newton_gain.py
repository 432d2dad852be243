"""The gain of a feature: by how much a Newton step of its weight lowers the objective, times two.

As long as the same rows have an error, 1 - y w.x > 0, the squared hinge loss is quadratic. Feature
j as a group of its own has the penalty b_j w_j^2 / 2, and minus the derivative g_j at w_j = 0:

    alone                       g_j^2 / (b_j + H_jj),    H = C X'HX over rows with an error
    with the chosen features S  (g_j - u.g_S)^2 / (b_j + H_jj - u.H_Sj),    u = (L + H_SS)^-1 H_Sj

In the second step the weights of S, with their penalty w'L w / 2, move as well. It tells what a
column adds that is like others, as columns of tables are: their means alone make most of x_j'Hx_j.
It is measured for the features with the largest g_j^2 / b_j, which no gain of a step alone exceeds.
For the others, and with more than MOST chosen features, the gain is that of a step alone.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.batch.metric import cholesky
from cwtool.algorithms.selection.final_weights import MOST
from cwtool.algorithms.selection.group_selection import Side, largest
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats
from cwtool_ext import fortran

MEASURED = 128  # features whose step is taken with the chosen ones; more if groups are larger


def newton_gain(side: Side, columns: AnyColumns, own: Floats) -> Floats:
    """The gain of each column; `own` is b."""
    problem, mu, C, chosen = side.problem, side.found.mu, side.params.C, side.chosen
    pull, square = problem.moments(columns, mu)
    g, curvature = side.past + pull, C * square
    gain: Floats = g**2 / (own + curvature)
    if not 0 < len(chosen) <= MOST:
        return gain
    bound = g**2 / own
    bound[chosen] = 0
    some = largest(bound, max(MEASURED, 2 * side.params.width))
    penalty, bend = side.penalty, problem.bend(columns, chosen, some, mu)
    of_chosen = g[chosen] - penalty @ mu
    across = C * bend.across.T
    u = fortran.cho_solve(cholesky(penalty + C * bend.chosen), across)
    left = C * bend.squares - (u * across).sum(axis=0)  # above 0 but for rounding
    gain[some] = (g[some] - of_chosen @ u) ** 2 / (own[some] + np.maximum(left, 0))
    return gain
