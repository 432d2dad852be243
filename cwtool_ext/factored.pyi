# Generated from factored.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

class Factored(Learner):
    full: bool
    def __init__(
        self,
        table: NDArray[np.float64],
        rows: NDArray[np.float64],
        links: NDArray[np.int32],
        entries: NDArray[np.float64],
        U: NDArray[np.float64],
        e: NDArray[np.float64],
        counts: NDArray[np.int64],
        rule: Rule,
        method: int,
        iterations: int,
        floor: float,
    ) -> None: ...
    def compress(self) -> None: ...
    def settle(self) -> None: ...
    def keep(self) -> None: ...

def leading_directions(gram: NDArray[np.float64], m: int, out: NDArray[np.float64]) -> None: ...
