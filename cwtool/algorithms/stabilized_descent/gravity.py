"""The strength of the pull to zero in a stage of stabilized truncated gradient descent, from what
the stage before it did (Ma 2017, 3.4)."""

from __future__ import annotations

from math import ceil, exp, log, log1p

import numpy as np

from cwtool.data.rows import Floats
from cwtool.params import AUTO
from cwtool_ext import stability

SAMPLE = 64  # one value of so many is in the sample that narrows the search for a rank


def rejection_rate(d: float, beta0: float, gamma: float) -> float:
    """phi of (3.14) in the share d of features left: beta0 at d = 1, 0 at d = 0."""
    if gamma >= 0:
        return beta0 * (exp(-gamma * (1 - d)) - (1 - d) * exp(-gamma))
    return beta0 * log1p(-gamma * d) / log1p(-gamma)


def burst_size(size: int, alpha: float | str, d: float) -> int:
    """K_s = max(K, ceil(K log(1 / (alpha d)))) rows, or K if alpha is auto."""
    return size if alpha == AUTO else max(size, ceil(size * log(1 / (float(alpha) * d))))


def base_gravity(values: Floats, beta: float) -> float:
    """The l-th smallest of the D values, l = floor(beta D); 0 if l = 0. Values are reordered."""
    rank = int(beta * len(values))
    return smallest(values, rank) if rank else 0.0


def smallest(values: Floats, rank: int) -> float:
    """The rank-th smallest value. It is sought between two values of a sample that most likely
    enclose it, and among all values if they do not. Values are reordered."""
    sample = np.sort(values[::SAMPLE])
    at, margin = rank * len(sample) // len(values), 2 + int(len(sample) ** 0.5)
    low, high = sample[max(at - margin, 0)], sample[min(at + margin, len(sample) - 1)]
    count, below = stability.within(values, low, high)
    if not 0 < rank - below <= count:
        count, below = len(values), 0
    return float(np.partition(values[:count], rank - below - 1)[rank - below - 1])
