# Generated from tiles.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

class HeavyColumns:
    def __init__(self, columns: NDArray[np.int32], n: int) -> None: ...
