"""The sparse leading eigenvector of a symmetric matrix (Ma 2017, Algorithm 2.1)."""

from __future__ import annotations

import numpy as np

from cwtool.data.rows import Floats, Longs
from cwtool_ext import sdist as kernel

ITERATIONS, TOL = 100, 1e-7
SMALL = 600  # number of columns up to which the dense leading eigenvector is used as a start
NOTHING = 1e-8  # entries with a smaller absolute value become 0


def sparse_eigenvector(A: Floats, kappa: int) -> tuple[Floats, float]:
    """A vector xi of length 1 with at most kappa nonzero entries and a large xi'A xi, and this
    value. It is the best result of truncated power iterations from two or three starts, made exact
    on its nonzero entries; there is no guarantee that it is the maximum."""
    p = len(A)
    if p == 0:
        return np.empty(0), 0.0
    diagonal = np.diag(A)
    top = int(np.argmax(diagonal))
    first = A[:, top].copy()
    first[top] += abs(diagonal[top]) + 1e-12
    largest = np.zeros(p)
    largest[np.argsort(-diagonal, kind="stable")[:kappa]] = 1
    starts = [first, largest]
    if p <= SMALL:
        starts.append(np.linalg.eigh(A)[1][:, -1].copy())
    work = np.empty(3 * p + p // 8 + 1)
    found = [kernel.power(A, x, kappa, ITERATIONS, TOL, work) for x in starts]
    best = starts[int(np.argmax(found))]
    return polished(A, np.flatnonzero(best))


def polished(A: Floats, support: Longs) -> tuple[Floats, float]:
    """The leading eigenvector of A restricted to this support, signed so that its largest entry by
    absolute value is positive, and its xi'A xi."""
    xi = np.zeros(len(A))
    if not len(support):
        return xi, 0.0
    within = np.linalg.eigh(A[np.ix_(support, support)])[1][:, -1]
    within[np.abs(within) < NOTHING] = 0
    within /= np.linalg.norm(within)
    xi[support] = within * np.sign(within[np.argmax(np.abs(within))])
    return xi, float(xi @ A @ xi)
