"""The latest rows of an online learner, for the offset of its probabilities.

The scores that probabilities are fitted to were given by many models, one after each row. The model
that is left in the end may be shifted against them: each row that it learns moves it. So the scores
that it gives itself to the latest rows decide about the offset. It has learned these rows, which
makes their scores better than those of new rows; but it raises those of one class and lowers those
of the other, and the offset stays where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwtool.data.rows import BIAS, Floats, Ints, Rows, joined
from cwtool.errors import Damage
from cwtool.metrics.calibration import SIGNIFICANT
from cwtool.state.checking import array_of
from cwtool_ext import packed

if TYPE_CHECKING:
    from cwtool.model.file import Arrays

ROWS = 1024  # that are kept at most
ENTRIES = 1 << 17  # of these rows, at most
PARTS = 64  # that these rows may lie in
ENOUGH = 256  # rows that a model must have learned; of fewer, labels and probabilities agree


class Latest:
    """The latest rows, as many as there is room for."""

    def __init__(self) -> None:
        self.parts: list[Rows] = []

    def add(self, rows: Rows) -> None:
        """Keep these rows as the latest, by reference; those of weight 0 are left out."""
        if rows.weight is not None and not rows.weight.all():
            rows = rows.take(np.flatnonzero(rows.weight)[-ROWS:])
        self.parts.append(rows)
        while _enough(self.parts[1:]):
            del self.parts[0]
        if len(self.parts) > PARTS:
            self.copy()

    def copy(self) -> None:
        """Keep copies of the rows from now on."""
        rows = self.rows()
        self.parts = [rows.take(rows.order)]

    def rows(self) -> Rows:
        """The rows that are kept."""
        if not self.parts:
            return Rows.from_lists([], [])
        both = joined([part.slice(first_of(part), part.n_rows) for part in self.parts])
        return both.slice(first_of(both), both.n_rows)

    def pack(self) -> Arrays:
        """The arrays of a model file."""
        rows = self.rows()
        if not rows.n_rows:
            return {}
        out = np.empty(packed.room(rows.n_rows, rows.nnz), dtype=np.uint8)
        size = packed.encode(
            rows.indptr, np.ascontiguousarray(rows.indices), np.ascontiguousarray(rows.values),
            rows.y.astype(np.float64), np.arange(rows.n_rows, dtype=np.int32), out,
            np.ones(rows.n_rows) if rows.weight is None else rows.weight,
        )  # fmt: skip
        return {"latest": out[:size], "latest.size": np.array([rows.n_rows, rows.nnz])}

    @classmethod
    def unpack(cls, arrays: Arrays) -> Latest:
        """The rows that were packed; Damage if they cannot be."""
        found = cls()
        if "latest" not in arrays:
            return found
        data, size = array_of(arrays, "latest", "|u1"), array_of(arrays, "latest.size", "<i8")
        n_rows, nnz = size.tolist() if len(size) == 2 else (0, 0)
        if not (0 < n_rows <= ROWS and 0 <= nnz <= ENTRIES):
            raise Damage("the array latest.size has a value that cannot be")
        indptr, lines = np.zeros(n_rows + 1, dtype=np.int64), np.empty(n_rows, dtype=np.int32)
        indices = np.empty(nnz + packed.SPARE, dtype=np.int32)
        values, (labels, weight) = np.empty(nnz + packed.SPARE), np.empty((2, n_rows))
        padded = np.append(data, np.zeros(packed.PADDING, dtype=np.uint8))
        end = packed.decode(
            padded, 0, len(data), n_rows, nnz, indptr, indices, values, labels, lines, BIAS, weight
        )
        good = np.isin(labels, (0, 1)).all() and ((weight > 0) & np.isfinite(weight)).all()
        if end != len(data) or not good or not np.isfinite(values[:nnz]).all():
            raise Damage("the array latest has a row that cannot be")
        y = labels.astype(np.int32)
        ones = None if (weight == 1).all() else weight
        found.parts = [Rows(indptr, indices[:nnz], values[:nnz], y, ones)]
        return found


def first_of(rows: Rows, models: int = 1) -> int:
    """The number of the first row that there is room for, with all rows after it; `models` share
    the room."""
    by_entries = int(np.searchsorted(rows.indptr, rows.nnz - ENTRIES // models))
    return max(by_entries, rows.n_rows - ROWS // models)


def _enough(parts: list[Rows]) -> bool:
    """Whether the rows kept so far leave no room for earlier rows."""
    full = sum(part.n_rows for part in parts) >= ROWS
    return full or sum(part.nnz for part in parts) >= ENTRIES


def offset(logit: Floats, y: Ints, weight: Floats | None, b: float) -> float:
    """b + d, where d is the best for rows of the classes y that had these logits with b:
    min over d of sum_i h_i L(y_i (t_i + d)) + L(d)/2 + L(-d)/2 with L(t) = log(1 + exp(-t)) and
    y_i = -1, +1. The last two are half a row more of each class, whose probability was 1/2. Where b
    is 0, d is 0 as well unless twice the log-likelihood that it gains is above SIGNIFICANT."""
    t, sign = np.append(logit, [0.0, 0.0]), np.append(np.where(y == 1, 1.0, -1.0), [1.0, -1.0])
    h = np.append(np.ones(len(y)) if weight is None else weight, [0.5, 0.5])
    low, high = -64.0, 64.0
    for _ in range(60):
        middle = (low + high) / 2
        with np.errstate(over="ignore"):
            rise = float(h @ (sign / (1 + np.exp(sign * (t + middle)))))
        low, high = (middle, high) if rise > 0 else (low, middle)
    d = (low + high) / 2
    with np.errstate(invalid="ignore"):  # logits may be infinite
        gained = 2 * float(h @ (np.logaddexp(0, -sign * t) - np.logaddexp(0, -sign * (t + d))))
    return b + d if b != 0 or gained > SIGNIFICANT else b
