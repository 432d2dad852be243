"""The nearest neighbours of rows, dense or sparse, and what they say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.data.block import Floats, Ints, Longs
from cwtool.parallel import together
from cwtool_ext import neighbours as kernel

BLOCK_BYTES = 1 << 25  # of distances at a time
ROUNDING = 2.0**-53


class Near(NamedTuple):
    """For each row the k nearest points of either class, nearest first, of equal ones the first:
    [row, class, place], class 0 the negative; who -1 and distance inf where there is none."""

    who: Longs
    distance: Floats  # squared

    @property
    def means(self) -> tuple[Floats, Floats]:
        """d_neg, d_pos: the mean squared distance to those of a class; inf if there are none."""
        there = self.who >= 0
        total = np.where(there, self.distance, 0).sum(axis=2)
        count = there.sum(axis=2)
        mean = np.where(count > 0, total / np.maximum(count, 1), np.inf)
        return mean[:, 0], mean[:, 1]


def nearest(
    rows: Any, points: Any, positive: NDArray[np.bool_], k: int, *, loo: bool = False, jobs: int = 1
) -> Near:
    """Among the points for each of the rows; loo: the rows are the points, none its own neighbour.
    Both are dense arrays or both CSR with ascending indices; at no time are there all distances."""
    m, n = rows.shape[0], points.shape[0]
    near = Near(np.empty((m, 2, k), dtype=np.int64), np.empty((m, 2, k)))
    kind = positive.astype(np.int8)
    own = np.arange(m) if loo else np.full(m, -1)
    z_square = squares(points)
    dense = isinstance(points, np.ndarray)
    transposed = points.T if dense else points.T.tocsr()
    c = 4 * (points.shape[1] + 8) * ROUNDING
    z_parts = parts(points)
    step = max(1, BLOCK_BYTES // (8 * max(n, 1)))

    def some(start: int) -> None:
        at = slice(start, start + step)
        x = rows[at]
        cross = x @ transposed
        x_parts = parts(x)
        kernel.nearest(
            np.ascontiguousarray(cross if dense else cross.toarray()), squares(x), z_square, c,
            kind, own[at], x_parts[0], z_parts[0], *x_parts[1:], *z_parts[1:],
            near.who[at], near.distance[at],
        )  # fmt: skip

    together(some, range(0, m, step), jobs)
    return near


def squares(rows: Any) -> Floats:
    """|x_i|^2"""
    total: Floats
    if isinstance(rows, np.ndarray):
        total = np.einsum("ij,ij->i", rows, rows)
    else:
        total = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return total


def parts(rows: Any) -> tuple[Floats, Longs, Ints, Floats]:
    """As the kernel takes them: a dense array, or CSR."""
    if isinstance(rows, np.ndarray) and rows.shape[1]:
        nothing = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
        return np.ascontiguousarray(rows), *nothing
    none = np.empty((0, 0))
    if isinstance(rows, np.ndarray):
        return none, np.zeros(len(rows) + 1, np.int64), np.empty(0, np.int32), np.empty(0)
    return none, rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data


def vote(near: Near) -> Floats:
    """The majority of the k nearest, in [-1, 1], with less than half a vote more for how much
    nearer one class is. Equal votes: the class of the nearest."""
    m, _, k = near.who.shape
    distance, index = near.distance.reshape(m, 2 * k), near.who.reshape(m, 2 * k)
    first = np.lexsort((index, distance), axis=-1)[:, :k]
    sign = np.repeat([-1.0, 1.0], k)[first]
    sign[np.take_along_axis(index, first, axis=1) < 0] = 0
    votes = sign.sum(axis=1)
    negative, positive = near.means
    with np.errstate(invalid="ignore"):
        lean = (negative - positive) / (negative + positive)
    lean = np.where(np.isfinite(negative), lean, 1.0)
    lean = np.where(np.isfinite(positive), np.nan_to_num(lean), -1.0)  # nan: both at distance 0
    lean = np.where(votes == 0, sign[:, 0] * (1 + np.abs(lean)) / 2, lean)
    score: Floats = (votes + lean / 2) / k
    return score
