"""Tuning: every point of a grid judged by cross-validation, the best one trained on all rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cwtool.bench.cells import Cell, run
from cwtool.bench.runner import best
from cwtool.bench.sources import Source
from cwtool.bench.suite import combinations_of
from cwtool.console import Console
from cwtool.errors import DataError
from cwtool.model import Model

METRICS = ("error", "auc", "f1")


@dataclass(frozen=True)
class TuneOptions:
    algo: str
    grid: dict[str, list[Any]]
    params: dict[str, Any] = field(default_factory=dict)  # the same for all points
    folds: int = 5
    metric: str = "error"
    passes: int = 1
    seed: int = 0
    jobs: int = 1
    max_memory: int = 0  # bytes that the algorithm may use, in each of the processes


def tune(source: Source, options: TuneOptions, console: Console) -> dict[str, Any]:
    """The point with the best mean over the folds; of equal ones, the first of the grid."""
    how = {
        "folds": options.folds,
        "passes": options.passes,
        "max_memory": options.max_memory,
        "shuffled": False,
    }
    seed = options.seed
    Model.new(options.algo, options.params, source.reading).algorithm.check_passes(options.passes)
    source.training()  # what is wrong with the data is said once, and before all work
    candidates = [
        (point, Cell("validation", source, options.algo, {**options.params, **point}, seed, how))
        for point in combinations_of(options.grid)
    ]
    cells = [cell for _, cell in candidates]
    outcomes = run(cells, console, jobs=options.jobs, title="tune")
    for point, cell in candidates:
        outcome = outcomes[cell.name]
        console.event("point", {"params": point, **summary(outcome.result), **_failed(outcome)})
    winner = best(candidates, outcomes, options.metric)
    if winner is None:
        failures = [outcomes[cell.name].failure for cell in cells]
        raise DataError(f"no point could be judged: {failures[0] or 'no fold has both classes'}")
    console.event("winner", {"algo": options.algo, "metric": options.metric, "params": winner})
    return winner


def summary(result: dict[str, list[Any]]) -> dict[str, Any]:
    """Mean and standard deviation over the folds; None where a fold has no value."""
    found: dict[str, Any] = {}
    for name in METRICS:
        values = result.get(name, [None])
        known = None not in values
        found[name] = float(np.mean(values)) if known else None
        found[f"{name}_sd"] = float(np.std(values, ddof=1)) if known else None
    return found


def _failed(outcome: Any) -> dict[str, str]:
    return {"failure": outcome.failure} if outcome.failure else {}
