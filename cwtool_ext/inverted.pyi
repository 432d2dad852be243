# Generated from inverted.pyx by tools/stubs.py.

import numpy as np
from numpy.typing import NDArray

from cwtool_ext.csr import Csr

def mark(rows: Csr, found: NDArray[np.uint8]) -> None: ...
def transpose(
    rows: Csr,
    column: NDArray[np.int32],
    start: NDArray[np.int64],
    place: NDArray[np.int32],
    value: NDArray[np.float64],
) -> None: ...
def products(x: Csr, v: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def moments(
    x: Csr, v: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> None: ...
def squares(x: Csr, out: NDArray[np.float64]) -> None: ...
def scale(x: Csr, v: NDArray[np.float64], value: NDArray[np.float64]) -> None: ...
def take(
    x: Csr,
    some: NDArray[np.int64],
    start: NDArray[np.int64],
    place: NDArray[np.int32],
    value: NDArray[np.float64],
) -> None: ...
def gram(
    x: Csr,
    some: NDArray[np.int64],
    weight: NDArray[np.float64],
    room: NDArray[np.float64],
    G: NDArray[np.float64],
) -> None: ...
