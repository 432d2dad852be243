"""Classes that no linear model separates, hidden among noise: XOR and double rings (Ma 2017,
section 2.6).

The thesis states the shapes and the Bayes errors (about 0.15) but no formulas; these are chosen to
fit them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.random import Generator

from cwtool.data.rows import Floats

SPREAD_XOR = 0.72  # around the corners (+-1, +-1)
SPREAD_RING = 0.48  # around the radii 1 and 2
UNIT = {"xor": sqrt(1 + SPREAD_XOR**2), "ring": sqrt((2.5 + SPREAD_RING**2) / 2)}  # deviation
ECHO = 0.5  # noise of a variable that repeats an informative one


def xor(n: int, rng: Generator) -> tuple[Floats, Floats]:
    """Two columns of unit variance; y is the product of the signs of the corner. Bayes error
    0.15."""
    corner = rng.choice([-1.0, 1.0], (n, 2))
    z = corner + SPREAD_XOR * rng.normal(size=(n, 2))
    return z / UNIT["xor"], corner[:, 0] * corner[:, 1]


def rings(n: int, rng: Generator) -> tuple[Floats, Floats]:
    """Two rings, of which the outer one is positive. Bayes error 0.15."""
    y = rng.choice([-1.0, 1.0], n)
    radius = np.where(y > 0, 2.0, 1.0) + SPREAD_RING * rng.normal(size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    z = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return z / UNIT["ring"], y


SHAPES: dict[str, Callable[[int, Generator], tuple[Floats, Floats]]] = {"xor": xor, "ring": rings}


def hidden(shape: str, n: int, p: int, seed: int, *, informative: int = 2) -> tuple[Floats, Floats]:
    """n rows of p columns: the shape in the first two, noisy copies of these in the further
    informative columns, and N(0, 1) noise in the others."""
    rng = np.random.default_rng(seed)
    z, y = SHAPES[shape](n, rng)
    x = rng.normal(size=(n, p))
    x[:, :2] = z
    for j in range(2, informative):
        x[:, j] = (z[:, j % 2] + ECHO * x[:, j]) / sqrt(1 + ECHO**2)
    return x, y


def probability(shape: str, z: Floats) -> Floats:
    """The probability of the positive class, given the two columns of the shape."""
    z = z * UNIT[shape]
    if shape == "xor":  # both coordinates are positive, or both negative
        near = 1 / (1 + np.exp(-2 * z / SPREAD_XOR**2))
        found: Floats = near[:, 0] * near[:, 1] + (1 - near[:, 0]) * (1 - near[:, 1])
    else:
        radius = np.sqrt((z**2).sum(axis=1))
        found = 1 / (1 + np.exp(((radius - 2) ** 2 - (radius - 1) ** 2) / (2 * SPREAD_RING**2)))
    return found
