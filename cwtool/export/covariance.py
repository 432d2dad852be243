"""The covariance of the weights of a model, found from the variances of scores."""

from __future__ import annotations

import numpy as np

from cwtool.data.rows import Floats, Ints, Rows
from cwtool.model import Model
from cwtool.model.learning_checks import check_scoring

PAIR = 100  # bytes of a pair of features, counted twice, with its rows and its text
MOST = 1000  # features; there are half a million pairs of them
AT_ONCE = 1 << 16  # rows
SHARED = ("sbcw", "fgm", "bcw")  # algorithms with one covariance for all classes
ROUNDING = 1e-14  # what is smaller, beside the variances, is 0
CLOSE = 1e-9


def covariance_of(model: Model, ids: Ints, max_memory: int = 0) -> Floats | None:
    """Sigma, in the units of the data: the variance of the score of any row x over these ids is
    x' Sigma x. None where that is not so, or where the ids are too many.

    Sigma_jj is the variance of the row e_j, and 2 Sigma_ij = v(e_i + e_j) - v(e_i) - v(e_j).
    """
    n = len(ids)
    several = model.labels.several is not None and len(model.labels.several) > 2
    if not 0 < n <= MOST or (several and model.algorithm.name not in SHARED):
        return None
    check_scoring(model.algorithm, model.state, max_memory, 1, PAIR * n * n)
    order = np.argsort(ids, kind="stable")
    ascending = ids[order]
    single = _variances(model, ascending[:, None], np.ones((n, 1)))
    i, j = np.triu_indices(n, 1)
    pairs = np.column_stack([ascending[i], ascending[j]])
    both = _variances(model, pairs, np.ones(pairs.shape)) - single[i] - single[j]
    both[np.abs(both) <= ROUNDING * (single[i] + single[j])] = 0.0
    found = np.diag(single)
    found[i, j] = found[j, i] = both / 2
    if not _holds(model, ascending, found):
        return None
    places = np.argsort(order, kind="stable")
    return found[np.ix_(places, places)]


def _variances(model: Model, ids: Ints, values: Floats) -> Floats:
    """The variances of the scores of rows with the same number of entries each."""
    n, length = ids.shape
    found = np.empty(n)
    for start in range(0, n, AT_ONCE):
        part = ids[start : start + AT_ONCE]
        ends = length * np.arange(len(part) + 1, dtype=np.int64)
        entries = np.ascontiguousarray(part.reshape(-1), dtype=np.int32)
        x = np.ascontiguousarray(values[start : start + AT_ONCE].reshape(-1))
        rows = Rows(ends, entries, x, np.zeros(len(part), dtype=np.int32))
        found[start : start + AT_ONCE] = model.scores(rows).variance
    return found


def _holds(model: Model, ids: Ints, sigma: Floats) -> bool:
    """Whether the variance is x' Sigma x for some more rows."""
    length = min(len(ids), 8)
    draw = np.random.default_rng(0)
    at = np.sort([draw.permutation(len(ids))[:length] for _ in range(50)], axis=1)
    x = draw.normal(size=at.shape)
    expected = np.einsum("ri,rij,rj->r", x, sigma[at[:, :, None], at[:, None, :]], x)
    return bool(np.allclose(_variances(model, ids[at], x), expected, rtol=CLOSE, atol=0))
