"""The first pass of stabilized truncated gradient descent: all paths meet rows as they come.

While they learn their shares of the rows, the rows enter the statistics of the columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.stabilized_descent import rates
from cwtool.algorithms.stabilized_descent.later_passes import how
from cwtool.algorithms.stabilized_descent.prepared_rows import Entries, PreparedRows
from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory, Touched
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool.state import State
from cwtool_ext import all_paths, prepared, shuffle

LONG = 1e4  # rows of a squared norm above this times the mean are left out of statistics
PIECE = 8192  # rows that are prepared at a time: what they take in memory stays small


def drawn(params: StsgdParams, visits: int, n: int, places: Longs) -> NDArray[np.uint8]:
    """Which of n rows each path learns, after so many visits; only rows at these places count."""
    learned = np.zeros((params.paths, len(places)), dtype=np.uint8)
    for m in range(params.paths):
        shuffle.choose(np.array([m], dtype=np.uint64), visits, params.share, learned[m])
    if len(places) == n:
        return learned
    among_all = np.zeros((params.paths, n), dtype=np.uint8)
    among_all[:, places] = learned
    return among_all


def meet(
    params: StsgdParams,
    state: State,
    rows: SlotRows,
    order: Longs,
    signs: Floats,
    learned: NDArray[np.uint8],
) -> Floats:
    """Learn rows in this order within one stage and between two fits of the scale of the columns;
    path m learns those where learned[m] is 1. Returns the mean of the scores of the paths, by place
    in the order."""
    numbers, y = state.numbers, signs[order]
    weight = None if rows.weight is None else rows.weight[order]
    ready = _prepared(params, state, rows, order, y, weight)
    score = _learned(params, state, ready, learned)
    counts = ready.weight > 0
    count = int(np.count_nonzero(counts))
    for name in ("rows", "into", "visits"):
        numbers[name] += count
    numbers["positive"] += int(np.count_nonzero((y > 0) & counts))
    return score


def _prepared(
    params: StsgdParams,
    state: State,
    rows: SlotRows,
    order: Longs,
    y: Floats,
    weight: Floats | None,
) -> PreparedRows:
    """The rows in this order by slots, with their rates; they are counted in the statistics."""
    n, nnz = len(order), int((rows.indptr[order + 1] - rows.indptr[order]).sum())
    stage_memory, sums = StageMemory.of(state), np.empty((n + 1, 2))
    known, room = stage_memory.known_features(state), stage_memory.room
    sums[0] = state.numbers["seen"], state.numbers["norms"]
    starts, slots, z = room("starts", n + 1, "i8"), room("slots", nnz, "i4"), room("z", nnz)
    each = np.broadcast_to(1.0, n) if weight is None else weight
    longest = state.numbers["longest"] or LONG
    nnz, met = prepared.meet(
        rows.csr, order, each, longest, state.table, starts, slots, z, sums, known
    )  # fmt: skip
    state.numbers["met"] += met
    entries = Entries(starts, slots[:nnz], z[:nnz])
    return PreparedRows(entries, rates.of_new(params, state.numbers, sums), y, weight)


def _learned(
    params: StsgdParams, state: State, rows: PreparedRows, learned: NDArray[np.uint8]
) -> Floats:
    """The mean scores of the rows, which are learned."""
    numbers, stage_memory, (_, weights, counts) = state.numbers, StageMemory.of(state), state.tables
    burst = int(numbers["burst"])
    n, into, before = len(rows.y), int(numbers["into"]) % burst, len(stage_memory.all_paths.slots)
    most = before + rows.nnz
    size, score, slots, began = min(most, len(weights)), np.empty(n), *stage_memory.all_paths
    room, each = stage_memory.room, (size, params.paths)
    now = room.longer("now", slots, size)
    began = room.longer("began", began.reshape(-1), size * params.paths).reshape(each)
    counted = room("counted", size * params.paths).reshape(each)
    size = min(most, (into + n) // burst * len(weights))
    touched, out, given = all_paths.walk(
        rows.csr, rows.rates, rows.y, rows.weight, learned, weights, counts, how(params, numbers),
        into, state.arrays["intercept"], stage_memory.places(state), now, began, counted, before,
        *stage_memory.pool.room(size, params.paths), score,
    )  # fmt: skip
    stage_memory.all_paths = Touched(now[:touched], began[:touched])
    stage_memory.pool.used(out, given)
    return score
