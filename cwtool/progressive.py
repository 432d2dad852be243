"""Tuning in one pass in the order of time: each block of rows is parsed once, and the models of all
points predict its rows before they learn them."""

from __future__ import annotations

from functools import partial

from cwtool.console import Console
from cwtool.data.pipeline import ReadReport, read_blocks
from cwtool.data.rows import Rows
from cwtool.errors import UsageError
from cwtool.grid import READING, TuneOptions
from cwtool.metrics import ratio
from cwtool.model import Model
from cwtool.parallel import Outcome, together
from cwtool.run import Run
from cwtool.validation import CLASS_METRICS, METRICS, Judged, Point, check_classes


def check(options: TuneOptions, candidates: list[Point]) -> None:
    """Refuse what cannot be judged in one pass."""
    if any(options.passes_of(point) > 1 for point in candidates):
        raise UsageError("`by=progressive` reads the data once, so that `passes` must be 1")
    if differing := sorted(set(options.grid) & {*READING, "batch_rows"}):
        raise UsageError(
            f"`by=progressive` reads the data once for all points, so that `{differing[0]}` cannot "
            "be in the grid"
        )
    if len({options.model(point, options.labels).batch is None for point in candidates}) > 1:
        raise UsageError(
            "`by=progressive` judges learners of rows or learners of batches, not both at once"
        )
    if options.metric == "log_loss":
        raise UsageError("`by=progressive` has no log loss", "use error, auc or f1")


def judge(
    paths: list[str], options: TuneOptions, candidates: list[Point], console: Console
) -> list[Outcome]:
    """The metrics of the predictions of each point before learning."""
    check(options, candidates)
    labels, run = options.labels, Run(options.seed, max_memory=options.max_memory)
    report = ReadReport()
    models: list[Model] = []
    first = options.model(candidates[0], labels)

    def status() -> dict[str, float | None]:
        return {"rows": models[0].rows, "done": ratio(report.bytes, report.size)}

    with console.progress("tune") as progress:
        blocks = labels.rows_of(read_blocks(paths, options.read, report))
        for rows, _ in first.portions(blocks, run):
            if not models:  # the labels are settled by now; they are shared, and so are late ones
                models += [options.model(point, labels) for point in candidates]
            together(partial(_learn, rows=rows, run=run), models, options.read.jobs)
            progress.update(status)
            del rows
    check_classes(paths, labels)
    return [Outcome(judged(model)) for model in models]


def _learn(model: Model, rows: Rows, run: Run) -> None:
    model.learn(rows, run)


def judged(model: Model) -> Judged:
    """The metrics of all predictions that were made before learning."""
    found = model.progress.summary()
    names = (*METRICS, *CLASS_METRICS)
    return {name: [found[name]] for name in dict.fromkeys(names) if name in found}
