"""Successive halving (Jamieson, Talwalkar 2016): all points are judged on a small share of the
rows, and the best of them on larger and larger shares. Without it, one rung has all rows."""

from __future__ import annotations

from cwtool.errors import DataError
from cwtool.messages.console import Console
from cwtool.parallel import Outcome
from cwtool.records import dataclass
from cwtool.tune.grid import TuneOptions
from cwtool.validation import Point, ranked, summary

LEAST = 200  # rows of the first rung


@dataclass(frozen=True)
class Rung:
    """A number of points, and the share of the rows on which they are evaluated."""

    points: int
    share: float


@dataclass(frozen=True)
class Cell:
    """The result of a point of the grid in one rung."""

    point: Point
    outcome: Outcome
    rung: int  # from 1
    rows: int


def rungs(points: int, factor: int, rows: int) -> list[Rung]:
    """Rung k = 0 .. s has the best n / f^k of n points, rounded up, and the share f^(k - s) of the
    rows. s is the greatest number with f^s < n, so that two points or more reach all rows; it is
    less if the first rung would have fewer than LEAST rows. A factor of 0: one rung."""
    last = 0
    while factor and factor ** (last + 1) < points and rows >= LEAST * factor ** (last + 1):
        last += 1
    return [Rung(-(-points // factor**k), 1 / factor ** (last - k)) for k in range(last + 1)]


class Race:
    """The remaining points, and the results so far."""

    def __init__(self, options: TuneOptions, rows: int, console: Console) -> None:
        self.options, self.console = options, console
        self.points = options.points
        self.rungs = rungs(len(self.points), options.halving, rows)
        self.cells: list[Cell] = []
        self.ended = 0  # rungs

    @property
    def last(self) -> list[Cell]:
        """The results of the last rung that was completed."""
        return [cell for cell in self.cells if cell.rung == self.ended]

    def end_rung(self, outcomes: list[Outcome], rows: int) -> list[int]:
        """Tell what came of the points in this rung, which had so many rows; the places, among the
        points so far, of those that go on."""
        self.ended += 1
        pairs = list(zip(self.points, outcomes, strict=True))
        self.cells += [Cell(*pair, self.ended, rows) for pair in pairs]
        rung = {"rung": self.ended, "rows": rows} if len(self.rungs) > 1 else {}
        for point, outcome in pairs:
            failed = {"failure": outcome.failure} if outcome.failure else {}
            found = {"params": point, **summary(outcome.result), **failed}
            self.console.event("point", rung | {"metric": self.options.metric} | found)
        order = ranked([(p, found.result) for p, found in pairs], self.options.metric)
        if not order:
            reason = outcomes[0].failure or f"some fold has no value of {self.options.metric}"
            raise DataError(f"no combination of the grid could be evaluated: {reason}")
        if self.ended < len(self.rungs):
            order = order[: self.rungs[self.ended].points]
        places = [k for k, point in enumerate(self.points) if point in order]
        self.points = [self.points[k] for k in places]
        return places
