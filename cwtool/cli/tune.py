"""cwtool tune"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwtool import registry
from cwtool.cli import class_options, options, sharding
from cwtool.cli.algorithm import AlgorithmCommand, given
from cwtool.errors import UsageError
from cwtool.params import Param, declared

if TYPE_CHECKING:
    Choice = click.Choice[str]
else:
    Choice = click.Choice  # not a generic class before click 8.2

# what a grid may have besides the parameters of the algorithm
SETTINGS = (
    Param("multiclass", str, "auto", "", choices=("rival", "ovr")),
    Param("algo", str, registry.DEFAULT, "", choices=tuple(registry.names())),
    Param("passes", int, 1, "", low=1),
    Param("normalize", str, "none", "", choices=("none", "l2")),
    Param("bias", bool, False, ""),
)


def parsed_grid(texts: tuple[str, ...], algo: str) -> dict[str, list[Any]]:
    """The values of each parameter from texts such as C=0.1,1,10, checked as its option is. With
    algo=arow,cw they may be parameters of any of these algorithms."""
    named = [text.partition("=")[2].split(",") for text in texts if text.startswith("algo=")]
    algos = [word.strip() for word in named[0] if word.strip()] if named else [algo]
    every = [p for name in algos for p in declared(registry.algorithm(name).Params)]
    params = [*{p.name: p for p in reversed(every)}.values(), *SETTINGS]
    known = {name: p for p in params for name in (p.name, *p.formerly)}
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals or not values.strip(","):
            raise UsageError(f"--grid {text!r} is not of the form NAME=VALUE,VALUE,...")
        if name not in known:
            raise UsageError(
                f"--grid {text!r}: {', '.join(algos)} has no parameter {name!r}",
                f"there is: {', '.join(p.name for p in params)}",
            )
        param = known[name]
        if param.name in grid:
            raise UsageError(f"--grid {param.name} is given twice", "list all values in one --grid")
        words = dict.fromkeys(word.strip() for word in values.split(",") if word.strip())
        grid[param.name] = [value_of(param, word) for word in words]
    return grid


def value_of(param: Param, word: str) -> Any:
    """The value of a parameter from its text."""
    if param.kind is bool:
        if word.lower() not in ("true", "false"):
            raise UsageError(f"`{param.name}` is {word!r}; it must be true or false")
        return word.lower() == "true"
    return param.check(word)


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
    help="Values to try for a parameter, such as C=0.1,1,10. algo=arow,cw tries algorithms, and "
    "passes=1,5, normalize=none,l2, bias=false,true and multiclass=rival,ovr try other settings. "
    "Can be given more than once; all combinations are tried.",
)
@click.option(
    "--by",
    type=Choice(["folds", "time", "progressive"]),
    default="folds",
    show_default=True,
    help="What the combinations are judged by: random folds; parts of the data in the order of "
    "time, each predicted by a model of all rows before it; or one pass in which every row is "
    "predicted before it is learned, by all combinations at once. For feeds that change, time and "
    "progressive tell what to expect of the next day, and folds are too good.",
)
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Number of folds, also of those by time.",
)
@click.option(
    "--metric",
    type=Metric(["error", "auc", "f1", "macro-f1", "balanced-error", "log-loss"]),
    default="error",
    show_default=True,
    help="Metric whose mean over the folds decides which point is the best. auc and f1 are for two "
    "classes, macro-f1 is for more.",
)
@click.option(
    "-m",
    "--model",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="File to write a model to that is trained on all rows with the best parameters.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of passes over the data. From the second pass on the rows come in a random order.",
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
    by: str,
    cv: int,
    metric: str,
    model: Path | None,
    passes: int,
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

    Every combination of the values of --grid is judged on the same folds, which have equal shares
    of each class and depend on the seed alone, or in the order of time (--by). Of combinations
    that are equally good the first one wins, so list the simpler values first. Each of the --jobs
    processes holds all rows in memory; --by progressive holds a model for each combination, and
    blocks of rows.
    """
    points = parsed_grid(grid, algo)
    own = tuple(p.name for p in declared(registry.algorithm(algo).Params))
    fixed, classes = given(ctx, others, own), given(ctx, others, class_options.CLASSES)
    rows, others["passes"] = given(ctx, others, options.ROWS), passes
    once = given(ctx, others, ("passes",))
    if twice := sorted(points.keys() & (fixed.keys() | classes.keys() | rows.keys() | once.keys())):
        raise click.UsageError(f"{twice[0]} is given both in --grid and by its own option")
    class_options.labels({**classes, **{k: v[0] for k, v in points.items() if k == "multiclass"}})

    from contextlib import nullcontext

    from cwtool.data.parse import Reading
    from cwtool.data.sources import STDIN
    from cwtool.grid import TuneOptions
    from cwtool.lock import locked
    from cwtool.model.file import check_target
    from cwtool.train import train
    from cwtool.trainer import TrainOptions
    from cwtool.tune import tune

    if STDIN in data and (by != "progressive" or model is not None):
        raise click.UsageError(
            "tune reads the data more than once, and stdin can be read only once; without --model, "
            "--by progressive can read it"
        )
    console = options.console(as_json, quiet, verbose)
    reading = Reading(**rows)
    read = options.read_options(reading, on_bad_line, max_bad_lines, block_size, jobs)
    if model is not None:
        check_target(model, data)
    engine = sharding.engine_options(ctx, others, jobs)
    readings = any(len(points.get(name, ())) > 1 for name in options.ROWS)
    again = model is not None or (readings and by != "progressive")
    with (
        locked(model) if model is not None else nullcontext(),
        options.read_again(read, engine) if again else nullcontext(read) as read,
    ):
        wanted = TuneOptions(
            algo, points, fixed, class_weight=class_weight, by=by, folds=cv, metric=metric,
            passes=passes, seed=seed, engine=engine,
            max_memory=max_memory, read=read, **classes,
        )  # fmt: skip
        options.names_data(console, data)
        winner = tune(list(data), wanted, console)
        if model is not None:
            chosen = {**classes, **{k: v for k, v in winner.items() if k == "multiclass"}}
            subject = wanted.model(winner, class_options.labels(chosen))
            how = TrainOptions(
                passes=wanted.passes_of(winner), seed=seed, max_memory=max_memory,
                read=wanted.read_of(winner),
            )  # fmt: skip
            train(subject, list(data), model, how, console)
