"""Training: learn, judge, save and report."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from cwtool.clock import now
from cwtool.console import Console
from cwtool.data.pipeline import ReadReport
from cwtool.data.sources import display
from cwtool.errors import DataError, QualityError
from cwtool.metrics import Tally, ratio
from cwtool.model import Model, generations
from cwtool.notices import noticed, ties
from cwtool.shards import ShardOptions, new_trainer
from cwtool.train_options import TrainOptions

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
    trainer = new_trainer(model, options, console, sharding=sharding)
    record = trainer.fit(paths)
    if _repeated(trainer.report, known, console):
        return False
    measured = trainer.measured(record)
    failed = [gate for gate in options.require if not gate.passes(measured)]
    told = dict(record)
    record["time"] = now()[:10]  # the date alone: the same run on the same day gives the same bytes
    if failed:
        place, size = generations.reject(target, record["time"], REJECTED, trainer.model.save)
    else:
        place, size = target, trainer.model.save(target)
    seconds = perf_counter() - started
    result = {
        "algo": model.algorithm.name,
        **told,
        **trainer.total.summary(),
        "seconds": seconds,
        "rows_per_second": ratio(trainer.total.rows, seconds),
        "model": display(str(place)),
        "bytes": size,
    }
    if trainer.model.operating_point and isinstance(trainer.judged, Tally):
        result["operating_point"] = trainer.model.operating_point.setting
        result["threshold"] = trainer.model.threshold
        result["at_threshold"] = trainer.judged.summary()
    if trainer.fitted.rows:
        result["fitted"] = trainer.fitted.summary()
    state = trainer.model.described(0)
    advice = trainer.model.algorithm.advice(state) if state else None
    notices = noticed(trainer.model, trainer.judged), ties(trainer.model, trainer.judged)
    console.event("train", result | console.told(advice, *notices))
    if undecided and trainer.model.labels.several:
        names = trainer.model.labels.names
        console.note(
            f"{len(names)} classes: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}; "
            f"`positive={names[0]}` learns one of them against all others"
        )
    if failed:
        value = measured.get(failed[0].metric)
        raise QualityError(
            f"not {failed[0]}: {failed[0].metric} is {'not measured' if value is None else value}",
            f"the new model is in {place}; {target} is as it was",
        )
    return True


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
    """Tell that a file is not learned."""
    console.warn(f"{name} {why}: skipped; `again` to repeat it")
    if console.json:
        console.event("skipped", {"file": name})
