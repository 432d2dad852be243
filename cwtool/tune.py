"""Tuning: every point of a grid of parameters is judged by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.console import Console
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Rows
from cwtool.errors import DataError
from cwtool.model import Model
from cwtool.parallel import KILLED, Outcome, attempt, surviving
from cwtool.run import Run
from cwtool.trainer import check_passes
from cwtool.validation import METRICS, Judged, Point, best, cross_validate, points, read


@dataclass(frozen=True)
class TuneOptions:
    """How this run tunes."""

    algo: str
    grid: dict[str, list[Any]]
    params: Point = field(default_factory=dict)  # the same for all points
    multiclass: str = "auto"  # unless the grid has it
    positive: float | None = None  # the label that is told from all others
    class_weight: str = ""
    folds: int = 5
    metric: str = "error"
    passes: int = 1
    seed: int = 0
    jobs: int = 1  # processes
    max_memory: int = 0  # bytes that the algorithm may use in each of the processes
    read: ReadOptions = field(default_factory=ReadOptions)

    @property
    def labels(self) -> Labels:
        """The labels before rows are read."""
        if self.positive is not None:
            return Labels.against_rest(self.positive)
        return Labels(multiclass=self.grid.get("multiclass", [self.multiclass])[0])

    def model(self, point: Point, labels: Labels) -> Model:
        """An untrained model with the parameters of this point."""
        params, labels = {**self.params, **point}, replace(labels)
        labels.multiclass = params.pop("multiclass", labels.multiclass)
        return Model.new(self.algo, params, class_weight=self.class_weight, labels=labels)


@dataclass(frozen=True)
class Trial:
    """One point of the grid, with all that a process needs to judge it."""

    paths: tuple[str, ...]
    options: TuneOptions
    point: Point

    @property
    def data(self) -> tuple[Rows, Labels]:
        """The rows and their labels."""
        labels = self.options.labels
        return _rows(self.paths, self.options.read, labels.multiclass, labels.positive)

    def judge(self) -> Judged:
        options = self.options
        rows, labels = self.data
        return cross_validate(
            lambda: options.model(self.point, labels),
            rows,
            options.folds,
            Run(options.seed, max_memory=options.max_memory),
            passes=options.passes,
            shuffled=False,
        )


@lru_cache(maxsize=1)
def _rows(
    paths: tuple[str, ...], options: ReadOptions, multiclass: str, positive: float | None
) -> tuple[Rows, Labels]:
    """The rows of these files and their labels; each process reads them once."""
    labels = Labels(multiclass=multiclass)
    if positive is not None:
        labels = Labels.against_rest(positive)
    return read(paths, labels, options), labels


def _outcome(trial: Trial) -> Outcome:
    return attempt(trial.judge)


def tune(paths: list[str], options: TuneOptions, console: Console) -> Point:
    """The point with the best mean over the folds, the first of several equal ones."""
    options = replace(options, read=replace(options.read, jobs=1))
    check_passes(options.model({}, Labels()), options.passes)
    places = tuple(str(Path(path).absolute()) for path in paths)  # processes may start elsewhere
    trials = [Trial(places, options, point) for point in points(options.grid)]
    _ = trials[0].data  # data that cannot be read is refused before any work
    outcomes = _outcomes(trials, console)
    for trial, outcome in zip(trials, outcomes, strict=True):
        failed = {"failure": outcome.failure} if outcome.failure else {}
        console.event("point", {"params": trial.point, **summary(outcome.result), **failed})
    winner = best(
        [(t.point, outcome.result) for t, outcome in zip(trials, outcomes, strict=True)],
        options.metric,
    )
    if winner is None:
        reason = outcomes[0].failure or f"some fold has no value of {options.metric}"
        raise DataError(f"no point could be judged: {reason}")
    for name, values in options.grid.items():
        side = edge(winner[name], values)
        if side:
            console.warn(
                f"the best `{name}`, {winner[name]:g}, is the {side} of the grid; widen it"
            )
    console.event(
        "winner",
        {"algo": options.algo, "metric": options.metric, "params": winner, **console.told()},
    )
    return winner


def edge(value: Any, values: list[Any]) -> str | None:
    """Whether a number is the smallest or the largest of several different ones."""
    numbers = {v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)}
    if len(numbers) < 2 or len(numbers) < len(set(values)):
        return None
    return {min(numbers): "smallest", max(numbers): "largest"}.get(value)


def _outcomes(trials: list[Trial], console: Console) -> list[Outcome]:
    """What came of each trial."""
    found: dict[int, Outcome] = {}
    jobs = trials[0].options.jobs
    with console.progress("tune") as progress:
        for number, outcome in surviving(_outcome, trials, jobs, lambda trial: KILLED):
            found[number] = outcome
            progress.update(
                lambda: {
                    "text": f"{len(found):,} of {len(trials):,} points",
                    "done": len(found) / len(trials),
                }
            )
    return [found[number] for number in range(len(trials))]


def summary(judged: Judged) -> dict[str, float | None]:
    """Mean and standard deviation over the folds; None where a fold has no value."""
    found: dict[str, float | None] = {}
    for name in judged or METRICS:
        values = [value for value in judged.get(name, [None]) if value is not None]
        known = len(values) == len(judged.get(name, [None]))
        found[name] = float(np.mean(values)) if known else None
        found[f"{name}_sd"] = float(np.std(values, ddof=1)) if known else None
    return found
