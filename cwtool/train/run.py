"""Training: learn the rows, check the metrics that are required, save the model and report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from cwtool.clock import now
from cwtool.data.reports import ReadReport
from cwtool.data.sources import display
from cwtool.errors import DataError, QualityError
from cwtool.messages.console import Console
from cwtool.messages.notices import noticed, ties
from cwtool.metrics.tally import Tally, ratio
from cwtool.model import Model, generations
from cwtool.shards import ShardOptions, new_trainer
from cwtool.train.options import TrainOptions

if TYPE_CHECKING:
    from cwtool.train.trainer import Trainer

REJECTED = 7  # new models that were not good enough are kept


def train(
    model: Model,
    paths: list[str],
    target: Path,
    options: TrainOptions,
    console: Console,
    sharding: ShardOptions | None = None,
) -> bool:
    """Train, save and report; only a finished model that passes its gates replaces the target.
    Nothing is saved, and the answer is False, if standard input turns out to be the copy of a file
    that was learned before."""
    started = perf_counter()
    known = {} if options.again else model.learned()
    undecided = model.rows == 0 and model.labels.multiclass == "auto"
    classes = len(model.labels.several or ())
    trainer = new_trainer(model, options, console, sharding=sharding)
    record = trainer.fit(paths)
    if _repeated(trainer.report, known, console):
        return False
    measured = trainer.measured(record)
    failed = [gate for gate in options.require if not gate.passes(measured)]
    told = dict(record)
    record["time"] = now()[:10]  # the date alone: the same run on the same day gives the same bytes
    save = partial(trainer.model.save, jobs=options.read.jobs)
    if failed:
        place, size = generations.reject(target, record["time"], REJECTED, save)
    else:
        place, size = target, save(target)
    seconds = perf_counter() - started
    saved = {"model": display(str(place)), "bytes": size}
    _report(trainer, told, seconds, saved, console)
    if undecided or classes:
        _note_classes(trainer.model, classes, console)
    if failed:
        raise QualityError(
            failed[0].failed(measured),
            f"the new model was written to {place}; {generations.untouched(target)}",
        )
    return True


def _report(
    trainer: Trainer, told: dict[str, Any], seconds: float, saved: dict[str, Any], console: Console
) -> None:
    """Report the rows learned, the metrics, and the file of the model."""
    model, counts = trainer.model, trainer.counts
    judged = counts.judged(model)
    result = {
        "algo": model.algorithm.name,
        **told,
        **(counts.predicted or counts.total).summary(),
        "rows": counts.total.rows,
        "seconds": seconds,
        "rows_per_second": ratio(counts.total.rows, seconds),
        **saved,
    }
    if model.operating_point and isinstance(judged, Tally):
        result["operating_point"] = model.operating_point.setting
        result["threshold"] = model.threshold
        result["at_threshold"] = judged.summary()
    if counts.fitted.rows:
        result["fitted"] = counts.fitted.summary()
    state = model.described(0)
    advice = model.algorithm.advice(state) if state else None
    notices = noticed(model, judged), ties(model, judged)
    console.event("train", result | console.told(advice, *notices))


def _note_classes(model: Model, before: int, console: Console) -> None:
    """Report the classes, if there are more than two; of a model that had so many classes before
    this run, those that are new."""
    names = model.labels.names
    new = names[before:]
    shown = ", ".join(new[:10]) + (", ..." if len(new) > 10 else "")
    if before and new:
        console.note(f"new labels: {shown}; the model has {len(names)} classes now")
    elif not before and model.labels.several:
        console.note(
            f"{len(names)} classes: {shown}; "
            f"`positive={names[0]}` learns one of them against all others"
        )


def _repeated(report: ReadReport, known: dict[str, str], console: Console) -> bool:
    """Whether what was read is known; other files were looked at before, so it is standard input
    or a pipe."""
    for f in report.files:
        name = next((known[digest] for digest in f.digests if digest in known), None)
        if name is None:
            continue
        if len(report.files) > 1:
            raise DataError(
                f"{f.name} was learned before (as {name}), and was mixed with other files",
                "leave it out, or use `again`",
            )
        skipped(f.name, f"was learned before (as {name})", console)
        return True
    return False


def skipped(name: str, why: str, console: Console) -> None:
    """Warn that a file is not learned, and why."""
    console.warn(f"{name} {why} and is skipped; `again` learns it again")
    console.event("skipped", {"file": name})
