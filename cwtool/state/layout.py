"""Declarations of what an algorithm keeps in its state.

Saving, loading, growing and comparing states are written once, from these.
"""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """A number for each feature, or for each feature and class; 0 for a feature just met."""

    name: str


class Number(NamedTuple):
    """A single number."""

    name: str
    start: int | float = 0
    formerly: str = ""  # its name in files of cwtool 0.1


class Array(NamedTuple):
    """An array that does not follow the features; all zero in a new state."""

    name: str
    dtype: str = "<f8"
    shape: tuple[int, ...] = (0,)  # in a new state; a length of 0 may change while learning


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
