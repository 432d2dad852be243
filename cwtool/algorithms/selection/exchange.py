"""Chosen features give their places to others, under the C of the final weights.

A feature that was chosen early may be of little use beside those that came later. As long as the
same rows have an error, and with H = C X'HX over them, the objective falls by E_ij / 2 if feature j
takes the place of feature i of the chosen ones S:

    E_ij = (r_j + u_i w_i / a_i)^2 / (b_j + H_jj - H_jS u + u_i^2 / a_i) - w_i^2 / a_i

    w = (L + H_SS)^-1 C X_S'Hy,  a_i = (L + H_SS)^-1_ii,  u = (L + H_SS)^-1 H_Sj,
    r_j = C x_j'Hy - H_jS w,  b_j the penalty of j as a group of its own

As E_ij is at most r_j^2 / b_j, those features are tried for which this is largest. E_ij has to be
more than the price of a feature in the estimate that chooses C, times the variance of the errors.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.batch.metric import cholesky
from cwtool.algorithms.selection.final_weights import HALVINGS, Errors, price
from cwtool.algorithms.selection.group_selection import Side, largest
from cwtool.algorithms.selection.newton_gain import MEASURED
from cwtool.algorithms.selection.subproblem import Subproblem
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats, Longs
from cwtool_ext import fortran

FEW = 64  # features; of more, exchanges took time and made no fewer errors
LEAST = 1e-290  # variance, if there is no error


class Trial:
    """The rows over the chosen columns and those that are tried, their weights while features are
    exchanged, and the rows with an error at them."""

    def __init__(self, side: Side, rows: Subproblem, own: Floats) -> None:
        """`own` is b of the columns that are tried."""
        p, self.rows, self.C = len(side.chosen), rows, side.final_factor * rows.C
        self.penalty = np.diag(np.append(np.zeros(p), own))
        self.penalty[:p, :p] = side.final_penalty
        self.w = np.append(side.found.mu, np.zeros(len(own)))
        self.errors = rows.errors(self.w)

    def gains(self, at: Longs, others: Longs) -> Floats:
        """E_ij of the features at these positions and the others, in units of the variance."""
        gram, target = self.C * self.errors.gram, self.C * self.errors.target
        lower = cholesky(self.penalty[np.ix_(at, at)] + gram[np.ix_(at, at)])
        inverse = fortran.cho_solve(lower, np.eye(len(at)))
        w, a = fortran.cho_solve(lower, target[at]), np.diag(inverse)[:, None]
        left = self.errors.weight - float((inverse * gram[np.ix_(at, at)]).sum())
        variance = max(LEAST, self.C * self.errors.loss(self.w) / max(1.0, left))
        across = gram[np.ix_(at, others)]
        u = fortran.cho_solve(lower, across)
        rest = np.maximum(np.diag(gram)[others] - (u * across).sum(axis=0), 0)  # but for rounding
        lost = w[:, None] / a
        pull = target[others] - across.T @ w + u * lost
        bend = np.diag(self.penalty)[others] + rest + u**2 / a
        gain: Floats = (pull**2 / bend - w[:, None] * lost) / variance
        return gain

    def move(self, old: int, at: Longs) -> bool:
        """Go to the best weights of the features at these positions, without that at `old`, or to
        half of the way, a quarter and so on, the first that lowers the objective, if any does."""
        both = np.ix_(at, at)
        lower = cholesky(self.penalty[both] + self.C * self.errors.gram[both])
        new, start = np.zeros(len(self.w)), self.w.copy()
        new[at], start[old] = fortran.cho_solve(lower, self.C * self.errors.target[at]), 0
        before = self._objective(self.w, self.errors)
        for _ in range(HALVINGS):
            errors = self.rows.errors(new)
            if self._objective(new, errors) < before:
                self.w, self.errors = new, errors
                return True
            new = (start + new) / 2
        return False

    def _objective(self, w: Floats, errors: Errors) -> float:
        return float(w @ self.penalty @ w) + self.C * errors.loss(w)


def exchanged(side: Side, columns: AnyColumns, own: Floats) -> tuple[Longs, Floats]:
    """The chosen columns after all exchanges, by position, at most as many as there are features,
    and their weights. `own` is b of every column."""
    some = _tried(side, columns, own)
    p, among = len(side.chosen), np.append(side.chosen, some)
    trial = Trial(side, side.problem.beside(columns, some), own[some])
    at, others = np.arange(p), np.arange(p, len(among))
    for _ in range(p if len(some) else 0):
        gains = trial.gains(at, others)
        i, j = divmod(int(gains.argmax()), len(others))
        if not gains[i, j] > price(p, len(own)):
            break
        old, at[i] = int(at[i]), others[j]
        if not trial.move(old, at):
            at[i] = old
            break
        others[j] = old
    return among[at], trial.w[at]


def _tried(side: Side, columns: AnyColumns, own: Floats) -> Longs:
    """The columns that are tried as replacements, which have the largest r_j^2 / b_j."""
    mu = side.found.mu
    pull, _ = side.problem.moments(columns, mu, np.zeros(len(mu)))
    bound = pull**2 / own
    bound[side.chosen] = 0
    return largest(bound, max(MEASURED, 2 * side.params.width))
