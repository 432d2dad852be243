"""Scaling of columns: x_j / spread_j, fitted to the rows met so far.

The spread is the standard deviation, or the balanced one of cwtool_ext/columns.pyx. With a floor,
no column is divided by less than tau, the median of spread_j over the nonzero entries. Without one,
the 0/1 column of a word that occurs once in 1,400 rows would be multiplied by 37.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory, put_back
from cwtool.state import State
from cwtool_ext import columns


def fit(state: State, scale: str) -> float:
    """Set the column damp of every feature met: 1 / (1 + damp_j) is the scale of column j, in units
    of 1 / tau if there is a floor; damp_j = -1 marks a constant column, which is left out. Also
    sets tau^2 (`unit`), and the squared norms of the rows with that scale: their sum (`norms`), and
    their mean over the features left (`norm`). The weights of all paths are changed so that w_j
    times the scale stays as it is. Returns the mean squared norm of the rows as they are."""
    n, floor = float(state.numbers["seen"]), scale != "std"
    stage_memory = StageMemory.of(state)
    slots = stage_memory.slots(state)
    n_slots = len(slots)
    known, room = stage_memory.known_features(state), stage_memory.room
    # memory of the first pass, which has no rows and no burst under way now
    met, var, two = room("slots", n_slots, "i4"), room("z", n_slots), room("began", 2 * n_slots)
    nnz, copied = two[:n_slots], two[n_slots:]
    found = columns.spreads(n, state.table, slots, known, scale == "balanced", met, var, nnz)
    if found == 0:
        return 0.0
    met, var, nnz, copied = met[:found], var[:found], nnz[:found], copied[:found]
    copied[:] = var
    unit = (columns.median(copied, nnz) if floor else 1.0) or 1.0
    every, scaled, left = columns.damp(state.table, met, unit, floor, var)
    state.numbers |= {"unit": unit, "norms": scaled, "norm": left / n}
    changed = np.flatnonzero(var != 1)
    columns.follow(state.tables[1], met[changed], var[changed])
    return every / n


def fit_norm(state: State) -> None:
    """Set the mean squared norm of scaled rows over the features left, for the steps of the
    intercept."""
    if state.numbers["seen"]:
        put_back(state)
        left = columns.squares_left(state.table, StageMemory.of(state).slots(state))
        state.numbers["norm"] = left / state.numbers["seen"]
