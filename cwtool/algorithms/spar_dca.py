"""Sparse SVM by proximal dual coordinate ascent (Shalev-Shwartz and Zhang 2012; the sparDCA of Tan
et al. 2016):  min |w|_1 + e/2 |w|^2 + C/q sum_i max(0, 1 - y_i w.x_i)^q.

As l1svm in all but the solver and the small e, which makes the dual smooth: what correlates shares
its weight, so that more features come in at once. The path of C is that of l1svm; the dual
variables grow with C from one solution to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cwtool.algorithms.inverted import Columns, Matrix
from cwtool.algorithms.l1svm import L1SVM, SLOT, Descent
from cwtool.algorithms.slotted import SlotParams
from cwtool.data.block import Floats, Longs
from cwtool.order import permutation
from cwtool.params import param
from cwtool_ext import proximal


@dataclass(frozen=True)
class SparDcaParams(SlotParams):
    features: int = param(100, "how many features; 0: as many as C gives", low=0)
    C: float = param(1e4, "price of an error; with features: the largest that is tried", above=0)
    loss: str = param(
        "squared-hinge", "hinge: C xi;  squared-hinge: C/2 xi^2", choices=("hinge", "squared-hinge")
    )
    l2: float = param(0.1, "e, of the squared norm beside the l1 norm", above=0)
    tol: float = param(1e-2, "stop at this relative duality gap", above=0)
    max_epochs: int = param(200, "or after so many visits to each row", low=1)
    slot_rows: int = param(0, SLOT, low=0)


class Ascent(Descent):
    """w = soft(v) / e,  v = sum b_i z_i, and the dual variables b while C changes."""

    def __init__(self, columns: Columns, y: Floats, params: Any, seed: int) -> None:
        super().__init__(columns, y, params, seed)
        everything = np.arange(len(self.w), dtype=np.int64)
        self.rows = Matrix.empty(len(y), 0).widened(np.empty(0), self.z, everything, 0)[0]
        self.b, self.C = np.zeros(len(y)), 1.0
        self.free = np.ones(len(self.w))

    def solve(self, C: float, among: Longs) -> None:
        """Visits to the rows until the gap is closed."""
        p, e = self.p, self.p.l2
        upper, D = (C, 0.0) if p.loss == "hinge" else (np.inf, 1 / C)
        self.free[:] = 0
        self.free[among] = 1
        self.b *= C / self.C
        self.C = C
        v = self.rows.sums(self.b, len(self.w))
        for _ in range(p.max_epochs):
            self.epochs += 1
            order = permutation(len(self.b), self.seed, self.epochs)
            proximal.ascent(*self.rows, order, self.free, e, D, upper, v, self.b)
            self._take(v)
            primal, dual = self.value(C)
            if primal - dual <= p.tol * primal:
                break

    def _take(self, v: Floats) -> None:
        excess = self.free * np.maximum(np.abs(v) - 1, 0)
        self.w = np.copysign(excess, v) / self.p.l2
        self.w[excess == 0] = 0
        self.m = self.rows.products(self.w)

    def value(self, C: float) -> tuple[float, float]:
        """The primal at w, the dual at b."""
        hinge, e = self.p.loss == "hinge", self.p.l2
        xi = np.maximum(0, 1 - self.m)
        loss = xi.sum() if hinge else np.square(xi).sum() / 2
        square = np.square(self.w).sum() * e / 2
        primal = np.abs(self.w).sum() + square + C * loss
        dual = self.b.sum() - (0 if hinge else np.square(self.b).sum() / (2 * C)) - square
        return float(primal), float(dual)

    def without(self, features: Longs) -> tuple[Floats, Floats]:
        """These weights become 0; the dual variables follow when it is solved again."""
        self.w[features] = 0
        self.m = self.rows.products(self.w)
        return self.kept()

    def kept(self) -> tuple[Floats, Floats]:
        return self.w.copy(), self.b / self.C

    def back(self, kept: tuple[Floats, Floats]) -> None:
        self.w, self.b = kept[0].copy(), kept[1] * self.C
        self.m = self.rows.products(self.w)


class SparDCA(L1SVM):
    name = "spar-dca"
    summary = "sparse SVM by proximal dual coordinate ascent, l1 and a small l2 norm"
    Params = SparDcaParams
    Fit = Ascent


ALGORITHMS = {"spar-dca": SparDCA}
