"""How a batch of rows chooses its features: group by group, all groups learned together."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from cwtool.algorithms.groups import Groups
from cwtool.algorithms.inverted import Columns
from cwtool.algorithms.subproblem import Solution, Subproblem
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool.order import permutation

# (s of earlier batches, signed dual variables, columns, number of groups) -> gain of each column
Score = Callable[[Floats, Floats, Columns, int], Floats]
Order = Callable[[int], Longs]  # number of the pass -> order of the rows in it


class Growth:
    """The groups while one batch is learned; features are columns of the batch."""

    def __init__(
        self, params: Any, columns: Columns, y: Floats, past: Floats, groups: Groups, order: Order
    ) -> None:
        """Without any features yet. `past` is s of earlier batches, by column; `groups` are those
        that `keep` takes over, empty if none are."""
        p, passes = params, count(1)
        self.params, self.columns, self.past, self.groups = p, columns, past, groups
        self.chosen: Longs = np.empty(0, dtype=np.int64)
        self.score: list[float] = []  # of the chosen features, when they were chosen
        self.theta: list[float] = []  # the primal objective after each new group
        self.passes = 0

        def next_order() -> Longs:
            self.passes = next(passes)
            return order(self.passes)

        q = 1 if p.loss == "hinge" else 2
        h = columns.weight
        self.problem = Subproblem.empty(y, groups, p.C, q, p.sigma, next_order, h)
        # dual variables of 1, times the weights of the rows, give the first scores
        first = np.ones(len(y)) if h is None else h
        self.found = Solution(np.empty(0), first, groups.share)

    def keep(self, chosen: Longs, score: list[float]) -> None:
        """Go on with these features, which the groups already have, and learn their weights."""
        self.chosen, self.score = chosen, score
        for k, at in self.groups.parts():
            self.groups.grow(k, self.columns.gram(chosen[at]))
        if self.groups.sizes:
            self.problem = self.problem.widened(self.columns.x, chosen, self.past[chosen])
            self.found = self._solve(None, self.params.group_passes)

    def choose(self, score: Score, gram: Callable[[Longs], Floats]) -> None:
        """Add groups of the features with the largest scores until there are enough, no other
        feature gains anything, or the objective changes too little. gram: X'HX of a new group."""
        p = self.params
        while len(self.chosen) < p.features:
            v = self.found.beta * self.problem.y
            values = score(self.past, v, self.columns, len(self.groups.sizes) + 1)
            values[self.chosen] = 0
            new = largest(values, min(p.width, p.features - len(self.chosen)))
            if not len(new):
                break
            self.groups.add(gram(new))
            self.problem = self.problem.widened(self.columns.x, new, self.past[new])
            self.chosen = np.append(self.chosen, new)
            self.score += values[new].tolist()
            self.found = self._solve(self.found if self.theta else None, p.group_passes)
            self.theta.append(self.found.primal)
            if len(self.theta) > 1:
                before, now = self.theta[-2:]
                if abs(before - now) < p.change * abs(now):
                    break

    def refine(self) -> None:
        """The final passes over the rows, with all groups."""
        p = self.params
        wanted = p.final_passes and self.groups.sizes and p.solver != "printed"
        if wanted and not self.found.near(p.tol):
            self.found = self._solve(self.found, p.final_passes, again=True)

    def _solve(self, before: Solution | None, passes: int, *, again: bool = False) -> Solution:
        """Start from the dual variables before, or from 0. `again`: over the same groups, so that
        the best solution so far may stay the best."""
        p, problem = self.params, self.problem
        start = problem.start()
        if p.solver == "printed":
            return problem.conjugate(start, 1, 0.0, exact=False, ridge=problem.bounds.ridge / 2)
        if before is not None:
            start.beta = before.beta
            if again:
                start = before
        if p.solver == "exact":
            return problem.conjugate(start, passes, p.tol, exact=True, ridge=problem.bounds.ridge)
        found = problem.metric(start, passes, p.tol)
        self.groups.share = found.share
        return found


def row_order(rows: SlotRows, seed: int, learned: int, *, shuffle: bool) -> Order:
    """Random orders that depend on the seed, the rows learned before and the number of the pass;
    without `shuffle` the rows as they stand."""

    def order(pass_: int) -> Longs:
        return permutation(rows.n_rows, seed, learned, pass_) if shuffle else rows.order

    return order


def largest(values: Floats, n: int) -> Longs:
    """The places of the n largest positive values, ascending; of equal values the first."""
    n = min(n, int(np.count_nonzero(values > 0)))
    if n == 0:
        return np.empty(0, dtype=np.int64)
    least = np.partition(values, len(values) - n)[len(values) - n]
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: n - len(above)]
    return np.sort(np.append(above, ties))
