"""The paths of stabilized truncated gradient descent walk over rows of a later pass, each in an
order of its own, at the same time."""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.online.losses import LOSSES
from cwtool.algorithms.stabilized_descent.burst_changes import Emitted
from cwtool.algorithms.stabilized_descent.prepared_rows import PreparedRows, threads
from cwtool.algorithms.stabilized_descent.schedule import Numbers
from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory, Touched
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.data.rows import Floats, Longs
from cwtool.state import State
from cwtool.threads import together
from cwtool_ext import paths


def how(params: StsgdParams, numbers: Numbers) -> paths.Walk:
    """What all paths do alike in the stage under way."""
    return paths.Walk(
        LOSSES[params.loss], numbers["base_gravity"], int(numbers["burst"]),
        params.gravity_by == "norm", params.pull_on == "weight", params.informed_by == "gradients",
    )  # fmt: skip


def walk(
    params: StsgdParams,
    state: State,
    rows: PreparedRows,
    visits: list[Longs],
    score: Floats,
    jobs: int,
) -> None:
    """Visit rows in the compact copy within one stage: path m in the order visits[m], putting
    scores by row into score[m]. Rows of weight 0 are scored and do not count."""
    numbers, stage_memory = state.numbers, StageMemory.of(state)
    tables, rule = stage_memory.tables(state)[1:], how(params, numbers)

    def one(m: int) -> tuple[Touched, Emitted]:
        intercept = state.arrays["intercept"][m : m + 1]
        return _one_path(
            rows, visits[m], tables[m], rule, numbers, intercept, stage_memory.touched[m], score[m]
        )

    jobs = threads(rows.nnz, params.paths, jobs)
    for m, (touched, emitted) in enumerate(together(one, range(params.paths), jobs)):
        stage_memory.touched[m] = touched
        stage_memory.pool.add(emitted)
    count = int(np.count_nonzero(rows.weight[visits[0]]))
    numbers["into"] += count
    numbers["visits"] += count


def _one_path(
    rows: PreparedRows,
    order: Longs,
    table: Floats,
    rule: paths.Walk,
    numbers: Numbers,
    intercept: Floats,
    touched: Touched,
    score: Floats,
) -> tuple[Touched, Emitted]:
    """One path over rows; returns what it touched in the burst then under way, and what it
    emitted."""
    burst, before = int(numbers["burst"]), len(touched.slots)
    into = int(numbers["into"]) % burst
    most = before + int(rows.lengths[order].sum())
    room = min(most, len(table))
    now, began = np.empty(room, dtype=np.int32), np.empty(room)
    now[:before], began[:before] = touched
    room = min(most, (into + len(order)) // burst * len(table))
    slots, values = np.empty(room, dtype=np.int32), np.empty(room)
    kept = np.empty(room, dtype=np.uint8)
    learned = np.ones(len(order), dtype=np.uint8)
    count, out = paths.walk(
        rows.csr, rows.rates, rows.y, rows.weight, order, learned, table, rule, into, intercept,
        now, began, before, slots, values, kept, score,
    )  # fmt: skip
    one = np.ones(out, dtype=np.uint8)
    emitted = Emitted(slots[:out].copy(), one, values[:out].copy(), kept[:out].copy())
    return Touched(now[:count].copy(), began[:count].copy()), emitted
