"""The nearest neighbours of rows, dense or sparse, and the vote of these neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.data.rows import Floats, Longs
from cwtool.threads import together
from cwtool_ext import neighbours as kernel
from cwtool_ext.csr import Csr

DISTANCE_BYTES = 1 << 25  # size of the matrix of products that a thread has at one time
ROUNDING = 2.0**-24  # of single precision, in which products are computed
UNDERFLOW = 2.0**-120  # of a product in single precision, with room to spare
TIE = 1e-9  # sums of weighted votes that differ by no more than this are equal


class Near(NamedTuple):
    """The k nearest points of each class for each row, indexed by row, class (of two, 0 is the
    negative one) and place. The nearest come first, and of equally near points the first. Where a
    class has fewer than k points, `who` is -1 and `distance` is inf. A point of weight h counts as
    h points at its place; `weight` is None if all points weigh 1."""

    who: Longs
    distance: Floats  # squared
    weight: Floats | None = None  # 0 where there is no point

    @property
    def means(self) -> Floats:
        """The mean squared distance to the neighbours of each class, by row and class; inf where
        there are none."""
        there = self.who >= 0
        distance = np.where(there, self.distance, 0)
        if self.weight is None:
            total, count = distance.sum(axis=2), there.sum(axis=2)
            return np.where(count > 0, total / np.maximum(count, 1), np.inf)
        counts = counted(self.weight)
        total, sums = (distance * counts).sum(axis=2), counts.sum(axis=2)
        return np.where(sums > 0, total / np.where(sums > 0, sums, 1), np.inf)

    def nearest_of_all(self) -> NDArray[np.intp]:
        """The places of the k nearest points of all classes among those of each row."""
        by = beside(self.who), leading(beside(self.distance))
        return np.lexsort(by, axis=-1)[:, : self.who.shape[2]]

    def rest(self, kind: NDArray[Any]) -> Near:
        """For each row, which is of the class `kind`: the points of its own class, and the k
        nearest of all other classes, as two classes."""
        rows, own = np.arange(len(self.who)), kind.astype(np.int64)
        if self.who.shape[1] == 2:
            both = np.stack([own, 1 - own], axis=1)
            return Near(self.who[rows[:, None], both], self.distance[rows[:, None], both])
        others = Near(self.who.copy(), self.distance.copy())
        others.who[rows, own], others.distance[rows, own] = -1, np.inf
        first = others.nearest_of_all()

        def paired(mine: Any, theirs: Any) -> Any:
            found = np.take_along_axis(beside(theirs), first, axis=1)
            return np.stack([mine[rows, own], found], axis=1)

        return Near(paired(self.who, others.who), paired(self.distance, others.distance))


def beside(near: NDArray[Any]) -> NDArray[Any]:
    """The places of all classes side by side, by row; there may be no rows."""
    m, classes, k = near.shape
    return near.reshape(m, classes * k)


def leading(distance: Floats) -> Floats:
    """Distances rounded to 40 bits, as they are compared: rounding does not decide which of two
    equally near points comes first."""
    with np.errstate(invalid="ignore", over="ignore"):  # there may be no point, at distance inf
        c = 8193.0 * distance
        found: Floats = np.where(np.isfinite(c), c - (c - distance), distance)
    return found


def counted(weight: Floats) -> Floats:
    """How much each of k neighbours counts, the nearest first: its weight, but no more than k in
    all."""
    k = weight.shape[-1]
    before = np.zeros_like(weight)
    np.cumsum(weight[..., :-1], axis=-1, out=before[..., 1:])
    counts: Floats = np.clip(k - before, 0, weight)
    return counts


class Points:
    """Points among which neighbours are searched for: a dense array, or a CSR matrix with ascending
    indices."""

    def __init__(self, points: Any) -> None:
        self.points, self.n = points, points.shape[0]
        self.dense = dense = isinstance(points, np.ndarray)
        self.form: Any = np.ascontiguousarray if dense else csr
        # products of small numbers are exacter
        self.middle = points.mean(axis=0) if dense and self.n else None
        centred = self.centred(points)
        self.square = squares(centred)
        self.largest = np.sqrt(self.square.max(initial=0)) or 1.0
        transposed = single(centred, 1 / self.largest).T
        self.transposed = transposed if dense else transposed.tocsr()
        # of a product
        self.terms = points.shape[1] if dense else int(np.diff(points.indptr).max(initial=0))
        self.z = self.form(points)

    def centred(self, rows: Any) -> Any:
        """The rows less the mean of the points, where these are dense."""
        return rows if self.middle is None else rows - self.middle


def nearest(
    rows: Any, points: Any, kind: NDArray[Any], k: int, *, loo: bool = False,
    jobs: int = 1, weight: Floats | None = None,
) -> Near:  # fmt: skip
    """The neighbours of each row among the points, whose class numbers are `kind`; there are at
    least two classes. With `loo` the rows are the points, and none is its own neighbour. Both are
    dense arrays, or both are CSR matrices with ascending indices; or the points are Points already.
    The full matrix of distances is never in memory."""
    z = points if isinstance(points, Points) else Points(points)
    m, n, kind = rows.shape[0], z.n, kind.astype(np.int32)
    kinds = max(2, 1 + int(kind.max(initial=0)))
    near = Near(np.empty((m, kinds, k), dtype=np.int64), np.empty((m, kinds, k)))
    own = np.arange(m) if loo else np.full(m, -1)
    find: Any = kernel.nearest_dense if z.dense else kernel.nearest_sparse
    c = 2 * (z.terms + 8) * ROUNDING
    step = max(1, DISTANCE_BYTES // (4 * max(n, 1)))

    def some(start: int) -> None:
        at = slice(start, start + step)
        x = rows[at]
        near_middle = z.centred(x)
        x_square = squares(near_middle)
        norm = np.where(x_square > 0, np.sqrt(x_square), 1)
        cross = single(near_middle, 1 / norm) @ z.transposed
        find(
            z.form(x), z.z, np.ascontiguousarray(cross if z.dense else cross.toarray()),
            norm * z.largest, x_square, z.square, c, z.terms * UNDERFLOW, kind, own[at],
            np.empty((kinds, k)), near.who[at], near.distance[at],
        )  # fmt: skip

    together(some, range(0, m, step), jobs)
    if weight is None or n == 0:
        return near
    return near._replace(weight=np.where(near.who >= 0, weight[near.who], 0))


def single(rows: Any, factor: Any) -> Any:
    """The rows times their factors, or one factor, in single precision."""
    if isinstance(rows, np.ndarray):
        return (rows * np.reshape(factor, (-1, 1))).astype(np.float32)
    each = np.repeat(np.broadcast_to(factor, rows.shape[:1]), np.diff(rows.indptr))
    values = (rows.data * each).astype(np.float32)
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def squares(rows: Any) -> Floats:
    """|x_i|^2 of each row."""
    total: Floats
    if isinstance(rows, np.ndarray):
        total = np.einsum("ij,ij->i", rows, rows)
    else:
        total = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return total


def csr(matrix: csr_array) -> Csr:
    """A SciPy matrix as kernels take it."""
    return Csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)


def vote(near: Near) -> Floats:
    """The majority of the k nearest of both classes, in [-1, 1], plus less than half a vote that
    says how much nearer one class is. Where the votes are equal, the class of the nearest wins. A
    neighbour of weight h has h votes; votes beyond the k-th do not count."""
    k = near.who.shape[2]
    first = near.nearest_of_all()
    sign = np.repeat([-1.0, 1.0], k)[first]
    sign[np.take_along_axis(beside(near.who), first, axis=1) < 0] = 0
    if near.weight is None:
        votes = sign.sum(axis=1)
    else:
        own = np.take_along_axis(beside(near.weight), first, axis=1)
        votes = (sign * counted(own)).sum(axis=1)
        votes[np.abs(votes) <= TIE] = 0
    negative, positive = near.means.T
    with np.errstate(invalid="ignore"):
        lean = (negative - positive) / (negative + positive)
    lean = np.where(np.isfinite(negative), lean, 1.0)
    lean = np.where(np.isfinite(positive), np.nan_to_num(lean), -1.0)  # nan: both at distance 0
    lean = np.where(votes == 0, sign[:, 0] * (1 + np.abs(lean)) / 2, lean)
    if near.weight is not None:  # less than half of a majority that is less than a vote
        lean = np.where(votes == 0, lean, lean * np.minimum(1, np.abs(votes)))
    score: Floats = (votes + lean / 2) / k
    return score


def shares(near: Near) -> Floats:
    """Several classes: the share of each in the votes of the k nearest points, by row and class,
    plus less than half a vote that is greater the nearer the first point of the class is. So of
    classes with equal votes that with the nearest point wins. -inf for a class without points."""
    m, kinds, k = near.who.shape
    first = near.nearest_of_all()
    there = np.take_along_axis(beside(near.who), first, axis=1) >= 0
    counts = there.astype(np.float64)
    if near.weight is not None:
        counts = counted(np.take_along_axis(beside(near.weight), first, axis=1))
    votes = np.zeros((m, kinds))
    np.add.at(votes, (np.arange(m)[:, None], first // k), counts)
    closest = leading(near.distance[:, :, 0])
    least = closest.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        lean = np.where(closest == least, 1.0, least / closest)
    gaps = np.diff(np.sort(votes, axis=1), axis=1)  # with weights less than a vote may decide
    gaps[gaps <= TIE] = 1
    vote = np.minimum(1, gaps.min(axis=1, keepdims=True))
    return np.where(near.who[:, :, 0] >= 0, (votes + vote * lean / 2) / k, -np.inf)


def said(near: Near) -> Longs:
    """The class that the neighbours vote for."""
    found = (vote(near) >= 0).astype(np.int64) if near.who.shape[1] == 2 else shares(near).argmax(1)
    return np.asarray(found)
