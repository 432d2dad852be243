"""A model file as its header and the bytes of its arrays, and back, with lengths and checksum."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np

PRELUDE = struct.Struct("<7sBQQ")
DTYPES = {"<f8": 8, "<i8": 8, "<i4": 4, "|u1": 1}
Parts = tuple[dict[str, Any], list[bytes]]


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


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a JSON value."""
    if path:
        yield path
    inside: Any = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else inside:
        yield from places(item, (*path, key))


def holder_of(header: Any, path: tuple[Any, ...]) -> Any:
    """The object or list that has the value of this place."""
    for key in path[:-1]:
        header = header[key]
    return header
