# Generated from table_columns.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE: int

def clear(
    table: NDArray[np.float64], seen: NDArray[np.uint64], direct: int, count: int
) -> None: ...
def gather(columns: NDArray[np.float64], places: NDArray[np.int32]) -> list[Any]: ...
def scatter(
    columns: NDArray[np.float64], places: NDArray[np.int32], values: list[Any], at: list[Any]
) -> None: ...
