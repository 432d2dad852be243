"""The metric P = I + c X'HX by the rows X of all batches so far, for fewer rows than features.

Sigma = P^-1 = I - c X'(I + c HK)^-1 HX with K = XX', so X Sigma X' = (I + c KH)^-1 K, which is
symmetric, and Sigma X' = X'(I + c HK)^-1. Without weights I + c K has a Cholesky factor. Memory and
time grow with the square and the cube of the number of rows, whatever the number of features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool.algorithms.ascent import Ascended, Ascents, Start
from cwtool.algorithms.batch import Bounds, weights
from cwtool.algorithms.metric import Metric
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool.errors import Damage
from cwtool.state import Array, State
from cwtool_ext import dual_dense

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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


def matrix(rows: SlotRows, n: int) -> csr_matrix:
    """The rows as a matrix of n columns."""
    from scipy.sparse import csr_matrix

    return csr_matrix((rows.values * rows.scale, rows.indices, rows.indptr), (rows.n_rows, n))


def products(x: csr_matrix) -> Floats:
    """K = XX'"""
    k: Floats = (x @ x.T).toarray()
    return k


def kept(state: State, n: int) -> tuple[csr_matrix, Floats | None]:
    """The rows of all batches that the state keeps, with n columns, and their weights."""
    from scipy.sparse import csr_matrix

    a = state.arrays
    x = csr_matrix((a["rows.values"], a["rows.indices"], a["rows.indptr"]), shape=(count(state), n))
    return x, a["rows.weight"] if len(a["rows.weight"]) else None


def curved(state: State, n: int) -> tuple[csr_matrix, Floats | None]:
    """Those of the rows kept where the loss is curved."""
    x, h = kept(state, n)
    some = np.flatnonzero(state.arrays[CURVED.name])
    return x[some], None if h is None else h[some]


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


def keep(state: State, rows: SlotRows, n: int) -> None:
    """Add rows to those that the state keeps."""
    from scipy.sparse import vstack

    x, h = kept(state, n)
    both = vstack([x, matrix(rows, n)], format="csr")
    if h is not None or rows.weight is not None:
        h = np.append(np.ones(x.shape[0]) if h is None else h, weights(rows))
    state.arrays |= {
        "rows.indptr": both.indptr.astype(np.int64),
        "rows.indices": both.indices.astype(np.int32),
        "rows.values": both.data,
        "rows.weight": np.empty(0) if h is None else h,
    }


def forget(state: State) -> None:
    """Keep no rows."""
    for array in (*ROWS, CURVED):
        state.arrays[array.name] = np.zeros(array.shape, dtype=array.dtype)


class RowSpace(Metric):
    name = "row space"

    def __init__(
        self,
        x: csr_matrix,
        weight: Floats | None,
        c: float,
        places: Longs,
        k: Floats | None = None,
    ) -> None:
        """The rows x of all batches with their weights; those at `places` are to be visited. `k` is
        their XX', if it is known."""
        from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve

        self.x, self.weight, self.c, self.places = x, weight, c, places
        self.n = x.shape[1]
        self.k: Floats = products(x) if k is None else k
        one = np.eye(len(self.k))
        # divide(b, False) is (I + c KH)^-1 b, and divide(b, True) is (I + c HK)^-1 b
        self.divide: Callable[[Any, bool], Any]
        if weight is None:
            inner = cho_factor(one + c * self.k, lower=True)
            self.divide = lambda b, transposed: cho_solve(inner, b)
        else:
            factors = lu_factor(one + c * (self.k * weight))
            self.divide = lambda b, transposed: lu_solve(factors, b, trans=int(transposed))

    def solve(self, b: Floats) -> Floats:
        """Sigma b"""
        if not b.any():
            return np.zeros(self.n)
        seen = self.x @ b
        solved: Floats = b - self.c * (self.x.T @ self.divide(self.weighed(seen), True))
        return solved

    def variances(self, x: csr_matrix) -> Floats:
        """x' Sigma x of each row x."""
        total = np.asarray(x.multiply(x).sum(axis=1)).ravel()
        cross = (self.x @ x.T).toarray()
        solved = self.divide(self.weighed(cross), True)
        found: Floats = np.maximum(total - self.c * (cross * solved).sum(axis=0), 0)
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
        pulled: Floats = self.x.T @ self.divide(spread, True)
        return pulled

    def ascend(
        self, rows: SlotRows, starts: list[Start], bounds: Bounds, passes: int
    ) -> list[Ascended]:
        seen = self.divide(self.k[:, self.places], False)[self.places]
        seen = np.ascontiguousarray(seen)
        here = self.x[self.places]
        under_way = Ascents.of(starts, [here @ start.mu for start in starts])  # carries the scores

        def one_pass(now: Ascents) -> Floats:
            each = zip(now.y, now.carried, now.a, strict=True)
            return np.array([dual_dense.kernel_pass(seen, y, *bounds, f, a) for y, f, a in each])

        return [
            found._replace(mu=start.mu + self.carried(rows, found.a * start.y))
            for start, found in zip(starts, under_way.repeat(one_pass, passes), strict=True)
        ]
