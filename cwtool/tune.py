"""Tuning: every point of a grid is judged by cross-validation, or in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from cwtool import progressive
from cwtool.console import Console
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Rows
from cwtool.data.sources import absolute
from cwtool.errors import DataError
from cwtool.grid import PROGRESSIVE, TIME, TuneOptions
from cwtool.parallel import KILLED, Outcome, attempt, opened
from cwtool.run import Run
from cwtool.train_options import check_passes
from cwtool.validation import METRICS, Judged, Point, best, cross_validate, read


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
        read = self.options.read_of(self.point)
        return _rows(self.paths, read, labels.multiclass, labels.positive)

    def judge(self) -> Judged:
        options = self.options
        rows, labels = self.data
        ask = options.metric == "log_loss"
        run = Run(options.seed, max_memory=options.max_memory, calibrate=ask)
        return cross_validate(
            lambda: options.model(self.point, replace(labels)),
            rows,
            options.folds,
            run,
            passes=options.passes_of(self.point),
            shuffled=False,
            by_time=options.by == TIME,
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
    """The best point by the mean of the metric, the first of several equal ones."""
    judged = progressive.judge if options.by == PROGRESSIVE else _cross_validated
    candidates = options.points
    outcomes = judged(paths, options, candidates, console)
    for point, outcome in zip(candidates, outcomes, strict=True):
        failed = {"failure": outcome.failure} if outcome.failure else {}
        console.event("point", {"params": point, **summary(outcome.result), **failed})
    winner = best(
        [(point, found.result) for point, found in zip(candidates, outcomes, strict=True)],
        options.metric,
    )
    if winner is None:
        reason = outcomes[0].failure or f"some fold has no value of {options.metric}"
        raise DataError(f"no point could be judged: {reason}")
    for name, values in options.grid.items():
        side = edge(winner.get(name), values)
        if side:
            console.warn(
                f"the best `{name}`, {winner[name]:g}, is the {side} of the grid; widen it"
            )
    algo = options.algo_of(winner)
    found = {"algo": algo, "metric": options.metric, "by": options.by, "params": winner}
    console.event("winner", found | console.told())
    return winner


def _cross_validated(
    paths: list[str], options: TuneOptions, candidates: list[Point], console: Console
) -> list[Outcome]:
    options = replace(options, read=replace(options.read, jobs=1))
    for point in candidates:
        check_passes(options.model(point, Labels()), options.passes_of(point))
    places = tuple(map(absolute, paths))  # processes may start elsewhere
    trials = [Trial(places, options, point) for point in candidates]
    _ = trials[0].data  # data that cannot be read is refused before any work
    return _outcomes(trials, console)


def edge(value: Any, values: list[Any]) -> str | None:
    """Whether a number is the smallest or the largest of several different ones."""
    numbers = {v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)}
    if len(numbers) < 2 or len(numbers) < len(set(values)):
        return None
    return {min(numbers): "smallest", max(numbers): "largest"}.get(value)


def _outcomes(trials: list[Trial], console: Console) -> list[Outcome]:
    """What came of each trial."""
    found: dict[int, Outcome] = {}
    options = trials[0].options.engine
    with console.progress("tune") as progress, opened(options) as engine:
        for number, outcome in engine.each(_outcome, trials, lambda trial: KILLED):
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
        several = known and len(values) > 1
        found[f"{name}_sd"] = float(np.std(values, ddof=1)) if several else None
    return found
