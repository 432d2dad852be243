"""The rows of an online learner that its probabilities are fitted to: all as long as there is room
for them, and then a random sample.

The scores that probabilities are fitted to were given by many models, one after each row. The model
that is left in the end may be shifted against them, or worse: each row that it learns moves it, and
rows that lie side by side are often alike, so that a row is easier right after its neighbours. So
the scores that the model gives itself to rows from the whole of the run decide about the offset,
and may make the slope smaller. It has learned these rows, which makes their scores better than
those of new rows; so they never make the slope larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import BIAS, Floats, Ints, Rows, joined
from cwtool.errors import Damage
from cwtool.metrics.calibration import SIGNIFICANT, joint_fit, log_loss
from cwtool.metrics.sigmoid import sigmoid
from cwtool.order import ranks
from cwtool.state.checking import array_of
from cwtool_ext import packed

if TYPE_CHECKING:
    from cwtool.model.file import Arrays

Bytes = NDArray[np.uint8]

ROWS = 5000  # that are kept, at most
ENTRIES = 1 << 19  # of these rows, at most
ROOM = 1.25  # times as many rows and entries may be kept until some are left out
PARTS = 64  # that these rows may lie in
ENOUGH = 256  # rows that a model must have learned; of fewer, labels and probabilities agree
ALL = 1 << 31  # a rank above that of all rows
STEADY = 4.0  # rows of score 0 that hold b where it was: then its variance is about 1
HIGHEST = 2.0**32  # of logits


class Sample:
    """Each row has a random rank, by its number. The rows of the lowest ranks are kept, as many as
    there is room for: all of ranks below `bound`. They depend on the rows alone, and not on the
    blocks that they came in."""

    def __init__(self) -> None:
        self.parts: list[tuple[Rows, Ints]] = []  # rows, and their ranks
        self.seen = 0  # rows so far, without those of weight 0
        self.bound = ALL

    @property
    def complete(self) -> bool:
        """Whether all rows are kept, and there are any."""
        return 0 < self.seen == self.rows().n_rows

    def add(self, rows: Rows) -> None:
        """Keep copies of some of these rows; those of weight 0 do not count."""
        rows = rows.weighing(rows.weight)
        rank = ranks(self.seen, rows.n_rows)
        self.seen += rows.n_rows
        self.extend(rows, rank)

    def extend(self, rows: Rows, rank: Ints) -> None:
        """Keep copies of the rows whose ranks are low enough."""
        self.bound = _bound(rows, rank, self.bound)
        low = np.flatnonzero(rank < self.bound)
        if not len(low):
            return
        self.parts.append((rows.take(low), rank[low]))
        n_rows, nnz = (
            sum(c) for c in zip(*((p.n_rows, p.nnz) for p, _ in self.parts), strict=True)
        )
        if len(self.parts) > PARTS or n_rows > ROOM * ROWS or nnz > ROOM * ENTRIES:
            self._settle()

    def _settle(self) -> None:
        """Leave out the rows that exceed the largest number of rows or entries."""
        if not self.parts:
            return
        rows, rank = joined([part for part, _ in self.parts]), self.parts[0][1]
        if len(self.parts) > 1:
            rank = np.concatenate([part for _, part in self.parts])
        self.bound = _bound(rows, rank, self.bound)
        low = np.flatnonzero(rank < self.bound)
        self.parts = [(rows if len(low) == rows.n_rows else rows.take(low), rank[low])]

    def kept(self) -> tuple[Rows, Ints]:
        """The rows that are kept, in their order, and their ranks."""
        self._settle()
        return self.parts[0] if self.parts else (Rows.from_lists([], []), np.empty(0, np.int32))

    def rows(self) -> Rows:
        """The rows that are kept."""
        return self.kept()[0]

    @property
    def nbytes(self) -> int:
        """The bytes of the rows that are kept."""
        return sum(rows.nbytes + rank.nbytes for rows, rank in self.parts)

    def pack(self) -> Arrays:
        """The arrays of a model file."""
        rows, rank = self.kept()
        if not self.seen:
            return {}
        sizes = np.array([rows.n_rows, rows.nnz, self.seen, self.bound])
        return {"sample": _packed(rows), "sample.size": sizes, "sample.rank": rank}

    @classmethod
    def unpack(cls, arrays: Arrays, classes: int = 2) -> Sample:
        """The rows of so many classes that were packed; Damage if they cannot be. Earlier versions
        kept the latest rows, without ranks: these count as the first ones."""
        found = cls()
        name = "sample" if "sample" in arrays else "latest"
        if name not in arrays:
            return found
        size = array_of(arrays, f"{name}.size", "<i8")
        sizes = size.tolist() if len(size) == (4 if name == "sample" else 2) else [-1, 0]
        n_rows, nnz = sizes[:2]
        if not (0 <= n_rows <= ROWS and 0 <= nnz <= ENTRIES):
            raise Damage(f"the array {name}.size has a value that cannot be")
        rows = _unpacked(array_of(arrays, name, "|u1"), n_rows, nnz, classes, name)
        if name == "latest":
            found.add(rows)
            return found
        rank, (found.seen, found.bound) = array_of(arrays, "sample.rank", "<i4"), sizes[2:]
        if not (n_rows <= found.seen < 2**62 and 0 < found.bound <= ALL and len(rank) == n_rows):
            raise Damage("the array sample.size has a value that cannot be")
        if not ((rank >= 0) & (rank < found.bound)).all():
            raise Damage("the array sample.rank has a value that cannot be")
        found.parts = [(rows, rank.copy())] if n_rows else []  # no view: it would keep the file
        return found


def _packed(rows: Rows) -> Bytes:
    """The bytes of these rows; none if there are no rows."""
    out = np.empty(packed.room(rows.n_rows, rows.nnz), dtype=np.uint8)
    size = rows.n_rows and packed.encode(
        rows.indptr, np.ascontiguousarray(rows.indices), np.ascontiguousarray(rows.values),
        rows.y.astype(np.float64), np.arange(rows.n_rows, dtype=np.int32), out,
        np.ones(rows.n_rows) if rows.weight is None else rows.weight,
    )  # fmt: skip
    return out[:size]


def _unpacked(data: Bytes, n_rows: int, nnz: int, classes: int, name: str) -> Rows:
    """So many rows of so many classes with so many entries from the bytes of the array of this
    name."""
    if n_rows == 0:
        if nnz or len(data):
            raise Damage(f"the array {name} has bytes but no rows")
        return Rows.from_lists([], [])
    indptr, lines = np.zeros(n_rows + 1, dtype=np.int64), np.empty(n_rows, dtype=np.int32)
    indices = np.empty(nnz + packed.SPARE, dtype=np.int32)
    values, (labels, weight) = np.empty(nnz + packed.SPARE), np.empty((2, n_rows))
    padded = np.append(data, np.zeros(packed.PADDING, dtype=np.uint8))
    end = packed.decode(
        padded, 0, len(data), n_rows, nnz, indptr, indices, values, labels, lines, BIAS, weight
    )
    good = np.isin(labels, np.arange(classes)).all() and ((weight > 0) & np.isfinite(weight)).all()
    if end != len(data) or not good or not np.isfinite(values[:nnz]).all():
        raise Damage(f"the array {name} has a row that cannot be")
    ones = None if (weight == 1).all() else weight
    return Rows(indptr, indices[:nnz], values[:nnz], labels.astype(np.int32), ones)


def _bound(rows: Rows, rank: Ints, bound: int) -> int:
    """The lowest rank that there is no room for, in ascending order of the ranks below `bound`; it
    is `bound` if there is room for all of these."""
    if rows.n_rows <= ROWS and rows.nnz <= ENTRIES:
        return bound
    order = np.flatnonzero(rank < bound)
    order = order[np.argsort(rank[order], kind="stable")]
    entries = np.cumsum(np.diff(rows.indptr)[order])
    fit = int(np.searchsorted(entries, ENTRIES, side="right"))
    fit = min(fit, ROWS)
    return int(rank[order[fit]]) if fit < len(order) else bound


def fitted(logit: Floats, y: Ints, weight: Floats | None, b: float) -> tuple[float, float]:
    """c <= 1 and b' by maximum likelihood, for rows of the classes y whose logits were t + b:
    min over c and b' of sum_i h_i L(y_i (c t_i + b')) with L(t) = log(1 + exp(-t)), y_i = -1, +1.
    Three more rows hold them at 1 and b: their logits are 0 and plus and minus the mean |t|, and
    their classes are as 1 and b say. Where b is 0, b' is 0 as well unless twice the log-likelihood
    that it gains is above SIGNIFICANT."""
    t = np.clip(logit, -HIGHEST, HIGHEST)
    typical = float(np.abs(t).mean()) or 1.0
    more = np.array([0.0, typical, -typical])
    held = np.array([STEADY, 0.5, 0.5])
    p, z = sigmoid(more + b), np.append(t, more) / typical
    h = np.ones(len(y)) if weight is None else weight
    n = np.stack([np.append(h * (y == 0), held * (1 - p)), np.append(h * (y == 1), held * p)])
    alone = min(joint_fit(z, n, shifted=False)[0], typical), 0.0
    joint = joint_fit(z, n)
    if joint[0] > typical:
        joint = typical, _offset(typical * z, n)
    shifted = b != 0 or 2 * (log_loss(alone, z, n) - log_loss(joint, z, n)) > SIGNIFICANT
    a, b = joint if shifted else alone
    return a / typical, b


def steeper(logit: Floats, y: Ints, weight: Floats | None) -> float:
    """The least c >= 1 that rows of the classes y, which were not learned, do not reject: with the
    best c' and b', twice the log-likelihood of c' t_i + b' is above that of c t_i and the best b
    for it by at most SIGNIFICANT, where t_i are their logits."""
    t = np.clip(logit, -HIGHEST, HIGHEST)
    typical = float(np.abs(t).mean()) or 1.0
    h = np.ones(len(y)) if weight is None else weight
    n = np.stack([np.append(h * (y == 0), [0.5, 0]), np.append(h * (y == 1), [0, 0.5])])
    z = np.append(t, [typical, -typical]) / typical  # half a mistake more of each class
    best = joint_fit(z, n)
    least = log_loss(best, z, n) + SIGNIFICANT / 2

    def rejected(c: float) -> bool:
        a = c * typical
        return log_loss((a, _offset(a * z, n)), z, n) > least

    low, high = 1.0, best[0] / typical
    if high <= low or not rejected(low):
        return 1.0
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return high


def _offset(t: Floats, n: Floats) -> float:
    """The best b for logits t + b of n_1k rows of class 1 and n_0k of class 0, by bisection."""
    low, high = -64.0, 64.0
    for _ in range(60):
        middle = (low + high) / 2
        p = sigmoid(t + middle)
        rise = float(n[1] @ (1 - p) - n[0] @ p)
        low, high = (middle, high) if rise > 0 else (low, middle)
    return (low + high) / 2
