import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def omega(a: Floats, sigma: float, t: Floats) -> float: ...
def norms(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    owner: Ints,
    first: Longs,
    Sigma: Floats,
    position: int,
    n: Floats,
) -> None: ...
def metric_pass(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    y: Floats,
    order: Longs,
    owner: Ints,
    first: Longs,
    Sigma: Floats,
    n: Floats,
    metric: Floats,
    D: float,
    U: float,
    m: Floats,
    b: Floats,
) -> None: ...
def conjugate_pass(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    y: Floats,
    order: Longs,
    owner: Ints,
    first: Longs,
    Sigma: Floats,
    n: Floats,
    sigma: float,
    D: float,
    U: float,
    exact: bool,
    square: Floats,
    work: Floats,
    m: Floats,
    b: Floats,
) -> None: ...
def variances(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    scale: float,
    table: Floats,
    column: int,
    owner: Ints,
    first: Longs,
    Sigma: Floats,
    out: Floats,
) -> None: ...
