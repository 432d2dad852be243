"""Pairs of columns whose product tells classes apart, though the columns alone may not.

With y the indicator of a class less its mean and q_i = y_i x_ia x_ib, z_ab = sum q_i / sqrt(sum
q_i^2) is about N(0, 1) for a pair that says nothing of the class. All pairs of p columns and n rows
cost 2 n p^2 operations, so that the pairs need not come from columns that were chosen before.
"""

from __future__ import annotations

import numpy as np

from cwtool.data.rows import Floats, Ints

MOST = 30  # pairs that are taken
LARGEST = 2e11  # operations; more columns are not screened
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


def _largest(x: Floats, kind: Ints, signs: Ints, start: int) -> Floats:
    """max |z_ab| over the classes, for a in a block of columns from `start` on and all b."""
    part = x[:, start : start + BLOCK]
    found = np.zeros((part.shape[1], x.shape[1]))
    for class_ in signs.tolist():
        y = (kind == class_).astype(float)
        y -= y.mean()
        signed = y[:, None] * part
        norm = np.sqrt((signed**2).T @ x**2)
        z = np.divide(np.abs(signed.T @ x), norm, out=np.zeros_like(found), where=norm > 0)
        np.maximum(found, z, out=found)
    return found
