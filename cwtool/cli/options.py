"""Options that several commands share, and options derived from declared parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cwtool import __version__, memory
from cwtool.data.sources import display, forget_begun
from cwtool.memory import parse_size
from cwtool.messages.console import Console

if TYPE_CHECKING:
    from cwtool.data.cache import Cache
    from cwtool.data.parse import Reading
    from cwtool.data.pipeline import ReadOptions
    from cwtool.parallel import EngineOptions

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not a generic class before click 8.4

F = TypeVar("F", bound=Callable[..., Any])


def examples(*commands: str) -> str:
    """Example command lines for the end of a help text, one per line."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def apply(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    def all_of_them(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return all_of_them


class Yielding(click.Option):
    """An option that a parameter of the algorithm with the same name replaces."""


seed = click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**63 - 1),
    default=0,
    show_default=True,
    help="Seed of the random number generator. Runs with the same seed, data and options give the "
    "same model.",
)

max_memory = click.option(
    "--max-memory",
    metavar="SIZE",
    callback=lambda ctx, param, text: parse_size(text) if text else 0,
    help="Largest memory for reading, the model, the working memory of its algorithm, and the "
    "rows, scores and names that are kept, such as 4GB; a run that needs more is refused. Several "
    "processes share it.  "
    "[default: most of the free memory]",
)


lock = click.option(
    "--lock",
    type=click.Choice(["fail", "wait"]),
    default="fail",
    show_default=True,
    help="What to do while another run writes the same model file: fail exits with code 75, wait "
    "waits until the other run ends.",
)

# how a line becomes a row: kept in the model
rows = apply(
    click.option(
        "--normalize",
        type=click.Choice(["none", "l2", "columns"]),
        default="none",
        show_default=True,
        help="Scaling of the rows: l2 divides each row by its Euclidean length, so that long and "
        "short documents count alike. columns divides each column by its standard deviation in "
        "the first 1,000 rows, after its mean is subtracted if half of them have the column; use "
        "it, with --bias, if the columns have different units. Kept in the model.",
    ),
    click.option(
        "--bias/--no-bias",
        default=False,
        help="Add a constant feature of value 1 to every row. Its weight is an intercept; use it "
        "if one class is rare or the data are dense. Kept in the model.",
    ),
    click.option(
        "--hash-bits",
        type=click.IntRange(min=1, max=30),
        default=None,
        help="Map feature ids to 2^N ids by hashing, which bounds the memory of the model. Ids "
        "that collide share a weight. Kept in the model.",
    ),
    click.option(
        "--zero-based",
        is_flag=True,
        help="Feature ids in the data start at 0 instead of 1. Kept in the model.",
    ),
)

ROWS = ("zero_based", "normalize", "bias", "hash_bits")

parsing = apply(
    click.option(
        "--on-bad-line",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do with a line that is not valid LIBSVM text: stop reports its file, line "
        "and column and ends with exit code 3; skip leaves it out and counts it.",
    ),
    click.option(
        "--max-bad-lines",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Largest number of bad lines that --on-bad-line skip leaves out before the run ends "
        "with exit code 3.",
    ),
    click.option(
        "--block-size",
        type=click.IntRange(min=1 << 16),
        default=3 << 19,
        show_default=True,
        help="Largest number of bytes of text that are parsed at a time; a small --max-memory "
        "lowers it. Smaller blocks need less memory and more time; the result is the same.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        default=None,
        help="Number of threads or processes. The result does not depend on it.  [default: all "
        "cores]",
    ),
)

CACHE, CONSOLE = "cwtool.cache", "cwtool.console"  # in the context of a command


def _keep_cache(ctx: click.Context, param: click.Parameter, folder: str | None) -> None:
    ctx.meta[CACHE] = folder


caching = click.option(
    "--cache",
    metavar="DIR",
    type=click.Path(file_okay=False),
    callback=_keep_cache,
    expose_value=False,
    help="Folder in which the parsed rows of LIBSVM files are stored. A file is parsed in the "
    "first run; later runs read its rows from the folder, which is several times as fast and "
    "gives the same results. A file that has changed is parsed again with a warning. The folder "
    "is created if it does not exist, and its files can be deleted at any time.",
)
reading = apply(parsing, caching)

talking = apply(
    click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print results on stdout as JSON lines, one object per line.",
    ),
    click.option(
        "-q",
        "--quiet",
        is_flag=True,
        help="Print only errors: no progress, notes, warnings or summaries.",
    ),
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Print details on stderr, such as the passes and objectives of a batch learner; "
        "commands that learn nothing have none.",
    ),
)


def read_options(
    reading: Reading,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    max_memory: int,
    paths: Sequence[str],
    *,
    sharded: bool = False,
    learners: int = 0,
) -> ReadOptions:
    """The settings of the reading options. Their `max_memory` is what the run may take beside
    reading these files, and the counts of so many `learners`. In shards some results depend on it,
    and it does not depend on `jobs`."""
    from cwtool.data.pipeline import ReadOptions
    from cwtool.parallel import cores

    ctx = click.get_current_context()
    found = ctx.meta
    ctx.call_on_close(memory.forget_reading)
    ctx.call_on_close(forget_begun)
    read = ReadOptions(
        store=cache_in(found[CACHE], found[CONSOLE]) if found.get(CACHE) else None,
        reading=reading,
        max_bad_lines=max_bad_lines if on_bad_line == "skip" else 0,
        block_bytes=block_size >> 16 << 16,
        jobs=jobs or cores(),
        max_memory=max_memory,
    )
    if not max_memory:
        return read
    from cwtool.data.reading_memory import beside_reading

    return beside_reading(read, paths, sharded=sharded, learners=learners)


def cache_in(folder: str, console: Console) -> Cache:
    """The cache in a folder."""
    from cwtool.data.cache import Cache

    return Cache(str(Path(folder).absolute()), console.warn)


@contextmanager
def kept_rows(engine: EngineOptions) -> Iterator[str]:
    """The folder of the cache that the user has named, or one that is removed at the end; empty
    where other machines, which would not see it, do the work."""
    named = click.get_current_context().meta.get(CACHE)
    if named or engine.kind == "dask":
        yield str(Path(named).absolute()) if named else ""
        return
    from cwtool.scratch import Scratch

    with Scratch() as folder:
        yield folder


@contextmanager
def read_again(read: ReadOptions, engine: EngineOptions) -> Iterator[ReadOptions]:
    """The options for a command that reads the same files more than once: with a cache."""
    from cwtool.data.cache import Cache

    with kept_rows(engine) as folder:
        yield replace(read, store=read.store or (Cache(folder) if folder else None))


def console(as_json: bool, quiet: bool, verbose: bool) -> Console:
    """The console of a command. Its events have the time, the command, the version and the
    model."""
    ctx = click.get_current_context()
    found = ctx.meta[CONSOLE] = Console(json=as_json, quiet=quiet, verbose=verbose)
    found.stamp = {"command": ctx.info_name, "version": __version__}
    if ctx.params.get("model") is not None:
        found.stamp["model"] = display(str(ctx.params["model"]))
    return found


def names_data(console: Console, data: Sequence[str]) -> None:
    """Add the names and digests of the data files to the events of a command that reads all data at
    once."""
    from cwtool.data.known import file_digests

    if console.json:
        digests = [found[0] for found in map(file_digests, data) if found]
        console.concerns(file=", ".join(map(display, data)), digest=", ".join(digests))
