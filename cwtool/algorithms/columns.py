"""Scaling of columns: x_j / spread_j, fitted to the rows met so far.

The spread is the standard deviation, or the balanced one of cwtool_ext/columns.pyx. With a floor,
no column is divided by less than tau, the median of spread_j over the nonzero entries. Without one,
the 0/1 column of a word that occurs once in 1,400 rows would be multiplied by 37.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.underway import put_back
from cwtool.state import State
from cwtool_ext import columns


def fit(state: State, scale: str) -> None:
    """Set the column damp of every feature: 1 / (1 + damp_j) is the scale of column j, in units of
    1 / tau if there is a floor; damp_j = -1 marks a constant column, which is left out. Also sets
    tau^2 (`unit`), and the sum of the squared norms of the rows with that scale. The weights of all
    paths are changed so that w_j times the scale stays as it is."""
    n, floor = float(state.numbers["seen"]), scale != "std"
    _, slots = state.index.ids_and_slots()
    if n == 0 or len(slots) == 0:
        return
    var, nnz = np.empty(len(slots)), np.empty(len(slots))
    columns.spreads(n, state.table, slots, scale == "balanced", var, nnz)
    unit = (columns.median(var.copy(), nnz) if floor else 1.0) or 1.0
    state.numbers["unit"] = unit
    state.numbers["norms"] = columns.damp(n, state.table, slots, unit, floor, var)
    changed = np.flatnonzero(var != 1)
    columns.follow(state.tables[1], slots[changed], var[changed])


def mean_squares(state: State) -> tuple[float, float]:
    """The mean squared norm of rows as they are, and of scaled rows over the features left; rows
    must have been met."""
    put_back(state)
    n = float(state.numbers["seen"])
    every, left = columns.squares(state.table, state.index.ids_and_slots()[1])
    return every / n, left / n
