"""Forgetting precision: each time that a share of the half-life has been learned, all precisions
that were gained shrink a little.

After every n = max(1, H / 8) rows: p_j <- p_j 2^(-n / H). The rows are counted in the state, so
that it makes no difference in how many runs or blocks they come.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.data.rows import Longs, SlotRows
from cwtool.errors import UsageError
from cwtool.state import Layout, Number, State

STEPS = 8  # in a half-life: each takes as long as looking at every feature once
VISITS = Number("visits")


def check(layout: Layout) -> None:
    """Refuse states without a precision for each feature."""
    if all(column.name != "precision" for column in layout.columns):
        raise UsageError("`half_life` is for a diagonal covariance", "use `covariance=diag`")


def counting(layout: Layout) -> Layout:
    """The layout with the number of rows visited."""
    return layout._replace(numbers=(*layout.numbers, VISITS))


def step_of(half_life: int) -> int:
    """The number of rows after which precisions shrink."""
    return max(1, half_life // STEPS)


def learn(
    some: Callable[[Longs], Scores], state: State, rows: SlotRows, order: Longs, half_life: int
) -> Scores:
    """Learn the rows in this order by `some`, and forget in between. Rows of weight 0 do not
    count."""
    step = step_of(half_life)
    counts = np.ones(len(order), dtype=np.int64)
    if rows.weight is not None:
        counts = (rows.weight[order] > 0).astype(np.int64)
    before = int(state.numbers["visits"])
    visits = before + np.cumsum(counts)
    out, start = Scores.zeros(rows.n_rows), 0
    while start < len(order):
        due = ((visits[start - 1] if start else before) // step + 1) * step
        stop = min(int(np.searchsorted(visits, due)) + 1, len(order))
        part = order[start:stop]
        for whole, found in zip(out, some(part), strict=True):
            whole[part] = found[part]
        if visits[stop - 1] == due:
            state.shrink("precision", 2.0 ** (-step / half_life))
        start = stop
    if len(order):
        state.numbers["visits"] = int(visits[-1])
    return out
