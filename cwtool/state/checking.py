"""Checks of what a file has for a state against the declarations, before anything is done with it.

What is wrong is raised as Damage, in words that name the array or number of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import BIAS, Ints
from cwtool.errors import Damage
from cwtool.state.layout import MOST, Array, Column, Layout, Number

Packed = Mapping[str, NDArray[Any]]
Checked = dict[str, NDArray[Any]]


def array_of(packed: Packed, name: str, dtype: str, dimensions: int = 1) -> NDArray[Any]:
    """The array of this name, which must have this type. Whole numbers of 64 bits, which files of
    cwtool 0.1 have in places, become those of 32 bits if they are small enough."""
    if name not in packed:
        raise Damage(f"it has no array {name}")
    found = packed[name]
    if found.ndim != dimensions:
        raise Damage(f"the array {name} has {found.ndim} dimensions instead of {dimensions}")
    if found.dtype.str == "<i8" and dtype == "<i4" and not _outside(found, -(2**31), 2**31):
        found = found.astype(np.int32)
    if found.dtype.str != dtype:
        raise Damage(f"the array {name} has the type {found.dtype.str} instead of {dtype}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise Damage(f"the array {name} has a value that is no finite number")
    return found


def ascending(values: NDArray[Any]) -> bool:
    """Whether each value is greater than the one before."""
    return bool((values[1:] > values[:-1]).all())


def _outside(values: NDArray[Any], low: float, below: float) -> bool:
    """Whether some of these finite values is less than `low` or not less than `below`."""
    too_low = low > -np.inf and values.size > 0 and values.min() < low
    return bool(too_low or (below < np.inf and values.size > 0 and values.max() >= below))


def check_ids(packed: Packed, *, compact: bool) -> Ints:
    """The ids of the features: all different, and ascending unless slots have no gaps."""
    ids: Ints = array_of(packed, "ids", "<i4")
    by_id = np.sort(ids) if compact else ids
    if _outside(ids, 0, BIAS + 1) or not ascending(by_id):
        raise Damage("its feature ids are negative, repeated or out of order")
    return ids


def check_column(packed: Packed, key: str, n: int, declared: Column) -> Checked:
    """A column of n features, with the places of its values if zeros were left out."""
    found = {key: array_of(packed, key, "<f8")}
    values = found[key]
    if f"{key}.at" in packed:
        at = found[f"{key}.at"] = array_of(packed, f"{key}.at", "<i4")
        if len(at) != len(values) or _outside(at, 0, n) or not ascending(at):
            raise Damage(f"the array {key}.at does not fit {key}")
    elif len(values) != n:
        raise Damage(f"the array {key} has {len(values):,} values for {n:,} features")
    low = max(declared.low, 0.0) if declared.whole else declared.low
    if _outside(values, low, np.inf) or (declared.whole and (values != np.floor(values)).any()):
        raise Damage(f"the array {key} has a value that cannot be")
    return found


def check_numbers(layout: Layout, packed: Any) -> dict[str, int | float]:
    """The declared numbers among those of a file, by their names now. Numbers that are not
    declared belonged to older versions, and are left out."""
    if not isinstance(packed, dict):
        raise Damage("its numbers are not given by name")
    names = {n.formerly: n.name for n in layout.numbers if n.formerly}
    given = {names.get(k, k): v for k, v in packed.items()}
    return {n.name: _number(n, given[n.name]) for n in layout.numbers if n.name in given}


def _number(declared: Number, value: Any) -> int | float:
    kinds = (int,) if isinstance(declared.start, int) else (int, float)
    low = 0.0 if isinstance(declared.start, int) else -np.inf
    good = isinstance(value, kinds) and not isinstance(value, bool) and abs(value) <= _most(value)
    if not good or not max(low, declared.low) <= value <= declared.high:
        raise Damage(f"its number {declared.name} is {str(value)[:40]}")
    found: int | float = value
    return found


def _most(value: Any) -> float:
    return MOST if isinstance(value, int) else np.finfo(float).max


def check_arrays(layout: Layout, numbers: dict[str, Any], packed: Packed, n: int) -> Checked:
    """The declared arrays, squares and lists, whose lengths and values must fit each other."""
    lengths = {k: v for k, v in numbers.items() if isinstance(v, int)}
    found: Checked = {}
    for declared in layout.arrays:
        key = f"array.{declared.name}"
        if declared.later and key not in packed:
            found[key] = np.zeros(declared.shape, dtype=declared.dtype)
        else:
            found[key] = array_of(packed, key, declared.dtype, len(declared.shape))
        _check_sizes(declared, found[key].shape, lengths)
    for declared in layout.arrays:
        _check_values(declared, found[f"array.{declared.name}"], lengths)
    for name in layout.squares:
        key = f"square.{name}"
        if key in packed:
            found[key] = array_of(packed, key, "<f8", 2)
            if found[key].shape != (n, n):
                raise Damage(f"the array {key} has the shape {found[key].shape}")
            if negative_diagonal(found[key]):
                raise Damage(f"the array {key} has a negative value on its diagonal")
    for name, width in layout.lists:
        key = f"table.{name}"
        found[key] = array_of(packed, key, "<f8", 2)
        if found[key].shape[1] != width:
            raise Damage(f"the array {key} has {found[key].shape[1]} columns instead of {width}")
    return found


def negative_diagonal(square: NDArray[Any]) -> bool:
    """Whether a matrix of variances or precisions has a negative value on its diagonal that is no
    rounding error."""
    if square.size == 0:
        return False
    return bool(square.diagonal().min() < -1e-9 * max(-square.min(), square.max()))


def _check_sizes(declared: Array, shape: tuple[int, ...], lengths: dict[str, int]) -> None:
    """Names of lengths that are met for the first time stand for those of this array."""
    for size, length in zip(declared.sizes or declared.shape, shape, strict=True):
        if isinstance(size, str):
            name, more = size.rstrip("+1?"), size.endswith("+1")
            if size.endswith("?") and length == 0:
                continue
            wanted = lengths.setdefault(name, length - more) + more
        else:
            wanted = size or length
        if length != wanted:
            raise Damage(f"the array array.{declared.name} has the shape {shape}")


def _check_values(declared: Array, values: NDArray[Any], lengths: dict[str, int]) -> None:
    below = lengths.get(declared.below, -1) if isinstance(declared.below, str) else declared.below
    wrong = _outside(values, declared.low, below if declared.below != "" else np.inf)
    if declared.starts:
        ends = len(values) > 0 and values[0] == 0 and values[-1] == lengths[declared.starts]
        wrong = wrong or not ends or bool((values[1:] < values[:-1]).any())
    if wrong:
        raise Damage(f"the array array.{declared.name} has a value that cannot be")


def without_others(packed: Collection[str], known: Collection[str]) -> None:
    """Refuse arrays that the layout does not declare."""
    if others := sorted(set(packed) - set(known)):
        raise Damage(f"it has an array {others[0][:60]!r} that its algorithm does not have")
