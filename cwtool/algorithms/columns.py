"""Columns of any scale: x_j / std_j, fitted on the rows met so far, kept with the features.

var_j over all n rows, zeros included, from the number, mean and M2 of the nonzeros. With a floor,
no column is divided by less than tau, the median of std_j over the nonzeros: a word seen once in
1,400 rows would become 37 times as long as one that is in every row.
"""

from __future__ import annotations

import numpy as np

from cwtool.data.block import Floats
from cwtool.state import State


def variances(n: float, nnz: Floats, mean: Floats, M2: Floats) -> Floats:
    """var_j = (sum over x != 0 of (x - mu)^2 + (n - nnz) mu^2) / n; 0 where a column is constant
    up to rounding."""
    mu = nnz * mean / n
    var = (M2 + nnz * (mean - mu) ** 2 + (n - nnz) * mu**2) / n
    size = M2 / np.maximum(nnz, 1) + mean**2
    return np.where(var > np.maximum(1e-24 * size, 1e-200), var, 0.0)


def typical(var: Floats, nnz: Floats) -> float:
    """tau^2: the first of the sorted variances with half of the nonzeros at or below it."""
    order = np.argsort(var, kind="stable")
    below = np.cumsum(nnz[order])
    return float(var[order[np.searchsorted(below, 0.5 * below[-1])]])


def fit(state: State, floor: bool) -> None:
    """Set damp_j, 1/(1 + damp_j) = the squared scale of a column (relative to 1/tau^2 if there is
    a floor), -1 where a column is constant and leaves; and the norms of all rows that follow."""
    features, n = state.features, float(state.numbers["seen"])
    _, slots = features.ids_and_slots()
    nnz, mean, M2 = (features.column(name)[slots] for name in ("nnz", "mean", "M2"))
    if not nnz.any():
        return
    var = variances(n, nnz, mean, M2)
    alive = var > 0
    unit = typical(var, nnz) if floor else 1.0
    damp = var / unit - 1 if unit > 0 else np.zeros(len(var))
    damp = np.where(alive, np.maximum(damp, 0) if floor else damp, -1.0)
    damp[nnz == 0] = 0.0  # met in no ordinary row so far
    features.column("damp")[slots] = damp
    for table in features.tables[1:]:
        table[slots[damp == -1]] = 0
    gain = np.where(damp == -1, 0.0, 1 / np.where(damp == -1, 1.0, 1 + damp))
    state.numbers["norms"] = float(gain @ (M2 + nnz * mean**2))
