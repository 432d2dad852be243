"""Changes of the header of a model file."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from typing import Any

from model_parts import Parts, holder_of, places, sealed

from cwtool import registry
from cwtool.params import declared

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 7, 1.5, -0.0, 1e308, -1e308, 1e-308, 5e-324, 2**31 - 1,
    2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(2**63), "", "0",
    "nan", "inf", "auto", "none", "\0", "a" * 5000, "\ud800", "\x1b[31m", [], {}, [[]], [1],
    {"a": 1}, [None], float("nan"), float("inf"), "é", "-1", "1e9", "full", "factored",
    "aggressive",
]  # fmt: skip


def odd_value(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    path = draw.choice(list(places(header)))
    holder_of(header, path)[path[-1]] = draw.choice(ODD)
    return sealed(header, arrays)


def nudged_value(draw: random.Random, parts: Parts) -> bytes:
    """A number a little or much different."""
    header, arrays = parts
    numbers = []
    for path in places(header):
        value = holder_of(header, path)[path[-1]]
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append((path, value))
    path, value = draw.choice(numbers)
    change = draw.choice([lambda v: v + 1, lambda v: v - 1, lambda v: -v, lambda v: v * 1000,
                          lambda v: v * 10**9, lambda v: v / 3, lambda v: v * 1e300])  # fmt: skip
    holder_of(header, path)[path[-1]] = change(value)
    return sealed(header, arrays)


def removed_entry(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    path = draw.choice(list(places(header)))
    del holder_of(header, path)[path[-1]]
    return sealed(header, arrays)


def added_entry(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    path = draw.choice(list(places(header)))
    inside = holder_of(header, path)
    if isinstance(inside, dict):
        key = draw.choice(["x", "", "arrays", "numbers", "0", "ghost", "multiclass", "k", "rest"])
        inside[key] = copy.deepcopy(draw.choice([*ODD, inside[path[-1]]]))
    else:
        inside.insert(path[-1], copy.deepcopy(draw.choice([*ODD, inside[path[-1]]])))
    return sealed(header, arrays)


def swapped_entries(draw: random.Random, parts: Parts) -> bytes:
    header, arrays = parts
    one, other = draw.choice(list(places(header))), draw.choice(list(places(header)))
    try:
        a, b = holder_of(header, one), holder_of(header, other)
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


LITERALS = [
    b"1e308", b"-1e308", b"1e309", b"-1e400", b"1E-400", b"5e-324", b"-0", b"-0.0", b"0.0", b"1.0",
    b"1e0", b"NaN", b"Infinity", b"-Infinity", b"nan", b"0x10", b"01", b"+1", b"1.", b".5", b"1_0",
    b"true", b"false", b"null", b"9223372036854775807", b"9223372036854775808", b"4294967296",
    b"9007199254740993", b"0.1e1000000000000", b"1" * 4300, b"1" * 4301, b"1e999999999999999999",
    b"'1'", b"[1]", b"{}", b"1,1", b"", b"/*1*/1", b"\xef\xbb\xbf1", b"\xc2\xa01", b"\xd9\xa1",
]  # fmt: skip
NUMERAL = re.compile(rb"(?<=[ \[])-?[0-9][-+.0-9e]*")


def literal(draw: random.Random, parts: Parts) -> bytes:
    """A number written in a way that JSON, Python or other programs understand, or none does."""
    header, arrays = parts
    text = json.dumps(header).encode()
    at = draw.choice(list(NUMERAL.finditer(text)))
    return sealed(None, arrays, text=text[: at.start()] + draw.choice(LITERALS) + text[at.end() :])


TEXTS = [
    "\u2028", "\u202egnp.exe", "\ufeff", "\udfff\ud800", "\ud83d", "\U0010ffff", "a" * 4096,
    "a" * 4097, "b" * 3_000_000, "%s%n", "../../x", "/dev/full", "x\ny", "\r\x1b]0;t\x07", "\x00",
    "{0.__class__}", "balanced", "f1", "fpr=0", "fpr=nan", "precision=1e400", "0=1,1=2", "1=1e308",
    "1=-1", "=", ",", "0=", "1e400", "-0", "30d", "1e-320d", "nand", "infd", "none", "L2", "l2 ",
    "ｏｖｒ", "OVR", "arow", "knn", "rff-markov", "AROW", "cwtool.algorithms.arow", "2026-02-30",
]  # fmt: skip


def text_value(draw: random.Random, parts: Parts) -> bytes:
    """A text, or the name of an entry, that is long, cannot be printed, or means something else."""
    header, arrays = parts
    found = [path for path in places(header) if isinstance(path[-1], str)]
    texts = [path for path in found if isinstance(holder_of(header, path)[path[-1]], str)]
    if draw.random() < 0.8:
        path = draw.choice(texts)
        holder_of(header, path)[path[-1]] = draw.choice(TEXTS)
    else:
        path = draw.choice(found)
        inside = holder_of(header, path)
        inside[draw.choice([*TEXTS, path[-1].upper(), path[-1] + " "])] = inside.pop(path[-1])
    return sealed(header, arrays)


def other_order(draw: random.Random, parts: Parts) -> bytes:
    """The entries of all objects in another order: the same model."""
    header, arrays = parts

    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {key: shuffled(value[key]) for key in draw.sample(list(value), len(value))}

    return sealed(shuffled(header), arrays)


def repeated_inside(draw: random.Random, parts: Parts) -> bytes:
    """An entry of an inner object twice, with the same or with another value."""
    header, arrays = parts
    path = draw.choice([path for path in places(header) if isinstance(path[-1], str)])
    inside, mark = holder_of(header, path), "twice the same"
    value = inside[path[-1]]
    inside[mark] = value if draw.random() < 0.5 else draw.choice(ODD)
    text = json.dumps(header).replace(json.dumps(mark), json.dumps(path[-1]))
    return sealed(None, arrays, text=text.encode())


def nested_value(draw: random.Random, parts: Parts) -> bytes:
    """Lists or objects within each other in the place of a value, or around it."""
    header, arrays = parts
    path = draw.choice(list(places(header)))
    inside = holder_of(header, path)
    value = inside[path[-1]]
    for _ in range(draw.choice([1, 2, 50, 900])):
        value = [value] if draw.random() < 0.5 else {draw.choice(["0", "files", "rows"]): value}
    inside[path[-1]] = value
    return sealed(header, arrays)


def many_entries(draw: random.Random, parts: Parts) -> bytes:
    """A list or an object with very many entries."""
    header, arrays = parts
    n = draw.choice([1000, 30_000])
    lists = [path for path in places(header) if holder_of(header, path)[path[-1]]]
    lists = [p for p in lists if isinstance(holder_of(header, p)[p[-1]], list | dict)]
    value = holder_of(header, path := draw.choice(lists))[path[-1]]
    if isinstance(value, list):
        del value[50:]
        value *= 1 + n // len(value)
    else:
        value |= {f"{name} {k}": item for name, item in [*value.items()][:1] for k in range(n)}
    return sealed(header, arrays)


def other_setting(draw: random.Random, parts: Parts) -> bytes:
    """A parameter at the end of its range, next to it, or far inside; or those of other variants of
    the algorithm, with the arrays of this one."""
    header, arrays = parts
    kind = registry.algorithm(header["algorithm"])
    if draw.random() < 0.3:
        header["params"] |= draw.choice(list(kind.variants.values()))
        return sealed(header, arrays)
    known = declared(kind.Params)
    if not known:
        return sealed(header, arrays)
    one = draw.choice(known)
    values: list[Any] = [*one.choices] or [True, False]
    if one.kind in (int, float):
        ends = [end for end in (one.low, one.high) if math.isfinite(end)]
        values = [one.kind(end) + step for end in ends for step in (-1, 0, 1)]
        values += [1e-300, 1e-9, 1e9, 1e300, 0, 1, 2, 1000, 10**6, 10**9, 2**53]
    header["params"][one.name] = draw.choice([*values, "auto"])
    return sealed(header, arrays)


def other_algorithm(draw: random.Random, parts: Parts) -> bytes:
    """The name of another algorithm, with the parameters of this one that it has too."""
    header, arrays = parts
    header["algorithm"] = draw.choice(list(registry.names()))
    names = {p.name for p in declared(registry.algorithm(header["algorithm"]).Params)}
    header["params"] = {k: v for k, v in header["params"].items() if k in names}
    return sealed(header, arrays)
