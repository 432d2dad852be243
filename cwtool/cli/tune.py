"""cwtool tune"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwtool import registry
from cwtool.cli import class_options, options, sharding
from cwtool.cli.algorithm import AlgorithmCommand, given
from cwtool.cli.grid import parsed_grid
from cwtool.params import declared
from cwtool.tune.tunable import value_at

if TYPE_CHECKING:
    Choice = click.Choice[str]
else:
    Choice = click.Choice  # not a generic class before click 8.2


class Metric(Choice):
    """The name of a metric, with dashes or underscores; it becomes the one that results have."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(super().convert(value.replace("_", "-"), param, ctx)).replace("-", "_")


@click.command(
    cls=AlgorithmCommand,
    name="tune",
    epilog=options.examples(
        "cwtool tune train.svm --grid r=0.01,0.1,1 -m model.cw",
        "cwtool tune train.svm --algo scw1 --grid C=0.1,1,10 --grid eta=0.7,0.9 -m model.cw",
        "cwtool tune day*.svm.gz --grid algo=arow,cw,scw1 --by progressive",
        "cwtool tune train.svm --grid r=0.001..100 --random 30 --halving 3 --plot r.svg",
    ),
)
@click.argument("data", nargs=-1, required=True, type=click.Path(readable=False))
@click.option(
    "-a",
    "--algo",
    metavar="NAME",
    default=registry.DEFAULT,
    show_default=True,
    help="Learning algorithm, one of those of `cwtool train`.",
)
@click.option(
    "--grid",
    multiple=True,
    required=True,
    metavar="NAME=V,V,...",
    help="Values to try for a parameter, such as C=0.1,1,10; with --random also a range, such as "
    "C=0.1..10. algo=arow,cw compares algorithms; passes=1,5, normalize=none,l2,columns, "
    "bias=false,true and multiclass=rival,ovr compare other settings. Can be given more than once; "
    "without --random all combinations are tried.",
)
@click.option(
    "--random",
    type=click.IntRange(min=1),
    metavar="N",
    help="Try N different combinations drawn at random instead of all. Values of a list are drawn "
    "uniformly; values of a range are drawn uniformly, or on a logarithmic scale if the range "
    "lies above 0. --seed determines the draw.",
)
@click.option(
    "--halving",
    type=click.IntRange(min=2),
    metavar="FACTOR",
    help="Successive halving: evaluate all combinations on a small share of the rows, the best "
    "1/FACTOR of them on FACTOR times as many rows, and so on; only the last ones are evaluated "
    "on all rows. It saves time with many combinations, but can miss the best one.",
)
@click.option(
    "--by",
    type=Choice(["folds", "time", "progressive"]),
    default="folds",
    show_default=True,
    help="How combinations are evaluated: folds is cross-validation on random folds; time divides "
    "the data into parts in the given order and predicts each by a model of all rows before it; "
    "progressive makes one pass in which every row is predicted before it is learned. For feeds "
    "that change over time use time or progressive, because random folds underestimate the error "
    "on the next day.",
)
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Number of parts that the rows are divided into: folds with --by folds, or parts that "
    "follow each other in time with --by time.",
)
@click.option(
    "--metric",
    type=Metric(["error", "auc", "f1", "macro-f1", "balanced-error", "log-loss"]),
    default="error",
    show_default=True,
    help="Metric whose mean over the folds decides which combination is the best. auc and f1 need "
    "two classes, macro-f1 more than two.",
)
@click.option(
    "-m",
    "--model",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="File to write the model to that is trained on all rows with the best combination. "
    "Without it, no model is trained.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of passes over the training rows. From the second pass on the rows are visited "
    "in a random order.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File (.svg or .png) in which the metric is drawn against each parameter. Needs "
    "matplotlib.",
)
@options.seed
@sharding.engine
@options.max_memory
@class_options.classes
@class_options.class_weight
@options.rows
@options.reading
@options.talking
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: tuple[str, ...],
    algo: str,
    grid: tuple[str, ...],
    random: int | None,
    halving: int | None,
    by: str,
    cv: int,
    metric: str,
    model: Path | None,
    passes: int,
    plot: Path | None,
    seed: int,
    max_memory: int,
    class_weight: str,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **others: Any,
) -> None:
    """Choose parameters by cross-validation, and train a model with the best ones.

    All combinations of the values of --grid, or a random sample of them (--random), are evaluated
    on the same folds, which have equal shares of each class and depend only on the seed, or in the
    order of time (--by). If several combinations are equally good, the first one is chosen, so list
    simpler values first. All rows are held in memory; with batch learners each of the --jobs
    processes has its own copy. --by progressive holds only blocks of rows and one model per
    combination.
    """
    points = parsed_grid(grid, algo)
    own = tuple(p.name for p in declared(registry.algorithm(algo).Params) if p.name in others)
    fixed, classes = given(ctx, others, own), given(ctx, others, class_options.CLASSES)
    rows, others["passes"] = given(ctx, others, options.ROWS), passes
    once = given(ctx, others, ("passes",))
    if twice := sorted(points.keys() & (fixed.keys() | classes.keys() | rows.keys() | once.keys())):
        raise click.UsageError(f"{twice[0]} is given both in --grid and by its own option")
    class_options.labels(
        {**classes, **{k: value_at(v, 0.0) for k, v in points.items() if k == "multiclass"}}
    )

    from contextlib import nullcontext

    from cwtool.data.measuring import measured
    from cwtool.data.parse import Reading
    from cwtool.data.sources import STDIN
    from cwtool.files import check_kept
    from cwtool.lock import locked
    from cwtool.model.file import check_target
    from cwtool.report import charts
    from cwtool.train.options import TrainOptions
    from cwtool.train.run import train
    from cwtool.tune.chart import panels
    from cwtool.tune.grid import TuneOptions
    from cwtool.tune.run import tune

    if STDIN in data and (by != "progressive" or model is not None):
        raise click.UsageError(
            "tune reads the data more than once, and stdin can be read only once; without --model, "
            "--by progressive can read it"
        )
    if plot is not None:
        charts.check(plot)
        check_kept(plot, list(data))
    console = options.console(as_json, quiet, verbose)
    reading = Reading(**rows)
    tried: Any = points.get("normalize", [])
    if "columns" in (reading.normalize, *tried):
        reading = measured(reading, data, max_memory)
    asked = TuneOptions(algo, points, fixed, random=random or 0, seed=seed)
    read = options.read_options(
        reading, on_bad_line, max_bad_lines, block_size, jobs, max_memory, data,
        learners=len(asked.points) if by == "progressive" else 0,
    )  # fmt: skip
    if model is not None:
        check_target(model, data)
    engine = sharding.engine_options(ctx, others, jobs)
    readings = any(name in points for name in options.ROWS)
    again = model is not None or (readings and by != "progressive")
    with (
        locked(model) if model is not None else nullcontext(),
        options.read_again(read, engine) if again else nullcontext(read) as read,
    ):
        wanted = TuneOptions(
            algo, points, fixed, class_weight=class_weight, by=by, folds=cv, metric=metric,
            random=random or 0, halving=halving or 0, passes=passes, seed=seed, engine=engine,
            max_memory=read.max_memory, read=read, **classes,
        )  # fmt: skip
        options.names_data(console, data)
        found = tune(list(data), wanted, console)
        winner = found.winner
        if plot is not None:
            charts.save(charts.chart(panels(found.cells, wanted)), plot)
            console.note(f"wrote {plot}")
        if model is not None:
            chosen = {**classes, **{k: v for k, v in winner.items() if k == "multiclass"}}
            subject = wanted.model(winner, class_options.labels(chosen))
            how = TrainOptions(
                passes=wanted.passes_of(winner), seed=seed, max_memory=read.max_memory,
                read=wanted.read_of(winner),
            )  # fmt: skip
            train(subject, list(data), model, how, console)
