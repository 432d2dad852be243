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
    model="Model that is continued, or begun if there is none. It is replaced only by a new model "
    "that has passed every gate.",
    algo=f"Learning algorithm of a new model; without it {registry.DEFAULT}.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Learn files and rows that the model has learned before once more.",
)
@click.option(
    "--known-share",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of rows learned before above which a file is refused, beyond the share that "
    "usually repeats. It is told from hashes of a sample of the learned rows, which take at "
    "most 128 KiB of the model.",
)
@learning.conditions(
    "--require",
    "Quality of the predictions of the day by the model before it learns the day, such as "
    "auc>=0.97; a day that misses it is refused. Can be given more than once.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=1),
    default=2.0,
    show_default=True,
    help="How many times its usual error the model may make on the day, beyond 3 standard "
    "deviations, and the same for 1 - AUC. The usual error is the median of the days before. From "
    "three days on, the AUC may also not be below its mean by 3 standard deviations.",
)
@click.option(
    "--wrong-labels",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="Share of labels that may be wrong, as far as the error of the median window of 500 rows "
    "tells.",
)
@click.option(
    "--days",
    type=click.IntRange(min=0),
    default=7,
    show_default=True,
    help="Number of days before that a day is compared with; 0 compares with none.",
)
@click.option(
    "--accept",
    is_flag=True,
    help="Learn the day even if it is not like the days before. Conditions of --require hold.",
)
@click.option(
    "--validation",
    multiple=True,
    type=click.Path(readable=False),
    metavar="FILE",
    help="File to compare the new model with the old one on: the day is refused if the error rises "
    "more than --tolerance allows. Can be given more than once.",
)
@click.option(
    "--reservoir",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="ROWS",
    help="Keep a sample of this number of recent rows in MODEL.recent, half of it of the last day, "
    "and compare the models on it as on --validation.",
)
@learning.conditions(
    "--require-after",
    "Quality of the new model on --validation and --reservoir rows, such as error<0.05.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=7,
    show_default=True,
    help="Number of old models to keep as MODEL.1 (the last one), MODEL.2 and so on. As many new "
    "ones that were worse on --validation or --reservoir rows are kept as MODEL.rejected-DATE.",
)
@click.option(
    "--undo",
    is_flag=True,
    help="Put MODEL.1 back in the place of MODEL, and say which data it does not know. The model "
    "that is replaced gets the name MODEL.undone.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to append what happened to, as JSON lines with the time, command, version, model, "
    "file and digest.",
)
@sharding.shards
@learning.settings("Kept in the model, and found anew at the end of each day.")
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
    """Learn one day of a feed: score DATA with the model of yesterday, judge it, learn it.

    Each file is a day; several are learned one after the other. A day is refused, with exit code 5
    and the model as it was, if it misses a condition of --require, or if it is not like the days
    before: many more errors, labels that look wrong all over the day or in one place, one class
    only. On the first day of a new model, each row is predicted before it is learned, and only
    labels that look wrong in one place can be told. A file that was learned before is skipped, also
    if it was renamed or compressed anew. Bad lines and empty files end with exit code 3. Every
    option can stand in cwtool.toml under [feed].
    """
    from cwtool.data.sources import STDIN, kept
    from cwtool.feed import run as feed
    from cwtool.feed.undo import undo as undo_last
    from cwtool.lock import locked
    from cwtool.model import Model
    from cwtool.model.file import check_target

    if undo == bool(data):
        raise click.UsageError("give DATA to learn, or --undo alone")
    if STDIN in others["validation"]:
        raise click.UsageError("--validation is read twice, and stdin only once")
    console = options.console(as_json, quiet, verbose)
    console.log = log
    check_target(model, data)

    def subject() -> Model:
        found = subject_of(ctx, algo, model if model.exists() else None, others)
        if threshold is not None:
            found.call_by(threshold)
        return found

    with locked(model, wait=lock == "wait"), kept(data):
        if undo:
            undo_last(model, console)
            return
        feed.feed(subject, list(data), model, _options(ctx, subject(), others), console)


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
    names = ("on_bad_line", "max_bad_lines", "block_size", "jobs")
    same = ("validation", "accept", "again", "known_share", "reservoir", "keep", "seed")
    return FeedOptions(
        require=before,
        require_after=after,
        limits=Limits(given["tolerance"], given["wrong_labels"], given["days"]),
        max_memory=given["max_memory"],
        read=options.read_options(model.reading, *(given[name] for name in names)),
        sharding=sharding.shard_options(ctx, given, given["jobs"]),
        **{name: given[name] for name in same},
    )
