import numpy as np
from numpy.typing import NDArray

def rehash(keys: NDArray[np.int32], count: int, buckets: NDArray[np.int32]) -> None: ...
def observe(
    indices: NDArray[np.int32],
    direct: int,
    seen: NDArray[np.uint64],
    keys: NDArray[np.int32],
    buckets: NDArray[np.int32],
    count: int,
) -> tuple[int, int, int]: ...
def lookup(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    direct: int,
    seen: NDArray[np.uint64],
    keys: NDArray[np.int32],
    buckets: NDArray[np.int32],
    unknown: NDArray[np.float64],
) -> int: ...
def members(seen: NDArray[np.uint64], ids: NDArray[np.int32]) -> None: ...
def gather(
    column: NDArray[np.float64], places: NDArray[np.int32], out: NDArray[np.float64]
) -> int: ...
