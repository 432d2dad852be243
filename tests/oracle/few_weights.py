"""Rows labelled by few of their columns, and what an algorithm has learned from batches of rows."""

from typing import Any

import numpy as np
from taught import slot_rows

from cwtool.algorithms.base import Algorithm
from cwtool.params import build
from cwtool.run import Run
from cwtool.state import State

Batch = tuple[np.ndarray, np.ndarray]


def random_data(seed: int, n: int = 150, d: int = 25) -> Batch:
    """About half of x is zero, and so is row 7; about 0.3 d columns have a weight."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    x[7] = 0
    weight = np.where(rng.random(d) < 0.3, rng.normal(size=d), 0)
    return x, np.where(x @ weight + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def learn(algorithm: Algorithm, state: State, batch: Batch, seed: int = 0) -> None:
    """Learn the rows as one batch."""
    rows = slot_rows(*batch, state)
    algorithm.learn(state, rows, rows.order, Run(seed=seed))


def learned_batches(algorithm: Algorithm, *batches: Batch, seed: int = 0) -> State:
    """The state after these batches. All columns are known from the start, so that the slot of
    column j is j."""
    state = algorithm.new_state()
    state.slots_of(np.arange(batches[0][0].shape[1], dtype=np.int32))
    for batch in batches:
        learn(algorithm, state, batch, seed)
    return state


def learned(
    kind: type[Algorithm], x: np.ndarray, y: np.ndarray, **params: Any
) -> tuple[Any, State]:
    """The algorithm and its state after one batch, with rows as they are."""
    algorithm = kind(build(kind.Params, {"prior": 1.0, **params}))
    return algorithm, learned_batches(algorithm, (x, y))
