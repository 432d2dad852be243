"""Options that several commands share, and options derived from declared parameters."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cwtool import __version__
from cwtool.console import Console, with_options
from cwtool.data.sources import display
from cwtool.errors import UsageError
from cwtool.memory import parse_size
from cwtool.params import Param, declared

if TYPE_CHECKING:
    from cwtool.data.labels import Labels
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
            self.fail(with_options(str(failure)), param, ctx)


def spellings(param: Param) -> list[str]:
    """How a parameter is written on the command line, the present spellings first: -C and --C,
    --batch-rows, and --slot-rows as it was called before."""
    found = []
    for name in (param.name, *param.formerly):
        long = "--" + name.replace("_", "-")
        found += ["-" + name, long] if len(name) == 1 else [long]
    return found


def examples(*commands: str) -> str:
    """Command lines as the end of a help text, in lines of their own."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def owners(option: str) -> list[str]:
    """The algorithms that have an option of this spelling."""
    from cwtool import registry

    return [
        name
        for name in registry.names()
        if any(option in spellings(p) for p in declared(registry.algorithm(name).Params))
    ]


class DeclaredOption(click.Option):
    """The option of a declared parameter. Names that the parameter had before are understood on
    the command line, in variables and in configuration files, and are not shown in the help."""

    def __init__(self, param: Param, words: list[str], **settings: Any) -> None:
        super().__init__([*words, param.name], default=param.default, show_default=True, **settings)
        self.formerly = param.formerly
        self.old = {s for s in spellings(param) if s.lstrip("-").replace("-", "_") in self.formerly}

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        everything, self.opts = self.opts, [o for o in self.opts if o not in self.old]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = everything

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, Any]:
        value, source = super().consume_value(ctx, opts)
        if source not in (click.core.ParameterSource.DEFAULT, None):
            return value, source
        for name in self.formerly:
            given = os.environ.get(f"{ctx.auto_envvar_prefix}_{name.upper()}")
            if given is not None:
                return given, click.core.ParameterSource.ENVIRONMENT
            given = ctx.lookup_default(name)
            if given is not None:
                return given, click.core.ParameterSource.DEFAULT_MAP
        return value, source


def option_of(param: Param) -> click.Option:
    """The click option of a declared parameter."""
    if param.kind is bool:
        word = param.name.replace("_", "-")
        return DeclaredOption(param, [f"--{word}/--no-{word}"], help=with_options(param.help))
    allowed = f" Must be {param.range}." if param.range and not param.choices else ""
    return DeclaredOption(
        param, spellings(param), type=Declared(param), help=with_options(param.help) + allowed
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
    help="Seed of every random choice. The same seed gives the same model.",
)

max_memory = click.option(
    "--max-memory",
    metavar="SIZE",
    callback=lambda ctx, param, text: parse_size(text) if text else 0,
    help="Memory that an algorithm may use beside its table of features, such as 4GB; a run that "
    "needs more is refused.  [default: most of the free memory]",
)


def _setting(kind: Callable[[str], Any], text: str | None) -> str:
    """A setting as the library writes it; `kind` reads it."""
    try:
        found: str = kind(text or "").setting
    except UsageError as failure:
        hint = f" ({failure.hint})" if failure.hint else ""
        raise click.BadParameter(with_options(f"{failure}{hint}")) from None
    return found


def _class_weight(ctx: click.Context, param: click.Parameter, text: str | None) -> str:
    from cwtool.model.class_weight import ClassWeight

    return _setting(ClassWeight, text)


def _threshold(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    from cwtool.threshold import OperatingPoint

    return None if text is None else _setting(OperatingPoint, text)


class_weight = click.option(
    "--class-weight",
    metavar="balanced|LABEL=W,...",
    callback=_class_weight,
    help="Weights of the classes in learning. balanced gives rows of the rarer class a greater "
    "weight, by the numbers of rows learned so far; -1=1,+1=10 makes rows with the label +1 weigh "
    "10. The weight of a row in the data (label:weight) is multiplied by it. Metrics do not count "
    "it. Kept in the model.  [default: all 1]",
)


def _label(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """A label as a number."""
    from math import isfinite

    try:
        label = None if text is None else float(text)
    except ValueError:
        label = float("nan")
    if label is not None and not isfinite(label):
        raise click.BadParameter(f"{text!r} is not a label; labels are numbers such as 1 or -1")
    return label


lock = click.option(
    "--lock",
    type=click.Choice(["fail", "wait"]),
    default="fail",
    show_default=True,
    help="What to do while another run writes the same model: fail exits with code 75, wait waits.",
)

# what the labels mean: kept in the model
classes = apply(
    click.option(
        "--multiclass",
        type=click.Choice(["auto", "no", "rival", "ovr"]),
        default="auto",
        show_default=True,
        help="How more than two classes are learned. rival moves the class of a row against the "
        "class with the highest score among the others; ovr learns each class against the rest. "
        "auto is two classes if the first 1,000 rows have two labels, and else rival where the "
        "algorithm has it, otherwise ovr; no always expects two labels. On text, ovr often has "
        "fewer errors with second-order algorithms. Kept in the model.",
    ),
    click.option(
        "--positive",
        metavar="LABEL",
        callback=_label,
        help="Learn two classes: this label is positive, all others are negative. Kept in the "
        "model.",
    ),
)

CLASSES = ("multiclass", "positive")
LOGGED = ("train", "feed", "predict")  # commands whose events are stamped


def labels(given: dict[str, Any]) -> Labels:
    """The labels of a new model by the options of `classes` that were given."""
    from cwtool.data.labels import Labels

    multiclass, positive = given.get("multiclass", "auto"), given.get("positive")
    if positive is None:
        return Labels(multiclass=multiclass)
    if multiclass not in ("auto", "no"):
        raise click.UsageError(
            f"--positive makes two classes, and --multiclass {multiclass} is for several; give one "
            "of them"
        )
    return Labels.against_rest(positive)


def threshold(which: str) -> Callable[[F], F]:
    """The option for the threshold, with what the command does with it."""
    return click.option(
        "--threshold",
        "--operating-point",
        "threshold",
        metavar="f1|balanced|fpr=P|precision=P|NUMBER",
        callback=_threshold,
        help="Least score of a row that is called the positive class. f1 is the threshold with the "
        "greatest F1, and balanced that with the least mean of the error rates of both classes, "
        "each by the scores of the training rows before they were learned (of a first batch: once "
        "learned). fpr=0.001 is the one with the greatest recall and a false positive rate of at "
        "most 0.001, and precision=0.99 that with a precision of at least 0.99. With more than two "
        "classes, balanced calls rare classes more often, by their "
        f"shares of the training rows. {which}",
    )


# how a line becomes a row: kept in the model
rows = apply(
    click.option(
        "--normalize",
        type=click.Choice(["none", "l2"]),
        default="none",
        show_default=True,
        help="Scaling of each row: l2 divides it by its Euclidean length. Kept in the model.",
    ),
    click.option(
        "--bias/--no-bias",
        default=False,
        help="Add a constant feature of value 1 to every row. Kept in the model.",
    ),
    click.option(
        "--hash-bits",
        type=click.IntRange(min=1, max=30),
        default=None,
        help="Fold feature ids into 2^N ids, which bounds the memory of the model. Ids that "
        "collide share a weight. Kept in the model.",
    ),
    click.option(
        "--zero-based",
        is_flag=True,
        help="Feature ids in the data start at 0 instead of 1. Kept in the model.",
    ),
)

ROWS = ("zero_based", "normalize", "bias", "hash_bits")

reading = apply(
    click.option(
        "--on-bad-line",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do with a line that is not valid LIBSVM text: stop with its file, line and "
        "column, or skip and count it.",
    ),
    click.option(
        "--max-bad-lines",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Largest number of bad lines that --on-bad-line skip accepts.",
    ),
    click.option(
        "--block-size",
        type=click.IntRange(min=1 << 16),
        default=3 << 19,
        show_default=True,
        help="Bytes of text that are parsed at a time. They change memory and speed, not results.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        default=None,
        help="Number of threads. It changes speed, never a result.  [default: all cores]",
    ),
)

talking = apply(
    click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print results on stdout as JSON, one object a line.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
    click.option("-v", "--verbose", is_flag=True, help="Print more detail on stderr."),
)


def read_options(
    reading: Reading, on_bad_line: str, max_bad_lines: int, block_size: int, jobs: int | None
) -> ReadOptions:
    """The settings of the reading options."""
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
    """What the command says. Events of the commands of a feed name the time, the command, the
    version and the model; those of others are the same in every run."""
    found = Console(json=as_json, quiet=quiet, verbose=verbose)
    ctx = click.get_current_context()
    if ctx.info_name not in LOGGED:
        return found
    found.stamp = {"command": ctx.info_name, "version": __version__}
    if ctx.params.get("model") is not None:
        found.stamp["model"] = display(str(ctx.params["model"]))
    return found
