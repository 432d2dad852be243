"""The header of a model file as JSON text, and back."""

from __future__ import annotations

import json
from typing import Any

from cwtool.errors import Damage, ModelError

# values and names of a header: more would take seconds, and up to 24 times its bytes of memory
MOST = 1 << 20


def _count(text: bytes) -> int:
    """How many values and names a JSON text has, about; an object takes the memory of several."""
    return text.count(b",") + text.count(b":") + text.count(b"[") + 2 * text.count(b"{")


def of(header: dict[str, Any]) -> bytes:
    """The text of a header. If it is too long, the older half of the history is left out, as often
    as it takes."""
    try:
        text = json.dumps(header, allow_nan=False).encode()
    except ValueError:
        raise too_large(header["algorithm"]) from None
    if _count(text) <= MOST:
        return text
    runs = header.get("history", [])
    if len(runs) < 2:
        raise ModelError(
            f"the {header['algorithm']} model has too many classes or files for a model file",
            "learn fewer files in one run",
        )
    return of({**header, "history": runs[len(runs) // 2 :]})


def too_large(algorithm: str) -> ModelError:
    """The error for a model with a number that is not finite."""
    return ModelError(
        f"the numbers of the {algorithm} model have become too large for a file",
        "look for very large values in the rows, or train with other parameters",
    )


def read(text: bytes) -> dict[str, Any]:
    """The header of a text, which is ASCII: ValueError if it is no JSON, and Damage if it is too
    long to be that of a model."""
    if _count(text) > MOST:
        raise Damage("its header is too long")
    header: dict[str, Any] = json.loads(
        text.decode("ascii"), parse_constant=_no_number, object_pairs_hook=_without_repeats
    )
    return header


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found
