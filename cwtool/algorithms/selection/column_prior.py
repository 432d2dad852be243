"""Prior precision of weights where columns are in different units, as word frequencies and counts
of characters are.

With d_j proportional to the mean square of the values of column j that are not 0, the penalty
d_j w_j^2 is the same in all units. Columns of texts, bits and pixels have similar values, and
d = 1: there d_j would only favour words that occur once in their texts.
"""

from __future__ import annotations

from math import log

import numpy as np

from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats
from cwtool.params import AUTO

SPREAD = log(2)  # of log values; columns that differ more are in different units
ASSUMED = 10.0  # typical values that every column is taken to have besides its own
SCALES = (AUTO, "columns", "none")
LEAST = 1e-290  # the smallest prior precision, so that its inverse is a number


def prior_of(columns: AnyColumns, scale: str) -> Floats | None:
    """The prior precision d_j of the weight of each column, in squared units of the column; None
    stands for 1 everywhere. It is scaled so that rows with the columns x_j / sqrt(d_j) have a mean
    squared length of 1, for which the default C is meant. `scale` is one of SCALES."""
    if scale == "none":
        return None
    present, squares = columns.present, columns.squares
    there = (present > 0) & (squares > 0) & np.isfinite(squares)
    if not there.any():
        return None
    n, square = present[there], squares[there] / present[there]
    typical = np.exp(np.average(np.log(square), weights=n))
    shrunk = (n * square + ASSUMED * typical) / (n + ASSUMED)
    if scale == AUTO and _spread(np.log(shrunk) / 2, n) <= SPREAD:
        return None
    found = np.full(len(squares), typical)
    found[there] = shrunk
    found *= float((squares[there] / shrunk).sum()) / columns.total_weight
    bounded: Floats = np.maximum(found, LEAST)
    return bounded


def _spread(values: Floats, weights: Floats) -> float:
    """The weighted standard deviation."""
    away = values - np.average(values, weights=weights)
    return float(np.sqrt(np.average(away**2, weights=weights)))
