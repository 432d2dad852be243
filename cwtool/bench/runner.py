"""Running a suite: finding its data, choosing parameters by cross-validation, measuring cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cwtool.bench import cells as work
from cwtool.bench.cells import Cell, Store
from cwtool.bench.others import PROGRAMS
from cwtool.bench.results import Record, Results
from cwtool.bench.sources import Source, resolve
from cwtool.bench.suite import Experiment, Method, Suite
from cwtool.messages.console import Console
from cwtool.parallel import Engine, Outcome
from cwtool.records import dataclass
from cwtool.validation import best, points


@dataclass(frozen=True)
class Place:
    """The place of a cell in the suite, before its parameters are chosen."""

    experiment: Experiment
    data: str
    source: Source
    method: str
    given: Method
    point: dict[str, Any]
    seed: int

    def candidates(self, folds: int) -> list[tuple[dict[str, Any], Cell]]:
        """The points of the grid with the cells that judge them on the training rows. A source
        that is the same for all repeats is judged once."""
        options = {k: v for k, v in self.experiment.options.items() if k == "passes"}
        seed = self.seed if self.source.fresh else 0
        return [
            (
                point,
                Cell(
                    "validation",
                    self.source,
                    self.given.algo,
                    {**self.given.params, **self.point, **point},
                    seed,
                    {"folds": folds, **options},
                ),
            )
            for point in points(self.given.grid)
        ]

    def cell(self, chosen: dict[str, Any]) -> Cell:
        """The cell that measures this place with the chosen parameters."""
        params = {**self.given.params, **self.point, **chosen}
        options = self.experiment.options
        return Cell(self.experiment.task, self.source, self.given.algo, params, self.seed, options)


def places(suite: Suite, folder: Path | None, cache: str = "") -> tuple[list[Place], list[str]]:
    """All places of a suite, those with the same data together, and the names of absent data."""
    sources = {name: resolve(name, table, folder, cache) for name, table in suite.data.items()}
    found = []
    for experiment in suite.experiments.values():
        for data in experiment.data or suite.data:
            source = sources[data]
            if source is None:
                continue
            for method in experiment.methods or suite.methods:
                given = suite.methods[method]
                if not given.algo or absent_program(given):
                    continue
                found += [
                    Place(experiment, data, source, method, given, point, seed)
                    for point in given.points
                    for seed in range(experiment.repeats or suite.repeats)
                ]
    return found, [name for name, source in sources.items() if source is None]


def absent_program(method: Method) -> str:
    """How to install the program that a method needs; empty if it needs none or has it."""
    program = PROGRAMS.get(method.algo)
    return program.absent if program else ""


def run(
    suite: Suite,
    folder: Path | None,
    console: Console,
    *,
    store: Store | None = None,
    engine: Engine | None = None,
    again: bool = False,
    cache: str = "",
) -> Results:
    """Choose parameters by cross-validation, then measure. Cells that are stored are not computed
    again unless `again`. In the folder `cache` are rows of files that were parsed before."""
    found, absent = places(suite, folder, cache)
    missing = {m.label: how for m in suite.methods.values() if (how := absent_program(m))}
    results = Results(suite, absent=absent, missing=missing)

    def done(cells: list[Cell], what: str) -> dict[str, Outcome]:
        title = f"{suite.name}: {what}"
        return work.run(cells, console, store=store, engine=engine, again=again, title=title)

    grids = [place.candidates(suite.folds) for place in found]
    judged = done([cell for grid in grids if len(grid) > 1 for _, cell in grid], "choosing")
    chosen = [_chosen(grid, judged, suite.choose_by) for grid in grids]
    final = [place.cell(point or {}) for place, point in zip(found, chosen, strict=True)]
    usable = [cell for cell, point in zip(final, chosen, strict=True) if point is not None]
    measured = done(usable, "measuring")
    for place, point, cell, grid in zip(found, chosen, final, grids, strict=True):
        outcome = _unjudged(grid, judged) if point is None else measured[cell.name]
        at = place.experiment.name, place.data, place.method, place.point, place.seed
        results.add(Record(*at, cell, outcome, point or {}))
    return results


Grid = list[tuple[dict[str, Any], Cell]]  # points with the cells that judge them


def _chosen(grid: Grid, judged: dict[str, Outcome], metric: str) -> dict[str, Any] | None:
    """The best point; the only one needs no judging."""
    if len(grid) == 1:
        return grid[0][0]
    return best([(point, judged[cell.name].result) for point, cell in grid], metric)


def _unjudged(grid: Grid, judged: dict[str, Outcome]) -> Outcome:
    reasons = {judged[cell.name].failure for _, cell in grid} - {""}
    return Outcome(failure="no point of the grid could be judged: " + "; ".join(reasons))
