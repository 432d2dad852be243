"""The matrix X'HX of rows X with the diagonal matrix H of their weights. Sparse rows are added pair
of entries by pair of entries, columns that many rows share in tiles, and dense rows by BLAS. For
rows whose values are all one number, pairs of columns are counted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cwtool.ahead import ahead
from cwtool.algorithms.batch.learner import weights
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool_ext.gram import PairSums
from cwtool_ext.pair_counts import PairCounts

Signs = NDArray[np.int8]

ROWS = 256  # rows that are made dense at a time
PARTS = 4  # parts of the rows whose X'X are added up in this order, whatever the threads
LONG = 32  # entries in a row: shorter ones have no heavy columns
TELLING = 1000  # rows that tell which columns are heavy
TILES = 0.1  # cost of a product in a tile, in products that are added at a random place
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
        self.pairs: PairCounts | PairSums | None = None
        if self.dense:
            return
        if rows.weight is None and rows.alike:
            self.pairs = PairCounts(rows.csr, n)
        else:
            self.pairs = PairSums(rows.csr, n, weights(rows), heavy_columns(rows, n))

    def add(self, gram: Floats, signs: Signs) -> None:
        """gram += X'HX on and below the diagonal. `signs` is 1 for each row that is added, -1 for
        each that is subtracted, and 0 for the others."""
        if self.pairs is not None:
            self.pairs.add(signs, gram)
            return
        inside = gram[: self.n, : self.n]
        _add_dense(self.rows, np.flatnonzero(signs > 0), inside, self.jobs)
        _add_dense(self.rows, np.flatnonzero(signs < 0), inside, self.jobs, -1.0)


def add_gram(rows: SlotRows, gram: Floats, n: int, jobs: int) -> None:
    """gram += X'HX over all rows, on and below the diagonal, over the n features."""
    Products(rows, n, jobs).add(gram, np.ones(rows.n_rows, dtype=np.int8))


def heavy_columns(rows: SlotRows, n: int) -> Ints:
    """The most frequent columns, of whose pairs tiles compute X'HX faster than a loop over the
    entries of each row. Their number d makes the sum of both costs least: for the l entries that a
    row has in these columns, the tiles compute l d/2 products, and the loop would l^2/2. It is
    estimated on a sample of the rows."""
    if rows.nnz < LONG * max(1, rows.n_rows):
        return np.empty(0, dtype=np.int32)
    few = rows.take(np.arange(0, rows.n_rows, max(1, rows.n_rows // TELLING)))
    share = np.bincount(few.indices, minlength=n) / few.n_rows
    order, d = np.argsort(-share, kind="stable"), np.arange(1, n + 1)
    inside = np.cumsum(share[order])  # entries of a row that are in the d columns
    cost = inside * (TILES * d - inside)
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
