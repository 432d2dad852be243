"""The matrix X'HX of rows X with the diagonal matrix H of their weights. Sparse rows are added pair
of entries by pair of entries; dense rows, and columns that many rows share, are added by BLAS. For
rows whose values are all one number, pairs of columns are counted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cwtool.ahead import ahead
from cwtool.algorithms.batch.learner import weights
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool_ext import gram as kernel
from cwtool_ext.pair_counts import PairCounts

Signs = NDArray[np.int8]

ROWS = 256  # rows that are made dense at a time
PARTS = 4  # parts of the rows whose X'X are added up in this order, whatever the threads
LONG = 32  # entries in a row: shorter ones have no heavy columns
TELLING = 1000  # rows that tell which columns are heavy
# BLAS multiplies blocks of d columns FASTEST d / (d + SLOW_START) times as fast as a plain loop
# (measured with AVX-512: 3.4, 6.9, 9.4, 12, 13 times for 16, 54, 100, 200 and 300 columns)
FASTEST, SLOW_START = 14, 50
SCATTERED = 1.0  # cost of adding a product at a random place, in products of a plain loop


def blas(n: int) -> float:
    """How many times faster BLAS multiplies dense blocks of n columns than a plain loop (measured:
    1.5, 3, 6 times for 54, 123, 717 columns)."""
    return min(8.0, max(1.5, n / 40))


class Products:
    """X'HX over chosen rows of a batch with n features, in the cheapest way for these rows."""

    def __init__(self, rows: SlotRows, n: int, jobs: int) -> None:
        self.rows, self.n, self.jobs = rows, n, jobs
        nnz = rows.nnz / max(1, rows.n_rows)
        self.dense = SCATTERED * nnz**2 >= n**2 / 2 / blas(n)
        self.counts: PairCounts | None = None
        if self.dense:
            return
        if rows.weight is None and rows.alike:
            self.counts = PairCounts(rows.csr, n)
            self.unit = (rows.scale * float(rows.values[0])) ** 2 if rows.nnz else 0.0
        else:
            self.room, self.heavy = np.zeros((n, n)), heavy_columns(rows, n)
            self.weight = weights(rows)

    def add(self, gram: Floats, signs: Signs) -> None:
        """gram += X'HX on and below the diagonal. `signs` is 1 for each row that is added, -1 for
        each that is subtracted, and 0 for the others."""
        rows, n = self.rows, self.n
        if self.counts is not None:
            self.counts.add(self.unit, signs, gram)
        elif not self.dense:
            kernel.add(rows.csr, self.weight, gram, signs, self.room, self.heavy)
        else:
            _add_dense(rows, np.flatnonzero(signs > 0), gram[:n, :n], self.jobs)
            _add_dense(rows, np.flatnonzero(signs < 0), gram[:n, :n], self.jobs, -1.0)


def add_gram(rows: SlotRows, gram: Floats, n: int, jobs: int) -> None:
    """gram += X'HX over all rows, on and below the diagonal, over the n features."""
    Products(rows, n, jobs).add(gram, np.ones(rows.n_rows, dtype=np.int8))


def heavy_columns(rows: SlotRows, n: int) -> Ints:
    """The most frequent columns, of whose pairs BLAS computes X'HX faster than a loop over the
    entries of each row. Their number d makes the sum of both costs least: d^2/2 products in BLAS,
    and one in the loop for every other pair of entries. It is estimated on a sample of the rows."""
    if rows.nnz < LONG * max(1, rows.n_rows):
        return np.empty(0, dtype=np.int32)
    few = rows.take(np.arange(0, rows.n_rows, max(1, rows.n_rows // TELLING)))
    share = np.bincount(few.indices, minlength=n) / few.n_rows
    order, d = np.argsort(-share, kind="stable"), np.arange(1, n + 1)
    inside = np.cumsum(share[order])  # entries of a row that are in the d columns
    cost = d * (d + SLOW_START) / FASTEST - inside**2
    best = int(np.argmin(cost)) + 1 if cost.min() < 0 else 0
    return np.sort(order[:best]).astype(np.int32)


def _add_dense(rows: SlotRows, some: Longs, gram: Floats, jobs: int, sign: float = 1.0) -> None:
    """gram += sign X'HX over these rows, by BLAS."""
    from cwtool_ext import dual_dense

    csr, n = rows.csr, len(gram)  # made here, before several threads ask for it
    root = None if rows.weight is None else np.sqrt(rows.weight[some])

    def part(numbers: range) -> Floats:
        total = np.zeros((n, n))
        dense = np.empty((min(ROWS, len(numbers)), n))
        for start in range(numbers.start, numbers.stop, ROWS):
            here = slice(start, min(start + ROWS, numbers.stop))
            x = dense[: here.stop - start]
            dual_dense.densify(csr, some[here], x)
            if root is not None:
                x *= root[here, None]
            dual_dense.add_gram(x, total)
        return total

    parts = PARTS if n <= 4000 else 1
    ends = np.linspace(0, len(some), parts + 1).astype(int).tolist()
    ranges = [range(a, b) for a, b in pairwise(ends) if b > a]
    for total in ahead(part, ranges, jobs):
        gram += sign * total
