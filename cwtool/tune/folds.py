"""Tuning by cross-validation: trials of points on folds, in threads or in processes. Points whose
models can learn side by side are judged in one trial."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from math import ceil
from threading import Lock
from typing import Any

import numpy as np

from cwtool import memory
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Ints, Longs, Rows
from cwtool.data.sources import absolute
from cwtool.messages.console import Console, Progress
from cwtool.model.model_group import ModelGroup, alike, cut
from cwtool.order import permutation
from cwtool.parallel import KILLED, Outcome, attempt, opened
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.train.options import check_passes
from cwtool.tune.grid import TIME, TuneOptions
from cwtool.tune.halving import Race
from cwtool.validation import (
    Point,
    evaluate,
    evaluate_all,
    fit,
    fold_of_rows,
    gathered,
    held_bytes,
    read,
    time_fold_of_rows,
)

CUTTING = Lock()
SPARE: list[ModelGroup] = []  # models that were judged, whose memory others may take


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
    """Some points on one fold, with all that a process needs to judge them. Several are of models
    that learn side by side, in the same number of passes."""

    options: TuneOptions
    points: tuple[Point, ...]
    part: Part

    def judge(self) -> list[dict[str, Any]]:
        """The metrics on the fold of models that have learned the others."""
        options, passes = self.options, self.options.passes_of(self.points[0])
        with CUTTING:  # threads wait for what another one reads and cuts
            (rows, labels), (learned, checked) = _rows(self.part.source), _cut(self.part)
            spare = SPARE.pop() if SPARE and len(self.points) > 1 else None
        models = [options.model(point, replace(labels)) for point in self.points]
        copied = passes > 1 or models[0].batch is not None
        held = held_bytes(rows, copied=copied, models=len(models))
        limit = memory.beside(held, memory.beside_workers(options.max_memory))
        ask = options.metric == "log_loss"
        if len(models) == 1:
            run = Run(options.seed, max_memory=limit, calibrate=ask)
            return [evaluate(fit(models[0], rows, run, passes, learned), rows, checked)]
        run = Run(options.seed, max_memory=memory.most(limit), calibrate=ask)
        group = ModelGroup(models, probabilities=True, spare=spare)
        found = evaluate_all(fit(group, rows, run, passes, learned), rows, checked)
        SPARE.append(group)
        return found

    def outcomes(self) -> list[Outcome]:
        """The metrics of each point. Points that cannot be evaluated side by side, perhaps because
        there is memory for only one model at a time, are evaluated one by one."""
        if len(self.points) > 1:
            with suppress(Exception):  # whatever it is, one model is told of it again
                return [Outcome(found) for found in self.judge()]
        alone = [replace(self, points=(point,)) for point in self.points]
        return [attempt(trial.judge_one) for trial in alone]

    def judge_one(self) -> dict[str, Any]:
        """The metrics of the only point."""
        return self.judge()[0]


@lru_cache(maxsize=1)
def _rows(source: Source) -> tuple[Rows, Labels]:
    """The rows of these files and their labels."""
    labels = Labels(multiclass=source.multiclass)
    if source.positive is not None:
        labels = Labels.against_rest(source.positive)
    return read(source.paths, labels, source.read), labels


@lru_cache(maxsize=2)  # of neighbouring trials, some may be on this part and some on the next
def _cut(part: Part) -> tuple[Longs, Longs]:
    """The numbers of the rows to learn, and of those to check."""
    some, fold = _folds(replace(part, fold=0))
    learned = fold < part.fold if part.by_time else fold != part.fold
    return some[learned], some[fold == part.fold]


@lru_cache(maxsize=1)
def _folds(part: Part) -> tuple[Longs, Ints]:
    """The numbers of the share of the rows, and the fold in which each is checked."""
    y = _rows(part.source)[0].y
    some = np.arange(len(y))
    if part.share < 1:
        some = np.sort(permutation(len(y), part.seed)[: ceil(part.share * len(y))])
    if part.by_time:
        return some, time_fold_of_rows(len(some), part.folds)
    return some, fold_of_rows(y[some], part.folds, part.seed)


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
            rows, labels = _rows(source)  # data that cannot be read is refused before any work
        race, n_rows = Race(options, rows.n_rows, console), rows.n_rows
        for rung in race.rungs:
            whole = Part(source, rung.share, 0, options.folds, options.by == TIME, options.seed)
            race.end_rung(_outcomes(race, whole, labels, progress), ceil(rung.share * n_rows))
    for kept in (_rows, _cut, _folds):  # not needed any more
        kept.cache_clear()
    return race


def _by_row(options: TuneOptions, points: list[Point]) -> bool:
    """Whether all points are of online learners, which do their work in kernels."""
    return all(options.model(point, Labels()).batch is None for point in points)


def _trials(race: Race, whole: Part, labels: Labels) -> list[tuple[Sequence[int], Trial]]:
    """The trials of a rung, with the places of their points. Those on the same rows are next to
    each other, for a process keeps the rows of one part."""
    options, found = race.options, []
    reads = [options.read_of(point) for point in race.points]
    for read_options in dict.fromkeys(reads):
        source = replace(whole.source, read=read_options)
        same = [k for k, other in enumerate(reads) if other == read_options]
        groups = _groups(options, race.points, same, labels)
        for fold in range(whole.folds):
            part = replace(whole, source=source, fold=fold)
            found += [(group, part) for group in groups]
    points = race.points
    even = evened(found, options.engine.jobs)
    return [(g, Trial(options, tuple(points[k] for k in g), part)) for g, part in even]


def _groups(
    options: TuneOptions, points: list[Point], places: list[int], labels: Labels
) -> list[Sequence[int]]:
    """These places of points in groups that are judged side by side, which have the same number of
    passes. Models whose probabilities need fold models are alone."""
    found: list[Sequence[int]] = []
    passes = [options.passes_of(points[k]) for k in places]
    for n in dict.fromkeys(passes):
        same = [k for k, other in zip(places, passes, strict=True) if other == n]
        models = [options.model(points[k], replace(labels)) for k in same]
        if n > 1 and options.metric == "log_loss":
            found += [[k] for k in same]
        else:
            found += [[same[k] for k in part] for group in alike(models) for part in cut(group, 1)]
    return found


def evened(groups: list[tuple[Sequence[int], Part]], jobs: int) -> list[tuple[Sequence[int], Part]]:
    """The groups, of which the last ones are cut, so that there is work for all threads until the
    end: of 5 groups for 2 threads, the last one is cut in two."""
    left = len(groups) % max(jobs, 1)
    if left == 0:
        return groups
    last = [(some, part) for group, part in groups[-left:] for some in cut(group, jobs // left)]
    return groups[:-left] + last


def _outcomes(race: Race, whole: Part, labels: Labels, progress: Progress) -> list[Outcome]:
    """The metrics of each point. Points that cannot be evaluated side by side, perhaps because
    there is memory for only one model at a time, are evaluated one by one."""
    places, trials = zip(*_trials(race, whole, labels), strict=True)
    found: dict[int, list[Outcome]] = {}
    size = sum(map(len, places))

    def status() -> dict[str, Any]:
        rung = f"rung {race.ended + 1} of {len(race.rungs)}  " if len(race.rungs) > 1 else ""
        done = sum(map(len, found.copy().values()))
        return {"text": f"{rung}{done:,} of {size:,} folds", "done": done / size}

    by_row = _by_row(race.options, race.points)
    try:
        with progress.ticking(status), opened(race.options.engine, in_kernels=by_row) as engine:
            for number, outcomes in engine.each(Trial.outcomes, trials, _killed):
                found[number] = outcomes
    finally:
        SPARE.clear()
    by_point: list[list[Outcome]] = [[] for _ in race.points]
    for number, group in enumerate(places):
        for place, outcome in zip(group, found[number], strict=True):
            by_point[place].append(outcome)
    return list(map(_together, by_point))


def _killed(trial: Trial) -> list[Outcome]:
    return [KILLED for _ in trial.points]


def _together(of_folds: list[Outcome]) -> Outcome:
    """The metrics of a point, or why it failed on the first fold on which it did."""
    failed = [outcome for outcome in of_folds if outcome.failure]
    return failed[0] if failed else Outcome(gathered([outcome.result for outcome in of_folds]))
