"""Rows of any scale: x / typical norm, learned from the first rows, so that Sigma_0 = I fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

import numpy as np

from cwtool.data.block import Block
from cwtool.params import AUTO
from cwtool_ext import rows

FIRST_ROWS = 1000


class RowScale:
    """sqrt(prior): given, or 1 / geometric mean norm of the first rows with entries (a few huge
    rows must not decide it: with the arithmetic mean AROW's error on raw counts doubles).

    While those rows come, each is divided by the mean of the rows up to itself. So the result
    depends on the rows alone: not on blocks, files, or where a run stopped and went on.
    """

    def __init__(
        self, prior: float | str, n_rows: float = 0.0, total: float = 0.0, *, at_once: bool = False
    ) -> None:
        self.prior = prior
        self.at_once = at_once  # learners of whole slots: one scale, from the first slot
        self.seen = np.array([n_rows, total])

    @property
    def value(self) -> float:
        if self.prior != AUTO:
            return sqrt(float(self.prior))
        return rows.row_scale(*self.seen.tolist())

    def split(self, block: Block) -> Iterator[Block]:
        """The block in parts of one scale each."""
        done = 0
        if self.at_once:
            if self.prior == AUTO and self.seen[0] == 0:
                head = block.take(np.flatnonzero(np.diff(block.indptr))[:FIRST_ROWS])
                rows.warm_up(head.indptr, head.values, FIRST_ROWS, self.seen)
        elif self.prior == AUTO and self.seen[0] < FIRST_ROWS:
            early = replace(block, values=block.values.copy())
            done = rows.warm_up(early.indptr, early.values, FIRST_ROWS, self.seen)
            yield early.rows(0, done)
        if done < block.n_rows:
            yield replace(block.rows(done, block.n_rows), scale=self.value)
