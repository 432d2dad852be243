"""The end of a stage of stabilized truncated gradient descent: which features are removed."""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.stabilized_descent.burst_changes import Emitted
from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.algorithms.stabilized_descent.stsgd_state import GONE
from cwtool.data.rows import Floats, Ints
from cwtool.state import State
from cwtool_ext import stability


def end_stage(params: StsgdParams, state: State) -> Floats:
    """Remove the features that this stage finds unstable; returns the values that its bursts
    emitted for the others."""
    stage_memory = StageMemory.of(state)
    pool, shared = stage_memory.pool.parts, stage_memory.tables(state)[0]
    left, values = _judged(params, state, pool, shared)
    state.numbers["gone"] += len(left)
    if stage_memory.compact_copy is not None:
        stage_memory.compact_copy.leave(left)
    for weights in stage_memory.weights(state):
        stability.clear(left, weights)  # counts are 0 between bursts, or say LEFT
    stage_memory.pool.clear()
    return values[0] if len(values) == 1 else np.concatenate([np.empty(0), *values])


def _judged(
    params: StsgdParams, state: State, pool: list[Emitted], shared: Floats
) -> tuple[Ints, list[Floats]]:
    """The features that are removed, and the values of the others. None is removed if there would
    be no others; then learning stops, once there were rows of both classes."""
    numbers, least = state.numbers, max(params.least, 1)
    for part in pool:
        stability.tally(part.slots, part.paths, part.kept, shared)
    leaving: list[Ints] = [np.empty(0, dtype=np.int32)]
    staying: list[Floats] = []
    for slots, paths, values, _ in pool:
        some = np.empty_like(slots)
        n, stay = stability.judge(slots, paths, values, shared, params.stability, least, some)
        leaving.append(some[:n])
        staying.append(values[:stay])
    left = np.concatenate(leaving)
    if len(left) > max(0, int(numbers["met"] - numbers["gone"]) - 1):
        shared[left, GONE] = 0
        numbers["empty"] = int(0 < numbers["positive"] < numbers["rows"])
        return left[:0], [part.values for part in pool]
    return left, staying
