"""Sparse linear classifiers by the l1 norm:  min ||w||_1 + C sum l(y_i w.x_i)  (Yuan et al. 2010).

With --features p, C grows from where the first weight appears, each solution starting from the
one before, until there are p weights. Where no C gives exactly p, the p largest of the next
solution are learned again by themselves, or kept as they are if that makes some 0.
Every slot is learned anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Chosen
from cwtool.algorithms.inverted import Columns, Matrix
from cwtool.algorithms.slotted import SlotParams, Slotted
from cwtool.data.block import Block, Floats, Longs
from cwtool.order import permutation
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import l1

MEAN, ENTRY = 0, 1  # columns: w, and the step of the path at which the feature came in
GROWTH = 1.3  # of C
BISECTIONS = 25
FIRST = 2000  # features that are visited at once, at the beginning
RECHECK = 0.1  # of the violation: then those left out are looked at again


SLOT = "rows of a time slot, 0: a whole file; a slot forgets the ones before it, also in --resume"


@dataclass(frozen=True)
class L1Params(SlotParams):
    features: int = param(100, "how many features; 0: as many as C gives", low=0)
    C: float = param(1e4, "price of an error; with features: the largest that is tried", above=0)
    loss: str = param(
        "squared-hinge",
        "squared-hinge: C/2 xi^2;  logistic: C log(1 + exp(-m))",
        choices=("squared-hinge", "logistic"),
    )
    tol: float = param(
        1e-4, "stop at this share of the violation of optimality at w = 0, or of 1", above=0
    )
    max_epochs: int = param(1000, "or after so many visits to each feature", low=1)
    slot_rows: int = param(0, SLOT, low=0)


class Part:
    """Some features in columns of their own, so that a visit touches nothing else."""

    def __init__(self, z: Matrix, squares: Floats, features: Longs) -> None:
        self.z, self.squares, self.features = z.take(features), squares[features], features
        self.active: Longs = np.arange(len(features), dtype=np.int64)


class Descent:
    """w and the margins m while C changes."""

    def __init__(self, columns: Columns, y: Floats, params: Any, seed: int) -> None:
        self.p, self.seed = params, seed
        self.z, self.squares = columns.x, columns.squares
        self.z.value[:] *= y[self.z.place]  # z_ij = y_i x_ij
        self.logistic = params.loss == "logistic"
        self.w, self.m = np.zeros(len(self.squares)), np.zeros(len(y))
        self.g0 = self.gradient()  # over C, at w = 0
        self.epochs = 0

    def gradient(self) -> Floats:
        """Of the sum of losses."""
        slope = -np.exp(-np.logaddexp(0, self.m)) if self.logistic else np.minimum(self.m - 1, 0)
        return self.z.products(slope)

    def solve(self, C: float, among: Longs) -> None:
        """Visits to those that have a weight or ought to, until none of all of them ought to."""
        goal = self.p.tol * max(1.0, float(np.maximum(C * np.abs(self.g0) - 1, 0).sum()))
        last = self.epochs + self.p.max_epochs
        while self.epochs < last:
            g, w = C * self.gradient()[among], self.w[among]
            violation = np.abs(np.where(w == 0, np.maximum(np.abs(g) - 1, 0), g + np.sign(w)))
            total = float(violation.sum())
            if total <= goal:
                break
            some = Part(self.z, self.squares, among[urgent(w, violation)])
            slack, target = np.inf, max(goal, RECHECK * total)
            while total > target and self.epochs < last:
                slack, total = self._visit(some, C, slack)

    def _visit(self, part: Part, C: float, slack: float) -> tuple[float, float]:
        """One to the active features, in a new order; the slack of the next, and the violation."""
        self.epochs += 1
        order = part.active[permutation(len(part.active), self.seed, self.epochs)]
        w = self.w[part.features]
        left, most, total = l1.descent(
            *part.z, part.squares, order, self.logistic, C, slack, w, self.m
        )
        self.w[part.features] = w
        part.active = order[:left]
        return most / len(self.m), total

    @property
    def chosen(self) -> Longs:
        return np.flatnonzero(self.w)

    def without(self, features: Longs) -> tuple[Floats, Floats]:
        """These weights become 0; the rest as it is then."""
        for j in features.tolist():
            rows = slice(*self.z.start[j : j + 2].tolist())
            self.m[self.z.place[rows]] -= self.w[j] * self.z.value[rows]
            self.w[j] = 0
        return self.kept()

    def kept(self) -> tuple[Floats, Floats]:
        return self.w.copy(), self.m.copy()

    def back(self, kept: tuple[Floats, Floats]) -> None:
        """To what was kept."""
        self.w, self.m = (part.copy() for part in kept)


def urgent(w: Floats, violation: Floats) -> Longs:
    """Those that have a weight, and of those that ought to the first: as many again, or FIRST."""
    weighted = np.count_nonzero(w)
    n = max(FIRST, 2 * weighted)
    urgency = np.where(w == 0, violation, np.inf)
    if np.count_nonzero(urgency) > n:
        urgency[urgency < np.partition(urgency, len(w) - n)[len(w) - n]] = 0
    return np.flatnonzero(urgency)


class L1SVM(Slotted):
    name = "l1svm"
    summary = "sparse SVM or logistic regression by the l1 norm"
    Params: ClassVar[type] = L1Params
    columns = ("mean", "entry")
    Fit: ClassVar[type[Descent]] = Descent

    def learn_slot(self, block: Block, state: State, v: Floats) -> None:
        p = self.params
        columns = Columns(block, state, np.empty(0, dtype=np.int32))
        slot = int(state.numbers.get("slots", 0))
        fit = self.Fit(columns, block.y, p, self.seed + slot)
        everything = np.arange(len(columns.slots), dtype=np.int64)
        entry = np.zeros(len(columns.slots))
        C = p.C
        if p.features == 0:
            fit.solve(C, everything)
            entry[fit.chosen] = 1
        elif fit.g0.any():
            C = self._path(fit, everything, entry)
        table = state.features.table
        table[state.features.ids_and_slots()[1]] = 0
        table[columns.slots, MEAN] = fit.w
        table[columns.slots, ENTRY] = entry
        state.numbers["C"] = C
        self.notes.append(
            f"{block.n_rows:,} rows: {len(fit.chosen):,} features at C = {C:.4g}, "
            f"{fit.epochs} epochs"
        )

    def _path(self, fit: Descent, everything: Longs, entry: Floats) -> float:
        """Exactly p features, if there are so many; `entry` gets the step at which each came."""
        p = self.params
        step = 0
        low = C = float(min(p.C, 1 / np.abs(fit.g0).max()))  # w = 0 up to here
        before = fit.kept()
        while len(fit.chosen) < p.features and C < p.C:
            low, before = C, fit.kept()
            C, step = min(p.C, C * GROWTH), step + 1
            fit.solve(C, everything)
            entry[fit.chosen] = np.where(entry[fit.chosen], entry[fit.chosen], step)
        high, above = C, fit.kept()
        for _ in range(BISECTIONS):
            if len(fit.chosen) == p.features or len(above[0].nonzero()[0]) <= p.features:
                break
            C = (low * high) ** 0.5
            fit.back(before)
            fit.solve(C, everything)
            if len(fit.chosen) < p.features:
                low, before = C, fit.kept()
            else:
                high, above = C, fit.kept()
        if len(fit.chosen) != p.features and len(above[0].nonzero()[0]) > p.features:
            C = high
            fit.back(above)
            order = np.argsort(-np.abs(fit.w), kind="stable")
            cut = fit.without(order[p.features : len(fit.chosen)])
            fit.solve(C, np.sort(order[: p.features]))
            if len(fit.chosen) < p.features:  # among themselves fewer are enough
                fit.back(cut)
        entry[fit.chosen] = np.where(entry[fit.chosen], entry[fit.chosen], step)
        entry[fit.w == 0] = 0
        return C

    def selection(self, state: State) -> Chosen:
        table, seen = state.features.table, state.features.ids_and_slots()[1]
        slots = seen[table[seen, ENTRY] > 0]
        weight, entry = np.abs(table[slots, MEAN]), table[slots, ENTRY].astype(np.int32)
        return Chosen(slots, weight, entry)


ALGORITHMS = {"l1svm": L1SVM}
