"""Sparse linear classifiers by the l1 norm:  min ||w||_1 + C sum l(y_i w.x_i)  (Yuan et al. 2010).

With --features p, C grows from where the first weight appears, each solution starting from the
one before, until there are p weights. Where no C gives exactly p, the p largest of the next
solution are learned again by themselves, or kept as they are if that makes some 0.
Every slot is learned anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwtool.algorithms.base import Chosen
from cwtool.algorithms.inverted import Columns
from cwtool.algorithms.slotted import SlotParams, Slotted
from cwtool.data.block import Block, Floats, Longs
from cwtool.order import permutation
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import l1

MEAN, ENTRY = 0, 1  # columns: w, and the step of the path at which the feature came in
GROWTH = 1.3  # of C
BISECTIONS = 25
RECHECK = 0.1  # of the violation: then those left out are visited again


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
        1e-3, "stop at this share of the violation of optimality at w = 0, or of 1", above=0
    )
    max_epochs: int = param(1000, "or after so many visits to each feature", low=1)


class Descent:
    """w and the margins m while C changes."""

    def __init__(self, columns: Columns, y: Floats, params: L1Params, seed: int) -> None:
        x, self.p, self.y, self.seed = columns.x, params, y, seed
        self.x = x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data
        self.squares = columns.squares
        self.logistic = params.loss == "logistic"
        self.g0: Floats = np.abs(x.T @ y) * (0.5 if self.logistic else 1.0)  # |gradient| / C at 0
        self.w, self.m = np.zeros(x.shape[1]), np.zeros(len(y))
        self.epochs = 0

    def solve(self, C: float, among: Longs) -> None:
        """Epochs over the active features, each in a new order, until all of them agree."""
        goal = self.p.tol * max(1.0, float(np.maximum(C * self.g0 - 1, 0).sum()))
        some, slack, target = among, np.inf, goal
        for _ in range(self.p.max_epochs):
            self.epochs += 1
            some = some[permutation(len(some), self.seed, self.epochs)]
            left, most, total = l1.descent(
                *self.x, self.y, self.squares, some, self.logistic, C, slack, self.w, self.m
            )
            if np.isinf(slack):  # all of them were visited
                if total <= goal:
                    break
                target = max(goal, RECHECK * total)
            some, slack = some[:left], most / len(self.y)
            if total <= target:
                some, slack = among, np.inf  # were the others rightly left out?

    @property
    def chosen(self) -> Longs:
        return np.flatnonzero(self.w)

    def without(self, features: Longs) -> tuple[Floats, Floats]:
        """These weights become 0; the rest as it is then."""
        for j in features.tolist():
            rows = slice(*self.x[0][j : j + 2].tolist())
            at = self.x[1][rows]
            self.m[at] -= self.w[j] * self.y[at] * self.x[2][rows]
            self.w[j] = 0
        return self.kept()

    def kept(self) -> tuple[Floats, Floats]:
        return self.w.copy(), self.m.copy()


class L1SVM(Slotted):
    name = "l1svm"
    summary = "sparse SVM or logistic regression by the l1 norm"
    Params = L1Params
    columns = ("mean", "entry")

    def learn_slot(self, block: Block, state: State, v: Floats) -> None:
        p = self.params
        columns = Columns(block, state, np.empty(0, dtype=np.int32))
        slot = int(state.numbers.get("slots", 0))
        fit = Descent(columns, block.y, p, self.seed + slot)
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
        p: L1Params = self.params
        step = 0
        low = C = float(min(p.C, 1 / fit.g0.max()))  # w = 0 up to here
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
            fit.w, fit.m = before[0].copy(), before[1].copy()
            fit.solve(C, everything)
            if len(fit.chosen) < p.features:
                low, before = C, fit.kept()
            else:
                high, above = C, fit.kept()
        if len(fit.chosen) != p.features and len(above[0].nonzero()[0]) > p.features:
            C, (fit.w, fit.m) = high, above
            order = np.argsort(-np.abs(fit.w), kind="stable")
            cut = fit.without(order[p.features : len(fit.chosen)])
            fit.solve(C, np.sort(order[: p.features]))
            if len(fit.chosen) < p.features:  # among themselves fewer are enough
                fit.w, fit.m = cut
        entry[fit.chosen] = np.where(entry[fit.chosen], entry[fit.chosen], step)
        entry[fit.w == 0] = 0
        return C

    def selection(self, state: State) -> Chosen:
        table, seen = state.features.table, state.features.ids_and_slots()[1]
        slots = seen[table[seen, ENTRY] > 0]
        weight, entry = np.abs(table[slots, MEAN]), table[slots, ENTRY].astype(np.int32)
        return Chosen(slots, weight, entry)


ALGORITHMS = {"l1svm": L1SVM}
