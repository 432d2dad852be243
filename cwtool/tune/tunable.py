"""What a grid may have: parameters of its algorithms, settings besides them, and ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from cwtool import registry
from cwtool.params import Param, declared
from cwtool.records import dataclass

# what a grid may have besides the parameters of the algorithm
SETTINGS = (
    Param("multiclass", str, "auto", "", choices=("rival", "ovr")),
    Param("algo", str, registry.DEFAULT, "", choices=tuple(registry.names())),
    Param("passes", int, 1, "", low=1),
    Param("normalize", str, "none", "", choices=("none", "l2", "columns")),
    Param("bias", bool, False, ""),
)
NEAR = 0.05  # of a range: a value that is as near to its end is told to be at the edge


def tunable(algos: Iterable[str]) -> list[Param]:
    """The parameters of these algorithms, each once, and the settings."""
    every = [p for name in algos for p in declared(registry.algorithm(name).Params)]
    return [*{p.name: p for p in reversed(every)}.values(), *SETTINGS]


@dataclass(frozen=True)
class Range:
    """The numbers from low to high, with equal shares for equal ratios: 0.01..100 has as many below
    1 as above it. If low is not above 0, equal differences have equal shares."""

    low: float
    high: float
    whole: bool = False

    def __str__(self) -> str:
        return f"{self.low:g}..{self.high:g}"

    def at(self, share: float) -> float:
        """The number with this share of the range below it, to three digits, so that it can be
        given as an option."""
        low, high = self._ends
        if self.low > 0:
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        rounded = math.floor(value) if self.whole else float(f"{value:.3g}")
        return min(max(rounded, self.low), self.high)

    def share(self, value: float) -> float:
        """The share of the range that lies below the value."""
        low, high = self._ends
        middle = value + 0.5 if self.whole else value
        if self.low > 0:
            return math.log(middle / low) / math.log(high / low)
        return (middle - low) / (high - low)

    @property
    def _ends(self) -> tuple[float, float]:
        """Whole numbers get equal shares as the numbers up to the next one."""
        return self.low, self.high + 1 if self.whole else self.high


Values = list[Any] | Range  # that a grid has for a parameter


def value_at(values: Values, share: float) -> Any:
    """One of the values, chosen by a number from 0 to 1."""
    return values.at(share) if isinstance(values, Range) else values[int(share * len(values))]


def edge(value: Any, values: Values, param: Param | None = None) -> str | None:
    """In words, where the value is at an edge beyond which the parameter has more values: the
    smallest or largest of several numbers, or near an end of a range."""
    if param is not None and value in (param.low, param.high):
        return None
    if isinstance(values, Range):
        share = values.share(value)
        side = "low" if share < NEAR else "high" if share > 1 - NEAR else None
        return f"near the {side} end of {values}" if side else None
    numbers = {v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)}
    if len(numbers) < 2 or len(numbers) < len(set(values)):
        return None
    side = {min(numbers): "smallest", max(numbers): "largest"}.get(value)
    return f"the {side} of the grid" if side else None
