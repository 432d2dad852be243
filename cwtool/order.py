"""Random permutations and numbers that are the same on every machine, distinct values in the order
of their first appearance, and sums of floats that are the same in every version of Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cwtool_ext import shuffle

A = TypeVar("A", bound=np.generic)


def distinct(values: NDArray[A]) -> NDArray[A]:
    """The values without repetitions, ascending, as np.unique gives them. That one imports
    numpy.ma, which takes 10 ms of every run."""
    found: NDArray[A] = np.sort(values)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def permutation(n: int, *seeds: int) -> NDArray[np.int64]:
    """0 .. n-1, shuffled."""
    out = np.empty(n, dtype=np.int64)
    shuffle.permute(np.array(seeds, dtype=np.uint64), out)
    return out


def seeded(n: int, seeds: Sequence[int]) -> NDArray[np.int64]:
    """0 .. n-1, shuffled if there are seeds."""
    return permutation(n, *seeds) if seeds else np.arange(n)


def uniforms(n: int, *seeds: int) -> NDArray[np.float64]:
    """Random numbers from 0 to 1, without 1."""
    out = np.empty(n)
    shuffle.uniforms(np.array(seeds, dtype=np.uint64), out)
    return out


def chosen(first: int, n: int, share: float, seed: int) -> NDArray[np.bool_]:
    """A random selection of about this share of the rows numbered first .. first + n - 1; it
    depends only on the row numbers."""
    out = np.empty(n, dtype=np.uint8)
    shuffle.choose(np.array([seed], dtype=np.uint64), first, share, out)
    return out.view(np.bool_)


def ranks(first: int, n: int) -> NDArray[np.int32]:
    """Random numbers from 0 to 2^31 - 1 of the rows numbered first .. first + n - 1, by row number
    alone."""
    out = np.empty(n, dtype=np.int32)
    shuffle.rank(np.zeros(1, dtype=np.uint64), first, out)
    return out


def added(values: Iterable[float]) -> float:
    """The sum in this order, with the same bits in every Python: from Python 3.12 on, sum() also
    adds what rounding has lost."""
    return reduce(add, values, 0.0)
