import numpy as np
from numpy.typing import NDArray

class Walk:
    """What all paths do alike: loss, how a burst counts, and the intercept's share of a step."""

    def __init__(
        self,
        loss: int,
        by_norm: bool = True,
        of_weight: bool = False,
        by_gradient: bool = False,
        bias: float = 0.0,
    ) -> None: ...

def prepare(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    order: NDArray[np.int64],
    shared: NDArray[np.float64],
    scale: float,
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    z: NDArray[np.float64],
    norms: NDArray[np.float64],
) -> int: ...
def count(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    order: NDArray[np.int64],
    shared: NDArray[np.float64],
    scale: float,
    norms: NDArray[np.float64],
) -> int: ...
def find(
    slots: NDArray[np.int32],
    shared: NDArray[np.float64],
    places: NDArray[np.int32],
    own: NDArray[np.int32],
) -> int: ...
def compact(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    scale: float,
    places: NDArray[np.int32],
    divisors: NDArray[np.float64],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    z: NDArray[np.float64],
) -> tuple[int, int, float]: ...
def walk(
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    z: NDArray[np.float64],
    rates: NDArray[np.float64],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    learned: NDArray[np.uint8],
    table: NDArray[np.float64],
    how: Walk,
    g0: float,
    burst: int,
    into: int,
    intercept: NDArray[np.float64],
    touched: NDArray[np.int32],
    began: NDArray[np.float64],
    n_touched: int,
    pool_slot: NDArray[np.int32],
    pool_value: NDArray[np.float64],
    pool_kept: NDArray[np.uint8],
    score: NDArray[np.float64],
) -> tuple[int, int]: ...
def tally(
    slots: NDArray[np.int32],
    kept: NDArray[np.uint8],
    shared: NDArray[np.float64],
) -> None: ...
def judge(
    slots: NDArray[np.int32],
    shared: NDArray[np.float64],
    pi0: float,
    least: float,
    left: NDArray[np.int32],
) -> int: ...
def remaining(
    slots: NDArray[np.int32],
    values: NDArray[np.float64],
    shared: NDArray[np.float64],
) -> int: ...
def add_scores(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    shared: NDArray[np.float64],
    table: NDArray[np.float64],
    g0: float,
    by_norm: bool,
    scale: float,
    score: NDArray[np.float64],
) -> None: ...
def add_weights(
    slots: NDArray[np.int32],
    shared: NDArray[np.float64],
    table: NDArray[np.float64],
    g0: float,
    by_norm: bool,
    out: NDArray[np.float64],
) -> None: ...
