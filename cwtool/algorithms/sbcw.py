"""Sparse batch confidence-weighted learning (Tan et al. 2016, Algorithms 2 and 3).

As fgm, but a group B of features has P = I + c X_B'H X_B with c = C / precision_divisor. As printed
(c = C, hinge loss) all dual variables b stay at C, so that the features are chosen by |x_j.y| alone
and a single group gets all the weight. For this reason the divisor is 100 and the loss the squared
hinge unless told otherwise.

With n rows of length 1 over d features, c X'HX adds c n/d to the precision of a feature on the
mean. The loss grows with n as well, so that no number of rows would overcome this penalty, and the
large weights of opposite sign that similar columns of tables need would never be learned. For this
reason the divisor is greater where c n/d would be above 5. With texts it is far below.

Features are chosen by the gain of a Newton step of their weight together with those of the features
that are chosen already (selection/newton_gain.py).

The weights of the chosen features are learned once more, with a C that is chosen: see
`final_weights`. Few features of two classes are exchanged for others under this C
(selection/exchange.py). Dual variables, shares and precisions, from which later batches go on, stay
those of C.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from cwtool.algorithms.base import Variants, each_choice
from cwtool.algorithms.fgm import FGM
from cwtool.algorithms.selection.column_prior import LEAST, SCALES, prior_of
from cwtool.algorithms.selection.exchange import FEW, exchanged
from cwtool.algorithms.selection.fgm_params import FgmParams
from cwtool.algorithms.selection.final_weights import MOST, Errors
from cwtool.algorithms.selection.group_selection import GroupSelection, Side
from cwtool.algorithms.selection.newton_gain import MEASURED, newton_gain
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats, Rows
from cwtool.errors import Damage
from cwtool.parallel import cores
from cwtool.params import AUTO, param
from cwtool.records import dataclass
from cwtool.state import Array, Layout, State

DIVISOR = 100.0  # of C, which is the weight of X'HX at most
ADDED = 5.0  # by X'HX to the precision of a feature, in the mean, in units of that before any rows


@dataclass(frozen=True)
class SbcwParams(FgmParams):
    final_passes: int = param(
        0,
        "Largest number of further passes over the rows after the last group was selected. On "
        "text they did not lower the error.",
        low=0,
        formerly=("final_sweeps",),
        unasked=1000,
    )
    final_C: str = param(
        AUTO,
        "C of the final weights: auto multiplies `C` by 1, 3, 10, 30 and so on up to 10^6, "
        "whichever has the least loss by generalized cross-validation with a correction for the "
        "number of features that were not selected; same takes `C`. Applies with "
        "`loss=squared-hinge`, `solver=mm` and at most 500 features. With auto, `score=gain`, two "
        "classes and at most 64 features, features of the first batch are then exchanged for "
        "others that lower the loss by more than a feature costs in this estimate.",
        choices=(AUTO, "same"),
    )
    precision_divisor: float | str = param(
        AUTO,
        "C divided by this number is the weight of X'X in the precision of a group. 1 is the "
        "algorithm of the paper; larger values give the precision less influence. auto is 100, or "
        "more if there are many rows for each feature: then X'X makes the precision of a feature 6 "
        "times as large, on the mean.",
        kind=float,
        above=0,
        auto=True,
        formerly=("kappa",),
    )
    score: str = param(
        "gain",
        "Score by which features are selected: gain is twice the decrease of the objective that a "
        "Newton step of the weight of the feature, together with those of the features selected so "
        "far, adds to a step of the latter alone (with `loss=hinge` the same as diag); diag is "
        "s_j^2 / (1 + c |x_j|^2) with c = `C` / `precision_divisor`; plain is s_j^2, as in the "
        "paper.",
        choices=("gain", "diag", "plain"),
    )
    scale: str = param(
        AUTO,
        "Precision of a weight before any rows: columns takes the mean square of the values of its "
        "column that are not 0, so that the units of the columns do not matter; none takes 1, as "
        "in the paper; auto takes columns if the sizes of the columns' values differ by more than "
        "a factor of about 2.",
        choices=SCALES,
    )


class SBCW(FGM):
    name = "sbcw"
    summary = "sparse batch confidence-weighted: groups of features with their covariance"
    Params = SbcwParams
    variants: ClassVar[Variants] = {
        **FGM.variants,
        **each_choice(SbcwParams, "score", features=28),
        "columns": {"scale": "columns", "features": 28},
        "same": {"final_C": "same", "batch_rows": 200},
    }

    @property
    def layout(self) -> Layout:
        layout = super().layout
        # see Errors: of all batches, by position; empty if the final weights are those of C
        errors = Array("errors", shape=(0, 0), sizes=("erring", "erring"), later=True)
        return layout._replace(arrays=(*layout.arrays, errors))

    def check(self, state: State) -> None:
        super().check(state)
        if len(state.arrays["errors"]) not in (0, len(state.arrays["score"]) + 1):
            raise Damage("the array array.errors does not fit the number of chosen features")

    def precision_weight(self, columns: AnyColumns, prior: Floats | None, share: float) -> float:
        p = self.params
        if p.precision_divisor != AUTO:
            return float(p.C / p.precision_divisor)
        added = share * float((columns.squares / (1 if prior is None else prior)).sum())
        return min(float(p.C) / DIVISOR, ADDED / max(added, LEAST))

    @property
    def settles(self) -> bool:
        """Whether the C of the final weights is chosen."""
        p = self.params
        return bool(p.final_C == AUTO and p.loss == "squared-hinge" and p.solver == "mm")

    def settle(self, states: Sequence[State], growth: GroupSelection, precision: Floats) -> None:
        past = [self._errors(state) for state in states] if self.settles else []
        known = [errors for errors in past if errors is not None]
        if known and len(known) == len(states) and 0 < len(growth.chosen) <= MOST:
            errors = growth.settle(known)
            if self._exchange(growth, precision):
                errors = growth.settle(known)
            found = [one.matrix for one in errors]
        else:
            found = [np.zeros((0, 0)) for _ in states]
        for state, matrix in zip(states, found, strict=True):
            state.arrays["errors"] = matrix

    def _exchange(self, growth: GroupSelection, precision: Floats) -> bool:
        """Exchange features of two classes that no earlier batch has chosen; whether any were."""
        p, chosen = self.params, growth.chosen
        if p.score != "gain" or len(chosen) > FEW or growth.kept or len(growth.sides) > 1:
            return False
        own = (p.sigma + len(growth.groups.sizes)) * precision
        new, w = exchanged(growth.sides[0], growth.columns, own)
        if np.array_equal(new, chosen):
            return False
        growth.exchange(new, w)
        return True

    def _errors(self, state: State) -> Errors | None:
        """The rows of earlier batches with an error; None if they were not kept."""
        matrix = state.arrays["errors"]
        if self.params.carry == "restart" or not len(state.arrays["score"]):
            return Errors.none(0)
        return Errors(matrix) if len(matrix) else None

    def _work(self, rows: Rows, known: int, classes: int) -> int:
        features: int = min(self.params.features, known, MOST)  # of more there are no matrices
        matrices = 8 * features**2 * (classes + 7 * min(classes, cores()))
        if features <= FEW:  # what is exchanged, and the rows over it
            tried = max(MEASURED, 2 * min(features, self.params.width))
            matrices += 8 * 6 * (features + tried) ** 2 + 16 * rows.nnz
        return super()._work(rows, known, classes) + matrices

    def own_precision(self, columns: AnyColumns, again: bool) -> Floats | None:
        return prior_of(columns, "columns" if again else self.params.scale)

    def score(self, side: Side, columns: AnyColumns, K: int, precision: Floats) -> Floats:
        """The score by which features are selected: gain is that of a Newton step in which a new
        group has the share 1/K, diag is s_j^2 / P_jj (eq. 12), plain is s_j^2 (eq. 14)."""
        p = self.params
        if p.score == "plain":
            return super().score(side, columns, K, precision)
        if p.score == "diag" or p.loss == "hinge":  # the hinge has no curvature
            return super().score(side, columns, K, precision) / precision
        return newton_gain(side, columns, (p.sigma + K) * precision)


ALGORITHMS = {"sbcw": SBCW}
