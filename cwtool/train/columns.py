"""Whether the columns of dense rows should be standardized before training."""

from __future__ import annotations

import numpy as np

from cwtool.data.rows import BIAS, Floats, Ints, Rows
from cwtool.model import Model
from cwtool.order import distinct

ROWS = 300  # the first ones, which are looked at
FEWEST = 100  # rows that tell
SINGLE = 0.8  # share of one column in the sum of all squares
COMMON = 0.75  # share of the mean row in the mean square of a row
DIRECT = 1 << 16  # ids below are their own places in the sums
FEW = 1000  # features up to which a full covariance is proposed
REMEDY = "training with `normalize=columns` and `bias` often lowers the error"


class ColumnSizes:
    """The sizes of the columns of the first rows that a new model learns."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.ids: list[Ints] = []
        self.values: list[Floats] = []

    def add(self, rows: Rows) -> None:
        n = min(ROWS - self.n_rows, rows.n_rows)
        if n > 0:
            entries = slice(rows.indptr[0], rows.indptr[n])
            self.ids.append(rows.indices[entries].copy())
            self.values.append(rows.values[entries].copy())
            self.n_rows += n

    def sums(self) -> tuple[Ints, Floats, Floats]:
        """The ids of the columns, and the sums of x and of x^2 in each."""
        ids, x = np.concatenate(self.ids), np.concatenate(self.values)
        ids, x = ids[ids != BIAS], x[ids != BIAS]
        if ids.max(initial=0) < DIRECT:
            columns, at = np.arange(ids.max(initial=-1) + 1, dtype=np.int32), ids
        else:
            columns = distinct(ids)
            at = np.searchsorted(columns, ids)
        sums: Floats = np.bincount(at, x, len(columns)).astype(np.float64)
        squares: Floats = np.bincount(at, x * x, len(columns)).astype(np.float64)
        there = squares > 0
        return columns[there], sums[there], squares[there]

    def notice(self, model: Model) -> str | None:
        """A sentence with a remedy if one column has nearly all of the squares, max_j q_j / Q, or
        if the mean row has most of them, sum_j s_j^2 / (n Q), with the sums s_j and the squares q_j
        of n rows, and Q = sum_j q_j."""
        if self.n_rows < FEWEST or model.reading.normalize == "columns":
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            ids, sums, squares = self.sums()
            total = float(squares.sum())
        if len(ids) < 2 or not 0 < total < np.inf:
            return None
        largest, params = int(np.argmax(squares)), model.algorithm.params
        if squares[largest] > SINGLE * total and getattr(params, "scale", "none") == "none":
            feature = int(ids[largest]) + (not model.reading.zero_based)
            return (
                f"the values of feature {feature} are so large that the other features have little "
                f"influence; {REMEDY}"
            )
        if float((sums * sums).sum()) > COMMON * self.n_rows * total:
            few = getattr(params, "covariance", "") == "diag" and model.index.count <= FEW
            return (
                "the values of most columns are far from 0 compared with their differences between "
                f"rows; {REMEDY}{', or try `covariance=full`' if few else ''}"
            )
        return None
