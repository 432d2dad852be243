# Generated from text.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

def named_features(entries: list[Any], ids: dict[Any, Any], id_of: Any) -> str: ...
def csr_features(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[np.float64], base: int
) -> list[str]: ...
