"""Dual coordinate ascent in passes over rows, of one class or of several at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.data.rows import Floats
from cwtool.records import dataclass


class Start(NamedTuple):
    """What an ascent starts from: the signs of the rows, mu, and the dual variables (None: 0)."""

    y: Floats
    mu: Floats
    a: Floats | None = None


class Ascended(NamedTuple):
    """The result of an ascent: the mean, the dual variables, the number of passes."""

    mu: Floats
    a: Floats
    passes: int


@dataclass
class Ascents:
    """The dual variables a of rows of the signs y while passes are made over the rows, and what a
    pass keeps up with a, such as mu or w = L' mu. All have a line for each start."""

    y: Floats
    a: Floats
    carried: Floats

    @classmethod
    def of(cls, starts: Sequence[Start], carried: Sequence[Floats]) -> Ascents:
        """The ascents before their first pass."""
        y = np.array([start.y for start in starts])
        a = np.zeros(y.shape)
        for own, start in zip(a, starts, strict=True):
            if start.a is not None:
                own[:] = start.a
        return cls(y, a, np.array(carried))

    def repeat(self, one_pass: Callable[[Ascents], Floats], passes: int) -> list[Ascended]:
        """Make passes until the dual variables of a start change no more, at most so many. A pass
        returns the largest change of each; `mu` of the results is what is carried."""
        part, numbers = self, np.arange(len(self.y))
        found: dict[int, Ascended] = {}
        for done in range(1, passes + 1):
            change = one_pass(part)
            ended = change <= 1e-12 * np.maximum(1.0, part.a.max(axis=1, initial=0))
            for k in np.flatnonzero(ended | (done == passes)).tolist():
                found[int(numbers[k])] = Ascended(part.carried[k], part.a[k], done)
            if ended.all():
                break
            if ended.any():
                part, numbers = part._at(~ended), numbers[~ended]
        return [found[k] for k in range(len(self.y))]

    def _at(self, some: NDArray[np.bool_]) -> Ascents:
        return Ascents(self.y[some], self.a[some], self.carried[some])
