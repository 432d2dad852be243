import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def transpose(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    scale: float,
    column: Ints,
    start: Longs,
    rows: Ints,
    out: Floats,
) -> None: ...
def products(start: Longs, rows: Ints, values: Floats, v: Floats, out: Floats) -> None: ...
def moments(
    start: Longs, rows: Ints, values: Floats, v: Floats, first: Floats, second: Floats
) -> None: ...
def sums(start: Longs, index: Ints, values: Floats, v: Floats, out: Floats) -> None: ...
def squares(start: Longs, rows: Ints, values: Floats, out: Floats) -> None: ...
def take(
    start: Longs,
    rows: Ints,
    values: Floats,
    some: Longs,
    start_out: Longs,
    rows_out: Ints,
    values_out: Floats,
) -> None: ...
def gram(
    start: Longs, rows: Ints, values: Floats, some: Longs, room: Floats, G: Floats
) -> None: ...
def widen(
    indptr: Longs,
    indices: Ints,
    values: Floats,
    also: Floats,
    start: Longs,
    rows: Ints,
    columns: Floats,
    some: Longs,
    position: int,
    indptr_out: Longs,
    indices_out: Ints,
    values_out: Floats,
    also_out: Floats,
) -> None: ...
