"""Declarations of JSON values, and the check of a value against them.

A check raises Damage in words that name the place of the value, as in history.0.files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from sys import float_info
from typing import Any

from cwtool.errors import Damage

MOST, LARGEST = 1 << 53, float_info.max  # of whole numbers, and of all
Check = Callable[[Any, str], None]


def _wrong(value: Any, place: str, wanted: str) -> Damage:
    kinds = {dict: "an object", list: "a list", type(None): "null"}
    shown = kinds.get(type(value)) or ascii(value)[:40]
    return Damage(f"its {place} is {shown}; it must be {wanted}")


def whole(low: int = 0, high: int = MOST) -> Check:
    """A whole number within these bounds."""

    def check(value: Any, place: str) -> None:
        if type(value) is not int or not low <= value <= high:
            raise _wrong(value, place, "a whole number in its range")

    return check


def number(low: float = -inf, high: float = inf, *, none: bool = False) -> Check:
    """A finite number within these bounds; with `none` it may be null. Whole numbers have at
    most 53 bits, because NumPy 1 does not compute with longer ones."""

    def check(value: Any, place: str) -> None:
        if value is None and none:
            return
        most = LARGEST if isinstance(value, float) else MOST if type(value) is int else -1
        if most < 0 or not -most <= value <= most or not low <= value <= high:
            raise _wrong(value, place, "a number in its range")

    return check


def text(longest: int = 4096, choices: tuple[str, ...] = ()) -> Check:
    """Text that can be printed, or one of these words."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, str) or len(value) > longest:
            raise _wrong(value, place, "text")
        if choices and value not in choices:
            raise _wrong(value, place, f"one of {', '.join(choices)}")
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise _wrong(value, place, "text that can be printed")

    return check


NAME = text(200)  # of an entry


def flag(value: Any, place: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise _wrong(value, place, "true or false")


def items(each: Check, length: int = -1, most: int = MOST) -> Check:
    """A list, of this length if it is given, and of no more than `most` items."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, list) or len(value) > most or length not in (-1, len(value)):
            raise _wrong(value, place, "a list of the right length")
        for k, item in enumerate(value):
            each(item, f"{place}.{k}")

    return check


def row(*each: Check) -> Check:
    """A list of values, each with its own check."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, list) or len(value) != len(each):
            raise _wrong(value, place, "a list of the right length")
        for k, (item, check_item) in enumerate(zip(value, each, strict=True)):
            check_item(item, f"{place}.{k}")

    return check


def entries(
    required: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
    others: Check | None = None,
) -> Check:
    """An object with these entries; `others`, if there may be any, pass that check."""
    known = {**required, **(optional or {})}

    def check(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(value, place, "an object")
        for name in required:
            if name not in value:
                raise Damage(f"its {place} has no entry {name}")
        for name, item in value.items():
            check_item = known.get(name, others)
            if check_item is None:
                raise Damage(f"its {place} has an entry {ascii(name)[:60]} that is not known")
            if name not in known:
                NAME(name, place)
            check_item(item, f"{place}.{name}" if place != HEADER else name)

    return check


def either(*checks: Check) -> Check:
    """A value that passes one of the checks; otherwise the error of the last check is raised."""

    def check(value: Any, place: str) -> None:
        for one in checks[:-1]:
            try:
                one(value, place)
            except Damage:
                continue
            return
        checks[-1](value, place)

    return check


def anything(value: Any, place: str) -> None:
    """A value that is checked elsewhere."""


def plain(value: Any, place: str) -> None:
    """Any JSON value that can be printed: numbers, text, and lists and objects of these."""
    if isinstance(value, list):
        PLAIN_LIST(value, place)
    elif isinstance(value, dict):
        PLAIN_OBJECT(value, place)
    elif isinstance(value, str):
        PLAIN_TEXT(value, place)
    elif not isinstance(value, bool):
        PLAIN_NUMBER(value, place)


PLAIN_LIST, PLAIN_OBJECT = items(plain), entries({}, others=plain)
PLAIN_TEXT, PLAIN_NUMBER = text(), number(-1e15, 1e15, none=True)
HEADER = "header"  # the place of the whole
