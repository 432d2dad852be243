import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def gram(indptr: Longs, indices: Ints, values: Floats, scale: float, G: Floats) -> None: ...
def gram_dense(X: Floats, G: Floats) -> None: ...
def densify(
    indptr: Longs, indices: Ints, values: Floats, scale: float, start: int, X: Floats
) -> None: ...
def whiten(L: Floats, X: Floats, v: Floats) -> None: ...
def whitened_pass(
    X: Floats, y: Floats, v: Floats, D: float, U: float, w: Floats, a: Floats
) -> float: ...
def variances(
    indptr: Longs, indices: Ints, values: Floats, scale: float, S: Floats, v: Floats
) -> None: ...
def covariance_pass(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    scale: float,
    y: Floats,
    S: Floats,
    v: Floats,
    D: float,
    U: float,
    mu: Floats,
    a: Floats,
) -> float: ...
def add_rows(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    scale: float,
    weight: Floats,
    table: Floats,
    column: int,
) -> None: ...
def margins(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    scale: float,
    table: Floats,
    column: int,
    out: Floats,
) -> None: ...
def squared_norms(indptr: Longs, values: Floats, scale: float, out: Floats) -> None: ...
def shrinking_pass(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    scale: float,
    y: Floats,
    active: Longs,
    v: Floats,
    D: float,
    U: float,
    above: float,
    below: float,
    table: Floats,
    a: Floats,
) -> tuple[int, float, float]: ...
def kernel_pass(K: Floats, y: Floats, D: float, U: float, f: Floats, a: Floats) -> float: ...
