"""Model files whose parts are of the right kind and length, and mean something that cannot be."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
from model_parts import Parts, sealed

FLOATS = [np.nan, np.inf, -np.inf, 5e-324, -5e-324, -0.0, 1.7e308, -1.7e308, 2.0**53 + 2, -1.0]
WHOLE = [-(2**31), -1, 0, 1, 2**22, 2**31 - 2, 2**31 - 1]
LONG = [-(2**63), -1, 0, 2**31, 2**53 + 1, 2**62, 2**63 - 1]
TIMES = [
    "9999-12-31T23:59:59Z", "0000-00-00", "-1", "2026-13-45T99:99:99Z", "1970-01-01", "",
    "99999-01-01", "2026-02-30", "\u0662\u0660\u0662\u0666-01-01", "2026-01-01T00:00:00+99:99",
]  # fmt: skip
TEXTS = [
    "\x00", "\x1b[2J\x1b]0;title\x07", "a\nb\rc\td", "\u202e\u2066\ufeff", "x" * 4096, "%s%n{}", "",
    "../../a", "<script>alert(1)</script>", "'; DROP TABLE x; --", '"""', "=1+1", "\U0010ffff",
    "nan", "1=1e400", "balanced", "f1",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2**31, 2**53, 2**53 + 1, 2**63, 10**400, 5e-324, 1e-100, 1e100, 1e154, 1.7e308,
    -1e100, -0.0, 0.5, True, None, "1", [],
]  # fmt: skip


def _values(parts: Parts, k: int) -> np.ndarray[Any, Any]:
    """The values of an array, which may be changed."""
    header, arrays = parts
    return np.frombuffer(arrays[k], header["arrays"][k]["dtype"]).copy()


def _places(parts: Parts, begin: tuple[str, ...]) -> list[int]:
    """The arrays that have values and whose names begin so."""
    header, arrays = parts
    return [
        k
        for k, entry in enumerate(header["arrays"])
        if entry["name"].startswith(begin) and arrays[k]
    ]


def strange_value(draw: random.Random, parts: Parts) -> bytes:
    """One or a few values of an array, of those that arithmetic treats in its own way."""
    header, arrays = parts
    if at := _places(parts, ("",)):
        k = draw.choice(at)
        values = _values(parts, k)
        kinds = {"f": FLOATS, "i": WHOLE if values.itemsize == 4 else LONG, "u": [0, 1, 2, 255]}
        for _ in range(draw.choice([1, 1, 3, len(values)])):
            values[draw.randrange(len(values))] = draw.choice(kinds[values.dtype.kind])
        arrays[k] = values.tobytes()
    return sealed(header, arrays)


def strange_counts(draw: random.Random, parts: Parts) -> bytes:
    """Histograms of scores and of probabilities, and tables of classes."""
    header, arrays = parts
    if at := _places(parts, ("score", "odds", "batch", "confusion", "margin", "ring")):
        k = draw.choice(at)
        values = _values(parts, k)
        odd = draw.choice(
            [-1, 0, 2**31, 2**53, 2**62, 2**63 - 1] if values.itemsize == 8 else WHOLE
        )
        values[draw.randrange(len(values)) :] = odd
        arrays[k] = values.tobytes()
        if draw.random() < 0.5:
            header["rows"] = draw.choice([0, 1, 2**53, header["rows"]])
            header["calibration"]["rows"] = draw.choice([0, 1, 511, 512, 2**53])
    return sealed(header, arrays)


def latest_rows(draw: random.Random, parts: Parts) -> bytes:
    """The packed rows that a model keeps: other bytes, other sizes, cut or repeated."""
    header, arrays = parts
    at = _places(parts, ("sample",))
    for k in at:
        entry, values = header["arrays"][k], _values(parts, k)
        if entry["name"] == "sample.size" and draw.random() < 0.5:
            values[draw.randrange(4)] += draw.choice([-1, 1, 2**17, -(2**62)])
        elif entry["name"] == "sample":
            for _ in range(draw.randint(1, 3)):
                values[draw.randrange(min(len(values), 40))] = draw.choice([0, 1, 127, 128, 255])
            values = draw.choice([values, values[: len(values) // 2], np.tile(values, 2)])
            entry["shape"] = [len(values)]
        arrays[k] = values.tobytes()
    return sealed(header, arrays)


def feature_ids(draw: random.Random, parts: Parts) -> bytes:
    """Ids out of order, repeated, far apart, or of the bias feature."""
    header, arrays = parts
    if at := _places(parts, ("ids",)):
        ids, how = _values(parts, at[0]), draw.randrange(6)
        if how == 0:
            ids = ids[::-1]
        elif how == 1:
            ids[draw.randrange(len(ids))] = ids[0]
        elif how == 2:  # as far apart as can be
            ids = np.linspace(0, draw.choice([2**18, 2**22, 2**31 - 2]), len(ids)).astype(ids.dtype)
        elif how == 3:
            ids[-1] = draw.choice([2**31 - 1, 2**31 - 2, 2**22, 2**22 - 1])
        elif how == 4:
            draw.shuffle(ids)  # type: ignore[arg-type]
        else:
            ids += draw.choice([1, 2**22, 2**30])
        arrays[at[0]] = np.ascontiguousarray(ids).tobytes()
    return sealed(header, arrays)


def matrix(draw: random.Random, parts: Parts) -> bytes:
    """A matrix over pairs of features that is not symmetric, or is no covariance."""
    header, arrays = parts
    at = [k for k, e in enumerate(header["arrays"]) if len(e["shape"]) == 2 and e["dtype"] == "<f8"]
    at = [k for k in at if arrays[k]]
    if at:
        k = draw.choice(at)
        values = _values(parts, k).reshape(header["arrays"][k]["shape"])
        how = draw.randrange(5)
        if how == 0:
            values[np.tril_indices(*values.shape[:1], -1, values.shape[1])] = draw.choice(
                [0, 1e9, -1]
            )
        elif how == 1:
            values[:] = draw.choice([0, 1, 1e-300, 1e300])
        elif how == 2:
            values[draw.randrange(len(values))] *= draw.choice([-1, 0, 1e200])
        elif how == 3:
            values += np.random.default_rng(draw.randrange(99)).normal(size=values.shape) * 1e3
        else:
            values *= draw.choice([1e150, 1e-150, -1])
        arrays[k] = values.tobytes()
    return sealed(header, arrays)


def dates_and_texts(draw: random.Random, parts: Parts) -> bytes:
    """Times and texts of the header that a page, a terminal, or another program reads."""
    header, arrays = parts
    run = header["history"][0] if header["history"] else {}
    for _ in range(draw.randint(1, 3)):
        text, how = draw.choice(TEXTS), draw.randrange(8)
        if how < 2:
            run["time"] = draw.choice(TIMES)
        elif how == 2 and run.get("files"):
            run["files"][0][draw.choice(["name", "digest"])] = text
        elif how == 3:
            header["estimator"] = {"columns": draw.choice([0, 12, 2**31]), "classes": [text, "b"]}
        elif how == 4:
            header["cwtool"] = text[:100]
        elif how == 5:
            header["class_weight"] = {
                "setting": text,
                "counts": draw.choice([[], [0, 0], [2**53, 1]]),
            }
        elif how == 6:
            header["threshold"] = {"setting": text[:100], "value": draw.choice([0, -1e300, 5e-324])}
        else:
            run[text[:200]] = text
    return sealed(header, arrays)


def long_history(draw: random.Random, parts: Parts) -> bytes:
    """Very many runs, files of a run, or labels."""
    header, arrays = parts
    n, how = draw.choice([1000, 10_000, 30_000]), draw.randrange(4)
    if header["history"] and how == 0:
        header["history"] = header["history"] * (n // 10)
    elif header["history"] and how == 1:
        header["history"][0]["files"] = header["history"][0].get("files", []) * n
    elif header["history"] and how == 2:
        header["history"][0]["more"] = [[1.5, "x"]] * n
    else:
        header["labels"] = [float(k) for k in range(n)]
    return sealed(header, arrays)


def class_count(draw: random.Random, parts: Parts) -> bytes:
    """One class more or fewer than the arrays have, or the columns of two classes exchanged."""
    header, arrays = parts
    how, listed = draw.randrange(4), header["arrays"]
    if how == 0:
        header["labels"] = header["labels"][:-1]
    elif how == 1:
        header["labels"] = [*header["labels"], 77.0]
    elif how == 2:
        header["labels"] = [draw.choice([1e300, -0.0, 0.5, 2**53]), *header["labels"][1:]]
    else:
        at = [k for k, e in enumerate(listed) if e["name"].startswith(("feature.", "class."))]
        if len(at) > 1:
            one, other = draw.sample(at, 2)
            listed[one]["name"], listed[other]["name"] = listed[other]["name"], listed[one]["name"]
    return sealed(header, arrays)


def settings_and_numbers(draw: random.Random, parts: Parts) -> bytes:
    """Any number of parameters, numbers, scale and probabilities, by one that is large, tiny, or no
    number."""
    header, arrays = parts
    header["calibration"].setdefault("k", 0.5)
    holders = [header["params"], header["numbers"], header["scale"], header["calibration"]]
    holders += [v for v in header["numbers"].values() if isinstance(v, dict)]
    holder = draw.choice([h for h in holders if h])
    name = draw.choice(list(holder))
    if not isinstance(holder[name], dict):
        holder[name] = draw.choice(NUMBERS)
    return sealed(header, arrays)


def flags(draw: random.Random, parts: Parts) -> bytes:
    """Flags and small settings of how rows are read, learned and shown."""
    header, arrays = parts
    odd: list[tuple[str, Any]] = [
        ("partial", True), ("rest", 2), ("rest", 1), ("multiclass", "no"), ("multiclass", "rival"),
        ("multiclass", "ovr"), ("known_level", 63), ("weighted_confusion", [[1, 2], [3, 4]]),
        ("confusion", [[0, 0], [0, 0]]), ("labels", [None, None]), ("labels", [None, 1.0]),
        ("threshold", {"setting": "balanced"}), ("threshold", {"setting": "f1", "value": 1e308}),
        ("reading", {"hash_bits": 5}), ("reading", {"normalize": "l2", "bias": True}),
        ("reading", {"zero_based": True}), ("history", []), ("features", 0),
    ]  # fmt: skip
    for _ in range(draw.randint(1, 3)):
        name, value = draw.choice(odd)
        header[name] = value
    return sealed(header, arrays)


def many_arrays(draw: random.Random, parts: Parts) -> bytes:
    """Thousands of empty arrays, or arrays of names that mean something to one part only."""
    header, arrays = parts
    n, name = (
        draw.choice([1, 1000, 20_000]),
        draw.choice(["score.x", "ring.x", "class.0.x", "known.x"]),
    )
    more = [{"name": f"{name}{k}", "dtype": "<f8", "shape": [0]} for k in range(n)]
    return sealed(header | {"arrays": header["arrays"] + more}, [*arrays, *[b""] * n])


def numbers_of_json(draw: random.Random, parts: Parts) -> bytes:
    """Numbers of the header written with very many digits, exponents, or escapes."""
    header, arrays = parts
    text = json.dumps(header)
    old = draw.choice(['"rows": ', '"seed": ', '"features": ', '"value": ', '"error": '])
    new = draw.choice(
        ["9" * 4000, "9" * 5000, "1e99999", "-0", "1E+2", "0.1e-400", "1" + "0" * 300 + ".5"]
    )
    head, _, tail = text.partition(old)
    rest = tail.lstrip("-0123456789.e")
    return sealed(header, arrays, text=(head + old + new + rest).encode())


CHANGES = [
    strange_value, strange_value, strange_value, strange_counts, latest_rows, feature_ids, matrix,
    dates_and_texts, long_history, class_count, settings_and_numbers, settings_and_numbers,
    settings_and_numbers, flags, flags, many_arrays,
]  # fmt: skip
