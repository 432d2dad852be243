"""Tuning in one pass in the order of time: each block of rows is parsed once, and the models of all
points predict its rows before they learn them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import ceil

from cwtool.data.lines import count_lines
from cwtool.data.pipeline import read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.rows import Rows
from cwtool.data.sources import STDIN
from cwtool.errors import UsageError
from cwtool.messages.console import Console
from cwtool.metrics.tally import ratio
from cwtool.model import Model
from cwtool.model.model_group import ModelGroup, SingleModel, grouped
from cwtool.model.sharing import share_features
from cwtool.parallel import Outcome
from cwtool.run import Run
from cwtool.threads import together
from cwtool.tune.grid import READING, TuneOptions
from cwtool.tune.halving import Race
from cwtool.validation import CLASS_METRICS, METRICS, Judged, check_classes


def check(paths: list[str], options: TuneOptions) -> None:
    """Refuse settings that cannot be evaluated in one pass."""
    candidates = options.points
    if any(options.passes_of(point) > 1 for point in candidates):
        raise UsageError("`by=progressive` reads the data once, so that `passes` must be 1")
    if differing := sorted(set(options.grid) & {*READING, "batch_rows"}):
        raise UsageError(
            f"`by=progressive` reads the data once for all points, so that `{differing[0]}` cannot "
            "be in the grid"
        )
    by_row = {options.model(point, options.labels).batch is None for point in candidates}
    if len(by_row) > 1:
        raise UsageError(
            "`by=progressive` evaluates online learners or batch learners, not both at once"
        )
    if options.metric == "log_loss":
        raise UsageError("`by=progressive` has no log loss", "use error, auc or f1")
    if options.halving and (by_row == {False} or STDIN in paths):
        raise UsageError(
            "`halving` with `by=progressive` is for online learners, and for files, whose "
            "lines can be counted before"
        )


def judge(paths: list[str], options: TuneOptions, console: Console) -> Race:
    """The metrics of the predictions of each point before learning. A rung is the first rows of the
    pass: its best models go on as they are."""
    check(paths, options)
    labels, run = options.labels, Run(options.seed, max_memory=options.max_memory)
    n_lines = count_lines(paths) if options.halving else 0
    race, report = Race(options, n_lines, console), ReadReport()
    ends = [ceil(rung.share * n_lines) for rung in race.rungs[:-1]]
    models: list[Model] = []
    groups: list[SingleModel | ModelGroup] = []
    seen = 0
    first = options.model(race.points[0], labels)

    def status() -> dict[str, float | None]:
        return {"rows": seen, "done": ratio(report.bytes, report.size)}

    with console.progress("tune") as progress:
        blocks = labels.rows_of(read_blocks(paths, options.read, report))
        for rows, _ in first.portions(blocks, run):
            if not models:  # the labels are settled by now; they are shared, and so are late ones
                models += [options.model(point, labels) for point in race.points]
                share_features(models)
                groups = grouped(models, options.read.jobs)
                run = replace(run, max_memory=options.max_memory // len(groups))
            for part in _cut(rows, seen, ends):
                together(partial(_learn, rows=part, run=run), groups, options.read.jobs)
                seen += part.n_rows
                if seen in ends:
                    models = [models[k] for k in race.end_rung(_found(models), seen)]
                    groups = _kept(groups, models)
            progress.update(status)
            del rows, part
    check_classes(paths, labels)
    race.end_rung(_found(models), seen)
    return race


def _cut(rows: Rows, before: int, ends: list[int]) -> Iterator[Rows]:
    """The rows, cut where a rung ends; so many came before them."""
    start = 0
    for stop in (end - before for end in ends):
        if start < stop < rows.n_rows:
            yield rows.slice(start, stop)
            start = stop
    yield rows.slice(start, rows.n_rows) if start else rows


def _learn(group: SingleModel | ModelGroup, rows: Rows, run: Run) -> None:
    group.learn(rows, run)


def _kept(
    groups: list[SingleModel | ModelGroup], models: list[Model]
) -> list[SingleModel | ModelGroup]:
    """The groups reduced to these models, without empty groups."""
    for group in groups:
        group.only(models)
    return [group for group in groups if group.models]


def _found(models: list[Model]) -> list[Outcome]:
    return [Outcome(judged(model)) for model in models]


def judged(model: Model) -> Judged:
    """The metrics of all predictions that were made before learning."""
    found = model.progress.summary()
    names = (*METRICS, *CLASS_METRICS)
    return {name: [found[name]] for name in dict.fromkeys(names) if name in found}
