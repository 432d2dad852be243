"""Forgetting precision: what was gained over the prior shrinks with time, as rows or days.

With a half-life of H rows: after every n = max(1, H / 8) rows, P <- P 2^(-n / H), where
Sigma^-1 = I + P. With one of H days: before the first row of a run that is d days later than the
rows before, P <- P 2^(-d / H). Rows and the last day are counted in the state, so that it makes no
difference in how many runs or blocks rows come.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.data.rows import Longs, SlotRows
from cwtool.records import dataclass
from cwtool.state import Layout, Number, State

STEPS = 8  # in a half-life of rows: each takes as long as looking at every feature once
VISITS = Number("visits")
DAY = Number("day")  # of the last rows, counted from the year 1; 0: none

Forget = Callable[[State, float], None]  # multiplies the precision that was gained by a number
Some = Callable[[Longs], Scores]  # learns rows in this order


@dataclass(frozen=True)
class HalfLife:
    """A number of rows, or of days."""

    length: float
    days: bool

    @classmethod
    def of(cls, setting: int | str) -> HalfLife:
        """The half-life of a declared parameter, such as 20000 (rows) or 30d (days)."""
        if isinstance(setting, str):
            return cls(float(setting.removesuffix("d")), True)
        return cls(setting, False)

    @property
    def step(self) -> int:
        """The number of rows after which precisions shrink."""
        return max(1, int(self.length) // STEPS)

    def counting(self, layout: Layout) -> Layout:
        """The layout extended by the numbers that forgetting counts."""
        return layout._replace(numbers=(*layout.numbers, DAY if self.days else VISITS))

    def learn(
        self, some: Some, forget: Forget, state: State, rows: SlotRows, order: Longs, day: int
    ) -> Scores:
        """Learn the rows in this order by `some`, and forget as time goes by. Rows of weight 0 do
        not count; `day` is that of the run, or 0 if there is none."""
        if self.days:
            past = int(state.numbers["day"])
            if 0 < past < day:
                forget(state, 2.0 ** (-(day - past) / self.length))
            state.numbers["day"] = max(past, day)
            return some(order)
        return self._by_rows(some, forget, state, rows, order)

    def _by_rows(
        self, some: Some, forget: Forget, state: State, rows: SlotRows, order: Longs
    ) -> Scores:
        step = self.step
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
                forget(state, 2.0 ** (-step / self.length))
            start = stop
        if len(order):
            state.numbers["visits"] = int(visits[-1])
        return out
