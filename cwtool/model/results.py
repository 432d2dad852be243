"""The results of learning and predicting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cwtool.algorithms.base import Coefficients
from cwtool.data.columns import Columns
from cwtool.data.rows import Floats, Ints


class Prediction(NamedTuple):
    """For each row its score (several classes: a column each) and variance; the number of entries
    whose feature is unknown."""

    score: Floats
    variance: Floats
    unknown: int


class Weights(NamedTuple):
    """For each feature its id, weight or importance, and variance, in the units of the data; with
    several classes one column per class, and one intercept per class."""

    ids: Ints
    weight: Floats
    variance: Floats | None
    intercept: float | Floats


class Learned(NamedTuple):
    """For each row the score and variance before it was learned; `fitted` are the scores after
    learning where there was no model yet to predict with, and `weight` is what the rows were
    learned with: row weight times class weight (None: all 1)."""

    score: Floats
    variance: Floats
    fitted: Floats | None
    weight: Floats | None


def bounded(score: Floats, variance: Floats, lowest: float | None = None) -> tuple[Floats, Floats]:
    """Scores and variances as predictions have them; they are changed in place. A row near the end
    of the double range may score past it; a class not met scores -inf, which `lowest` keeps.
    Rounding, or a file, may make v negative; probabilities need 1 + v > 0. A variance that is no
    number was a difference of infinite ones, and is taken for the largest number."""
    if not np.isfinite(score).all():
        np.nan_to_num(score, copy=False, neginf=lowest)
    if not np.isfinite(variance).all():
        np.nan_to_num(variance, copy=False, nan=np.finfo(np.float64).max)
    return score, np.maximum(variance, -0.5)


def in_units_of_data(ids: Ints, found: Coefficients, scale: float) -> Weights:
    """Weights and variances for rows as they are in the file. `found` has those for rows multiplied
    by `scale`: weights become w scale, variances v scale^2. Numbers that overflow become the
    largest double."""
    with np.errstate(over="ignore"):  # the scale of tiny rows may be up to 2^1000
        weight, variance = found.weight * scale, found.variance
        np.nan_to_num(weight, copy=False)
        if variance is not None:
            variance = variance * scale
            variance *= scale
            np.nan_to_num(variance, copy=False)
    intercept = np.nan_to_num(found.intercept)
    return Weights(ids, weight, variance, intercept if intercept.ndim else float(intercept))


def in_units_of_columns(found: Weights, columns: Columns) -> Weights:
    """Weights and variances for columns as they are in the file; `found` has those for columns that
    are (x_j - mean_j) / scale_j: weights become w_j / scale_j, and the intercept loses the sum of
    w_j mean_j / scale_j."""
    ids, mean, scale = columns.arrays
    _, at, of = np.intersect1d(found.ids, ids, return_indices=True)
    weight, variance = found.weight.copy(), found.variance
    shape = (-1,) + (1,) * (weight.ndim - 1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # scale^2 may be 0
        weight[at] /= scale[of].reshape(shape)
        intercept = np.nan_to_num(found.intercept - mean[of] @ weight[at])
        if variance is not None:
            variance = variance.copy()
            variance[at] /= scale[of].reshape(shape) ** 2
            np.nan_to_num(variance, copy=False)
    np.nan_to_num(weight, copy=False)
    return Weights(found.ids, weight, variance, intercept if intercept.ndim else float(intercept))
