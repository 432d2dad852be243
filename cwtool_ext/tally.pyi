# Generated from tally.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

BINS: int

def centers(out: NDArray[np.float64]) -> None: ...
def edges(out: NDArray[np.float64]) -> None: ...
def add(
    y: NDArray[np.int32],
    score: NDArray[np.float64],
    scores: NDArray[np.int64],
    confusion: NDArray[np.int64],
    units: NDArray[np.int64] | None = None,
    threshold: float = 0,
) -> None: ...
def add_fading(
    y: NDArray[np.int32],
    score: NDArray[np.float64],
    rows: int,
    counts: NDArray[np.int64],
    units: NDArray[np.int64],
    at_once: bool,
) -> None: ...
def highest(
    score: NDArray[np.float64], order: NDArray[np.int64], out: NDArray[np.int32]
) -> None: ...
def mean_of_best(
    score: NDArray[np.float64], variance: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
