"""The metric P = I + c X'HX by the rows X of all batches so far, for fewer rows than features.

Sigma = P^-1 = I - c X'(I + c HK)^-1 HX with K = XX', so X Sigma X' = (I + c KH)^-1 K, which is
symmetric, and Sigma X' = X'(I + c HK)^-1. Without weights I + c K has a Cholesky factor. Memory and
time grow with the square and the cube of the number of rows, whatever the number of features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from cwtool.algorithms.batch.dual_ascent import Ascended, Ascents, Start
from cwtool.algorithms.batch.learner import Bounds
from cwtool.algorithms.batch.metric import Metric, cholesky
from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.data.rows import Floats, Longs, SlotRows, joined
from cwtool.errors import Damage
from cwtool.state import Array, State
from cwtool_ext import dual, dual_dense, fortran, inverted, rows_and_columns

# X with the row scale, and H; `rows.weight` is empty if all rows weigh 1
ROWS = (
    Array("rows.indptr", "<i8", (1,), sizes=("rows+1",), starts="entries", later=True),
    Array("rows.indices", "<i4", sizes=("entries",), low=0, below=1 << 31, later=True),
    Array("rows.values", sizes=("entries",), later=True),
    Array("rows.weight", sizes=("rows?",), low=0, later=True),
)
NAMES = tuple(array.name for array in ROWS)
# of each of these rows, whether the loss of the class is curved there: 1 or 0
CURVED = Array("rows.curved", sizes=("rows?",), low=0, later=True)


def scaled(rows: SlotRows) -> SlotRows:
    """The rows with values that need no further scale."""
    return replace(rows, values=rows.values * rows.scale, scale=1.0)


def columns(x: SlotRows, n: int) -> Matrix:
    """The n columns of the rows."""
    found = Matrix.empty(n, x.nnz)
    inverted.transpose(x.csr, np.arange(n, dtype=np.int32), *found.arrays)
    return found


def cross(z: SlotRows, x: Matrix, n_rows: int) -> Floats:
    """ZX' for the columns of X, which has so many rows."""
    out = np.empty((z.n_rows, n_rows))
    rows_and_columns.cross(z.csr, x.csr, out)
    return out


def products(x: SlotRows, n: int) -> Floats:
    """K = XX' of rows over n features"""
    return cross(x, columns(x, n), x.n_rows)


def scores(x: SlotRows, mu: Floats) -> Floats:
    """X mu"""
    out = np.empty(x.n_rows)
    dual.margins(x.csr, np.ascontiguousarray(mu)[:, None], 0, out)
    return out


def pull(x: SlotRows, u: Floats, n: int) -> Floats:
    """X'u over n features: the sum of the rows times their dual variables u."""
    out = np.zeros((n, 1))
    dual.add_rows(x.csr, u, out, 0)
    return out[:, 0]


def kept(state: State) -> SlotRows:
    """The rows of all batches that the state keeps, with their weights."""
    indptr, indices, values, weight = (state.arrays[name] for name in NAMES)
    y = np.zeros(count(state), dtype=np.int32)
    return SlotRows(indptr, indices, values, y, weight if len(weight) else None)


def curved(state: State) -> SlotRows:
    """Those of the rows kept where the loss is curved."""
    return kept(state).take(np.flatnonzero(state.arrays[CURVED.name]))


def count(state: State) -> int:
    """How many rows the state keeps."""
    return len(state.arrays["rows.indptr"]) - 1


def entries(state: State) -> int:
    """How many entries these rows have."""
    return len(state.arrays["rows.values"])


def check(state: State) -> None:
    """Raise Damage if the rows that a state from a file keeps cannot be."""
    a, n = state.arrays, state.index.count
    if a["rows.indices"].max(initial=-1) >= n:
        raise Damage("the array array.rows.indices has a feature that is not known")
    if not np.isfinite(a["rows.values"]).all():
        raise Damage("the array array.rows.values has a value that cannot be")
    if count(state) and state.squares:
        raise Damage("it has both rows and a matrix over pairs of features")


def keep(state: State, rows: SlotRows) -> None:
    """Add rows to those that the state keeps."""
    both = joined([kept(state), scaled(rows)])
    weight = np.empty(0) if both.weight is None else both.weight
    state.arrays |= dict(zip(NAMES, (both.indptr, both.indices, both.values, weight), strict=True))


def forget(state: State) -> None:
    """Keep no rows."""
    for array in (*ROWS, CURVED):
        state.arrays[array.name] = np.zeros(array.shape, dtype=array.dtype)


class RowSpace(Metric):
    name = "row space"

    def __init__(
        self, x: SlotRows, n: int, c: float, places: Longs, k: Floats | None = None
    ) -> None:
        """The rows x of all batches over n features; those at `places` are to be visited. `k` is
        their XX', if it is known."""
        self.x, self.weight, self.n, self.c, self.places = x, x.weight, n, c, places
        self.k: Floats = cross(x, self.columns, x.n_rows) if k is None else k
        one = np.eye(len(self.k))
        # divide(b, False) is (I + c KH)^-1 b, and divide(b, True) is (I + c HK)^-1 b
        self.divide: Callable[[Any, bool], Any]
        if self.weight is None:
            inner = cholesky(one + c * self.k)
            self.divide = lambda b, transposed: fortran.cho_solve(inner, b)
        else:
            self.divide = fortran.lu_solver(one + c * (self.k * self.weight))

    @cached_property
    def columns(self) -> Matrix:
        return columns(self.x, self.n)

    def solve(self, b: Floats) -> Floats:
        """Sigma b, for a vector b over the features."""
        if not b.any():
            return np.zeros(self.n)
        divided = self.divide(self.weighed(scores(self.x, b)), True)
        return b - self.c * pull(self.x, divided, self.n)

    def variances(self, x: SlotRows) -> Floats:
        """x' Sigma x of each row x; inf where it is no number."""
        total = np.empty(x.n_rows)
        dual.squared_norms(x.csr, total)
        seen = np.ascontiguousarray(cross(x, self.columns, self.x.n_rows).T)
        seen[:, ~np.isfinite(total)] = 0.0  # |x|^2 overflows before x . y does
        solved = self.divide(self.weighed(seen), True)
        found: Floats = np.maximum(total - self.c * (seen * solved).sum(axis=0), 0)
        return found

    def weighed(self, values: Any) -> Any:
        """H times these values, a row of them for each row."""
        if self.weight is None:
            return values
        return values * (self.weight if values.ndim == 1 else self.weight[:, None])

    def carried(self, rows: SlotRows, u: Floats) -> Floats:
        """Sigma X'u over the rows that are visited."""
        spread = np.zeros(len(self.k))
        spread[self.places] = u
        return pull(self.x, self.divide(spread, True), self.n)

    def ascend(
        self, rows: SlotRows, starts: list[Start], bounds: Bounds, passes: int
    ) -> list[Ascended]:
        seen = self.divide(self.k[:, self.places], False)[self.places]
        seen = np.ascontiguousarray(seen)
        here = self.x.take(self.places)
        under_way = Ascents.of(starts, [scores(here, start.mu) for start in starts])

        def one_pass(now: Ascents) -> Floats:
            each = zip(now.y, now.carried, now.a, strict=True)
            return np.array([dual_dense.kernel_pass(seen, y, *bounds, f, a) for y, f, a in each])

        return [
            found._replace(mu=start.mu + self.carried(rows, found.a * start.y))
            for start, found in zip(starts, under_way.repeat(one_pass, passes), strict=True)
        ]
