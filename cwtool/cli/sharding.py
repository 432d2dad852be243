"""Options of training in shards, and of the engine that runs parallel work."""

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
        help="Where parallel work runs: inline in this process, loky in --jobs processes of this "
        "machine, local in the faster one of the two, dask on a Dask cluster. The result does not "
        "depend on it.  [default: dask with --scheduler, otherwise local]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        default=None,
        help="Address of a Dask scheduler, such as tcp://host:8786. Without it, --engine dask "
        "starts --jobs worker processes on this machine and stops them at the end.",
    ),
)

shards = apply(
    click.option(
        "--shards",
        type=click.IntRange(min=1),
        default=None,
        metavar="N",
        help="Split the data into this number of shards, which are learned in parallel and merged "
        "after each round. The number changes the result; 1 is the same as training without "
        "shards.",
    ),
    click.option(
        "--rounds",
        type=click.IntRange(min=1),
        default=None,
        metavar="R",
        help="Number of rounds, all of the same length. For bcw and dcd it is the largest number "
        "of steps over all rows; for bcw with a number as --precision-divisor, exactly that "
        "number of steps.  [default: as many as --growth gives; bcw until the optimum, or 3 with "
        "a number as --precision-divisor; dcd 300]",
    ),
    engine,
    click.option(
        "--work-dir",
        type=click.Path(file_okay=False),
        default=None,
        help="Folder for the intermediate files of the shards, which all workers must be able to "
        "read and write. The same command continues an interrupted run from this folder.  "
        "[default: a temporary folder]",
    ),
    click.option(
        "--head",
        metavar="SIZE",
        default=None,
        callback=lambda ctx, param, text: parse_size(text) if text else None,
        help="Bytes of data that are learned in sequence, without shards, before the first round, "
        "such as 64MB; at least 1,000 rows.  [default: 64 MiB]",
    ),
    click.option(
        "--growth",
        cls=Yielding,
        type=click.FloatRange(min=1, min_open=True),
        default=None,
        help="Ratio between the amounts of data learned up to the end of a round and up to the "
        "end of the round before. Smaller values merge more often, with less error and more "
        "overhead.  [default: 2]",
    ),
    click.option(
        "--tail-rows",
        type=click.IntRange(min=0),
        default=None,
        metavar="ROWS",
        help="Number of rows of each round that the shards do not learn. The rule of the merge is "
        "chosen by the error on these rows, and the merged model then learns them.  [default: "
        "4,000]",
    ),
    click.option(
        "--gap",
        cls=Yielding,
        type=click.FloatRange(min=0, min_open=True),
        default=None,
        help="Relative duality gap at which dcd in shards stops. Smaller values are more exact "
        "and take more rounds.  [default: 0.001]",
    ),
)


def _own(ctx: click.Context, others: dict[str, Any]) -> dict[str, Any]:
    """The values of these options; None where the algorithm has a parameter of the same name."""
    theirs = {p.name for p in declared(registry.algorithm(ctx.meta[ALGO]).Params)}
    return {name: None if name in theirs else others.get(name) for name in NAMES}


def engine_options(ctx: click.Context, others: dict[str, Any], jobs: int | None) -> EngineOptions:
    """The engine that the options name."""
    from cwtool.parallel import EngineOptions, cores

    given = _own(ctx, others)
    return EngineOptions(given["engine"] or "", jobs or cores(), given["scheduler"] or "")


def shard_options(
    ctx: click.Context, others: dict[str, Any], jobs: int | None
) -> ShardOptions | None:
    """The settings of --shards; None without it, when its other options are refused."""
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
