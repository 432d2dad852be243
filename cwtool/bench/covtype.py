"""Rows shaped like covtype: 10 reals in [0, 1], one of 4 and one of 40 kinds, a label that a
linear model gets wrong in about 26 % of the rows.

`python -m cwtool.bench.covtype PATH` writes PATH.train.svm and PATH.test.svm.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from cwtool.data.rows import Rows
from cwtool.data.writer import write_rows

REALS, AREAS, SOILS = 10, 4, 40
DIGITS = "{:.4g}".format


def made(n: int, seed: int) -> Rows:
    """n rows; the plane that decides the labels is the same for all seeds."""
    rng = np.random.default_rng(seed)
    shape = np.random.default_rng(99)
    x = np.clip(rng.beta(2, 2, size=(n, REALS)), 0, 1)
    area = np.minimum(AREAS - 1, (x[:, 0] * AREAS + rng.normal(0, 0.7, n)).clip(0)).astype(int)
    soil = np.minimum(SOILS - 1, (x[:, 1] * SOILS + rng.normal(0, 8, n)).clip(0)).astype(int)
    w, a, s = shape.normal(size=REALS), shape.normal(size=AREAS), shape.normal(size=SOILS)
    bend = np.sin(7 * x[:, 0]) + 2 * (x[:, 2] - 0.5) * np.cos(9 * x[:, 3]) + x[:, 4] * x[:, 5]
    score = 1.6 * (x - 0.5) @ w + 0.4 * a[area] + 0.5 * s[soil] + 1.3 * bend
    y = score - np.median(score) + rng.logistic(0, 0.85, n) > 0
    reals = np.tile(np.arange(REALS), (n, 1))
    ids = np.column_stack([reals, REALS + area, REALS + AREAS + soil]).astype(np.int32)
    values = np.column_stack([x, np.ones((n, 2))])
    indptr = np.arange(0, ids.size + 1, REALS + 2, dtype=np.int64)
    return Rows(indptr, ids.ravel(), values.ravel(), y.astype(np.int32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=450_000)
    args = parser.parse_args()
    write_rows(args.path.with_suffix(".train.svm"), made(args.rows, 1), number=DIGITS)
    write_rows(args.path.with_suffix(".test.svm"), made(args.rows // 5, 2), number=DIGITS)


if __name__ == "__main__":
    main()
