"""A suite from its file to its results: data found, parameters chosen, cells done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.bench import cells as work
from cwtool.bench.cells import Cell, Outcome, Store
from cwtool.bench.results import Record, Results
from cwtool.bench.sources import Source, resolve
from cwtool.bench.suite import Experiment, Method, Suite, combinations_of
from cwtool.console import Console


@dataclass(frozen=True)
class Place:
    """Where a cell belongs, before its parameters are chosen."""

    experiment: Experiment
    data: str
    source: Source
    method: str
    given: Method
    point: dict[str, Any]
    seed: int

    def candidates(self, folds: int) -> list[tuple[dict[str, Any], Cell]]:
        """Points of the grid with the cells that judge them, on training rows alone. A source
        that is the same for all repeats is judged once."""
        points = combinations_of(self.given.grid)
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
            for point in points
        ]

    def cell(self, chosen: dict[str, Any]) -> Cell:
        params = {**self.given.params, **self.point, **chosen}
        options = self.experiment.options
        return Cell(self.experiment.task, self.source, self.given.algo, params, self.seed, options)


def places(suite: Suite, folder: Path | None) -> tuple[list[Place], list[str]]:
    """All places of a suite, and the data that is absent. Neighbours share their data."""
    sources = {name: resolve(name, table, folder) for name, table in suite.data.items()}
    found = []
    for experiment in suite.experiments.values():
        for data in experiment.data or suite.data:
            source = sources[data]
            if source is None:
                continue
            for method in experiment.methods or suite.methods:
                given = suite.methods[method]
                if not given.algo:
                    continue
                found += [
                    Place(experiment, data, source, method, given, point, seed)
                    for point in given.points
                    for seed in range(experiment.repeats or suite.repeats)
                ]
    return found, [name for name, source in sources.items() if source is None]


def best(
    candidates: list[tuple[dict[str, Any], Cell]],
    outcomes: dict[str, Outcome],
    metric: str = "error",
) -> dict[str, Any] | None:
    """The point with the best mean over the folds; of equal ones, the first of the grid."""
    if len(candidates) == 1 and candidates[0][1].name not in outcomes:  # it needed no judging
        return candidates[0][0]
    sign = 1 if metric == "error" else -1
    means = []
    for point, cell in candidates:
        values = outcomes[cell.name].result.get(metric, [])
        if values and None not in values:
            means.append((sign * float(np.mean(values)), point))
    return min(means, key=lambda pair: pair[0])[1] if means else None


def run(
    suite: Suite,
    folder: Path | None,
    console: Console,
    *,
    store: Store | None = None,
    jobs: int = 1,
    again: bool = False,
) -> Results:
    """Choose by cross-validation, then measure; what is stored is not done again."""
    found, absent = places(suite, folder)
    results = Results(suite, absent=absent)

    def done(cells: list[Cell], what: str) -> dict[str, Outcome]:
        title = f"{suite.name}: {what}"
        return work.run(cells, console, store=store, jobs=jobs, again=again, title=title)

    grids = [place.candidates(suite.folds) for place in found]
    judged = done([cell for grid in grids if len(grid) > 1 for _, cell in grid], "choosing")
    chosen = [best(grid, judged) for grid in grids]
    final = [place.cell(point or {}) for place, point in zip(found, chosen, strict=True)]
    usable = [cell for cell, point in zip(final, chosen, strict=True) if point is not None]
    measured = done(usable, "measuring")
    for place, point, cell, grid in zip(found, chosen, final, grids, strict=True):
        if point is None:
            reasons = {judged[c.name].failure for _, c in grid} - {""}
            outcome = Outcome(failure="no point of the grid could be judged: " + "; ".join(reasons))
        else:
            outcome = measured[cell.name]
        results.add(
            Record(
                place.experiment.name,
                place.data,
                place.method,
                place.point,
                place.seed,
                cell,
                outcome,
                point or {},
            )
        )
    return results
