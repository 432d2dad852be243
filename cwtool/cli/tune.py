"""cwtool tune"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwtool import registry
from cwtool.cli import options
from cwtool.cli.train import AlgorithmCommand, given
from cwtool.errors import UsageError
from cwtool.params import Param, declared


def parsed_grid(texts: tuple[str, ...], algo: str) -> dict[str, list[Any]]:
    """Values by name of parameter: C=0.1,1,10 and so on, each checked as its option would be."""
    known = {p.name: p for p in declared(registry.algorithm(algo).Params)}
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals or not values.strip(","):
            raise UsageError(f"--grid {text!r} is not of the form NAME=VALUE,VALUE,...")
        if name not in known:
            raise UsageError(
                f"--grid {text!r}: {algo} has no parameter {name!r}",
                f"there is: {', '.join(known)}",
            )
        if name in grid:
            raise UsageError(f"--grid {name} is given twice", "list all values after one name")
        words = dict.fromkeys(word.strip() for word in values.split(",") if word.strip())
        grid[name] = [value_of(known[name], word) for word in words]
    return grid


def value_of(param: Param, word: str) -> Any:
    if param.kind is bool:
        if word.lower() not in ("true", "false"):
            raise UsageError(f"{param.option} is {word!r}; it must be true or false")
        return word.lower() == "true"
    return param.check(word)


@click.command(cls=AlgorithmCommand, name="tune")
@click.argument("data", nargs=-1, required=True, type=click.Path(readable=False))
@click.option(
    "-a",
    "--algo",
    metavar="NAME",
    default=registry.DEFAULT,
    show_default=True,
    help="One of those of train.",
)
@click.option(
    "--grid",
    multiple=True,
    required=True,
    metavar="NAME=V,V,...",
    help="Values of a parameter; with several --grid, all combinations.",
)
@click.option(
    "--cv", type=click.IntRange(min=2), default=5, show_default=True, help="Number of folds."
)
@click.option(
    "--metric",
    type=click.Choice(["error", "auc", "f1"]),
    default="error",
    show_default=True,
    help="What the best point is best in: its mean over the folds.",
)
@click.option(
    "-m",
    "--model",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Train on all rows with the best point, and save here.",
)
@click.option(
    "--passes", type=click.IntRange(min=1), default=1, show_default=True, help="As in train."
)
@options.seed
@options.max_memory
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
    cv: int,
    metric: str,
    model: Path | None,
    passes: int,
    seed: int,
    max_memory: int,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **others: Any,
) -> None:
    """Judge every point of a grid by cross-validation, and train with the best.

    Each row is checked once, by a model that has not seen it; folds hold the classes evenly and
    depend on the seed alone. Of points that are equally good the first of the grid wins, so give
    the simpler values first. All rows are held in memory, by each of the --jobs processes.
    """
    points = parsed_grid(grid, algo)
    own = tuple(p.name for p in declared(registry.algorithm(algo).Params))
    fixed = given(ctx, others, own)
    if twice := sorted(points.keys() & fixed.keys()):
        raise click.UsageError(f"{twice[0]} is in the grid and given by its option too")

    from contextlib import nullcontext

    from cwtool.bench.sources import Source
    from cwtool.data.parse import Reading
    from cwtool.data.sources import STDIN
    from cwtool.lock import locked
    from cwtool.model import Model
    from cwtool.modelfile import check_target
    from cwtool.train import TrainOptions, train
    from cwtool.tune import TuneOptions, tune

    if STDIN in data:
        raise click.UsageError("tune reads the data more than once, and stdin can be read once")
    console = options.console(as_json, quiet, verbose)
    reading = Reading(**given(ctx, others, options.ROWS))
    read = options.read_options(reading, on_bad_line, max_bad_lines, block_size, jobs)
    if model is not None:
        check_target(model, data)
    with locked(model) if model is not None else nullcontext():
        paths = tuple(str(Path(path).absolute()) for path in data)
        source = Source(paths, reading=reading, max_bad_lines=read.max_bad_lines)
        wanted = TuneOptions(algo, points, fixed, cv, metric, passes, seed, read.jobs, max_memory)
        winner = tune(source, wanted, console)
        if model is not None:
            subject = Model.new(algo, {**fixed, **winner}, reading)
            how = TrainOptions(passes=passes, seed=seed, max_memory=max_memory, read=read)
            train(subject, list(data), model, how, console)
