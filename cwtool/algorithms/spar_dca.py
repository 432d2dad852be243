"""Sparse SVM by proximal dual coordinate ascent (Shalev-Shwartz and Zhang 2012; the sparDCA of Tan
et al. 2016):  min |w|_1 + e/2 |w|^2 + C/q sum_i h_i max(0, 1 - y_i w.x_i)^q.

It differs from l1svm in the solver and in the small e, which makes the dual smooth: correlated
features share their weight, so that more of them come in at once. The path over C is that of l1svm;
from one solution to the next the dual variables grow with C.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Variants, each_choice
from cwtool.algorithms.batch.learner import Bounds
from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.covariance.prior import prior_of_rows
from cwtool.algorithms.l1svm import SparseLearner, SparseParams
from cwtool.algorithms.selection.l1_path import Fit, Kept
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats, Longs
from cwtool.order import permutation
from cwtool.params import param
from cwtool.records import dataclass
from cwtool_ext import proximal


@dataclass(frozen=True)
class SparDcaParams(SparseParams):
    loss: str = param(
        "squared-hinge",
        "Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi, "
        "squared-hinge is C/2 xi^2.",
        choices=("hinge", "squared-hinge"),
    )
    l2: float = param(
        0.1,
        "Weight e of the squared norm beside the l1 norm. Smaller values come closer to the plain "
        "l1 norm and converge more slowly.",
        above=0,
        unasked_below=0.1,
    )
    tol: float = param(
        1e-2,
        "Stop when the relative duality gap is at most this. Smaller values are more exact and "
        "slower.",
        above=0,
        unasked_below=0.01,
    )
    max_batch_passes: int = param(
        200,
        "Largest number of passes over the rows for one C, if `tol` is not reached before.",
        low=1,
        formerly=("max_epochs",),
        unasked=200,
    )
    prior: float | str = prior_of_rows(unasked=1.0)  # more of it acts as a smaller `l2`


class Ascent(Fit):
    """w = soft(v) / e,  v = sum b_i z_i, and the dual variables b while C changes."""

    def __init__(self, columns: AnyColumns, y: Floats, params: Any, seed: int) -> None:
        super().__init__(columns, y, params, seed)
        assert isinstance(self.z, Matrix)
        self.rows = Matrix.empty(len(y), 0).widened(np.empty(0), self.z, self.everything, 0)[0]
        self.b, self.C = np.zeros(len(y)), 1.0
        self.free = np.ones(len(self.w))  # 1 for features that may have a weight, else 0

    def solve(self, C: float, among: Longs) -> None:
        """Passes over the rows until the duality gap is small."""
        p, e = self.p, self.p.l2
        bounds = Bounds.of(C, p.loss, len(self.b), self.weight)
        self.free[:] = 0
        self.free[among] = 1
        self.b *= C / self.C
        self.C = C
        v = self.rows.sums(self.b, len(self.w))
        for _ in range(p.max_batch_passes):
            self.passes += 1
            order = permutation(len(self.b), self.seed, self.passes)
            proximal.ascent(self.rows.csr, order, self.free, e, *bounds, v, self.b)
            self._take(v)
            primal, dual = self.value(C)
            if not primal - dual > p.tol * primal:  # also where they are no numbers any more
                return
        self.early += 1

    def _take(self, v: Floats) -> None:
        """The weights and margins that belong to this v."""
        excess = self.free * np.maximum(np.abs(v) - 1, 0)
        self.w = np.copysign(excess, v) / self.p.l2
        self.w[excess == 0] = 0
        self.m = self.rows.products(self.w)

    def value(self, C: float) -> tuple[float, float]:
        """The primal objective at w, and the dual objective at b."""
        hinge, e = self.p.loss == "hinge", self.p.l2
        xi = np.maximum(0, 1 - self.m)
        each, squared = xi if hinge else np.square(xi), np.square(self.b)
        if self.weight is not None:
            each, squared = self.weight * each, squared / self.weight
        loss = each.sum() if hinge else each.sum() / 2
        square = np.square(self.w).sum() * e / 2
        primal = np.abs(self.w).sum() + square + C * loss
        dual = self.b.sum() - (0 if hinge else squared.sum() / (2 * C)) - square
        return float(primal), float(dual)

    def without(self, features: Longs) -> None:
        """Set the weights of these features to 0; the dual variables follow in the next solve."""
        self.w[features] = 0
        self.m = self.rows.products(self.w)

    def kept(self) -> Kept:
        return self.w.copy(), self.b / self.C

    def back(self, kept: Kept) -> None:
        self.w, self.b = kept[0].copy(), kept[1] * self.C
        self.m = self.rows.products(self.w)


class SparDCA(SparseLearner):
    name = "spar-dca"
    summary = "sparse SVM by proximal dual coordinate ascent, l1 and a small l2 norm"
    Params = SparDcaParams
    Fit = Ascent
    entry_bytes = 24
    variants: ClassVar[Variants] = {
        **each_choice(SparDcaParams, "loss", C=10.0),
        "few": {"features": 24},
        "given C": {"features": 0, "C": 1.0},
    }


ALGORITHMS = {"spar-dca": SparDCA}
