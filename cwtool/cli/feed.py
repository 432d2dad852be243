"""cwtool feed"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwtool import registry
from cwtool.cli import learning, options, sharding
from cwtool.cli.algorithm import AlgorithmCommand
from cwtool.cli.train import subject_of

if TYPE_CHECKING:
    from cwtool.feed.run import FeedOptions


class FeedCommand(AlgorithmCommand):
    """Continues the model that it writes, if there is one."""

    continued = "--model"


@click.command(
    cls=FeedCommand,
    name="feed",
    epilog=options.examples(
        "cwtool feed 2026-03-01.svm.gz -m url.cw --log daily.jsonl",
        "cwtool feed 2026-03-02.svm.gz -m url.cw --require 'auc >= 0.97' --reservoir 5000",
        "cwtool feed --undo -m url.cw",
    ),
)
@learning.target(
    data=False,
    model="Model file to continue, or to create if it does not exist. It is replaced only by a "
    "new model that meets every condition.",
    algo=f"Learning algorithm of a new model; by default {registry.DEFAULT}.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Learn files again that the model has learned before, and files most of whose rows it "
    "has learned before. Without this option the former are skipped and the latter refused.",
)
@click.option(
    "--known-share",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of rows learned before, beyond the share that usually repeats, above which a file "
    "is refused. The share is estimated from hashes of a sample of the learned rows, which take "
    "at most 128 KiB of the model file.",
)
@learning.conditions(
    "--require",
    "Condition on the predictions of the day by the model that has not yet learned it, such as "
    "auc>=0.97. A day that does not meet it is refused. Can be given more than once.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=1),
    default=2.0,
    show_default=True,
    help="Refuse a day whose error exceeds this multiple of the median error of the days before "
    "by more than 3 standard deviations; 1 - AUC is checked in the same way. From three days on, "
    "a day is also refused if its AUC is more than 3 standard deviations below the mean. Raise it "
    "if good days are refused.",
)
@click.option(
    "--wrong-labels",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="Refuse a day if more than this share of its labels seems wrong, estimated from the "
    "error of the median window of 500 rows.",
)
@click.option(
    "--days",
    type=click.IntRange(min=0),
    default=7,
    show_default=True,
    help="Number of previous days that a day is compared with; 0 makes no comparison.",
)
@click.option(
    "--accept",
    is_flag=True,
    help="Learn the day even if it differs from the days before. Conditions of --require must "
    "still be met.",
)
@click.option(
    "--validation",
    multiple=True,
    type=click.Path(readable=False),
    metavar="FILE",
    help="File on which the new model is compared with the old one. The day is refused if the "
    "error rises by more than --tolerance allows. Can be given more than once.",
)
@click.option(
    "--reservoir",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="ROWS",
    help="Keep a sample of this number of recent rows in MODEL.recent, half of it from the last "
    "day, and compare the models on it as on --validation.",
)
@learning.conditions(
    "--require-after",
    "Condition on the new model on the rows of --validation and --reservoir, such as error<0.05. "
    "Can be given more than once.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=7,
    show_default=True,
    help="Number of old models to keep as MODEL.1 (the latest), MODEL.2 and so on. The same "
    "number of rejected new models is kept as MODEL.rejected-DATE.",
)
@click.option(
    "--undo",
    is_flag=True,
    help="Replace MODEL by MODEL.1, the model before the last day, and print the data that it has "
    "not learned. The replaced model is renamed to MODEL.undone.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to append the events of the run to, as JSON lines with time, command, version, "
    "model, file and digest.",
)
@sharding.shards
@learning.settings("Kept in the model and computed anew at the end of each day.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: tuple[str, ...],
    model: Path,
    algo: str | None,
    undo: bool,
    log: Path | None,
    lock: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    threshold: str | None,
    **others: Any,
) -> None:
    """Learn one day of a feed: predict DATA with the current model, check it, and learn it.

    Each file is one day; several files are learned one after the other. A day is refused, with exit
    code 5 and an unchanged model, if it does not meet a condition of --require or differs from the
    days before: far more errors, wrong labels throughout the day or in one part of it, or only one
    class. On the first day of a new model there is nothing to compare with: wrong labels in one
    part of the day are detected, but not labels that are inverted throughout the day. A file that
    was learned before is skipped, even if it was renamed or recompressed. Bad lines, empty files
    and a first day with a single class end with exit code 3. Every option can be set in
    cwtool.toml under [feed].
    """
    from cwtool.data.sources import STDIN, kept
    from cwtool.feed import run as feed
    from cwtool.feed.undo import undo as undo_last
    from cwtool.lock import locked
    from cwtool.messages.log_file import check_log
    from cwtool.model import Model
    from cwtool.model.file import check_target

    if undo == bool(data):
        raise click.UsageError("give DATA to learn, or --undo alone")
    if STDIN in others["validation"]:
        raise click.UsageError("--validation is read twice, and stdin only once")
    console = options.console(as_json, quiet, verbose)
    console.log = log
    check_target(model, data)
    if log is not None:
        check_log(log, model)

    def subject() -> Model:
        found = subject_of(ctx, algo, model if model.exists() else None, others)
        if threshold is not None:
            found.call_by(threshold)
        return found

    with locked(model, wait=lock == "wait"), kept(data):
        if undo:
            undo_last(model, console)
            return
        loaded = [subject()]  # of the first day
        chosen = _options(ctx, loaded[0], others)
        feed.feed(lambda: loaded.pop() if loaded else subject(), list(data), model, chosen, console)


def _options(ctx: click.Context, model: Any, given: dict[str, Any]) -> FeedOptions:
    from cwtool.feed.day_rules import Limits
    from cwtool.feed.run import FeedOptions
    from cwtool.train.gate import OF_PROBABILITIES, Gate

    before, after = (
        tuple(Gate.parse(text) for text in given[name]) for name in ("require", "require_after")
    )
    if after and not (given["validation"] or given["reservoir"]):
        raise click.UsageError("--require-after needs --validation or --reservoir")
    if model.rows == 0 and any(gate.metric in OF_PROBABILITIES for gate in before):
        raise click.UsageError("--require log_loss or ece needs a model: the first day has none")
    dealt = sharding.shard_options(ctx, given, given["jobs"])
    read = options.read_options(
        model.reading, given["on_bad_line"], given["max_bad_lines"], given["block_size"],
        given["jobs"], given["max_memory"], [*ctx.params["data"], *given["validation"]],
        sharded=dealt is not None, learners=1,
    )  # fmt: skip
    same = ("validation", "accept", "again", "known_share", "reservoir", "keep", "seed")
    return FeedOptions(
        require=before,
        require_after=after,
        limits=Limits(given["tolerance"], given["wrong_labels"], given["days"]),
        max_memory=read.max_memory,
        read=read,
        sharding=dealt,
        **{name: given[name] for name in same},
    )
