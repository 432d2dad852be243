# Generated from rival.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.rules import Rule
from cwtool_ext.wide import Wide, WideFirstOrder

class DiagonalRival(Wide):
    def __init__(
        self,
        table: NDArray[np.float64],
        labels: NDArray[np.float64],
        rounds: NDArray[np.int64],
        rule: Rule,
        projection: int,
        floor: float,
    ) -> None: ...

class FirstOrderRival(WideFirstOrder):
    def __init__(
        self,
        table: NDArray[np.float64],
        labels: NDArray[np.float64],
        rounds: NDArray[np.int64],
        rule: Rule,
        average: bool,
    ) -> None: ...
