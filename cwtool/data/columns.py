"""Columns of data in different units: what `normalize=columns` does with them.

A column that half of the first rows have, or more, becomes (x - mean) / standard deviation, so that
rows without an entry in it get one. A column that a tenth of them have is divided by the root mean
square of its entries, so that rows stay sparse. All other columns stay as they are. Means and
scales are measured on the first rows that a new model learns, and are kept in the model.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from cwtool.data.rows import Floats, Ints, Longs
from cwtool.errors import Damage
from cwtool.records import dataclass

FIRST_ROWS = 1000
CENTRED, SCALED = 0.5, 0.1  # shares of the rows that have the column
MOST = 100_000  # columns that are measured, of which a model keeps two numbers each


@dataclass(frozen=True)
class Columns:
    """x_j becomes (x_j - mean_j) / scale_j for the columns of these ascending ids."""

    ids: tuple[int, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    @classmethod
    def measured(cls, indptr: Longs, indices: Ints, values: Floats) -> Columns:
        """The columns of these rows."""
        n = max(1, len(indptr) - 1)
        ids, at, count = np.unique(indices, return_inverse=True, return_counts=True)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            total, squares = np.bincount(at, values), np.bincount(at, values**2)
            mean = np.where(count >= CENTRED * n, total / n, 0.0)
            away = np.bincount(at, (values - mean[at]) ** 2) + (n - count) * mean**2
            spread = np.sqrt(away / n)
            constant = spread <= 1e-9 * np.abs(mean)
            centred = (mean != 0) & ~constant
            scale = np.where(centred, spread, np.sqrt(squares / count))
        kept = (count >= SCALED * n) & np.isfinite(scale) & (scale > 0) & np.isfinite(mean)
        kept &= np.argsort(np.argsort(-count, kind="stable")) < MOST
        mean = np.where(centred, mean, 0.0)
        return cls(*(tuple(part[kept].tolist()) for part in (ids, mean, scale)))

    @classmethod
    def unpacked(cls, found: dict[str, Any]) -> Columns:
        """The columns of the header of a model file, whose numbers were checked one by one."""
        ids, mean, scale = (tuple(found[name]) for name in ("ids", "mean", "scale"))
        if not len(ids) == len(mean) == len(scale) or any(np.diff(ids) <= 0):
            raise Damage("the means and scales of its columns do not fit their ids")
        if len(ids) > MOST:
            raise Damage(f"it has {len(ids):,} columns with scales; {MOST:,} are possible")
        return cls(ids, tuple(map(float, mean)), tuple(map(float, scale)))

    @property
    def packed(self) -> dict[str, Any]:
        """What the header of a model file has of them."""
        return {"ids": list(self.ids), "mean": list(self.mean), "scale": list(self.scale)}

    @cached_property
    def arrays(self) -> tuple[Ints, Floats, Floats]:
        """Ids, means and scales."""
        return np.array(self.ids, dtype=np.int32), np.array(self.mean), np.array(self.scale)

    @property
    def filled(self) -> int:
        """The number of columns in which every row has an entry."""
        return len(self.mean) - self.mean.count(0.0)


def standardized(columns: Columns, indptr: Longs, indices: Ints, values: Floats) -> int:
    """Standardize the columns of these rows in place; the new number of entries."""
    from cwtool_ext.standardize import standardize

    return standardize(indptr, indices, values, *columns.arrays)
