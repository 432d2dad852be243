"""Primal coordinate descent for  min ||w||_1 + C sum h_i l(y_i w.x_i)  (Yuan et al. 2010)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cwtool.algorithms.batch.newton import Newton, passes_for
from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.selection.l1_path import Fit, Kept
from cwtool.algorithms.shards.sharded_columns import AnyMatrix
from cwtool.data.rows import Floats, Longs
from cwtool.order import permutation
from cwtool_ext import l1

FIRST = 2000  # features that are visited together, at least, if so many violate optimality
BEFORE = 2  # passes before the first Newton step: at w = 0 all rows have a loss, later fewer
RECHECK = 0.1  # all features are checked again when the violation has fallen to this share


class Part:
    """Some features in columns of their own, so that a pass touches no other memory."""

    def __init__(self, z: AnyMatrix, squares: Floats, features: Longs) -> None:
        self.z, self.squares, self.features = z.take(features), squares[features], features
        self.active: Longs = np.arange(len(features), dtype=np.int64)


class Descent(Fit):
    """The solver of l1svm: descent over the columns, and Newton steps if they cost less."""

    @cached_property
    def newton(self) -> Newton | None:
        """What makes Newton steps, if they cost less than descent, which needs tens of passes."""
        if self.p.loss != "squared-hinge" or not isinstance(self.z, Matrix):
            return None
        lengths = np.bincount(self.z.place, minlength=len(self.m))
        if np.isinf(passes_for(lengths, self.z.count)):
            return None
        return Newton(self.z, self.weight, len(self.m))

    def solve(self, C: float, among: Longs) -> None:
        """Passes over the features that have a weight or violate optimality, until the violation
        of all of them together is small."""
        goal = self.p.tol * max(1.0, float(np.maximum(C * np.abs(self.g0) - 1, 0).sum()))
        last = self.effort + self.p.max_batch_passes
        while self.effort < last:
            gradient = self.gradient() if self.passes else self.g0
            w, violation = self.w[among], np.empty(len(among))
            total = l1.violations(C, gradient, self.w, among, violation)
            if total <= goal:
                return
            if self.newton and self.passes >= BEFORE:
                self.passes += 1
                aim = max(goal / 10, total / 100)
                at = self.w, self.m
                found = self.newton.l1_step(at, gradient, C, among, aim)
                self.beside = self.newton.swept
                if found:
                    self.w, self.m = found
                    continue
            some = Part(self.z, self.squares, among[urgent(w, violation)])
            slack, target = np.inf, max(goal, RECHECK * total)
            until = min(last, self.effort + BEFORE) if self.newton else last
            while total > target and self.effort < until:
                slack, total = self._pass(some, C, slack)
        self.early += 1

    def _pass(self, part: Part, C: float, slack: float) -> tuple[float, float]:
        """Visit the active features once in a new order. Returns the slack for the next pass, and
        the violation of optimality."""
        self.passes += 1
        order = part.active[permutation(len(part.active), self.seed, self.passes)]
        w = self.w[part.features]
        left, most, total = l1.descent(
            part.z.csr, part.squares, order, self.p.loss == "logistic", C, slack, w, self.m,
            self.weight,
        )  # fmt: skip
        self.w[part.features] = w
        part.active = order[:left]
        return most / len(self.m), total

    def without(self, features: Longs) -> None:
        for j in features.tolist():
            column = self.z.take(np.array([j]))
            self.m[column.place] -= self.w[j] * column.value
            self.w[j] = 0

    def kept(self) -> Kept:
        return self.w.copy(), self.m.copy()

    def back(self, kept: Kept) -> None:
        self.w, self.m = (part.copy() for part in kept)


def urgent(w: Floats, violation: Floats) -> Longs:
    """The places of all features that have a weight, and of the worst violations among the others:
    at most as many as have a weight, or FIRST in all."""
    n = max(FIRST, 2 * np.count_nonzero(w))
    some = np.flatnonzero((w != 0) | (violation > 0))
    if len(some) <= n:
        return some
    urgency = np.where(w[some] == 0, violation[some], np.inf)
    worst: Longs = some[urgency >= np.partition(urgency, len(some) - n)[len(some) - n]]
    return worst
