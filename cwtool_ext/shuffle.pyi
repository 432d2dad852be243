import numpy as np
from numpy.typing import NDArray

def permute(seeds: NDArray[np.uint64], out: NDArray[np.int64]) -> None: ...
def choose(
    seeds: NDArray[np.uint64], first: int, share: float, out: NDArray[np.uint8]
) -> None: ...
