"""Declarations of what an algorithm keeps in its state.

Saving, loading, checking, growing and comparing states are written once, from these.
"""

from __future__ import annotations

from math import inf, nextafter
from typing import NamedTuple

MOST = 1 << 53  # the greatest whole number of a model file


class Column(NamedTuple):
    """A number for each feature, or for each feature and class; 0 for a feature just met."""

    name: str
    whole: bool = False  # whole numbers from 0 on
    low: float = -inf  # its least value


# 1/variance - 1 of a weight: 0 for a feature just met, and always above -1
PRECISION = Column("precision", low=nextafter(-1, 0))


class Number(NamedTuple):
    """A single number; one that starts as a whole number stays one, from 0 on."""

    name: str
    start: int | float = 0
    formerly: str = ""  # its name in files of cwtool 0.1
    low: float = -inf  # its least and its greatest value
    high: float = inf


class Array(NamedTuple):
    """An array that does not follow the features; all zero in a new state.

    `sizes` are its lengths while it learns, where these are not those of `shape`. One is a number,
    or a name that stands for the same length in all arrays; "rows+1" is one more than "rows", and
    "rows?" is as many or none. Names of numbers of the state stand for these."""

    name: str
    dtype: str = "<f8"
    shape: tuple[int, ...] = (0,)  # in a new state; a length of 0 may change while learning
    sizes: tuple[int | str, ...] = ()
    low: float = -inf  # its least value
    below: int | str = ""  # all values are less than this number or length
    starts: str = ""  # it begins with 0, never falls, and ends with this length
    later: bool = False  # files of earlier versions are without it, and mean that of a new state


class Layout(NamedTuple):
    """All that an algorithm keeps. Columns that are used at the same time share a table."""

    tables: tuple[tuple[Column, ...], ...]
    numbers: tuple[Number, ...] = ()
    arrays: tuple[Array, ...] = ()
    squares: tuple[str, ...] = ()  # matrices over pairs of features, absent in a new state
    lists: tuple[tuple[str, int], ...] = ()  # growing tables of their own: name and columns
    compact: bool = False  # slots are 0 .. n - 1 without gaps

    @property
    def columns(self) -> tuple[Column, ...]:
        return sum(self.tables, ())


def columns(*names: str) -> tuple[Column, ...]:
    """Columns of these names."""
    return tuple(Column(name) for name in names)
