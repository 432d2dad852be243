"""Columns of dense data brought to [-1, 1]."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cwtool.data.rows import Floats, Rows


def ranged(train: Rows, test: Rows | None, *, constant: bool) -> tuple[Rows, Rows | None]:
    """x' = 2 (x - low) / (high - low) - 1 by the range of each column in the training rows, which
    test rows may leave; 0 in a column of one value. A last column of ones is the `constant`."""
    parts = [train] if test is None else [train, test]
    width = 1 + max(int(rows.indices.max(initial=-1)) for rows in parts)
    x = [csr_array((p.values, p.indices, p.indptr), (p.n_rows, width)).toarray() for p in parts]
    low, high = x[0].min(axis=0), x[0].max(axis=0)
    wide = high > low
    step = 2 / np.where(wide, high - low, 1.0)
    scaled = [np.where(wide, (part - low) * step - 1, 0.0) for part in x]
    first = _rows(scaled[0], train, constant)
    return first, None if test is None else _rows(scaled[1], test, constant)


def _rows(x: Floats, like: Rows, constant: bool) -> Rows:
    """A dense matrix as rows with the classes and weights of others."""
    if constant:
        x = np.column_stack([x, np.ones(len(x))])
    return Rows.from_csr(csr_array(x), like.y, like.weight)
