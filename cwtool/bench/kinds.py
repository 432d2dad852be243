"""Whether the values of TOML tables have the types that are declared for them."""

from __future__ import annotations

from math import isfinite
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from cwtool.errors import UsageError


def check_kinds(declared: Any, table: dict[str, Any], where: str) -> None:
    """Refuse the first value whose type is not the one that its name has in a class or a function;
    names that are not declared there may have any."""
    hints = get_type_hints(declared)
    for key, value in table.items():
        if key in hints and not fits(value, hints[key]):
            raise UsageError(
                f"{where}: {key!r} is {str(value)[:60]}, which is no {_shown(hints[key])}"
            )


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is one of this type; a whole number is also a number."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is Any:
        return True
    if kind is UnionType:
        return any(fits(value, one) for one in inner)
    if kind is float:
        return type(value) in (int, float) and isfinite(value)
    if kind is int:
        return type(value) is int
    if kind is list:
        return isinstance(value, list) and all(fits(one, inner[0]) for one in value)
    if kind is dict:
        return isinstance(value, dict) and all(fits(one, inner[1]) for one in value.values())
    return isinstance(value, kind)


def _shown(hint: Any) -> str:
    """The name of the expected type, for a message."""
    words = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    words |= {list: "list of such values", dict: "table of such values"}
    return words.get(get_origin(hint) or hint, "value of it")
