import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

def sample(
    x: Floats,
    y: Floats,
    length: Ints,
    z: Ints,
    omega: Floats,
    phase: Floats,
    beta: Floats,
    d: int,
    log_s: float,
    phi: Floats,
    to: Ints,
    uniforms: Floats,
    normals: Floats,
    heat: Floats,
    first: int,
    gamma: float,
    conc: float,
    alpha0: float,
) -> tuple[int, float, float]: ...
def scores(
    x: Floats,
    y: Floats,
    samples: Ints,
    chains: Ints,
    z: Ints,
    omega: Floats,
    phase: Floats,
    beta: Floats,
    intercept: Floats,
    out: Floats,
) -> None: ...
def waves(
    x: Floats, chains: Ints, z: Ints, omega: Floats, phase: Floats, weight: Floats, out: Floats
) -> None: ...
