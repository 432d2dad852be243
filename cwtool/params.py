"""A parameter is declared once; options, checks, model header and tables are derived from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from cwtool.errors import UsageError

P = TypeVar("P")

AUTO = "auto"


@dataclass(frozen=True)
class Param:
    """What is known of one parameter: enough to make its option, its check and its help."""

    name: str
    kind: type
    default: Any
    help: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    choices: tuple[str, ...] = ()
    auto: bool = False

    @property
    def option(self) -> str:
        return self.spellings[0]

    @property
    def spellings(self) -> tuple[str, ...]:
        """How it is written on the command line: -C and --C, --cov-rank."""
        long = "--" + self.name.replace("_", "-")
        return ("-" + self.name, long) if len(self.name) == 1 else (long,)

    @property
    def range(self) -> str:
        """The allowed values in words, for help and errors."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        parts = []
        if self.low > -math.inf:
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if self.high < math.inf:
            parts.append(f"at most {self.high:g}")
        words = " and ".join(parts)
        return f"auto, or {words or 'a number'}" if self.auto else words

    def check(self, value: Any) -> Any:
        """The value in its own type, or a sentence that says what is allowed."""
        if self.auto and value == AUTO:
            return AUTO
        if self.choices:
            if value not in self.choices:
                raise UsageError(f"{self.option} is {value!r}; it must be {self.range}")
            return value
        if self.kind is bool:
            return bool(value)
        try:
            number = self.kind(value)
            if not isinstance(value, str) and number != value:  # 2.5 is no whole number
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            kind = "a whole number" if self.kind is int else "a number"
            raise UsageError(f"{self.option} is {value!r}; it must be {kind}") from None
        below = number <= self.low if self.open_low else number < self.low
        if below or number > self.high or (self.kind is float and not math.isfinite(number)):
            raise UsageError(f"{self.option} is {value}; it must be {self.range}")
        return number


def param(
    default: Any,
    help: str,
    *,
    kind: type | None = None,
    low: float = -math.inf,
    above: float | None = None,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
    auto: bool = False,
) -> Any:
    """Declare a dataclass field as a parameter: at least `low`, or greater than `above`."""
    described = {
        "kind": kind or type(default),
        "default": default,
        "help": help,
        "low": low if above is None else above,
        "high": high,
        "open_low": above is not None,
        "choices": choices,
        "auto": auto,
    }
    return field(default=default, metadata={"param": described})


def declared(cls: type) -> list[Param]:
    """The parameters of a parameter dataclass, in the order they were declared."""
    return [
        Param(name=f.name, **f.metadata["param"])
        for f in fields(cls)
        if "param" in f.metadata and f.default is not MISSING
    ]


def build(cls: type[P], given: Mapping[str, Any]) -> P:
    """A checked instance of a parameter dataclass from the values that were given."""
    known = {p.name: p for p in declared(cls)}
    for name in given:
        if name not in known:
            raise UsageError(f"there is no parameter {name!r} here; there is: {', '.join(known)}")
    return cls(**{name: known[name].check(value) for name, value in given.items()})
