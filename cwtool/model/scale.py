"""The common scale of rows: x / typical norm of the first rows, so that Sigma_0 = I fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

import numpy as np

from cwtool.data.rows import Rows, SlotRows
from cwtool.params import AUTO
from cwtool_ext import rows as kernel

FIRST_ROWS = 1000


class RowScale:
    """sqrt(prior): given, or 1 / geometric mean norm of the first rows with entries (a few huge
    rows must not decide it: with the arithmetic mean AROW's error on raw counts doubles).

    While the first rows come, each is divided by the mean of the rows up to itself. So the result
    depends on the rows alone: not on blocks, files, or where a run stopped and went on. Learners
    of batches have one scale from their first batch on. Rows of weight 0 do not count.
    """

    def __init__(self, prior: float | str, *, of_batches: bool = False) -> None:
        self.prior = prior
        self.of_batches = of_batches
        self.seen = np.zeros(2)  # rows, and the sum of the logarithms of their squared norms

    @property
    def value(self) -> float:
        """The scale after the rows so far."""
        if self.prior != AUTO:
            return sqrt(float(self.prior))
        return kernel.row_scale(*self.seen.tolist())

    def observe(self, rows: SlotRows) -> Iterator[SlotRows]:
        """Take the rows into account, and give them back in parts that have one scale each."""
        done = 0
        if self.prior == AUTO and self.of_batches and self.seen[0] == 0:
            there = (
                np.diff(rows.indptr) if rows.weight is None else np.diff(rows.indptr) * rows.weight
            )
            head = rows.take(np.flatnonzero(there)[:FIRST_ROWS])
            kernel.warm_up(head.indptr, head.values, FIRST_ROWS, self.seen)
        single = self.prior == AUTO and not self.of_batches
        while single and self.seen[0] < FIRST_ROWS and done < rows.n_rows:
            early = rows.slice(done, min(rows.n_rows, done + FIRST_ROWS))
            early = replace(early, values=early.values.copy())
            stop = kernel.warm_up(early.indptr, early.values, FIRST_ROWS, self.seen, early.weight)
            yield early.slice(0, stop)
            done += stop
        if done < rows.n_rows:
            yield replace(rows.slice(done, rows.n_rows), scale=self.value)


def slotted(rows: Rows, slots: np.ndarray, scale: float = 1.0) -> SlotRows:
    """The rows by these slots."""
    return SlotRows(rows.indptr, slots, rows.values, rows.y, rows.weight, scale)
