"""Whether the columns of dense rows should be standardized before training; or, if they were,
whether later rows differ too much from those that were measured."""

from __future__ import annotations

import numpy as np

from cwtool.data.rows import BIAS, Floats, Ints, Rows
from cwtool.model import Model
from cwtool.order import distinct

ROWS = 300  # the first ones, or if columns are standardized the last ones of a block
FEWEST = 100  # rows that tell; if the last block has fewer, blocks before it are looked at as well
SINGLE = 0.8  # share of one column in the sum of all squares
AWAY = 5.0  # standard deviations that a column of the last rows is away from the first ones
COMMON = 0.75  # share of the mean row in the mean square of a row
DIRECT = 1 << 16  # ids below are their own places in the sums
FEW = 1000  # features up to which a full covariance is proposed
REMEDY = "training with `normalize=columns` and `bias` often lowers the error"
LARGE = (
    "the values of feature {} are so large that the other features have little influence; " + REMEDY
)
FAR = (
    "the values of most columns are far from 0 compared with their differences between rows; "
    + REMEDY
)
CHANGED = (
    "the values of feature {} in the last rows differ so much from those in the first 1,000 rows, "
    "by which columns are scaled, that the other features have little influence; shuffle the rows "
    "if their order has no meaning, or leave the feature out"
)


class ColumnSizes:
    """The sizes of the columns of the first rows that a new model learns; if columns are
    standardized, of the `last` rows, because the first ones were measured for it."""

    def __init__(self, *, last: bool = False) -> None:
        self.last = last
        self.parts: list[tuple[int, Ints, Floats]] = []  # rows, with their ids and values

    def add(self, rows: Rows) -> None:
        n = min(ROWS if self.last else ROWS - self.n_rows, rows.n_rows)
        if n <= 0:
            return
        first = rows.n_rows - n if self.last else 0
        entries = slice(rows.indptr[first], rows.indptr[first + n])
        self.parts.append((n, rows.indices[entries].copy(), rows.values[entries].copy()))
        while self.last and self.n_rows - self.parts[0][0] >= FEWEST:
            del self.parts[0]

    @property
    def n_rows(self) -> int:
        return sum(n for n, _, _ in self.parts)

    def sums(self) -> tuple[Ints, Floats, Floats]:
        """The ids of the columns, and the sums of x and of x^2 in each."""
        ids, x = (np.concatenate(of_all) for of_all in list(zip(*self.parts, strict=True))[1:])
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
        if self.n_rows < FEWEST:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            ids, sums, squares = self.sums()
            if self.last:  # other columns stay as they are
                squares *= np.isin(ids, model.reading.columns.ids if model.reading.columns else ())
            total = float(squares.sum())
        if len(ids) < 2 or not 0 < total < np.inf:
            return None
        largest, params = int(np.argmax(squares)), model.algorithm.params
        feature = int(ids[largest]) + (not model.reading.zero_based)
        single = squares[largest] > SINGLE * total
        if self.last:
            moved = squares[largest] > AWAY * AWAY * self.n_rows
            return CHANGED.format(feature) if single and moved else None
        if single and getattr(params, "scale", "none") == "none":
            return LARGE.format(feature)
        if float((sums * sums).sum()) > COMMON * self.n_rows * total:
            few = getattr(params, "covariance", "") == "diag" and model.index.count <= FEW
            return f"{FAR}{', or try `covariance=full`' if few else ''}"
        return None
