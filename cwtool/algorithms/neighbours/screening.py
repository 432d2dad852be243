"""Pairs and triples of columns whose product tells classes apart, though no column alone may.

With y the indicator of a class less its mean and q_i = y_i x_ia x_ib, z_ab = sum q_i / sqrt(sum
q_i^2) is about N(0, 1) for a pair that says nothing of the class. All pairs of p columns and n rows
cost 2 n p^2 operations, so that the pairs need not come from columns that were chosen before. The
same holds for q_i = y_i x_ia x_ib x_ic, whose cost grows with p^3.
"""

from __future__ import annotations

import numpy as np

from cwtool.data.rows import Floats, Ints

MOST = 30  # pairs that are taken
LARGEST = 2e11  # operations; more columns are not screened
LARGEST_TRIPLES = 2e9  # the same for triples, of which few data sets have any that tell
BLOCK = 256  # columns whose pairs are looked at together, so that memory stays small
EXCESS = 1.0  # how far z has to be above what the largest of that many N(0, 1) numbers reaches


def telling_pairs(x: Floats, kind: Ints) -> list[tuple[int, int]]:
    """The pairs (a, b), a <= b, of columns of x with the largest |z| above sqrt(2 log m) + EXCESS,
    where m is the number of pairs; of several classes the largest |z| counts. x are centred columns
    of rows of the classes `kind`. The most telling pair is first."""
    n, p = x.shape
    classes = np.unique(kind)
    signs = classes[1:] if len(classes) == 2 else classes
    if p < 2 or len(classes) < 2 or 4.0 * n * p * p * len(signs) > LARGEST:
        return []
    bound = np.sqrt(2 * np.log(p * (p + 1) / 2 * len(signs))) + EXCESS
    size, a, b = np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for start in range(0, p, BLOCK):
        z = _largest(x, kind, signs, start)
        i, j = np.nonzero(np.triu(z, start) > bound)
        size, a, b = np.append(size, z[i, j]), np.append(a, i + start), np.append(b, j)
    best = np.argsort(-size, kind="stable")[:MOST]
    return list(zip(a[best].tolist(), b[best].tolist(), strict=True))


def telling_triples(x: Floats, kind: Ints) -> list[tuple[int, int, int]]:
    """The same for the triples (a, b, c), a < b < c, of columns of rows of two classes."""
    n, p = x.shape
    if p < 3 or len(np.unique(kind)) != 2 or 4 / 3 * n * p**3 > LARGEST_TRIPLES:
        return []
    y = (kind == kind.max()).astype(float)
    y -= y.mean()
    bound = np.sqrt(2 * np.log(p * (p - 1) * (p - 2) / 6)) + EXCESS
    found: list[tuple[float, int, int, int]] = []
    for a in range(p - 2):
        z = _z((y * x[:, a])[:, None] * x[:, a + 1 :], x[:, a + 1 :])
        i, j = np.nonzero(np.triu(z, 1) > bound)
        places = ((i + a + 1).tolist(), (j + a + 1).tolist())
        found += [(-size, a, b, c) for size, b, c in zip(z[i, j].tolist(), *places, strict=True)]
    return [(a, b, c) for _, a, b, c in sorted(found)[:MOST]]


def _z(signed: Floats, x: Floats) -> Floats:
    """|z| of all pairs of a column of `signed`, in which the signs are, and a column of x."""
    norm = np.sqrt((signed**2).T @ x**2)
    found: Floats = np.zeros(norm.shape)
    np.divide(np.abs(signed.T @ x), norm, out=found, where=norm > 0)
    return found


def _largest(x: Floats, kind: Ints, signs: Ints, start: int) -> Floats:
    """max |z_ab| over the classes, for a in a block of columns from `start` on and all b."""
    part = x[:, start : start + BLOCK]
    found = np.zeros((part.shape[1], x.shape[1]))
    for class_ in signs.tolist():
        y = (kind == class_).astype(float)
        y -= y.mean()
        np.maximum(found, _z(y[:, None] * part, x), out=found)
    return found
