"""cwtool train"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwtool import registry
from cwtool.cli import class_options, learning, options, sharding
from cwtool.cli.algorithm import ALGO, AlgorithmCommand, given
from cwtool.errors import ModelError
from cwtool.params import declared

if TYPE_CHECKING:
    from cwtool.messages.console import Console
    from cwtool.model import Model


@click.command(
    cls=AlgorithmCommand,
    name="train",
    epilog=options.examples(
        "cwtool train day1.svm -m url.cw",
        "cwtool train day2.svm --resume url.cw -m url.cw",
        "cwtool train topics.svm -m topics.cw --algo scw1 --multiclass ovr",
        "cwtool train topics.svm -m third.cw --positive 3 --class-weight balanced",
        "cwtool train day1.svm day2.svm -m url.cw --shards 4",
    ),
)
@learning.target(
    data=True,
    model="File to write the model to. An existing file is replaced only when training has "
    "finished.",
    algo=f"Learning algorithm; by default {registry.DEFAULT}, or that of the --resume model.",
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Continue this model from exactly the saved state. An online learner in one pass gives "
    "the same model as one run over the earlier data and this data. A model file whose settings "
    "make learning very long, such as --iterations 10000000, is continued only if the same "
    "setting is given again.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Learn files again that the model has learned before. Without this option they are "
    "skipped.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of passes over the data. From the second pass on the rows are visited in a "
    "random order. More passes suit small files; a feed is usually learned in one.",
)
@click.option(
    "--validation",
    multiple=True,
    type=click.Path(allow_dash=True, readable=False),
    metavar="FILE",
    help="File to measure the error on after each pass. With several passes the model of the pass "
    "with the lowest error is kept. Can be given more than once.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of the training rows, between 0 and 1, that is not learned but used to measure "
    "the error after each pass, as --validation is.",
)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    help="Stop after this number of passes without a lower error on the rows of --validation or "
    "--holdout.",
)
@learning.conditions(
    "--require",
    "Condition that the metrics of the new model must meet, such as auc>=0.97, or macro_f1>0.8 "
    "for more than two classes. Otherwise the model is written to MODEL.rejected-DATE instead of "
    "MODEL (the latest is also MODEL.rejected; seven are kept), and the exit code is 5. Can be "
    "given more than once.",
)
@click.option(
    "--trace",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="In the first pass, report the error and the number of nonzero weights after every so "
    "many rows; in further passes, after each pass.",
)
@sharding.shards
@learning.settings(
    "Kept in the model and computed anew at the end of each run; with --resume it can be changed. "
    "Learning and the progressive metrics, which use the threshold 0, do not depend on it.  "
    "[default: 0; a score of exactly 0 is predicted as the class that is more frequent in "
    "training or, with batch learners, among the training rows that score 0 if they are more than "
    "5 % of the rows]"
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: tuple[str, ...],
    model: Path,
    algo: str | None,
    resume: Path | None,
    again: bool,
    passes: int,
    seed: int,
    validation: tuple[str, ...],
    holdout: float | None,
    patience: int | None,
    require: tuple[str, ...],
    trace: int | None,
    threshold: str | None,
    max_memory: int,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    lock: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **others: Any,
) -> None:
    """Learn a model from LIBSVM files in the given order.

    Files can be plain text or compressed with gzip, bzip2, xz or zstd; - reads standard input.
    Online learners read the data once as a stream, so that its size is not limited by memory, and
    predict each row before they learn it. The error and the AUC of these predictions are reported
    as progressive metrics, for which a score of at least 0 is positive. Other learners hold the
    rows of a file in memory, and report metrics on the learned rows of their first file.
    """
    from cwtool.data.sources import STDIN
    from cwtool.lock import locked
    from cwtool.model import Model
    from cwtool.model.file import check_target
    from cwtool.train.gate import OF_PROBABILITIES, Gate
    from cwtool.train.options import TrainOptions
    from cwtool.train.run import train

    if patience and not (validation or holdout):
        raise click.UsageError("--patience needs --validation or --holdout")
    if patience and passes == 1:
        raise click.UsageError("--patience needs --passes: it ends them early")
    if STDIN in validation and passes > 1:
        raise click.UsageError("--validation is read once a pass, and stdin only once")
    if STDIN in validation and STDIN in data:
        raise click.UsageError("stdin can be read only once: as DATA or for --validation")
    gates = tuple(Gate.parse(text) for text in require)
    if any(gate.metric in OF_PROBABILITIES for gate in gates) and not (validation or holdout):
        raise click.UsageError("--require log_loss or ece needs --validation or --holdout")
    console = options.console(as_json, quiet, verbose)
    dealt = sharding.shard_options(ctx, others, jobs)
    check_target(model, data)
    with locked(model, wait=lock == "wait"):
        if resume is None and model.exists():
            console.warn(f"{model} exists; the new model will replace it (`resume` continues it)")
        subject = subject_of(ctx, algo, resume, others)
        if threshold is not None:
            subject.call_by(threshold)
        read = options.read_options(
            subject.reading, on_bad_line, max_bad_lines, block_size, jobs, max_memory,
            [*data, *validation], sharded=dealt is not None, learners=1,
        )  # fmt: skip
        paths = list(data) if again else _unseen(list(data), subject, console)
        if not paths:
            subject.save(model)
            return
        learned = train(
            subject,
            paths,
            model,
            TrainOptions(
                passes=passes,
                seed=seed,
                holdout=holdout or 0.0,
                validation=validation,
                patience=patience or 0,
                require=gates,
                again=again,
                trace=trace or 0,
                max_memory=read.max_memory,
                engine=sharding.inner_engine(ctx, others, jobs),
                read=read,
            ),
            console,
            dealt,
        )
        if not learned and resume is not None:
            Model.load(resume).save(model)


def subject_of(
    ctx: click.Context, algo: str | None, resume: Path | None, others: dict[str, Any]
) -> Model:
    """A new model, or the model to continue; options that contradict the latter are errors."""
    from cwtool.data.parse import Reading
    from cwtool.model import Model
    from cwtool.model.opening import doubt_labels, unasked_work

    name = ctx.meta[ALGO]
    own = tuple(p.name for p in declared(registry.algorithm(name).Params))
    params = given(ctx, others, own)
    wanted = given(ctx, others, options.ROWS)
    weight = given(ctx, others, ("class_weight",))
    classes = given(ctx, others, class_options.CLASSES)
    if resume is None:
        labels, reading = class_options.labels(classes), Reading(**wanted)
        if reading.normalize == "columns":
            from cwtool.data.measuring import measured

            reading = measured(reading, ctx.params["data"], ctx.params["max_memory"])
        return Model.new(name, params, reading, labels=labels, **weight)
    model = Model.load(resume, max_memory=ctx.params["max_memory"])
    doubt_labels(model, resume)
    if algo is not None and algo != model.algorithm.name:
        raise ModelError(
            f"{resume} is a model of {model.algorithm.name}, not of {algo}",
            f"leave out --algo to continue it, or {_anew(ctx)}",
        )
    kept = {**model.reading.settings, **asdict(model.algorithm.params)}
    kept["class_weight"] = model.class_weight.setting
    kept["multiclass"] = model.labels.multiclass
    kept["positive"] = model.labels.positive if model.labels.rest else None
    if classes.get("multiclass") == "auto":
        del classes["multiclass"]
    for key, value in {**wanted, **weight, **classes, **params}.items():
        if kept[key] != value:
            option = "--" + key.replace("_", "-")
            raise ModelError(
                f"{resume} was trained {_with(option, kept[key])} and cannot be continued "
                f"{_with(option, value)}",
                f"leave out {option}, or {_anew(ctx)}",
            )
    if asked := unasked_work(model, params):
        option = f"--{asked.replace('_', '-')} {getattr(model.algorithm.params, asked)}"
        raise ModelError(
            f"{resume} was trained with {option}, with which learning may take very long",
            f"add {option} to the command to continue with it",
        )
    return model


def _anew(ctx: click.Context) -> str:
    """How this command trains a new model."""
    if "resume" in ctx.params:
        return "train a new model without --resume"
    return "give --model a file that does not exist, to train a new model"


def _with(option: str, value: Any) -> str:
    if not value:
        return f"without {option}"
    return f"with {option}" if value is True else f"with {option} {value}"


def _unseen(paths: list[str], model: Model, console: Console) -> list[str]:
    """The files that the model has not learned yet."""
    from cwtool.data.known import file_digests
    from cwtool.train.run import skipped

    known = model.learned()
    left: list[str] = []
    for path in paths:
        digests = file_digests(path) if known else ()
        name = next((known[digest] for digest in digests if digest in known), None)
        if name is None and path not in left:
            left.append(path)
            continue
        before = "is given twice" if name is None else f"was learned before (as {name})"
        skipped(path, before, console)
    return left
