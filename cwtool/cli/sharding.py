"""Options of training in shards, and of the engine that work is done by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cwtool import registry
from cwtool.cli.algorithm import ALGO
from cwtool.cli.options import Yielding, apply
from cwtool.memory import parse_size
from cwtool.params import declared

if TYPE_CHECKING:
    from cwtool.parallel import EngineOptions
    from cwtool.shards import ShardOptions

ENGINE = ("engine", "scheduler")
NAMES = ("shards", "rounds", *ENGINE, "work_dir", "head", "growth", "tail_rows", "gap")

engine = apply(
    click.option(
        "--engine",
        cls=Yielding,
        type=click.Choice(["local", "inline", "loky", "dask"]),
        default=None,
        help="Where the work is done: inline in this process, loky in --jobs processes of this "
        "machine, local in the better one of these, dask on a Dask cluster. It changes speed, "
        "never a result.  [default: dask with --scheduler, else local]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        default=None,
        help="Address of a Dask scheduler, such as tcp://host:8786. Without it, --engine dask "
        "starts --jobs processes on this machine and ends them.",
    ),
)

shards = apply(
    click.option(
        "--shards",
        type=click.IntRange(min=1),
        default=None,
        metavar="N",
        help="Deal the data out to this number of shards, which are learned apart and merged "
        "after each round. It is part of the result; 1 is the same as no shards.",
    ),
    click.option(
        "--rounds",
        type=click.IntRange(min=1),
        default=None,
        metavar="R",
        help="Number of rounds, all of the same length; of bcw and dcd the largest number of steps "
        "over all rows, and of bcw with a number as precision divisor their number.  [default: as "
        "many as --growth gives; bcw until the optimum or 3, dcd 300]",
    ),
    engine,
    click.option(
        "--work-dir",
        type=click.Path(file_okay=False),
        default=None,
        help="Folder for what the shards exchange, which all workers see. A run that was "
        "interrupted goes on from there when the same command is given again.  [default: a "
        "temporary folder]",
    ),
    click.option(
        "--head",
        metavar="SIZE",
        default=None,
        callback=lambda ctx, param, text: parse_size(text) if text else None,
        help="Bytes that are learned in sequence before the first round, such as 64MB, and at "
        "least 1,000 rows.  [default: 64 MiB]",
    ),
    click.option(
        "--growth",
        cls=Yielding,
        type=click.FloatRange(min=1, min_open=True),
        default=None,
        help="Each round ends this number of times as far from the start as the one before.  "
        "[default: 2]",
    ),
    click.option(
        "--tail-rows",
        type=click.IntRange(min=0),
        default=None,
        metavar="ROWS",
        help="Rows of a round that the shards hold back, to choose the merge by; they are learned "
        "after it.  [default: 4,000]",
    ),
    click.option(
        "--gap",
        cls=Yielding,
        type=click.FloatRange(min=0, min_open=True),
        default=None,
        help="Relative duality gap at which dcd in shards stops.  [default: 0.001]",
    ),
)


def _own(ctx: click.Context, others: dict[str, Any]) -> dict[str, Any]:
    """The values of these options; None where the algorithm has a parameter of the same name."""
    theirs = {p.name for p in declared(registry.algorithm(ctx.meta[ALGO]).Params)}
    return {name: None if name in theirs else others.get(name) for name in NAMES}


def engine_options(ctx: click.Context, others: dict[str, Any], jobs: int | None) -> EngineOptions:
    """The engine that was asked for."""
    from cwtool.parallel import EngineOptions, cores

    given = _own(ctx, others)
    return EngineOptions(given["engine"] or "", jobs or cores(), given["scheduler"] or "")


def shard_options(
    ctx: click.Context, others: dict[str, Any], jobs: int | None
) -> ShardOptions | None:
    """How the run is dealt out; None if it is not. Options without --shards are refused."""
    from cwtool.shards import ShardOptions

    given = _own(ctx, others)
    if given["shards"] is None:
        chains = ctx.meta[ALGO] == "rff-markov"  # which are work for an engine, too
        for name in NAMES[1:]:
            if given[name] is not None and not (chains and name in ENGINE):
                raise click.UsageError(f"--{name.replace('_', '-')} needs --shards")
        return None
    if given["rounds"] is not None and given["growth"] is not None:
        raise click.UsageError("--rounds makes rounds of equal length; leave out --growth")
    names = ("rounds", "work_dir", "head", "growth", "tail_rows", "gap")
    chosen = {name: given[name] for name in names if given[name] is not None}
    return ShardOptions(given["shards"], engine=engine_options(ctx, others, jobs), **chosen)


def inner_engine(
    ctx: click.Context, others: dict[str, Any], jobs: int | None
) -> EngineOptions | None:
    """The engine for parts of an algorithm; None if none was named."""
    given = _own(ctx, others)
    if given["engine"] is None and given["scheduler"] is None:
        return None
    return engine_options(ctx, others, jobs)
