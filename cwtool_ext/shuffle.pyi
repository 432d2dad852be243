# Generated from shuffle.pyx by tools/stubs.py.

from typing import Any

import numpy as np
from numpy.typing import NDArray

def permute(seeds: NDArray[np.uint64], out: NDArray[np.int64]) -> Any: ...
def choose(seeds: NDArray[np.uint64], first: int, share: float, out: NDArray[np.uint8]) -> Any: ...
def uniforms(seeds: NDArray[np.uint64], out: NDArray[np.float64]) -> Any: ...
