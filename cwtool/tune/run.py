"""Tuning: points of a grid are judged by cross-validation, or in one pass; the best one wins."""

from __future__ import annotations

from cwtool.messages.console import Console
from cwtool.records import dataclass
from cwtool.tune import folds as fold_trials
from cwtool.tune import progressive
from cwtool.tune.grid import PROGRESSIVE, TuneOptions
from cwtool.tune.halving import Cell
from cwtool.validation import Point, best


@dataclass(frozen=True)
class Tuned:
    """The best point, and what came of all points in every rung."""

    winner: Point
    cells: list[Cell]


def tune(paths: list[str], options: TuneOptions, console: Console) -> Tuned:
    """The best point by the mean of the metric, the first of several equal ones."""
    judged = progressive.judge if options.by == PROGRESSIVE else fold_trials.judge
    race = judged(paths, options, console)
    winner = best([(cell.point, cell.outcome.result) for cell in race.last], options.metric)
    assert winner is not None  # a rung in which no point has a value is refused
    for name, where in options.edges(winner):
        console.warn(f"the best `{name}`, {winner[name]:g}, is {where}; widen the grid")
    algo = options.algo_of(winner)
    found = {"algo": algo, "metric": options.metric, "by": options.by, "params": winner}
    console.event("winner", found | console.told())
    return Tuned(winner, race.cells)
