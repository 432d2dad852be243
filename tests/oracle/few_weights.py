"""Rows labelled by few of their columns, and what an algorithm has learned from them."""

from typing import Any

import numpy as np

from cwtool.algorithms.base import Algorithm
from cwtool.data import Block
from cwtool.params import build
from cwtool.state import State


def random_data(seed: int, n: int = 150, d: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """About half of x is zero, and so is row 7; about 0.3 d columns have a weight."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    x[7] = 0
    weight = np.where(rng.random(d) < 0.3, rng.normal(size=d), 0)
    return x, np.where(x @ weight + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def learned(
    kind: type[Algorithm], x: np.ndarray, y: np.ndarray, **params: Any
) -> tuple[Any, State]:
    """The algorithm and its state after one slot, rows as they are."""
    algorithm = kind(build(kind.Params, {"prior": 1.0, **params}))
    state = algorithm.new_state()
    rows = [[(j, float(v)) for j, v in enumerate(row) if v] for row in x]
    block = Block.from_rows(rows, y.tolist())
    state.features.observe(block)
    algorithm.learn(block, state, block.order)
    return algorithm, state
