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
FEW = 1000  # features up to which a full covariance is proposed
REMEDY = "training with `normalize=columns` and `bias` often lowers the error"


class ColumnSizes:
    """The sums and the squares of the columns of the first rows, without the bias."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.ids: Ints = np.empty(0, dtype=np.int32)
        self.sums: Floats = np.empty((2, 0))  # of x and of x^2

    def add(self, rows: Rows) -> None:
        n = min(ROWS - self.n_rows, rows.n_rows)
        if n <= 0:
            return
        part = slice(rows.indptr[0], rows.indptr[n])
        of_file = rows.indices[part] != BIAS
        ids, x = rows.indices[part][of_file], rows.values[part][of_file]
        with np.errstate(over="ignore"):
            sums = np.concatenate([self.sums, [x, x * x]], axis=1)
        all_ids = np.concatenate([self.ids, ids])
        self.ids = distinct(all_ids)
        column = np.searchsorted(self.ids, all_ids)
        self.sums = np.array([np.bincount(column, one, len(self.ids)) for one in sums])
        self.n_rows += n

    def notice(self, model: Model) -> str | None:
        """A sentence with a remedy if one column has nearly all of the squares, max_j q_j / Q, or
        if the mean row has most of them, sum_j s_j^2 / (n Q), with the sums s_j and the squares q_j
        of n rows, and Q = sum_j q_j."""
        sums, squares = self.sums
        total = float(squares.sum())
        if self.n_rows < FEWEST or len(self.ids) < 2 or not 0 < total < np.inf:
            return None
        largest, params = int(np.argmax(squares)), model.algorithm.params
        if squares[largest] > SINGLE * total and getattr(params, "scale", "none") == "none":
            feature = int(self.ids[largest]) + (not model.reading.zero_based)
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
