"""The end of a stage of stabilized truncated gradient descent: which features are removed."""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.stabilized_descent.burst_changes import Emitted
from cwtool.algorithms.stabilized_descent.prepared_rows import threads
from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.algorithms.stabilized_descent.stsgd_state import GONE
from cwtool.data.rows import Floats, Ints
from cwtool.state import State
from cwtool.threads import together
from cwtool_ext import stability


def end_stage(params: StsgdParams, state: State, jobs: int) -> Floats:
    """Remove the features that this stage finds unstable; returns the values that its bursts
    emitted for the others."""
    stage_memory = StageMemory.of(state)
    pool, (shared, *paths) = stage_memory.pool.parts, stage_memory.tables(state)
    left = _judged(params, state, pool, shared)
    state.numbers["gone"] += len(left)
    if stage_memory.compact_copy is not None:
        stage_memory.compact_copy.leave(left)
    for path in paths:
        stability.clear(left, path)  # counts are 0 between bursts, or say LEFT

    def remaining(part: Emitted) -> Floats:
        slots, informed, values, _ = part
        return values[: stability.remaining(slots, informed, values, shared)]

    jobs = threads(sum(len(part.slots) for part in pool), params.paths, jobs)
    values = together(remaining, pool, jobs)
    stage_memory.pool.clear()
    return values[0] if len(values) == 1 else np.concatenate([np.empty(0), *values])


def _judged(params: StsgdParams, state: State, pool: list[Emitted], shared: Floats) -> Ints:
    """The features that are removed; none, if there would be no others. Then learning stops, once
    there were rows of both classes."""
    numbers = state.numbers
    for part in pool:
        stability.tally(part.slots, part.paths, part.kept, shared)
    leaving: list[Ints] = [np.empty(0, dtype=np.int32)]
    for part in pool:
        some, least = np.empty_like(part.slots), max(params.least, 1)
        n = stability.judge(part.slots, shared, params.stability, least, some)
        leaving.append(some[:n])
    left = np.concatenate(leaving)
    if len(left) > max(0, int(numbers["met"] - numbers["gone"]) - 1):
        shared[left, GONE] = 0
        left = left[:0]
        numbers["empty"] = int(0 < numbers["positive"] < numbers["rows"])
    return left
