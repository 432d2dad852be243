"""How a batch of rows chooses its features: group by group, all groups learned together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

import numpy as np

from cwtool.algorithms.selection.final_weights import Errors, final_weights
from cwtool.algorithms.selection.groups import Groups
from cwtool.algorithms.selection.subproblem import Solution, Subproblem
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats, Longs
from cwtool.order import added

T = TypeVar("T")
R = TypeVar("R")
NewProblem = Callable[..., Subproblem]  # as Subproblem.empty


class Side:
    """One class while a batch is learned: its signs y of the rows, and its solution."""

    def __init__(
        self, params: Any, y: Floats, past: Floats, groups: Groups, seeds: Sequence[int],
        weight: Floats | None, new_problem: NewProblem = Subproblem.empty,
    ) -> None:  # fmt: skip
        """Without any features yet. `past` is s of earlier batches, by column; the order of the
        rows in a pass depends on the seeds and its number, and without seeds they stay as they
        stand."""
        p, passes = params, count(1)
        self.params, self.past, self.groups = p, past, groups
        self.chosen: Longs = np.empty(0, dtype=np.int64)  # columns, by position
        self.theta: list[float] = []  # the primal objective after each new group
        self.passes = 0

        def next_pass() -> Sequence[int]:
            self.passes = next(passes)
            return (*seeds, self.passes) if seeds else ()

        q = 1 if p.loss == "hinge" else 2
        self.new_problem: Callable[[Groups], Subproblem] = lambda groups: new_problem(
            y, groups, p.C, q, p.sigma, next_pass, weight
        )
        self.problem = self.new_problem(groups)
        # of the final weights: the penalty L, and t, and where they start after an exchange
        self.final_penalty, self.final_factor = np.zeros((0, 0)), 1.0
        self.final_start: Floats | None = None
        # those of the rows at weights of 0 give the first scores
        first = p.C * (np.ones(len(y)) if weight is None else weight)
        self.found = Solution(np.empty(0), first, groups.share)

    def products(self, columns: AnyColumns) -> Floats:
        """s = sum of b_i y_i x_i over the rows of this batch, for each column."""
        return self.problem.products(columns, self.found.beta)

    @property
    def penalty(self) -> Floats:
        """The matrix L of w'L w / 2, a quadratic upper bound of the penalty that is exact at the
        present weights. Group k has the share d_k = |w_k| / sum |w_k|."""
        norms = np.sqrt(self.groups.squares(self.found.mu))
        share = norms / norms.sum() if norms.any() else self.found.share
        return self.groups.penalty(self.problem.metric_of(share))

    def widen(self, groups: Groups, wide: Subproblem, new: Longs) -> None:
        """Have the columns `new` as well: `groups` has them as groups, and `wide` the rows over
        all positions."""
        self.groups, self.chosen = groups.sharing(self.groups.share), np.append(self.chosen, new)
        self.problem = self.problem.joined(wide, self.groups, new, self.past[new])

    def restart(self, groups: Groups) -> None:
        """Have these groups, with the shares as they are, and no columns yet."""
        self.groups, self.chosen = groups.sharing(self.groups.share), self.chosen[:0]
        self.problem = self.new_problem(self.groups)

    def solve(self, before: Solution | None, passes: int, *, again: bool = False) -> None:
        """Start from the dual variables before, or from 0. `again`: over the same groups, so that
        the best solution so far may stay the best."""
        p, problem = self.params, self.problem
        if p.solver == "printed":
            ridge = problem.bounds.ridge / 2
            self.found = problem.conjugate(problem.start(), 1, 0.0, exact=False, ridge=ridge)
            return
        start = before if before is not None and again else problem.start(before)
        if p.solver == "exact":
            ridge = problem.bounds.ridge
            self.found = problem.conjugate(start, passes, p.tol, exact=True, ridge=ridge)
            return
        self.found = problem.metric(start, passes, p.tol, p.group_gap)
        self.groups.share = self.found.share

    def settle(self, past: Errors, candidates: int) -> Errors:
        """Learn the final weights, see `final_weights`; the solution has the same dual variables.
        Returns the rows with an error."""
        start = self.found.mu if self.final_start is None else self.final_start
        self.final_penalty = self.penalty
        mu, errors, self.final_factor = final_weights(
            self.problem, start, self.final_penalty, past, candidates, self.final_factor
        )
        self.found = replace(self.found, mu=mu)
        return errors


# (side, columns, number of groups with a new one) -> gain of each column
Score = Callable[[Side, AnyColumns, int], Floats]


class GroupSelection:
    """The groups while one batch is learned; features are columns of the batch."""

    def __init__(
        self, params: Any, columns: AnyColumns, sides: Sequence[Side], groups: Groups, jobs: int
    ) -> None:
        """`groups` are those that `keep` takes over, empty if none are. Of several sides the first
        is that of no class, which does not count in the choice of features."""
        self.params, self.columns, self.groups, self.jobs = params, columns, groups, jobs
        self.sides, self.choosing = sides, sides[1:] or sides
        self.chosen: Longs = np.empty(0, dtype=np.int64)
        self.score: list[float] = []  # of the chosen features, when they were chosen
        self.kept = False  # whether an earlier batch has chosen features

    def keep(self, chosen: Longs, score: list[float]) -> None:
        """Continue with these features, which the groups already contain, and learn their
        weights."""
        self.chosen, self.score, self.kept = chosen, score, len(chosen) > 0
        for k, at in self.groups.parts():
            self.groups.grow(k, self.columns.gram(chosen[at]))
        if self.groups.sizes:
            self._widen(chosen)
            self._each(lambda side: side.solve(None, self.params.group_passes), self.sides)

    def choose(self, score: Score, gram: Callable[[Longs], Floats], prior: Floats | None) -> None:
        """Add groups of the features with the largest scores until there are enough, no other
        feature gains anything, or the objective changes too little. gram: X'HX of a new group;
        prior: the precision of each column before any rows, None for 1."""
        p, theta, self.gram, self.prior = self.params, [0.0], gram, prior
        while len(self.chosen) < p.features:
            values = self._scores(score)
            values[self.chosen] = 0
            new = largest(values, min(p.width, p.features - len(self.chosen)))
            if not len(new):
                break
            self._add(new, self.gram(new))
            self._widen(new)
            self.chosen = np.append(self.chosen, new)
            self.score += values[new].tolist()
            self._each(self._solve, self.sides)
            for side in self.sides:
                side.theta.append(side.found.primal)
            theta.append(added(side.found.primal for side in self.choosing))
            if len(theta) > 2 and abs(theta[-2] - theta[-1]) < p.change * abs(theta[-1]):
                break

    def _add(self, new: Longs, gram: Floats) -> None:
        """Have these columns as a further group."""
        self.groups.add(gram, None if self.prior is None else self.prior[new])

    def exchange(self, new: Longs, w: Floats) -> None:
        """Have these columns instead of those chosen, each in the place and with the score of one,
        and learn their weights, from the dual variables before. The final weights start from w. For
        a single side."""
        old, self.groups = self.groups, Groups.empty(self.groups.c, self.groups.width)
        for k, at in old.parts():
            same = np.array_equal(new[at], self.chosen[at])
            self._add(new[at], old.gram[at, : old.sizes[k]] if same else self.gram(new[at]))
        (side,) = self.sides
        side.restart(self.groups)
        side.final_start = w
        self._widen(new)
        self.chosen = new
        side.solve(side.found, self.params.group_passes)
        self.refine()

    def _scores(self, score: Score) -> Floats:
        """The score of each column: of several classes the sum or the maximum."""
        K = len(self.groups.sizes) + 1
        found = self._each(lambda side: score(side, self.columns, K), self.choosing)
        if len(found) == 1:
            return found[0]
        combine: Any = np.maximum if self.params.group == "max" else np.add
        total: Floats = combine.reduce(found)
        return total

    def refine(self) -> None:
        """The final passes over the rows, with all groups."""
        p = self.params
        if p.final_passes and self.groups.sizes and p.solver != "printed":
            self._each(self._refine, self.sides)

    def settle(self, past: Sequence[Errors]) -> list[Errors]:
        """Learn the final weights of all sides; the rows with an error of each, with those of
        earlier batches."""
        each, candidates = list(zip(self.sides, past, strict=True)), len(self.columns.slots)
        return self._each(lambda one: one[0].settle(one[1], candidates), each)

    @property
    def refined(self) -> bool:
        """Whether the duality gap after the final passes, if there are any, is at most `tol`."""
        p = self.params
        if not p.final_passes or not self.groups.sizes or p.solver == "printed":
            return True
        return all(side.found.near(p.tol) for side in self.choosing)

    def _solve(self, side: Side) -> None:
        side.solve(side.found if side.theta else None, self.params.group_passes)

    def _refine(self, side: Side) -> None:
        if not side.found.near(self.params.tol):
            side.solve(side.found, self.params.final_passes, again=True)

    def _widen(self, new: Longs) -> None:
        """Give all sides the columns `new`, which the groups already have."""
        problem = self.sides[0].problem
        problem.groups = self.groups
        wide = problem.widened(self.columns, new)
        self._each(lambda side: side.widen(self.groups, wide, new), self.sides)

    def _each(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        return self.columns.together(work, items, self.jobs)


def largest(values: Floats, n: int) -> Longs:
    """The places of the n largest positive values, ascending; of equal values the first."""
    n = min(n, int(np.count_nonzero(values > 0)))
    if n == 0:
        return np.empty(0, dtype=np.int64)
    least = np.partition(values, len(values) - n)[len(values) - n]
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: n - len(above)]
    return np.sort(np.append(above, ties))
