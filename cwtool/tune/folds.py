"""Tuning by cross-validation: every point on every fold is a trial of its own, in threads or in
processes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from threading import Lock
from typing import Any

import numpy as np

from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Rows
from cwtool.data.sources import absolute
from cwtool.messages.console import Console, Progress
from cwtool.order import permutation
from cwtool.parallel import KILLED, Outcome, attempt, opened
from cwtool.run import Run
from cwtool.train.options import check_passes
from cwtool.tune.grid import TIME, TuneOptions
from cwtool.tune.halving import Race
from cwtool.validation import Point, evaluate, fit, folds, gathered, read, time_folds

CUTTING = Lock()


@dataclass(frozen=True)
class Source:
    """What rows are read from; each process reads them once, and its threads share them."""

    paths: tuple[str, ...]
    read: ReadOptions
    multiclass: str
    positive: float | None


@dataclass(frozen=True)
class Part:
    """A fold of a share of the rows."""

    source: Source
    share: float
    fold: int
    folds: int
    by_time: bool
    seed: int


@dataclass(frozen=True)
class Trial:
    """One point on one fold, with all that a process needs to judge it."""

    options: TuneOptions
    point: Point
    part: Part

    def judge(self) -> dict[str, Any]:
        """The metrics on the fold of a model that has learned the others."""
        options = self.options
        ask = options.metric == "log_loss"
        run = Run(options.seed, max_memory=options.max_memory, calibrate=ask)
        with CUTTING:  # threads wait for what another one cuts
            learned, checked, labels = _cut(self.part)
        model = options.model(self.point, replace(labels))
        return evaluate(fit(model, learned, run, options.passes_of(self.point)), checked)


@lru_cache(maxsize=1)
def _rows(source: Source) -> tuple[Rows, Labels]:
    """The rows of these files and their labels."""
    labels = Labels(multiclass=source.multiclass)
    if source.positive is not None:
        labels = Labels.against_rest(source.positive)
    return read(source.paths, labels, source.read), labels


@lru_cache(maxsize=2)  # of neighbouring trials, some may be on this part and some on the next
def _cut(part: Part) -> tuple[Rows, Rows, Labels]:
    """The rows to learn, those to check, and their labels."""
    rows, labels = _rows(part.source)
    if part.share < 1:
        some = permutation(rows.n_rows, part.seed)[: ceil(part.share * rows.n_rows)]
        rows = rows.take(np.sort(some))
    cuts = list((time_folds if part.by_time else folds)(rows.y, part.folds, part.seed))
    learned, checked = cuts[part.fold]
    return rows.take(learned), rows.take(checked), labels


def _outcome(trial: Trial) -> Outcome:
    return attempt(trial.judge)


def judge(paths: list[str], options: TuneOptions, console: Console) -> Race:
    """The metrics of each point on all folds."""
    points, labels = options.points, options.labels
    for point in points:
        check_passes(options.model(point, Labels()), options.passes_of(point))
    if not _by_row(options, points):  # processes read the rows at the same time
        options = replace(options, read=replace(options.read, jobs=1))
    places = tuple(map(absolute, paths))  # processes may start elsewhere
    source = Source(places, options.read_of(points[0]), labels.multiclass, labels.positive)
    with console.progress("tune") as progress:
        with progress.ticking(lambda: {"text": "reading the rows"}):
            n_rows = _rows(source)[0].n_rows  # data that cannot be read is refused before any work
        race = Race(options, n_rows, console)
        for rung in race.rungs:
            whole = Part(source, rung.share, 0, options.folds, options.by == TIME, options.seed)
            race.end_rung(_outcomes(race, whole, progress), ceil(rung.share * n_rows))
    return race


def _by_row(options: TuneOptions, points: list[Point]) -> bool:
    """Whether all points are of learners of single rows, which do their work in kernels."""
    return all(options.model(point, Labels()).batch is None for point in points)


def _trials(race: Race, whole: Part) -> list[tuple[int, Trial]]:
    """The trials of a rung, with the places of their points. Those on the same rows are next to
    each other, for a process keeps the rows of one part."""
    options, found = race.options, []
    reads = [options.read_of(point) for point in race.points]
    for read_options in dict.fromkeys(reads):
        source = replace(whole.source, read=read_options)
        for fold in range(whole.folds):
            part = replace(whole, source=source, fold=fold)
            same = [k for k, other in enumerate(reads) if other == read_options]
            found += [(k, Trial(options, race.points[k], part)) for k in same]
    return found


def _outcomes(race: Race, whole: Part, progress: Progress) -> list[Outcome]:
    """What came of each point on all folds."""
    places, trials = zip(*_trials(race, whole), strict=True)
    found: dict[int, Outcome] = {}

    def status() -> dict[str, Any]:
        rung = f"rung {race.ended + 1} of {len(race.rungs)}  " if len(race.rungs) > 1 else ""
        text = f"{rung}{len(found):,} of {len(trials):,} folds"
        return {"text": text, "done": len(found) / len(trials)}

    by_row = _by_row(race.options, race.points)
    with progress.ticking(status), opened(race.options.engine, in_kernels=by_row) as engine:
        for number, outcome in engine.each(_outcome, trials, lambda trial: KILLED):
            found[number] = outcome
    by_point: list[list[Outcome]] = [[] for _ in race.points]
    for number, place in enumerate(places):
        by_point[place].append(found[number])
    return list(map(_together, by_point))


def _together(of_folds: list[Outcome]) -> Outcome:
    """The metrics of a point, or why it failed on the first fold on which it did."""
    failed = [outcome for outcome in of_folds if outcome.failure]
    return failed[0] if failed else Outcome(gathered([outcome.result for outcome in of_folds]))
