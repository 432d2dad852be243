"""Parameters are declared once; options, checks, the model header and tables derive from that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from typing import Any, TypeVar

from cwtool.errors import UsageError
from cwtool.records import dataclass

P = TypeVar("P")

AUTO = "auto"
MOST = 1 << 53  # the greatest whole number
LARGE = 1e100  # the greatest number, and 1 / LARGE the least above 0: their squares are numbers too


@dataclass(frozen=True)
class Param:
    """The declaration of one parameter: enough to make its option, its check and its help."""

    name: str
    kind: type
    default: Any
    help: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    choices: tuple[str, ...] = ()
    auto: bool = False
    or_days: bool = False  # also a number of days, such as 30d
    formerly: tuple[str, ...] = ()  # names that it had before; they are still understood
    # a model file with more than `unasked`, or less than `unasked_below` but more than 0, or one of
    # the choices in `unasked_choices`, which take long, is resumed only if the value is given again
    unasked: float = math.inf
    unasked_below: float = 0
    unasked_choices: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and those that it had before."""
        return (self.name, *self.formerly)

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
        words = " and ".join(parts) + (", or days such as 30d" if self.or_days else "")
        return f"auto, or {words or 'a number'}" if self.auto else words

    def takes_long(self, value: Any) -> bool:
        """Whether a model file may not ask for this value by itself."""
        if isinstance(value, str):
            return value in self.unasked_choices
        return bool(value > self.unasked or 0 < value < self.unasked_below)

    def check(self, value: Any) -> Any:
        """The value converted to the type of the parameter; otherwise an error that says what is
        allowed."""
        if self.auto and value == AUTO:
            return AUTO
        if self.choices:
            if value not in self.choices:
                raise UsageError(f"`{self.name}` is {value!r}; it must be {self.range}")
            return value
        if self.kind is bool:
            return bool(value)
        if self.or_days and isinstance(value, str) and value.endswith("d"):
            return self._days(value)
        try:
            number = self.kind(value)
            if not isinstance(value, str) and number != value:  # 2.5 is no whole number
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            kind = f"{'auto or ' if self.auto else ''}a {'whole ' * (self.kind is int)}number"
            kind += ", or days such as 30d" if self.or_days else ""
            raise UsageError(f"`{self.name}` is {value!r}; it must be {kind}") from None
        below = number <= self.low if self.open_low else number < self.low
        most = min(self.high, MOST) if self.kind is int else self.high
        if below or number > most or (self.kind is float and not math.isfinite(number)):
            raise UsageError(f"`{self.name}` is {value}; it must be {self.range}")
        if self.kind is float and number and not 1 / LARGE <= abs(number) <= LARGE:
            raise UsageError(
                f"`{self.name}` is {value}; a number other than 0 must be between {1 / LARGE:g} "
                f"and {LARGE:g}, or their negatives"
            )
        return number

    def _days(self, value: str) -> str:
        """A number of days as it is kept, such as 30d or 0.5d."""
        try:
            number = float(value[:-1])
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise UsageError(f"`{self.name}` is {value}; a number of days is above 0, such as 30d")
        return f"{number:.12g}d"


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
    or_days: bool = False,
    formerly: tuple[str, ...] = (),
    unasked: float = math.inf,
    unasked_below: float = 0,
    unasked_choices: tuple[str, ...] = (),
) -> Any:
    """Declare a dataclass field as a parameter: at least `low`, or greater than `above`. `help` is
    one or more complete sentences: what it does, its unit, when to change it. `unasked` is the
    most of it that a resumed model may ask for by itself, where the time grows with it;
    `unasked_below` is the least, where the time falls with it and 0 means something else;
    `unasked_choices` are choices that take long."""
    described = {
        "kind": kind or type(default),
        "default": default,
        "help": help,
        "low": low if above is None else above,
        "high": high,
        "open_low": above is not None,
        "choices": choices,
        "auto": auto,
        "or_days": or_days,
        "formerly": formerly,
        "unasked": unasked,
        "unasked_below": unasked_below,
        "unasked_choices": unasked_choices,
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
    """A checked instance of a parameter dataclass from the values that were given, by their names
    or by names that they had before."""
    known = {name: p for p in declared(cls) for name in p.names}
    for name in given:
        if name not in known:
            names = ", ".join(p.name for p in declared(cls))
            raise UsageError(f"there is no parameter {name!r} here; the parameters are {names}")
    return cls(**{known[name].name: known[name].check(value) for name, value in given.items()})
