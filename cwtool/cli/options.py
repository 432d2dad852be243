"""Options that several commands share, and options derived from declared parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cwtool.console import Console
from cwtool.errors import UsageError
from cwtool.memory import parse_size
from cwtool.params import Param

if TYPE_CHECKING:
    from cwtool.data.parse import Reading
    from cwtool.data.pipeline import ReadOptions

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not a generic class before click 8.4

F = TypeVar("F", bound=Callable[..., Any])


class Declared(ParamType):
    """The type of an option that belongs to a declared parameter."""

    def __init__(self, param: Param) -> None:
        self.param = param
        self.name = {int: "integer", float: "float"}.get(param.kind, "text")

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        if self.param.choices:
            return "[" + "|".join(self.param.choices) + "]"
        return ("auto|" if self.param.auto else "") + self.name.upper()

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        try:
            return self.param.check(value)
        except UsageError as failure:
            self.fail(str(failure), param, ctx)


def option_of(param: Param) -> click.Option:
    """The click option of a declared parameter."""
    if param.kind is bool:
        word = param.name.replace("_", "-")
        return click.Option(
            [f"--{word}/--no-{word}", param.name],
            default=param.default,
            show_default=True,
            help=param.help + ".",
        )
    allowed = f"; {param.range}" if param.range and not param.choices else ""
    return click.Option(
        [*param.spellings, param.name],
        type=Declared(param),
        default=param.default,
        show_default=True,
        help=param.help + allowed + ".",
    )


def apply(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    def all_of_them(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return all_of_them


seed = click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**63 - 1),
    default=0,
    show_default=True,
    help="Of every random choice.",
)

max_memory = click.option(
    "--max-memory",
    metavar="SIZE",
    callback=lambda ctx, param, text: parse_size(text) if text else 0,
    help="Most that matrices over features may take, such as 4GB.  [default: most that is free]",
)

# how a line becomes a row: kept in the model
rows = apply(
    click.option(
        "--normalize",
        type=click.Choice(["none", "l2"]),
        default="none",
        show_default=True,
        help="l2: every row to length 1.",
    ),
    click.option("--bias/--no-bias", default=False, help="Add a constant feature of value 1."),
    click.option(
        "--hash-bits",
        type=click.IntRange(min=1, max=30),
        default=None,
        help="Fold the feature ids into 2^N; a hard bound on memory.",
    ),
    click.option("--zero-based", is_flag=True, help="Feature ids begin at 0, not at 1."),
)

ROWS = ("zero_based", "normalize", "bias", "hash_bits")

reading = apply(
    click.option(
        "--on-bad-line",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="A line that is not LIBSVM: stop with its place, or skip and count it.",
    ),
    click.option(
        "--max-bad-lines",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="With --on-bad-line skip: stop after so many.",
    ),
    click.option(
        "--block-size",
        type=click.IntRange(min=1 << 16),
        default=3 << 19,
        show_default=True,
        help="Bytes of text a block is made of; changes memory and speed, never a result.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        default=None,
        help="Threads that parse; changes speed, never a result.  [default: all cores]",
    ),
)

talking = apply(
    click.option("--json", "as_json", is_flag=True, help="Results on stdout as JSON lines."),
    click.option("-q", "--quiet", is_flag=True, help="Errors only."),
    click.option("-v", "--verbose", is_flag=True, help="More detail on stderr."),
)


def read_options(
    reading: Reading, on_bad_line: str, max_bad_lines: int, block_size: int, jobs: int | None
) -> ReadOptions:
    """What the options above say."""
    from cwtool.data.pipeline import ReadOptions
    from cwtool.parallel import cores
    from cwtool_ext import bus

    bus.install()
    return ReadOptions(
        reading=reading,
        max_bad_lines=max_bad_lines if on_bad_line == "skip" else 0,
        block_bytes=block_size >> 16 << 16,
        jobs=jobs or cores(),
    )


def console(as_json: bool, quiet: bool, verbose: bool) -> Console:
    return Console(json=as_json, quiet=quiet, verbose=verbose)
