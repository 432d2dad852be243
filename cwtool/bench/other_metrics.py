"""Metrics that are learned by other methods, with which Ma (2017) compares sDist. The package
metric-learn 0.7 has the first two, but does not run with scikit-learn 1.9; so these are short dense
versions. Each learns a matrix M >= 0, d_ij = (x_i - x_j)' M (x_i - x_j), and predicts by the vote
of the 3 nearest rows.

    pgdm    max sum of sqrt(d_ij) over pairs of different classes
            subject to sum of d_ij over pairs of the same class <= 1 (Xing et al. 2002)
    lmnn    min (1 - mu) sum d_ij + mu sum [1 + d_ij - d_il]_+ (Weinberger, Blitzer and Saul 2005):
            j are the 3 nearest rows of the same class, l the 10 nearest of other classes
    smlsm   min mean of [1 + d_ij - d_il]_+ + gamma (trace M / p)^2 (Ying, Huang and Campbell 2009):
            j is the nearest row of the same class, l that of another class. The trace is what the
            mixed (2, 1)-norm of the paper becomes when it is minimized over rotations

Neighbours are those of the Euclidean metric. The thesis lets lmnn see only rows l that are nearer
than the last j; then M = 0 can be the minimum, so that we take more of them. Columns are scaled as
those of knn are. Hinges are smoothed over a width of SMOOTH, and minimized by accelerated projected
gradients, as the third paper does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cwtool.algorithms.neighbours.boosting import hood
from cwtool.algorithms.neighbours.column_scale import best_scale, deviations, divisors
from cwtool.algorithms.neighbours.search import nearest, said
from cwtool.data.rows import Floats, Ints, Longs
from cwtool.order import permutation
from cwtool.params import AUTO
from cwtool.run import Run

SMOOTH = 0.1  # width over which the corner of a hinge is rounded off
TOL = 1e-4  # relative change of the objective at which an iteration is the last
MOST_ROWS = 1000  # rows between which pgdm compares all pairs of different classes
IMPOSTORS = 10  # rows of other classes that lmnn compares each row with
STEPS = 100  # of the minimization
K = 3


def psd(M: Floats, simplex: bool = False) -> Floats:
    """The nearest matrix without negative eigenvalues, or the nearest of these with trace 1."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    if simplex:
        falling = values[::-1]
        above = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
        values = values - above[np.flatnonzero(falling > above)[-1]]
    kept = values > 0
    found: Floats = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
    return found


def scatter(x: Floats, near: Longs, w: Floats) -> Floats:
    """Sum of w_ij (x_i - x_j)(x_i - x_j)' over all rows i and their neighbours j."""
    n, k = near.shape
    pairs = csr_array((w.ravel(), (np.repeat(np.arange(n), k), near.ravel())), shape=(n, n))
    both = csr_array(pairs + pairs.T)
    found: Floats = x.T @ (both.sum(axis=1)[:, None] * x - both @ x)
    return found


def apart(x: Floats, M: Floats, near: Longs) -> Floats:
    """The distances d_ij of all rows i and their neighbours j."""
    y = x @ M
    inside = np.einsum("ij,ij->i", x, y)
    cross = [np.einsum("ij,ij->i", y, x[j]) for j in near.T]
    found: Floats = inside[:, None] + inside[near] - 2 * np.stack(cross, axis=1)
    return found


def minimum(value: Callable[[Floats], tuple[float, Floats]], start: Floats, steps: int) -> Floats:
    """A matrix M >= 0 that minimizes a smooth convex function, whose value and gradient are given:
    accelerated projected gradients, whose steps are halved until a quadratic bound holds."""
    M, ahead, t, step = start, start, 1.0, 1.0
    best = value(M)[0]
    for _ in range(steps):
        here, slope = value(ahead)
        while True:
            new = psd(ahead - step * slope)
            move = new - ahead
            now = value(new)[0]
            if now <= here + (slope * move).sum() + (move**2).sum() / (2 * step) + 1e-12 * abs(
                here
            ):
                break
            step /= 2
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead = new + (t - 1) / following * (new - M)
        if now > best:  # begin anew from here
            ahead, following = new, 1.0
        still = abs(best - now) <= TOL * max(abs(now), 1e-300)
        M, t, best, step = new, following, now, 1.5 * step
        if still:
            break
    return M


def by_triplets(
    x: Floats, near: Floats, same: Longs, other: Longs, pull: float, gamma: float
) -> Floats:
    """M of the least <near, M> + pull (sum of smooth hinges) + gamma (trace M / p)^2. A hinge is of
    a row, one of its neighbours of the same class and one of those of another class."""
    p = x.shape[1]

    def value(M: Floats) -> tuple[float, Floats]:
        gap = 1 + apart(x, M, same)[:, :, None] - apart(x, M, other)[:, None, :]
        inside = np.clip(gap, 0, SMOOTH)
        hinge = inside**2 / (2 * SMOOTH) + np.maximum(gap - SMOOTH, 0)
        w = pull * inside / SMOOTH
        slope = near + scatter(x, same, w.sum(axis=2)) - scatter(x, other, w.sum(axis=1))
        trace = float(np.trace(M)) / p
        slope[np.diag_indices(p)] += 2 * gamma * trace / p
        return float((near * M).sum() + pull * hinge.sum() + gamma * trace**2), slope

    return minimum(value, np.eye(p), STEPS)


def lmnn(x: Floats, kind: Ints, seed: int, mu: float = 0.5) -> Floats:
    """Over the leading principal components, a fifth as many as rows: with more of them all hinges
    can be 0 whatever the classes are. The columns of x are such components, the leading first."""
    fewest = int(np.bincount(kind).min()) - 1
    z = np.ascontiguousarray(x[:, : max(1, len(x) // 5)])
    same = hood(z, kind, min(K, fewest), 1).same
    other = hood(z, kind, min(IMPOSTORS, fewest), 1).opposite
    near = (1 - mu) / len(z) * scatter(z, same, np.ones(same.shape))
    M = np.zeros((x.shape[1],) * 2)
    M[: z.shape[1], : z.shape[1]] = by_triplets(z, near, same, other, mu / len(z), 0.0)
    return M


def smlsm(x: Floats, kind: Ints, seed: int, gamma: float = 0.1) -> Floats:
    around = hood(x, kind, 1, 1)
    nothing = np.zeros((x.shape[1],) * 2)
    return by_triplets(x, nothing, around.same, around.opposite, 1 / len(x), gamma)


def pgdm(x: Floats, kind: Ints, seed: int, ridge: float = 10.0) -> Floats:
    """With C the scatter within classes, plus a share of its mean eigenvalue, B = C^1/2 M C^1/2 has
    trace 1, and is found by projected gradients."""
    p = x.shape[1]
    within = x - np.stack([x[kind == c].mean(axis=0) for c in range(1 + kind.max())])[kind]
    C = within.T @ within / len(x)
    values, vectors = np.linalg.eigh(C + ridge * np.trace(C) / p * np.eye(p))
    root = vectors / np.sqrt(values)  # C^-1/2, up to a rotation
    some = permutation(len(x), seed)[:MOST_ROWS]
    z = x[some] @ root
    apart_too = (kind[some][:, None] != kind[some][None, :]).astype(np.float64)
    count = apart_too.sum()

    def value(B: Floats) -> tuple[float, Floats]:
        y = z @ B
        inside, cross = np.einsum("ij,ij->i", z, y), y @ z.T
        d = np.sqrt(np.maximum(inside[:, None] + inside - cross - cross.T, 1e-12))
        w = apart_too / d / count  # twice that of a pair, in both of its places
        return -float((apart_too * d).sum() / count), -z.T @ (w.sum(axis=1)[:, None] * z - w @ z)

    B, step, best = np.eye(p) / p, 1.0, np.inf
    for _ in range(STEPS):
        here, slope = value(B)
        new = psd(B - step * slope, simplex=True)
        now = value(new)[0]
        while now > here and step > 1e-12:
            step /= 4
            new = psd(B - step * slope, simplex=True)
            now = value(new)[0]
        B, step = new, 2 * step
        if abs(best - now) <= TOL * abs(now):
            break
        best = now
    found: Floats = root @ B @ root.T
    return found


METHODS: dict[str, Callable[..., Floats]] = {"pgdm": pgdm, "lmnn": lmnn, "smlsm": smlsm}


def learned_metric(name: str, rows: csr_array, kind: Ints, seed: int, **params: Any) -> Any:
    """A function that predicts the classes of rows of the same columns. Before M is learned,
    columns are rotated to as many as the learned rows span, and divided so that the mean squared
    distance of two rows is 1; this changes nothing but what 1 in a hinge, and gamma, mean."""
    mean, sd = deviations(rows)
    by = divisors(sd, best_scale(rows, kind, sd, AUTO, Run(seed)))
    live = np.flatnonzero(by)

    def scaled(some: csr_array) -> Floats:
        found: Floats = (some[:, live].toarray() - mean[live]) / by[live]
        return found

    x = scaled(rows)
    _, size, axes = np.linalg.svd(x, full_matrices=False)
    turn = axes[size > 1e-9 * size[0]].T / np.sqrt(2 * (size**2).sum() / len(x))
    x = x @ turn
    M = METHODS[name](x, kind, seed, **params)
    values, vectors = np.linalg.eigh(M)
    kept = values > 1e-9 * values[-1]
    turn = turn @ (vectors[:, kept] * np.sqrt(values[kept]))
    points = scaled(rows) @ turn
    return lambda some: said(nearest(scaled(some) @ turn, points, kind, K)).astype(np.int32)
