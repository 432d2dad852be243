"""Changes of many parts of a model file at a time, most of which fit each other."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from content_mutants import FLOATS, LONG, WHOLE
from header_mutants import ODD
from model_parts import DTYPES, Parts, holder_of, places, sealed
from numpy.typing import NDArray

Values = NDArray[Any]
MOST_BYTES = 4 << 20  # of an array that is made longer


def _values(parts: Parts, k: int) -> Values:
    """An array with its shape; it may be changed."""
    entry = parts[0]["arrays"][k]
    found: Values = np.frombuffer(parts[1][k], entry["dtype"]).reshape(entry["shape"]).copy()
    return found


def _put(parts: Parts, k: int, values: Values) -> None:
    """Make this the array, with the shape that it has."""
    parts[0]["arrays"][k]["shape"] = list(values.shape)
    parts[1][k] = np.ascontiguousarray(values).tobytes()


def several_fields(draw: random.Random, parts: Parts) -> bytes:
    """Two to ten values of the header."""
    header, arrays = parts
    for _ in range(draw.randint(2, 10)):
        path = draw.choice([path for path in places(header) if path[0] != "arrays"])
        inside = holder_of(header, path)
        value = inside[path[-1]]
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if plain and draw.random() < 0.7:
            inside[path[-1]] = draw.choice([value + 1, value * 2, -value, value / 2, 0, 1, 1e9])
        else:
            inside[path[-1]] = copy.deepcopy(draw.choice(ODD))
    return sealed(header, arrays)


def every_array(draw: random.Random, parts: Parts) -> bytes:
    """One odd value in every array of a type, at a place of each, or everywhere."""
    dtype, whole = draw.choice(list(DTYPES)), draw.random() < 0.3
    odd: Any = {"<f8": FLOATS, "<i8": LONG, "<i4": WHOLE, "|u1": [0, 1, 2, 255]}[dtype]
    value = draw.choice(odd)
    for k, entry in enumerate(parts[0]["arrays"]):
        if entry["dtype"] == dtype and parts[1][k]:
            values = _values(parts, k)
            values.flat[slice(None) if whole else draw.randrange(values.size)] = value
            _put(parts, k, values)
    return sealed(*parts)


def within_range(draw: random.Random, parts: Parts) -> bytes:
    """Arrays with other values between their least and their greatest one, or in another order."""
    rng = np.random.default_rng(draw.randrange(2**32))
    full = [k for k, a in enumerate(parts[1]) if a]
    for k in draw.sample(full, min(len(full), draw.choice([1, 1, 2, 5]))):
        values = _values(parts, k)
        low, high = values.min(), values.max()
        if draw.random() < 0.4:
            values = rng.permutation(values.ravel()).reshape(values.shape)
        elif values.dtype.kind == "f":
            with np.errstate(all="ignore"):
                values = low + (high - low) * rng.random(values.shape)
        else:
            values = rng.integers(low, high, values.shape, values.dtype, endpoint=True)
        _put(parts, k, values)
    return sealed(*parts)


def all_scaled(draw: random.Random, parts: Parts) -> bytes:
    """All real numbers of the arrays, of the header, or of both larger or smaller."""
    header, factor = parts[0], 10.0 ** draw.randint(-160, 160)
    if draw.random() < 0.7:
        for k, entry in enumerate(header["arrays"]):
            if entry["dtype"] == "<f8":
                with np.errstate(all="ignore"):
                    _put(parts, k, _values(parts, k) * factor)
    if draw.random() < 0.5:
        for path in [path for path in places(header) if path[0] in ("numbers", "scale")]:
            value = holder_of(header, path)[path[-1]]
            if isinstance(value, float) and math.isfinite(value * factor):
                holder_of(header, path)[path[-1]] = value * factor
    return sealed(*parts)


def _ids(draw: random.Random, n: int) -> list[int]:
    """Ascending feature ids in one of the ways that they may lie."""
    far = draw.choice([n, n, 2**22 - n, 2**22 + n, 2**31 - 1])
    if draw.random() < 0.3:
        return list(range(far - n, far))  # close to each other
    return sorted(draw.sample(range(far), n))


def other_features(draw: random.Random, parts: Parts) -> bytes:
    """Other features in all arrays that follow them: fewer, more, repeated, or none."""
    header, arrays = parts
    names = [entry["name"] for entry in header["arrays"]]
    if "ids" not in names or not (old := header["features"]):
        return sealed(*parts)
    dense = any(e["shape"] == [old, old] for e in header["arrays"])
    n = draw.choice([0, 1, old - 1, old, old + 1, 500 if dense else 20_000])
    taken = [draw.randrange(old) for _ in range(n)] if n != old else list(range(old))
    for k, entry in enumerate(header["arrays"]):
        follows = entry["name"].split(".")[0] in ("feature", "class", "square", "array", "ids")
        if follows and old in entry["shape"] and len(arrays[k]) // old * n < MOST_BYTES:
            values = _values(parts, k)
            for axis in [axis for axis, size in enumerate(values.shape) if size == old]:
                values = values.take(taken, axis)
            _put(parts, k, values)
    _put(parts, names.index("ids"), np.array(_ids(draw, n), dtype="<i4"))
    header["features"] = n
    return sealed(header, arrays)


def _of_class(name: str, class_: int) -> bool:
    return name.startswith(f"class.{class_}.") or (
        name.startswith("feature.") and name.endswith(f".{class_}")
    )


def other_classes(draw: random.Random, parts: Parts) -> bytes:
    """One class fewer or many more, in the labels, the tables, the numbers and the arrays."""
    header, arrays = parts
    old = len(header["labels"])
    new = draw.choice([1, old - 1, old + 1, old + 2, 50, 300, 1500])
    label = draw.choice([0.5, 100.0, -1e9])
    header["labels"] = [*header["labels"], *(label + k for k in range(new))][:new]
    for k in range(old, new) if isinstance(header["numbers"].get("0"), dict) else ():
        header["numbers"][str(k)] = copy.deepcopy(header["numbers"]["0"])
    found = list(zip(header["arrays"], arrays, strict=True))
    found = [f for f in found if not any(_of_class(f[0]["name"], k) for k in range(new, old))]
    ones = [f for f in found if _of_class(f[0]["name"], 1)]
    for k in range(old, new) if len(ones) * new < 5000 else ():
        for entry, data in ones:
            name = entry["name"].replace("class.1.", f"class.{k}.")
            name = name if name != entry["name"] else entry["name"][:-1] + str(k)
            found.append(({**entry, "name": name}, data))
    header["arrays"], arrays[:] = [e for e, _ in found], [data for _, data in found]
    for k, entry in enumerate(header["arrays"]):
        if entry["name"].startswith(("confusion", "ring")) and {old, old + 1} & {*entry["shape"]}:
            values = _values(parts, k)
            for axis, size in enumerate(values.shape):
                if size in (old, old + 1):
                    kept = values.take(range(min(size, size + new - old)), axis)
                    more = [(0, max(0, new - old) * (axis == j)) for j in range(values.ndim)]
                    values = np.pad(kept, more)
            _put(parts, k, values)
    return sealed(*parts)


def odd_labels(draw: random.Random, parts: Parts) -> bytes:
    """Labels that are repeated, nearly equal, or zero with two signs, also those of the history."""
    header, arrays = parts
    old = header["labels"]
    one = next((k for k in old if k is not None), 1.0)
    new: Any = draw.choice([
        [one] * len(old), [0.0, -0.0, *old[2:]], [one, np.nextafter(one, 9e9), *old[2:]], old[::-1],
        [None] * len(old), [str(k) for k in old], [True, False, *old[2:]], old * 2, [], [one],
        [2**53, 2**53 + 1, *old[2:]], [[k] for k in old], {str(k): v for k, v in enumerate(old)},
    ])  # fmt: skip
    header["labels"] = new
    for run in header["history"] if draw.random() < 0.7 else ():
        if "labels" in run:
            run["labels"] = copy.deepcopy(new)
    if "estimator" in header and draw.random() < 0.7:
        header["estimator"]["classes"] = draw.choice([["a", "a"], ["a"], [], ["a"] * 5, "b", "i"])
    return sealed(header, arrays)


def sparse_column(draw: random.Random, parts: Parts) -> bytes:
    """A column of all values as one of places and values, or places that are out of order, repeated
    or too large."""
    header, arrays = parts
    names = [entry["name"] for entry in header["arrays"]]
    sparse = [k for k, name in enumerate(names) if name.endswith(".at") and arrays[k]]
    dense = [k for k, name in enumerate(names) if "feature." in name and f"{name}.at" not in names]
    if sparse and (not dense or draw.random() < 0.5):
        k = draw.choice(sparse)
        at = _values(parts, k)
        at.flat[draw.randrange(at.size)] = draw.choice([-1, 0, 1, int(at.max()), 2**31 - 1])
        _put(parts, k, draw.choice([at, at[::-1], at + 1, np.zeros_like(at)]))
    elif dense := [k for k in dense if not names[k].endswith(".at") and arrays[k]]:
        k = draw.choice(dense)
        n = len(_values(parts, k))
        at = np.arange(n, dtype="<i4")
        at = draw.choice([at, at[::-1], at * 2, at - 1, at // 2, at[:-1]])
        header["arrays"].insert(k, {"name": f"{names[k]}.at", "dtype": "<i4", "shape": [len(at)]})
        arrays.insert(k, np.ascontiguousarray(at).tobytes())
    return sealed(header, arrays)


def nothing_learned(draw: random.Random, parts: Parts) -> bytes:
    """All arrays of the state, or all arrays, without entries; often without rows and features."""
    header, arrays = parts
    begin = draw.choice([("",), ("ids", "feature", "class"), ("array",), ("score", "odds", "ring")])
    for k, entry in enumerate(header["arrays"]):
        if entry["name"].startswith(begin):
            entry["shape"], arrays[k] = [0] * len(entry["shape"]), b""
    for name in ("rows", "features"):
        header[name] = header[name] if draw.random() < 0.3 else 0
    if "confusion" in header and draw.random() < 0.7:
        header["confusion"] = [[0, 0], [0, 0]]
    return sealed(header, arrays)


CHANGES: list[Callable[[random.Random, Parts], bytes]] = [
    several_fields, every_array, every_array, within_range, within_range, all_scaled,
    other_features, other_features, other_classes, odd_labels, sparse_column, nothing_learned,
]  # fmt: skip
