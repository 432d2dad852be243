"""The merge of several states into one, from their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cwtool.data.rows import Floats, Ints
from cwtool.errors import UsageError
from cwtool.state.layout import Array, Column, Layout, Merge, Number
from cwtool.state.state import State


def refusals(layout: Layout) -> list[str]:
    """The names of the parts that cannot be merged."""
    declared: list[Column | Number | Array] = [
        *layout.columns, *layout.numbers, *layout.arrays,
    ]  # fmt: skip
    names = [part.name for part in declared if part.merge is Merge.REFUSE]
    return [*names, *layout.squares, *(name for name, _ in layout.lists)]


def merge(into: State, parts: Sequence[State]) -> None:
    """Put the merge of these states into a new one. Sums run in the order of the parts, so that
    the result does not depend on anything else. One part is copied as it is."""
    if refused := refusals(into.layout):
        raise UsageError(f"models with {', '.join(refused)} cannot be merged")
    if len(parts) == 1:
        into.unpack(parts[0].pack())
        into.numbers |= parts[0].numbers
        return
    ids = [part.index.ids_and_slots() for part in parts]
    places = [(into.slots_of(known), slots) for known, slots in ids]
    used = np.unique(np.concatenate([slots for slots, _ in places]))
    for column in into.layout.columns:
        total, weights = np.zeros(len(used)), np.zeros(len(used))
        for part, (found, slots) in zip(parts, places, strict=True):
            at, h = np.searchsorted(used, found), _weight(part, column, slots)
            total[at] += h * part.column(column.name)[slots]
            weights[at] += h
        if column.merge is Merge.MEAN:
            np.divide(total, weights, out=total, where=weights > 0)
        into.column(column.name)[used] = total
    for number in into.layout.numbers:
        values = [part.numbers[number.name] for part in parts]
        into.numbers[number.name] = _one(number, values)
    for array in into.layout.arrays:
        into.arrays[array.name] = _one(array, [part.arrays[array.name] for part in parts]) + 0


def _one(declared: Number | Array, values: list[Any]) -> Any:
    """One value from those of the parts."""
    if declared.merge is Merge.EQUAL:
        if not all(np.array_equal(value, values[0]) for value in values):
            raise UsageError(f"models with different {declared.name} cannot be merged")
        return values[0]
    total = sum(values[1:], values[0])
    return total / len(values) if declared.merge is Merge.MEAN else total


def _weight(part: State, column: Column, slots: Ints) -> Floats:
    """What the values of a column count at these slots: 1 in a sum, the precision in a weighted
    mean."""
    if column.merge is Merge.MEAN and column.by:
        found: Floats = 1 + part.column(column.by)[slots]
        return found
    return np.ones(len(slots))
