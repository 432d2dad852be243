"""Sparse batch confidence-weighted learning (Tan et al. 2016, Algorithms 2 and 3).

As fgm, but a group B of features has P = I + c X_B'H X_B with c = C / precision_divisor. As printed
(c = C, hinge loss) all dual variables b stay at C, so that the features are chosen by |x_j.y| alone
and a single group gets all the weight. For this reason the divisor is 100 and the loss the squared
hinge unless told otherwise.

Features are chosen by the gain of a Newton step of the feature alone, s_j^2 / 2(K P_jj + C sum of
x_ij^2 over rows with an error). Cross-validated on the training rows of five sets of text this
gives 13.7 % errors, s_j^2 / P_jj 14.2 %; on six other sets 8.3 % and 8.5 %.
"""

from __future__ import annotations

from typing import ClassVar

from cwtool.algorithms.base import Variants, each_choice
from cwtool.algorithms.column_prior import SCALES, prior_of
from cwtool.algorithms.dealt_columns import AnyColumns
from cwtool.algorithms.fgm import FGM
from cwtool.algorithms.fgm_params import FgmParams
from cwtool.algorithms.growth import Side
from cwtool.data.rows import Floats
from cwtool.params import AUTO, param
from cwtool.records import dataclass


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
    precision_divisor: float = param(
        100.0,
        "C divided by this number is the weight of X'X in the precision of a group. 1 is the "
        "algorithm of the paper; larger values give the precision less influence.",
        above=0,
        formerly=("kappa",),
    )
    score: str = param(
        "gain",
        "Score by which features are selected, with c = `C` / `precision_divisor`: gain is s_j^2 "
        "/ (K (1 + c |x_j|^2) + C |x_j|^2 of rows with an error), the gain of a Newton step with "
        "K groups (with `loss=hinge` the same as diag); diag is s_j^2 / (1 + c |x_j|^2); plain is "
        "s_j^2, as in the paper.",
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
    }

    @property
    def c(self) -> float:
        return float(self.params.C / self.params.precision_divisor)

    def own_precision(self, columns: AnyColumns, again: bool) -> Floats | None:
        return prior_of(columns, "columns" if again else self.params.scale)

    def score(self, side: Side, columns: AnyColumns, K: int, prior: Floats | None = None) -> Floats:
        """The gain of each feature as a group of its own: by a Newton step from 0 in the problem
        as it is, where a new group has the share 1/K; by its own norm (eq. 12); or with Sigma = I
        (eq. 14)."""
        p = self.params
        if p.score == "plain":
            return super().score(side, columns, K, prior)
        precision = (1 if prior is None else prior) + self.c * columns.squares
        if p.score == "diag" or p.loss == "hinge":  # the hinge has no curvature
            return super().score(side, columns, K, prior) / precision
        s, curvature = side.moments(columns)
        gain: Floats = (side.past + s) ** 2 / ((p.sigma + K) * precision + p.C * curvature)
        return gain


ALGORITHMS = {"sbcw": SBCW, "fgm": FGM}
