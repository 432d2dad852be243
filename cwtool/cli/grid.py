"""The grid of `cwtool tune`, from the texts of its options."""

from __future__ import annotations

from typing import Any

from cwtool.cli.declared import owners
from cwtool.errors import UsageError
from cwtool.params import Param
from cwtool.tune.tunable import Range, Values, tunable

FORM = "NAME=VALUE,VALUE,... or NAME=LOW..HIGH"


def parsed_grid(texts: tuple[str, ...], algo: str) -> dict[str, Values]:
    """The values of each parameter from texts such as C=0.1,1,10 or C=0.1..10, checked as its
    option is. With algo=arow,cw they may be parameters of any of these algorithms."""
    named = [text.partition("=")[2].split(",") for text in texts if text.startswith("algo=")]
    algos = [word.strip() for word in named[0] if word.strip()] if named else [algo]
    params = tunable(algos)
    known = {name: p for p in params for name in (p.name, *p.formerly)}
    grid: dict[str, Values] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals or not values.strip(","):
            raise UsageError(f"--grid {text!r} is not of the form {FORM}")
        if name not in known:
            others = owners(f"--{name}".replace("_", "-"))
            raise UsageError(
                f"--grid {text!r}: {', '.join(algos)} has no parameter {name!r}",
                f"choose one of {', '.join(p.name for p in params)}"
                + (
                    f"; or choose with --algo one of {', '.join(others)}, which have it"
                    * bool(others)
                ),
            )
        param = known[name]
        if param.name in grid:
            raise UsageError(f"--grid {param.name} is given twice", "list all values in one --grid")
        grid[param.name] = _values(param, text, values)
    return grid


def _values(param: Param, text: str, values: str) -> Values:
    """The values of one parameter."""
    low, dots, high = values.partition("..")
    if not dots:
        words = dict.fromkeys(word.strip() for word in values.split(",") if word.strip())
        return [_value(param, word) for word in words]
    if param.kind not in (int, float):
        raise UsageError(f"--grid {text!r}: a range has numbers, and {param.name} has none")
    start, end = (param.check(word.strip()) for word in (low, high))
    if isinstance(start, str) or isinstance(end, str) or not start < end:
        raise UsageError(f"--grid {text!r}: a range goes from a number to a greater one")
    return Range(start, end, whole=param.kind is int)


def _value(param: Param, word: str) -> Any:
    """The value of a parameter from its text."""
    if param.kind is bool:
        if word.lower() not in ("true", "false"):
            raise UsageError(f"`{param.name}` is {word!r}; it must be true or false")
        return word.lower() == "true"
    return param.check(word)
