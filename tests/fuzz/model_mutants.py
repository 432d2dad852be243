"""Model files that are changed in every way that a stranger could, with lengths and checksum made
anew, and the models that they are made from."""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import numpy as np

from cwtool import registry
from cwtool.algorithms.base import Algorithm
from cwtool.data.labels import Labels
from cwtool.data.parse import Block, Reading, row_hashes
from cwtool.data.rows import Origin, Rows
from cwtool.model import Model
from cwtool.run import Run

PRELUDE = struct.Struct("<7sBQQ")
DTYPES = {"<f8": 8, "<i8": 8, "<i4": 4, "|u1": 1}
Parts = tuple[dict[str, Any], list[bytes]]


def rows_of(seed: int, n: int, labels: int, first: int = 0) -> tuple[Rows, str]:
    """Rows with `labels` classes over 12 features, and their text."""
    draw = random.Random(seed)
    pairs, y, lines = [], [], []
    for k in range(n):
        ids = sorted(draw.sample(range(first, first + 12), draw.randint(1, 6)))
        row = [(j, round(draw.uniform(-2, 2), 2) or 1.0) for j in ids]
        class_ = k if k < labels else int(sum(j * x for j, x in row) * 7) % labels
        pairs.append(row)
        y.append(class_)
        written = "+1" if labels == 2 and class_ else str(-1 if labels == 2 else class_)
        lines.append(f"{written} " + " ".join(f"{j + 1}:{x}" for j, x in row))
    return Rows.from_lists(pairs, y), "\n".join(lines) + "\n"


def trained(algo: str, given: dict[str, Any], labels: int, extras: int) -> Model:
    """A small trained model; `extras` chooses what it has besides."""
    rows, _ = rows_of(1, 60, labels)
    several = [float(k) for k in range(labels)] if labels > 2 else None
    known = Labels(multiclass="auto", several=several) if labels > 2 else Labels(-1.0, 1.0)
    takes = registry.algorithm(algo).takes_weights
    class_weight = "balanced" if takes and extras % 3 == 1 else ""
    threshold = "balanced" if extras % 3 == 2 else ""
    model = Model.new(
        algo, given, Reading(), class_weight=class_weight, threshold=threshold, labels=known
    )
    weight = None
    if takes and extras % 2:
        weight = np.random.default_rng(extras).choice([0.5, 1.0, 3.0], rows.n_rows)
    weighted = Rows(rows.indptr, rows.indices, rows.values, rows.y, weight)
    model.learn(weighted, Run())
    model.history.append(record(model, labels))
    place = Origin("a.svm", 0, 1, np.arange(rows.n_rows, dtype=np.int32))
    values = rows.indptr, rows.indices, rows.values, rows.y.astype(float)
    model.known.add(row_hashes(Block(*values, place)))
    if extras % 4 == 3:
        model.estimator = {"columns": 12, "classes": [f"name {k}" for k in range(labels)]}
    return model


def record(model: Model, labels: int) -> dict[str, Any]:
    """An entry of a history as `train` and `feed` write it."""
    two = ("auc", "precision", "recall", "f1")
    names = two if labels == 2 else ("macro_f1", "weighted_f1", "balanced_error")
    file = {"name": "a.svm", "digest": "ab" * 16, "rows": model.rows, "nnz": 200}
    day: dict[str, Any] = dict.fromkeys(("rows", "worst_row", "worst_rows", "windows"), 1)
    day |= {"error": 0.5, "median": 0.5, "worst": 0.5, "spread": 0.0, "classes": labels}
    day |= {"entries": 3.5, "base_rate": 0.5 if labels == 2 else None}
    evaluated = {"error": 0.5, "log_loss": 0.7, "bins": [[1.0, 0.5, 1.0]] * 15}
    return {
        "files": [file], "seed": 0, "rows": model.rows, "error": 0.5, **dict.fromkeys(names, 0.5),
        "features": model.index.count, "passes": 1, "time": "2026-01-02T03:04:05Z", "day": day,
        "evaluated": evaluated, "known_share": 0.1, "bytes_before": 1234,
    }  # fmt: skip


def variants(*, all_: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, label and parameters of the algorithms: of each those variants that have arrays of
    other names, or all of them."""
    for algo in registry.names():
        kind: type[Algorithm] = registry.algorithm(algo)
        seen = set()
        for label, given in kind.variants.items():
            layout = kind(Model.new(algo, given).algorithm.params).layout
            names = tuple(c.name for c in layout.columns), tuple(a.name for a in layout.arrays)
            if all_ or (names, layout.squares) not in seen:
                seen.add((names, layout.squares))
                yield algo, label, {**given, **SHORT.get(algo, {})}


SHORT: dict[str, dict[str, Any]] = {"rff-markov": {"iterations": 200}, "sdist": {"steps": 3}}


def parts_of(data: bytes) -> Parts:
    """The header and the bytes of each array."""
    _, _, _, length = PRELUDE.unpack_from(data)
    header, at = json.loads(data[PRELUDE.size : PRELUDE.size + length]), PRELUDE.size + length
    arrays = []
    for entry in header["arrays"]:
        size = int(np.prod(entry["shape"], dtype=np.int64)) * DTYPES[entry["dtype"]]
        arrays.append(data[at : at + size])
        at += -(-size // 8) * 8
    return header, arrays


def sealed(header: Any, arrays: list[bytes], version: int = 3, text: bytes | None = None) -> bytes:
    """A file of these parts whose lengths and checksum are right."""
    head = json.dumps(header).encode() if text is None else text
    head = head.ljust(-(-len(head) // 8) * 8)
    body = b"".join(a.ljust(-(-len(a) // 8) * 8, b"\0") for a in arrays)
    data = PRELUDE.pack(b"CWTOOL\0", version, PRELUDE.size + len(head) + len(body) + 32, len(head))
    data += head + body
    return data + sha256(data).digest()


# --- changes ---

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 7, 1.5, -0.0, 1e308, -1e308, 1e-308, 5e-324, 2**31 - 1,
    2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(2**63), "", "0",
    "nan", "inf", "auto", "none", "\0", "a" * 5000, "\ud800", "\x1b[31m", [], {}, [[]], [1],
    {"a": 1}, [None], float("nan"), float("inf"), "é", "-1", "1e9", "full", "factored",
    "aggressive",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a JSON value."""
    if path:
        yield path
    inside: Any = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else inside:
        yield from places(item, (*path, key))


def _holder(header: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        header = header[key]
    return header


def odd_value(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    path = draw.choice(list(places(header)))
    _holder(header, path)[path[-1]] = draw.choice(ODD)
    return sealed(header, arrays)


def nudged_value(draw: random.Random, parts: Parts) -> bytes:
    """A number a little or much different."""
    header, arrays = parts
    numbers = []
    for path in places(header):
        value = _holder(header, path)[path[-1]]
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append((path, value))
    path, value = draw.choice(numbers)
    change = draw.choice([lambda v: v + 1, lambda v: v - 1, lambda v: -v, lambda v: v * 1000,
                          lambda v: v * 10**9, lambda v: v / 3, lambda v: v * 1e300])  # fmt: skip
    _holder(header, path)[path[-1]] = change(value)
    return sealed(header, arrays)


def removed_entry(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    path = draw.choice(list(places(header)))
    del _holder(header, path)[path[-1]]
    return sealed(header, arrays)


def added_entry(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    path = draw.choice(list(places(header)))
    holder = _holder(header, path)
    if isinstance(holder, dict):
        key = draw.choice(["x", "", "arrays", "numbers", "0", "ghost", "multiclass", "k", "rest"])
        holder[key] = copy.deepcopy(draw.choice([*ODD, holder[path[-1]]]))
    else:
        holder.insert(path[-1], copy.deepcopy(draw.choice([*ODD, holder[path[-1]]])))
    return sealed(header, arrays)


def swapped_entries(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    one, other = draw.choice(list(places(header))), draw.choice(list(places(header)))
    try:
        a, b = _holder(header, one), _holder(header, other)
        a[one[-1]], b[other[-1]] = copy.deepcopy(b[other[-1]]), copy.deepcopy(a[one[-1]])
    except (KeyError, IndexError, TypeError):
        return sealed(header, arrays)
    return sealed(header, arrays)


def text_of_header(draw: random.Random, parts: Parts) -> bytes:
    """The JSON text itself: bytes changed, names repeated, nested deeply, cut."""
    header, arrays = parts
    text = bytearray(json.dumps(header).encode())
    kind = draw.randrange(6)
    if kind == 0:
        for _ in range(draw.randint(1, 4)):
            text[draw.randrange(len(text))] = draw.randrange(256)
    elif kind == 1:
        key = draw.choice(list(header))
        text[1:1] = f'"{key}": {json.dumps(draw.choice(ODD))}, '.encode()
    elif kind == 2:
        depth = draw.choice([100, 2000, 200_000])
        text[1:1] = b'"x": ' + b"[" * depth + b"]" * depth + b", "
    elif kind == 3:
        text[1:1] = b'"x": ' + b"9" * draw.choice([300, 5000, 100_000]) + b", "
    elif kind == 4:
        at = draw.randrange(len(text))
        del text[at : at + draw.randint(1, 50)]
    else:
        text = bytearray(bytes(text).decode().encode(draw.choice(["utf-16", "utf-32", "latin-1"])))
    return sealed(None, arrays, text=bytes(text))


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
    reals = [
        np.nan,
        np.inf,
        -np.inf,
        1e308,
        -1e308,
        1e-308,
        -1.0,
        -0.0,
        0.5,
        1e18,
        3.0,
        2.0**31,
        1e50,
    ]
    wholes = [
        -1,
        0,
        1,
        2,
        255,
        2**31 - 1,
        -(2**31),
        2**62,
        2**63 - 1,
        -(2**63),
        10**6,
        12,
        13,
        60,
        61,
    ]
    if kind <= 2:
        if dtype == "<f8":
            values[at] = draw.choice(reals)
        else:
            limit = np.iinfo(values.dtype)
            values[at] = min(max(draw.choice(wholes), int(limit.min)), int(limit.max))
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


def mixed(draw: random.Random, parts: Parts) -> bytes:
    """Several changes at a time."""
    data = sealed(*parts)
    for _ in range(draw.randint(2, 4)):
        try:
            data = draw.choice(CHANGES[:-2])(draw, parts_of(data))
        except Exception:  # the file is such that nothing more can be changed in it
            return data
    return data


def prelude(draw: random.Random, parts: Parts) -> bytes:
    """Lengths and version before the header."""
    data = sealed(*parts)
    _, version, size, length = PRELUDE.unpack_from(data)
    field = draw.randrange(3)
    odd = draw.choice(
        [0, 1, 7, 24, 2**31, 2**63, 2**64 - 1, size - 32, size + 8, length + 8, length - 8]
    )
    changed = [draw.choice([0, 1, 2, 3, 4, 255]) if field == 0 else version,
               odd if field == 1 else size, odd if field == 2 else length]  # fmt: skip
    body = PRELUDE.pack(b"CWTOOL\0", *changed) + data[PRELUDE.size : -32]
    return body + sha256(body).digest()


CHANGES: list[Callable[[random.Random, Parts], bytes]] = [
    odd_value, odd_value, nudged_value, nudged_value, removed_entry, added_entry, swapped_entries,
    shape_of_array, kind_of_array, name_of_array, without_array, longer_array,
    values_of_array, values_of_array, values_of_array, values_of_array, values_of_array,
    text_of_header, prelude, mixed,
]  # fmt: skip


def mutant(seed: int, data: bytes) -> tuple[str, bytes]:
    """One change of a file, drawn by the seed; what was done, and the bytes."""
    draw = random.Random(seed)
    change = draw.choice(CHANGES)
    return change.__name__, change(draw, parts_of(data))
