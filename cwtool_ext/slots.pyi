# Generated from slots.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE: int

def rehash(keys: NDArray[np.int32], count: int, buckets: NDArray[np.int32]) -> Any: ...
def observe(
    ids: NDArray[np.int32],
    start: int,
    direct: int,
    seen: NDArray[np.uint64],
    keys: NDArray[np.int32],
    buckets: NDArray[np.int32],
    count: int,
    slots: NDArray[np.int32],
) -> Any: ...
def lookup(
    indptr: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float64],
    direct: int,
    seen: NDArray[np.uint64],
    keys: NDArray[np.int32],
    buckets: NDArray[np.int32],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    kept: NDArray[np.float64],
    unknown: NDArray[np.float64],
) -> Any: ...
def members(seen: NDArray[np.uint64], ids: NDArray[np.int32]) -> Any: ...
def clear(
    table: NDArray[np.float64], seen: NDArray[np.uint64], direct: int, count: int
) -> None: ...
def gather(columns: NDArray[np.float64], places: NDArray[np.int32]) -> list[Any]: ...
def scatter(
    columns: NDArray[np.float64], places: NDArray[np.int32], values: list[Any], at: list[Any]
) -> None: ...
def positions(ids: NDArray[np.int32], among: NDArray[np.int32], out: NDArray[np.int64]) -> Any: ...
