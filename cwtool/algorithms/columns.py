"""Columns of any scale: x_j / std_j, fitted on the rows met so far, kept with the features.

With a floor, no column is divided by less than tau, the median of std_j over the nonzeros: a word
seen once in 1,400 rows would become 37 times as long as one that is in every row.
"""

from __future__ import annotations

import numpy as np

from cwtool.data.block import Floats
from cwtool.parallel import together
from cwtool.state import State
from cwtool_ext import columns


def fit(state: State, floor: bool, jobs: int = 1) -> None:
    """Set damp_j: 1 / (1 + damp_j) is the scale of a column, relative to 1 / tau if there is a
    floor; a constant column (-1) has no weight. And the norms of the rows with that scale; w s of
    every path stays as it is."""
    features, n = state.features, float(state.numbers["seen"])
    _, slots = features.ids_and_slots()
    if n == 0 or len(slots) == 0:
        return
    var, nnz = np.empty(len(slots)), np.empty(len(slots))
    columns.variances(n, features.table, slots, var, nnz)
    unit = columns.median(var.copy(), nnz) if floor else 1.0
    state.numbers["norms"] = columns.damp(n, features.table, slots, unit or 1.0, floor, var)
    changed = np.flatnonzero(var != 1)
    slots, var = slots[changed], var[changed]

    def follow(path: Floats) -> None:
        path[slots, 0] *= var

    together(follow, features.tables[1:], jobs)
