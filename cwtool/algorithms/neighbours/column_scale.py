"""Columns of remembered rows on comparable scales, so that distances between rows make sense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.algorithms.neighbours.search import nearest, said
from cwtool.data.rows import Floats
from cwtool.params import AUTO
from cwtool.run import Run

DENSE = 0.1  # share of nonzero entries from which rows become a dense matrix
FARTHEST = 1e30  # largest |scaled value| of a row to be predicted
SCALES = (AUTO, "std", "global")


def deviations(rows: csr_array, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """For each column its weighted mean and population standard deviation. `weight` has a weight
    for each row; None gives all rows the weight 1. The deviation of a column that is constant up to
    rounding is 0."""
    n, p = rows.shape
    if weight is not None:
        return _weighted_deviations(rows, weight)
    mean = np.bincount(rows.indices, rows.data, minlength=p) / max(n, 1)
    there = np.bincount(rows.indices, minlength=p)
    away = np.bincount(rows.indices, (rows.data - mean[rows.indices]) ** 2, minlength=p)
    sd = np.sqrt((away + (n - there) * mean**2) / max(n, 1))
    return mean, _without_rounding(sd, mean)


def _weighted_deviations(rows: csr_array, weight: Floats) -> tuple[Floats, Floats]:
    p, h = rows.shape[1], np.repeat(weight / weight.sum(), np.diff(rows.indptr))
    mean: Floats = np.bincount(rows.indices, h * rows.data, minlength=p).astype(np.float64)
    there = np.bincount(rows.indices, h, minlength=p)
    away = np.bincount(rows.indices, h * (rows.data - mean[rows.indices]) ** 2, minlength=p)
    sd = np.sqrt(away + np.maximum(0, 1 - there) * mean**2)
    return mean, _without_rounding(sd, mean)


def _without_rounding(sd: Floats, mean: Floats) -> Floats:
    """Deviations, with 0 for those that are no more than rounding errors."""
    return np.where(sd <= 1e-12 * np.maximum(1, np.abs(mean)), 0, sd)


def divisors(sd: Floats, scale: str) -> Floats:
    """The number that each column is divided by: its own deviation, or the root of the mean square
    of all deviations. 0 marks a constant column."""
    live = sd > 0
    if scale == "std" or not live.any():
        return sd
    return np.where(live, np.sqrt(np.mean(sd[live] ** 2)), 0)


def divided(rows: csr_array, by: Floats) -> csr_array:
    """The rows with scaled columns, without the columns whose divisor is 0."""
    kept = by[rows.indices] > 0
    values = np.clip(rows.data[kept] / by[rows.indices[kept]], -FARTHEST, FARTHEST)
    indptr = np.append(0, np.cumsum(kept))[rows.indptr]
    return csr_array((values, rows.indices[kept], indptr), shape=(rows.shape[0], len(by)))


def is_dense(rows: csr_array) -> bool:
    """Whether so many entries are nonzero that a dense matrix is faster."""
    return bool(rows.nnz >= DENSE * rows.shape[0] * rows.shape[1])


def as_dense(rows: csr_array, dense: bool) -> Any:
    return rows.toarray() if dense else rows


def best_scale(
    rows: csr_array, kind: NDArray[Any], sd: Floats, scale: str, run: Run,
    weight: Floats | None = None,
) -> str:  # fmt: skip
    """The scale that was asked for; for auto the one with fewer errors when each row, of the class
    `kind`, is predicted by the others. An error counts with the weight of its row."""
    if scale != AUTO:
        return scale
    wrong = {}
    for tried in SCALES[1:]:
        points = as_dense(divided(rows, divisors(sd, tried)), is_dense(rows))
        near = nearest(points, points, kind, 3, loo=True, jobs=run.jobs, weight=weight)
        errors = said(near) != kind
        wrong[tried] = float(errors.sum() if weight is None else weight @ errors)
    run.note(f"leave-one-out errors: std {wrong['std']:.12g}, global {wrong['global']:.12g}")
    return min(wrong, key=lambda tried: wrong[tried])
