"""Changes of the arrays of a model file: types, lengths, names and values."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from model_parts import DTYPES, Parts, sealed
from numpy.typing import NDArray

Values = NDArray[Any]

REALS = [
    np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-308, -1.0, -0.0, 0.5, 1e18, 3.0, 2.0**31, 1e50, 0.0,
    1.0, 5e-324, -5e-324, 1.7976931348623157e308, 1e154, 1e155, -1e100, 1e-200, 2.0**53, 2.0**63,
]  # fmt: skip
WHOLES = [
    -1, 0, 1, 2, 255, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63), 10**6, 12, 13, 60, 61, 127,
    128, 2**31 - 2, 2**20, 2**40, 2**43, 2**53, 4,
]  # fmt: skip


def shape_of_array(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    entry = draw.choice(header["arrays"])
    shape = entry["shape"]
    n = int(np.prod(shape, dtype=np.int64))
    ways: list[list[Any]] = [
        [2**32, 2**32], [2**63], [0], [*shape, 1], [1, *shape], [-k for k in shape], [], [0, 2**40],
        [k + 1 for k in shape], [max(0, k - 1) for k in shape], shape[::-1], [1] * 70, [0] * 65,
        [*shape, 0], [n, 1],
    ]  # fmt: skip
    entry["shape"] = draw.choice(ways)
    return sealed(header, arrays)


def kind_of_array(draw: random.Random, parts: Parts) -> bytes:
    """Another type, with bytes of the old length or of the new one."""
    header, arrays = parts
    k = draw.randrange(len(arrays))
    entry = header["arrays"][k]
    entry["dtype"] = draw.choice([*DTYPES, "<f4", ">f8", "|O", "<U9", "|b1", "<c16", "f8", "i4,i4"])
    if draw.random() < 0.5 and entry["dtype"] in DTYPES:
        size = int(np.prod(entry["shape"], dtype=np.int64)) * DTYPES[entry["dtype"]]
        arrays[k] = (arrays[k] * 8)[:size].ljust(size, b"\0")
    return sealed(header, arrays)


def name_of_array(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    entry, other = draw.choice(header["arrays"]), draw.choice(header["arrays"])
    kind = draw.randrange(4)
    if kind == 0:
        entry["name"] = draw.choice(
            ["", "x", "array.x", "class.9.ids", "square.x", "feature", "\0"]
        )
    elif kind == 1:
        entry["name"] = other["name"]
    elif kind == 2:
        entry["name"], other["name"] = other["name"], entry["name"]
    else:
        entry["name"] += draw.choice([".at", ".1", ".n", "x"])
    return sealed(header, arrays)


def without_array(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    k = draw.randrange(len(arrays))
    del header["arrays"][k], arrays[k]
    return sealed(header, arrays)


def longer_array(draw: random.Random, parts: Parts) -> bytes:
    """An array of consistent, but other, length."""
    header, arrays = parts
    k = draw.randrange(len(arrays))
    entry = header["arrays"][k]
    if not entry["shape"]:
        return sealed(header, arrays)
    first = entry["shape"][0]
    wanted = draw.choice([0, 1, max(0, first - 1), first + 1, 2 * first, 10 * first + 5])
    each = DTYPES[entry["dtype"]] * int(np.prod(entry["shape"][1:], dtype=np.int64))
    entry["shape"][0] = wanted
    arrays[k] = (arrays[k] * (wanted + 1)).ljust(wanted * each, b"\0")[: wanted * each]
    return sealed(header, arrays)


def values_of_array(draw: random.Random, parts: Parts) -> bytes:
    """Values of an array: odd ones, permuted, reversed, negative, or any bytes."""
    header, arrays = parts
    full = [k for k, a in enumerate(arrays) if a]
    if not full:
        return sealed(header, arrays)
    k = draw.choice(full)
    dtype = header["arrays"][k]["dtype"]
    values = np.frombuffer(arrays[k], dtype).copy()
    at = [draw.randrange(len(values)) for _ in range(draw.choice([1, 1, 1, 3, 20]))]
    kind = draw.randrange(9)
    if kind <= 2:
        if dtype == "<f8":
            values[at] = draw.choice(REALS)
        else:
            limit = np.iinfo(values.dtype)
            values[at] = min(max(draw.choice(WHOLES), int(limit.min)), int(limit.max))
    elif kind == 3:
        np.random.default_rng(draw.randrange(2**32)).shuffle(values)
    elif kind == 4:
        values = values[::-1].copy()
    elif kind == 5:
        values[at] = values[at[::-1]]
    elif kind == 6:
        with np.errstate(all="ignore"):
            values[at] = values[at] + np.array(draw.choice([1, -1, 2, 3])).astype(values.dtype)
    elif kind == 7:
        values[:] = values[0]
    else:
        raw = values.view(np.uint8)
        for _ in range(draw.choice([1, 2, 8, 64])):
            raw[draw.randrange(len(raw))] = draw.randrange(256)
    arrays[k] = values.tobytes()
    return sealed(header, arrays)


def _some(draw: random.Random, parts: Parts) -> tuple[int, Values] | None:
    """An array that has values, by its place; its values can be changed."""
    header, arrays = parts
    full = [k for k, a in enumerate(arrays) if a]
    if not full:
        return None
    k = draw.choice(full)
    return k, np.frombuffer(arrays[k], header["arrays"][k]["dtype"]).copy()


def _filled_with(draw: random.Random, values: Values) -> Values:
    """One value everywhere, or two in turn."""
    if values.dtype.kind == "f":
        values[:], values[1::2] = draw.choice(REALS), draw.choice(REALS)
        return values
    limit = np.iinfo(values.dtype)
    found = [k for k in (*WHOLES, int(limit.max), int(limit.min)) if limit.min <= k <= limit.max]
    values[:] = draw.choice(found)
    if draw.random() < 0.3:
        values[::2] = draw.choice(found)
    return values


def filled_array(draw: random.Random, parts: Parts) -> bytes:
    """A whole array of one odd value, or of two in turn; sometimes several arrays."""
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        if found := _some(draw, parts):
            parts[1][found[0]] = _filled_with(draw, found[1]).tobytes()
    return sealed(*parts)


def magnified_array(draw: random.Random, parts: Parts) -> bytes:
    """A whole array larger, smaller, negative or shifted: each value may still be in its range."""
    if found := _some(draw, parts):
        k, values = found
        factor = draw.choice([-1, 2, 3, 1000, -1000, 1e100, 1e-100, 1e200, 1e-300, 1e300, 2**20])
        shift = draw.choice([0, 0, 0, 1, -1, 1e6, 1e150])
        with np.errstate(all="ignore"):
            changed = (values.astype(np.float64) * factor + shift).clip(-9e18, 9e18)
            if values.dtype.kind == "f":
                changed = values * factor + shift
            parts[1][k] = changed.astype(values.dtype).tobytes()
    return sealed(*parts)


def flipped_bits(draw: random.Random, parts: Parts) -> bytes:
    """Single bits, of any place or of the same place in all values."""
    if found := _some(draw, parts):
        k, values = found
        raw = values.view(np.uint8)
        if draw.random() < 0.3:
            raw[draw.randrange(values.itemsize) :: values.itemsize] ^= 1 << draw.randrange(8)
        else:
            for _ in range(draw.choice([1, 2, 16])):
                raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        parts[1][k] = raw.tobytes()
    return sealed(*parts)


def exchanged_arrays(draw: random.Random, parts: Parts) -> bytes:
    """The bytes of two arrays, of equal sizes if there are such, or those of one in both."""
    header, arrays = parts
    k = draw.randrange(len(arrays))
    same = [j for j, a in enumerate(arrays) if j != k and len(a) == len(arrays[k])]
    j = draw.choice(same or range(len(arrays)))
    if draw.random() < 0.5:
        arrays[k], arrays[j] = arrays[j], arrays[k]
    else:
        arrays[k] = (arrays[j] + arrays[k])[: len(arrays[k])]
    if not same or draw.random() < 0.3:
        for name in ("dtype", "shape"):
            one, other = header["arrays"][k], header["arrays"][j]
            one[name], other[name] = other[name], one[name]
    return sealed(header, arrays)


def reread_array(draw: random.Random, parts: Parts) -> bytes:
    """The same bytes as values of another type, with as many values as there then are."""
    header, arrays = parts
    k = draw.randrange(len(arrays))
    entry = header["arrays"][k]
    entry["dtype"] = draw.choice([t for t in DTYPES if t != entry["dtype"]])
    flat = len(entry["shape"]) != 2 or not entry["shape"][1]
    width = 1 if flat else entry["shape"][1]
    n = len(arrays[k]) // DTYPES[entry["dtype"]] // width
    entry["shape"] = [n] if flat else [n, width]
    arrays[k] = arrays[k][: n * width * DTYPES[entry["dtype"]]]
    return sealed(header, arrays)


def other_length(draw: random.Random, parts: Parts) -> bytes:
    """One length changed in all arrays that have it, and often in the numbers of the header."""
    header, arrays = parts
    lengths = {n for entry in header["arrays"] for n in entry["shape"] if n}
    old = draw.choice(sorted(lengths) or [1])
    new = draw.choice([0, 1, old - 1, old + 1, 2 * old, 1000])
    for k, entry in enumerate(header["arrays"]):
        if old in entry["shape"]:
            entry["shape"] = [new if n == old else n for n in entry["shape"]]
            size = DTYPES[entry["dtype"]] * math.prod(entry["shape"])
            arrays[k] = (arrays[k] * (2 + size // max(1, len(arrays[k]))))[:size].ljust(size, b"\0")
    if draw.random() < 0.7:
        for holder in (header, header["numbers"]):
            for name, value in holder.items() if isinstance(holder, dict) else ():
                if value == old and not isinstance(value, bool):
                    holder[name] = new
    return sealed(header, arrays)
