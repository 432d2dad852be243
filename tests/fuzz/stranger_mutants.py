"""Model files with parts of other models, names of classes, and headers as other programs write
them."""

from __future__ import annotations

import json
import random
import re

import numpy as np
from model_parts import Parts, holder_of, parts_of, places, sealed

HUGE = [1e308, -1e308, 1.79e308, 5e-324, -5e-324, -0.0, 1e154, 1e-308, 1e16, 1e200, -1e-200]
NAMES = [
    "a\nb", "\x1b[2J", "x" * 4096, "x" * 5000, "", "\ud800", "<b>", "'\"", "\\", "\0", "1", "nan",
    "\u202e", "a\tb", "\U0001f642" * 4096, "a,b;c:d#",
]  # fmt: skip
PLACES = ["true", "null", "[]", "{}", "1e1", "-0.0", "1e-400", "9223372036854775808", "1.0", '"1"']
BYTES = [b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"]
WHOLES = [[], {}, None, 0, "x", {"algorithm": "arow", "arrays": []}, {"arrays": [], "algorithm": 1}]


def arrays_of_another(draw: random.Random, parts: Parts, other: bytes) -> bytes:
    """Values of another model in arrays of this one, as many as they have."""
    header, arrays = parts
    their, theirs = parts_of(other)
    for k, entry in enumerate(header["arrays"]):
        same = [j for j, e in enumerate(their["arrays"]) if e["dtype"] == entry["dtype"]]
        same = [j for j in same if theirs[j]]
        if arrays[k] and same and draw.random() < 0.3:
            arrays[k] = np.resize(np.frombuffer(theirs[draw.choice(same)], np.uint8),
                                  len(arrays[k])).tobytes()  # fmt: skip
    return sealed(header, arrays)


def params_of_another(draw: random.Random, parts: Parts, other: bytes) -> bytes:
    """The parameters of another model, instead of those of this one or beside them."""
    theirs = parts_of(other)[0]["params"]
    parts[0]["params"] = draw.choice([theirs, parts[0]["params"] | theirs, {}])
    return sealed(*parts)


def huge_everywhere(draw: random.Random, parts: Parts) -> bytes:
    """Numbers near the ends of their range in most arrays, in some in turn or at random sizes."""
    header, arrays = parts
    for k, entry in enumerate(header["arrays"]):
        if entry["dtype"] != "<f8" or not arrays[k] or draw.random() < 0.3:
            continue
        values, how = np.frombuffer(arrays[k]).copy(), draw.randrange(4)
        if how == 0:
            values[::2], values[1::2] = draw.choice(HUGE), draw.choice(HUGE)
        elif how == 1:
            values = np.abs(values) * draw.choice([1e300, 1e-300, 1e150])
        elif how == 2:
            rng = np.random.default_rng(draw.randrange(2**31))
            values = np.sign(values) * 10.0 ** rng.uniform(-320, 308, len(values))
        else:
            values[draw.randrange(len(values))] = draw.choice(HUGE)
        arrays[k] = np.nan_to_num(values, posinf=1e308, neginf=-1e308).tobytes()
    return sealed(header, arrays)


def names_of_classes(draw: random.Random, parts: Parts) -> bytes:
    """Names of classes that are repeated, long, out of order, or cannot be printed."""
    n = len(parts[0]["labels"]) if isinstance(parts[0]["labels"], list) else 2
    names = [draw.choice(NAMES) if draw.random() < 0.5 else f"c{k}" for k in range(n)]
    odd = [[], ["a"] * n, "b", "u", ["b"], None, ["a"] * 20_000 + ["x" * 4000]]
    classes = names if draw.random() < 0.7 else draw.choice(odd)
    columns = draw.choice([12, 0, 1, 5, 2**31 - 1, 2**31])
    parts[0]["estimator"] = {"columns": columns, "classes": classes}
    return sealed(*parts)


def equal_counts(draw: random.Random, parts: Parts) -> bytes:
    """One odd number in the place of many or all whole numbers of the header."""
    header = parts[0]
    found = [path for path in places(header) if path[0] != "arrays"]
    found = [path for path in found if type(holder_of(header, path)[path[-1]]) is int]
    value = draw.choice([-1, 2**63 - 1, 2**63, 2**53, 2**62, 10**400, 0, 1])
    for path in draw.sample(found, min(len(found), draw.choice([1, 3, 1000]))):
        holder_of(header, path)[path[-1]] = value
    return sealed(*parts)


def text_of_others(draw: random.Random, parts: Parts) -> bytes:
    """A header with numbers written in other ways, deep or many values, or in another encoding."""
    header, arrays = parts
    text, kind = json.dumps(header), draw.randrange(7)
    found = list(re.finditer(r"(?<=[\s\[])-?\d+(?=[,\]}])", text))
    if kind <= 1 and found:
        one = draw.choice(found)
        text = text[: one.start()] + draw.choice(PLACES) + text[one.end() :]
    elif kind == 2:
        n = draw.choice([500, 990, 5000, 200_000])
        text = f'{text[:-1]}, "x": {"[" * n}{"]" * n}}}'
    elif kind == 3:
        one = draw.choice(["[]", "{}", '{"":0}', "0"])
        text = f'{text[:-1]}, "x": [{",".join([one] * draw.choice([1000, 600_000]))}]}}'
    elif kind == 4:
        return sealed(None, arrays, text=text.encode().replace(b"a.svm", draw.choice(BYTES)))
    elif kind == 5:
        return sealed(
            None, arrays, text=text.encode(draw.choice(["utf-16", "utf-32", "utf-8-sig"]))
        )
    else:
        text = json.dumps(draw.choice(WHOLES))
    return sealed(None, arrays, text=text.encode())
