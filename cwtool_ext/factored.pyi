import numpy as np
from numpy.typing import NDArray

from cwtool_ext.rules import Rule

def learn(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    table: NDArray[np.float64],
    rows: NDArray[np.float64],
    links: NDArray[np.int32],
    entries: NDArray[np.float64],
    U: NDArray[np.float64],
    e: NDArray[np.float64],
    counts: NDArray[np.int64],
    rule: Rule,
    fit: int,
    iterations: int,
    smin: float,
    scale: float,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> int: ...
def scores(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    table: NDArray[np.float64],
    rows: NDArray[np.float64],
    links: NDArray[np.int32],
    entries: NDArray[np.float64],
    U: NDArray[np.float64],
    e: NDArray[np.float64],
    counts: NDArray[np.int64],
    smin: float,
    scale: float,
    score: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> None: ...
def fit_again(
    rows: NDArray[np.float64],
    links: NDArray[np.int32],
    entries: NDArray[np.float64],
    U: NDArray[np.float64],
    e: NDArray[np.float64],
    counts: NDArray[np.int64],
    fit: int,
    iterations: int,
) -> None: ...
