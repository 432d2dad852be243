"""Merging: what an algorithm says of how states that learned different rows become one.

All parts started from one base. A merge is one step over all parts in their order; it is not
associative. Several rules may be possible, of which one is chosen on rows that no part has learned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from cwtool.data.rows import Floats, Ints
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import State


class Rule(NamedTuple):
    """One way of merging: with an exponent e the gains of c parts count c^e times their mean."""

    name: str
    exponent: float = 0.0


INC = Rule("inc")  # the mean weighted by the precision that each part has gained
EXPONENTS = {"0": 0.0, "1/4": 0.25, "1/2": 0.5, "3/4": 0.75, "1": 1.0}
NAT = {text: Rule(f"nat({text})", e) for text, e in EXPONENTS.items()}  # natural parameters
SUM = {text: Rule(f"sum({text})", e) for text, e in EXPONENTS.items()}  # first-order weights


@dataclass(frozen=True)
class Part:
    """A state that goes into a merge. `unit` is its row scale divided by that of the merge.
    `places` has, for each place of a column in the merge, that of this state; -1 where it has
    none. A state may leave out features that are as in the base."""

    state: State
    unit: float = 1.0
    places: Sequence[int] = field(default=(0,))

    def columns(self, slots: Ints) -> Floats:
        """The columns of the features with these slots: [feature, column, place]."""
        state, places = self.state, np.array(self.places)
        there = np.flatnonzero(places >= 0)
        found = np.zeros((len(slots), len(state.layout.columns), len(places)))
        c = 0
        for table, group in zip(state.tables, state.layout.tables, strict=True):
            for k in range(len(group)):
                found[:, c, there] = table[slots[:, None], k * state.places + places[there]]
                c += 1
        return found


class Merger(ABC):
    """The merge of these parts, which learned from this base."""

    def __init__(self, algorithm: Any, base: Part, parts: Sequence[Part]) -> None:
        self.algorithm = algorithm
        self.base = base
        self.parts = list(parts)

    @abstractmethod
    def put(self, state: State, rule: Rule, run: Run, only: Ints | None = None) -> None:
        """Put the merge by this rule into a new state. With `only`, the features with these ids,
        ascending, are enough: the state is to predict rows that have no others. They are the same
        for all rules that are tried."""


class Merging(NamedTuple):
    """How states of an algorithm are merged: the rules in the order in which they are tried, and
    those that are used where there are no rows to choose by, with a base and without one."""

    kind: type[Merger]
    rules: tuple[Rule, ...]
    with_base: Rule
    without_base: Rule


class Refusal(NamedTuple):
    """Why models of an algorithm cannot be merged, and what works instead."""

    reason: str
    instead: str = "train one model on all files"


def power(c: Floats, exponent: float) -> Floats:
    """c^(e - 1). Square roots are rounded correctly everywhere, and `pow` is not."""
    r = np.sqrt(c)
    found: Floats
    if exponent == 0.0:
        found = 1 / c
    elif exponent == 0.25:
        found = 1 / (r * np.sqrt(r))
    elif exponent == 0.5:
        found = 1 / r
    elif exponent == 0.75:
        found = 1 / np.sqrt(r)
    else:
        found = np.ones_like(c)
    return found
