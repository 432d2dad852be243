"""The probability of the positive class from the score of a row."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from cwtool.data.rows import Floats

LARGEST = sys.float_info.max


class Sigmoid(NamedTuple):
    """P(y = +1) = sigmoid(a g(z) + b), with z = s / sqrt(1 + v) if `by_variance`, and else z = s.
    g(z) is z if k is 0, and else asinh(k z) / k."""

    a: float
    b: float
    by_variance: bool
    k: float = 0.0


def standardized(score: Floats, variance: Floats) -> Floats:
    """s / sqrt(1 + v): scores s divided by a standard deviation, v being their variances."""
    with np.errstate(invalid="ignore", over="ignore"):
        found: Floats = score / np.sqrt(1 + variance)
    return found


def bent(z: Floats, k: float) -> Floats:
    """g(z) = asinh(k z) / k, or z if k is 0. It is near z for |z| far below 1 / k, and grows like
    log(2 |k z|) / k, with the sign of z, for |z| far above."""
    if k == 0:
        return z
    with np.errstate(over="ignore"):
        found: Floats = np.arcsinh(np.clip(k * z, -LARGEST, LARGEST)) / k
    return found


def sigmoid(t: Floats) -> Floats:
    """1 / (1 + exp(-t)) without overflow."""
    e = np.exp(-np.abs(t))
    return np.where(t >= 0, 1 / (1 + e), e / (1 + e))


def probability(a: float, z: Floats, b: float = 0.0) -> Floats:
    """The probability of the positive class, sigmoid(a z + b), for scores z; 0.5 at z = -b / a."""
    with np.errstate(over="ignore"):
        return sigmoid(a * z + b)
