"""Rows as the paths of stabilized truncated gradient descent walk them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.threads import together
from cwtool_ext.csr import Csr

HEAVIEST = 1e30  # larger weights count as this, so that sums of squares stay finite
ALONE = 1 << 16  # with fewer entries, summed over all paths, threads cost more than they save


def threads(entries: int, paths: int, jobs: int) -> int:
    """The number of threads that work on this number of entries in every path."""
    return jobs if entries * paths > ALONE else 1


class Entries(NamedTuple):
    """Entries of rows in CSR form, scaled by column: row i is starts[i] : starts[i + 1]. They are
    numbered by slots, or by numbers of the compact copy if there is one."""

    starts: Longs
    numbers: Ints
    z: Floats


class PreparedRows:
    """Rows without removed features. Each row has a learning rate, a rate for the step of the
    intercept, a sign, and a weight (None: all weights are 1)."""

    def __init__(
        self, entries: Entries, rates: Floats, y: Floats, weight: Floats | None = None
    ) -> None:
        self.csr = Csr(*entries)
        self.lengths = np.diff(entries.starts)
        self.rates, self.y = rates, y
        one = np.broadcast_to(1.0, len(y))
        self.weight = one if weight is None else np.minimum(weight, HEAVIEST)
        self.nnz = len(entries.z)


def counting(rows: SlotRows, order: Longs) -> Longs:
    """The places in the order at which rows of a weight above 0 stand."""
    return np.arange(len(order)) if rows.weight is None else np.flatnonzero(rows.weight[order])


def joined(parts: list[Entries], jobs: int) -> Entries:
    """The entries of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    at = np.cumsum([0, *(len(part.z) for part in parts)]).tolist()
    numbers, z = np.empty(at[-1], dtype=np.int32), np.empty(at[-1])

    def put(k: int) -> Longs:
        starts, numbers[at[k] : at[k + 1]], z[at[k] : at[k + 1]] = parts[k]
        rest: Longs = starts[1:] + at[k]
        return rest

    starts = together(put, range(len(parts)), jobs)
    return Entries(np.concatenate([np.zeros(1, dtype=np.int64), *starts]), numbers, z)
