"""The direction of a boosting step by stabilized truncated descent (Ma 2017, Algorithm 3.4 within
Algorithm 2.2), for sparse data with many columns.

It maximizes E s (xi'delta)^2 over |xi| = 1, where delta is the difference of a row i ~ u of the bag
and one of its neighbours, and s is 1 for a neighbour of the opposite class and -1 for one of the
same. All candidates take part; the SCREEN largest entries of the diagonal of A decide which of them
are used. Several paths walk in bursts of pairs, each burst followed by a soft threshold. Features
that are truncated too often are removed. At the end the largest entries of the mean direction are
replaced by the exact solution on these entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack

from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.neighbours.eigenvector import polished
from cwtool.algorithms.neighbours.monomials import Candidates, Key
from cwtool.algorithms.stabilized_descent.gravity import rejection_rate
from cwtool.data.rows import Floats, Longs
from cwtool.order import uniforms
from cwtool_ext import oja as kernel
from cwtool_ext import sdist
from cwtool_ext.csr import Csr

if TYPE_CHECKING:
    from cwtool.algorithms.neighbours.boosting import Boost, Hood

BURST, BURSTS, PATHS, STAGES = 50, 5, 4, 8
REJECTION, ANNEALING = 0.7, -3.0  # beta_0 and gamma of (3.14)
STABLE = 0.6  # share of the bursts with a feature that must not truncate it
INFORMATIVE = 2  # number of bursts with a feature after which it is judged
SCREEN = 2000  # columns with the largest A_jj that are used
STILL = 1e-3  # change of the mean direction at which a stage is the last
ROOM = 20_000_000  # nonzero entries of all candidates; later candidates are left out
PAIRS = 3  # second seed of the pairs, which makes them independent of other random choices


class Pairs(NamedTuple):
    """Rows of the bag, a neighbour of each, and the weight with the sign s."""

    first: Longs
    second: Longs
    sign: Floats


Draw = Callable[[int], Pairs]


def drawing(around: Hood, bag: Longs, u: Floats, n: int, *seeds: int) -> Draw:
    """What draws n pairs of a row i ~ u and one of its neighbours of either class, given one more
    seed. The weights make both classes count as if they had equally many neighbours."""
    far, near = around.opposite.shape[1], around.same.shape[1]
    total, neighbours = np.cumsum(u), np.hstack([around.opposite, around.same])
    weight = np.repeat([(far + near) / (2 * far), -(far + near) / (2 * near)], [far, near])

    def pairs(number: int) -> Pairs:
        draws = uniforms(2 * n, *seeds, number)
        at = np.searchsorted(total, draws[:n] * total[-1], side="right")
        first = bag[np.minimum(at, len(bag) - 1)]
        place = (draws[n:] * (far + near)).astype(np.int64)
        return Pairs(first, neighbours[first, place], weight[place])

    return pairs


def laplacian(around: Hood, bag: Longs, u: Floats) -> csr_array:
    """Lam, the signed Laplacian of the neighbour graph (see cwtool_ext/sdist.pyx), as a matrix."""
    n = len(around.same)
    i, j, s = [], [], []
    for kind, sign in ((around.opposite, 1.0), (around.same, -1.0)):
        k = kind.shape[1]
        i.append(np.repeat(bag, k))
        j.append(kind[bag].ravel())
        s.append(np.repeat(sign * u / k, k))
    a, b, w = np.concatenate(i), np.concatenate(j), np.concatenate(s)
    where = np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a])
    return csr_array((np.concatenate([w, w, -w, -w]), where), shape=(n, n))


class Path:
    """One of several independent walks over the same columns."""

    def __init__(self, xi: Floats) -> None:
        p = len(xi)
        self.xi = xi.copy()
        self.touched, self.count = np.empty(p, dtype=np.int32), np.zeros(p, dtype=np.int32)
        self.vectors, self.moves = np.empty((2, p)), np.empty(p * BURSTS)

    def walk(
        self, phi: Csr, some: Pairs, active: NDArray[np.uint8], step: float, gravity: float,
        updated: Floats, kept: Floats,
    ) -> Floats:  # fmt: skip
        """Make the bursts of a stage; returns how far each entry moved in each burst."""
        last = np.full(len(self.xi), -1, dtype=np.int64)
        n = kernel.bursts(
            phi, *some, BURST, active, step, gravity, self.xi, updated, kept, self.touched,
            self.count, last, self.vectors, self.moves,
        )  # fmt: skip
        moves: Floats = self.moves[:n].copy()
        return moves

    def mask(self, active: NDArray[np.uint8], instead: Floats) -> None:
        """Set the entries that are not active to 0; where nothing is left, use `instead`."""
        self.xi *= active
        length = np.linalg.norm(self.xi)
        self.xi = self.xi / length if length else instead.copy()


def consensus(paths: Sequence[Path]) -> Floats:
    """The mean direction of the paths, where xi and -xi are the same direction."""
    total = np.zeros(len(paths[0].xi))
    for path in paths:
        total += path.xi if path.xi @ paths[0].xi >= 0 else -path.xi
    length = float(np.linalg.norm(total))
    return total / length if length else paths[0].xi


def ascent(phi: csr_array, xi: Floats, kappa: int, draw: Draw) -> Floats:
    """The mean direction after stages of bursts from xi, until it stands still or has no more than
    kappa entries. `draw` gives the pairs of each path in each stage, by a number."""
    p = phi.shape[1]
    rows = Matrix(phi.indptr.astype(np.int64), phi.indices.astype(np.int32), phi.data)
    step = 0.5 / (2 * max(float((phi.data**2).sum()) / phi.shape[0], 1e-300))
    active = np.ones(p, dtype=np.uint8)
    updated, kept = np.zeros(p), np.zeros(p)
    paths, found, gravity = [Path(xi) for _ in range(PATHS)], xi, 0.0
    for stage in range(STAGES):
        moves = [
            path.walk(rows.csr, draw(stage * PATHS + m), active, step, gravity, updated, kept)
            for m, path in enumerate(paths)
        ]
        before, found = found, consensus(paths)
        judged = updated > INFORMATIVE
        share = np.where(judged, kept / np.maximum(updated, 1), 1.0)
        updated[judged] = kept[judged] = 0
        stays = (active > 0) & (share >= STABLE)
        if stays.sum() < kappa:
            stays = np.zeros(p, dtype=np.bool_)
            stays[np.argsort(-np.abs(found) - (active > 0), kind="stable")[:kappa]] = True
        if (active[~stays] > 0).any():
            rows = within(rows, stays)
        active = stays.astype(np.uint8)
        for path in paths:
            path.mask(active, found)
        left = int(active.sum())
        beta = rejection_rate(left / p, REJECTION, ANNEALING)
        pool = np.concatenate(moves)
        gravity = quantile(pool, beta) if len(pool) else 0.0
        still = min(np.linalg.norm(found - before), np.linalg.norm(found + before)) < STILL
        if still or left <= kappa:
            break
    return consensus(paths)


def within(rows: Matrix, columns: NDArray[np.bool_]) -> Matrix:
    """The rows without the entries of other columns."""
    there = columns[rows.place]
    starts = np.append(0, np.cumsum(there))[rows.start]
    return Matrix(starts, rows.place[there], rows.value[there])


def quantile(values: Floats, share: float) -> float:
    """np.quantile(values, share), bit for bit, of a few thousand values in less time."""
    at = (len(values) - 1) * share
    low = int(at)
    high = min(low + 1, len(values) - 1)
    found, t = np.partition(values, (low, high)), at - low
    a, b = float(found[low]), float(found[high])
    return a + (b - a) * t if t < 0.5 else b - (b - a) * (1 - t)


def _nonzero(column: Floats) -> tuple[Longs, Floats]:
    """The places and the values of the nonzero entries of a column."""
    where = np.flatnonzero(column)
    return where, column[where]


class Oja:
    """A Finder that chooses the direction of a step among all candidates."""

    def __init__(self, boost: Boost) -> None:
        self.boost = boost
        self.phi = csr_array((boost.monomials.n_rows, 0))

    def _columns(self, keys: Sequence[Key]) -> csr_array:
        """Phi of the candidates. Columns of new candidates are appended; old ones are kept."""
        have, n = self.phi.shape[1], self.phi.shape[0]
        if len(keys) > have and self.phi.nnz < ROOM:
            found = [_nonzero(self.boost.monomials.column(key)) for key in keys[have:]]
            where, values = zip(*found, strict=True)
            starts = np.cumsum([0, *map(len, where)])
            new = csc_array(
                (np.concatenate(values), np.concatenate(where), starts), shape=(n, len(where))
            )
            self.phi = csr_array(hstack([self.phi, new], format="csr"))
        return self.phi

    def __call__(
        self, candidates: Candidates, around: Hood, bag: Longs, u: Floats, step: int
    ) -> tuple[Sequence[Key], Floats, float]:
        kappa, seeds = self.boost.params.direction_columns, self.boost.seeds
        phi = self._columns(candidates.keys)
        lam = laplacian(around, bag, u)
        diagonal = np.asarray(phi.multiply(lam @ phi).sum(axis=0)).ravel()
        screened = np.sort(np.argsort(-diagonal, kind="stable")[:SCREEN])
        if len(screened) < len(diagonal):
            diagonal, phi = diagonal[screened], phi[:, screened]
        keys = [candidates.keys[j] for j in screened.tolist()]
        best = int(np.argmax(diagonal))
        column = phi.T @ (lam @ phi[:, [best]].toarray().ravel())
        xi = np.sqrt(np.maximum(diagonal, 0)) * np.sign(column)
        length = np.linalg.norm(xi)
        if not length:
            return keys, xi, 0.0
        draw = drawing(around, bag, u, BURST * BURSTS, *seeds, PAIRS, step)
        xi = ascent(phi, xi / length, kappa, draw)
        return keys, *self._exact(phi, xi, around, bag, u)

    def _exact(
        self, phi: csr_array, xi: Floats, around: Hood, bag: Longs, u: Floats
    ) -> tuple[Floats, float]:
        """The best direction on the largest entries of xi, and its xi'A xi."""
        largest = np.argsort(-np.abs(xi), kind="stable")[: self.boost.params.direction_columns]
        support = np.sort(largest[xi[largest] != 0])
        some = np.ascontiguousarray(phi[:, support].toarray())
        pulled = np.zeros(some.shape)
        sdist.laplacian(some, around.same, around.opposite, bag, u, pulled)
        A = some.T @ pulled
        within, value = polished((A + A.T) / 2, np.arange(len(support)))
        out = np.zeros(len(xi))
        out[support] = within
        return out, value
