"""The paths of stabilized truncated gradient descent walk over rows, at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.prepared import PreparedRows, threads
from cwtool.algorithms.sgd import LOSSES
from cwtool.algorithms.stsgd_params import StsgdParams
from cwtool.algorithms.underway import Emitted, Touched, Underway
from cwtool.data.rows import Floats, Longs
from cwtool.parallel import together
from cwtool.state import State
from cwtool_ext import paths, shuffle


def drawn(params: StsgdParams, visits: int, n: int, places: Longs) -> NDArray[np.uint8]:
    """Which of n rows each path learns, after so many visits; only rows at these places count."""
    learned = np.zeros((params.paths, n), dtype=np.uint8)
    for m in range(params.paths):
        mine, seeds = np.empty(len(places), dtype=np.uint8), np.array([m], dtype=np.uint64)
        shuffle.choose(seeds, visits, params.share, mine)
        learned[m, places] = mine
    return learned


def walk(
    params: StsgdParams,
    state: State,
    rows: PreparedRows,
    visits: list[Longs],
    learned: Sequence[NDArray[np.uint8]],
    score: Floats,
    jobs: int,
    beside: Callable[[], None] | None = None,
) -> None:
    """Visit rows within one stage: path m in the order visits[m], learning those where learned[m]
    is 1, and putting scores by row into score[m]. Rows of weight 0 are scored and do not count.
    `beside` is called at the same time."""
    numbers, underway = state.numbers, Underway.of(state)
    burst = int(numbers["burst"])
    how = paths.Walk(
        LOSSES[params.loss], numbers["base_gravity"], burst, params.gravity_by == "norm",
        params.pull_on == "weight", params.informed_by == "gradients",
    )  # fmt: skip
    into, tables = int(numbers["into"]) % burst, underway.tables(state)[1:]

    def one(m: int) -> tuple[Touched, Emitted]:
        intercept = state.arrays["intercept"][m : m + 1]
        return _one_path(
            rows, visits[m], learned[m], tables[m], how, burst, into, intercept,
            underway.touched[m], score[m],
        )  # fmt: skip

    tasks: list[Callable[[], Any]] = [partial(one, m) for m in range(params.paths)]
    if beside is not None:  # first, because it takes longer than a path
        tasks.insert(0, beside)
    jobs = threads(rows.nnz, params.paths, jobs)
    found = together(lambda task: task(), tasks, jobs)[-params.paths :]
    for m, (touched, emitted) in enumerate(found):
        underway.touched[m] = touched
        if len(emitted.slots):
            underway.pool.append(emitted)
    count = int(np.count_nonzero(rows.weight[visits[0]]))
    numbers["into"] += count
    numbers["visits"] += count


def _one_path(
    rows: PreparedRows,
    order: Longs,
    learned: NDArray[np.uint8],
    table: Floats,
    how: paths.Walk,
    burst: int,
    into: int,
    intercept: Floats,
    touched: Touched,
    score: Floats,
) -> tuple[Touched, Emitted]:
    """One path over rows; returns what it touched in the burst then under way, and what it
    emitted."""
    before = len(touched.slots)
    most = before + int(rows.lengths[order].sum())
    room = min(most, len(table))
    now, began = np.empty(room, dtype=np.int32), np.empty(room)
    now[:before], began[:before] = touched
    room = min(most, (into + len(order)) // burst * len(table))
    slots, values = np.empty(room, dtype=np.int32), np.empty(room)
    kept = np.empty(room, dtype=np.uint8)
    count, out = paths.walk(
        rows.csr, rows.rates, rows.y, rows.weight, order, learned, table, how, into, intercept,
        now, began, before, slots, values, kept, score,
    )  # fmt: skip
    emitted = Emitted(slots[:out].copy(), values[:out].copy(), kept[:out].copy())
    return Touched(now[:count].copy(), began[:count].copy()), emitted
