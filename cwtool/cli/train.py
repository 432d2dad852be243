"""cwtool train"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwtool import registry
from cwtool.cli import options
from cwtool.errors import ModelError
from cwtool.params import declared

if TYPE_CHECKING:
    from cwtool.console import Console
    from cwtool.model import Model

ALGO = "cwtool.algo"
FLAGS = "qv"  # short options without a value


class AlgorithmCommand(click.Command):
    """A command whose options depend on --algo: those of the algorithm, and no others."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        name = self._algorithm(ctx, args)
        registry.algorithm(name)
        ctx.meta[ALGO] = name
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as failure:
            owners = registry.owners(failure.option_name)
            if not owners:
                raise
            raise click.UsageError(
                f"{failure.option_name} is an option of {', '.join(owners)}; "
                f"the algorithm here is {ctx.meta[ALGO]}",
                ctx,
            ) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        name = ctx.meta.get(ALGO)
        if name is None:
            return own
        kind = registry.algorithm(name)
        taken = {p.name for p in own}
        rest = [p for p in declared(kind.Params) if p.name not in taken]
        return [*own, *map(options.option_of, rest)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        name = ctx.meta[ALGO]
        kind = registry.algorithm(name)
        general: list[tuple[str, str]] = []
        special: list[tuple[str, str]] = []
        names = {p.name for p in declared(kind.Params)} - {p.name for p in self.params}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                (special if param.name in names else general).append(record)
        with formatter.section("Options"):
            formatter.write_dl(general)
        with formatter.section(f"Options of {name} ({kind.summary})"):
            formatter.write_dl(special)

    def _algorithm(self, ctx: click.Context, args: list[str]) -> str:
        """What --algo says or will say, before the options are known."""
        prefix = ctx.auto_envvar_prefix or "CWTOOL_TRAIN"
        given = _value_of(args, "--algo", "-a") or os.environ.get(f"{prefix}_ALGO")
        given = given or str(ctx.lookup_default("algo") or "")
        if given:
            return given
        named = [p.default for p in self.params if p.name == "algo" and isinstance(p.default, str)]
        if named:
            return named[0]
        resumed = _value_of(args, "--resume") or os.environ.get(f"{prefix}_RESUME")
        resumed = resumed or str(ctx.lookup_default("resume") or "")
        if resumed:
            from cwtool.model import algorithm_of

            return algorithm_of(Path(resumed))
        return registry.DEFAULT


def _value_of(args: list[str], *names: str) -> str | None:
    """The last value that is given to one of these options."""
    found = None
    for k, word in enumerate(args):
        if word == "--":
            break
        for name in names:
            if not name.startswith("--") and not word.startswith("--"):
                word = word[:1] + word[1:].lstrip(FLAGS)  # -qa NAME
            if word == name and k + 1 < len(args):
                found = args[k + 1]
            elif name.startswith("--") and word.startswith(name + "="):
                found = word[len(name) + 1 :]
            elif not name.startswith("--") and word.startswith(name) and word != name:
                found = word[len(name) :].removeprefix("=")
    return found


def _algo_names() -> str:
    return ", ".join(registry.names())


@click.command(cls=AlgorithmCommand, name="train")
@click.argument("data", nargs=-1, required=True, type=click.Path(allow_dash=True, readable=False))
@click.option(
    "-m",
    "--model",
    required=True,
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Where the model goes; an old one is replaced at once and only by a finished one.",
)
@click.option(
    "-a",
    "--algo",
    metavar="NAME",
    default=None,
    shell_complete=lambda ctx, param, typed: [n for n in registry.names() if n.startswith(typed)],
    help=f"One of {_algo_names()}.  [default: {registry.DEFAULT}, or that of --resume]",
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Go on from this model, exactly as if its data and this data were one.",
)
@click.option("--again", is_flag=True, help="Learn a file again that was learned before.")
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Times to go over the data; in a new random order from the second on.",
)
@options.seed
@click.option(
    "--validation",
    multiple=True,
    type=click.Path(allow_dash=True, readable=False),
    metavar="FILE",
    help="Check each pass on this file and keep the best one. May be given more than once.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Or on this share of the rows, which are then not learned.",
)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    help="Stop when so many passes in a row were not better than the best.",
)
@click.option(
    "--require",
    multiple=True,
    metavar="CONDITION",
    help="Such as auc>=0.97. Otherwise exit 5; the new model goes to MODEL.rejected.",
)
@click.option(
    "--trace",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="Report error and weights that are not zero after every so many rows of the first pass, "
    "and after each pass.",
)
@options.rows
@options.max_memory
@options.reading
@click.option(
    "--lock",
    type=click.Choice(["fail", "wait"]),
    default="fail",
    show_default=True,
    help="When another run is writing the model: exit 75, or wait.",
)
@options.talking
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: tuple[str, ...],
    model: Path,
    algo: str | None,
    resume: Path | None,
    again: bool,
    passes: int,
    seed: int,
    validation: tuple[str, ...],
    holdout: float | None,
    patience: int | None,
    require: tuple[str, ...],
    trace: int | None,
    max_memory: int,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    lock: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **others: Any,
) -> None:
    """Learn from LIBSVM files (plain, gz, bz2, xz, zst; - for stdin), in the given order.

    Each row is predicted before it is learned; the error and AUC of these predictions are
    reported. Without other options: one pass, in a stream, whatever the size of the data.
    """
    from cwtool.data.sources import STDIN
    from cwtool.gate import Gate
    from cwtool.lock import locked
    from cwtool.modelfile import check_target
    from cwtool.train import TrainOptions, train

    if patience and not (validation or holdout):
        raise click.UsageError("--patience needs --validation or --holdout")
    if patience and passes == 1:
        raise click.UsageError("--patience needs --passes: it ends them early")
    if STDIN in validation and passes > 1:
        raise click.UsageError("--validation is read once a pass, and stdin only once")
    if STDIN in validation and STDIN in data:
        raise click.UsageError("stdin can be read once: as DATA or for --validation")
    gates = tuple(Gate.parse(text) for text in require)
    console = options.console(as_json, quiet, verbose)
    check_target(model, data)
    with locked(model, wait=lock == "wait"):
        subject = _subject(ctx, algo, resume, others)
        paths = list(data) if again else _unseen(list(data), subject, console)
        if not paths:
            subject.save(model)
            return
        train(
            subject,
            paths,
            model,
            TrainOptions(
                passes=passes,
                seed=seed,
                holdout=holdout or 0.0,
                validation=validation,
                patience=patience or 0,
                require=gates,
                trace=trace or 0,
                max_memory=max_memory,
                read=options.read_options(
                    subject.reading, on_bad_line, max_bad_lines, block_size, jobs
                ),
            ),
            console,
        )


def given(ctx: click.Context, others: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those of the named options that did not come by default."""
    default = click.core.ParameterSource.DEFAULT
    return {n: others[n] for n in names if ctx.get_parameter_source(n) is not default}


def _subject(
    ctx: click.Context, algo: str | None, resume: Path | None, others: dict[str, Any]
) -> Model:
    """The model to train: a new one, or the one to go on from, with nothing contradicting it."""
    from cwtool.data.parse import Reading
    from cwtool.model import Model

    name = ctx.meta[ALGO]
    own = tuple(p.name for p in declared(registry.algorithm(name).Params))
    params = given(ctx, others, own)
    wanted = given(ctx, others, options.ROWS)
    if resume is None:
        return Model.new(name, params, Reading(**wanted))
    model = Model.load(resume)
    if algo is not None and algo != model.algorithm.name:
        raise ModelError(
            f"{resume} is a model of {model.algorithm.name}, not of {algo}", "leave out --algo"
        )
    kept = {**asdict(model.reading), **asdict(model.algorithm.params)}
    for key, value in {**wanted, **params}.items():
        if kept[key] != value:
            option = "--" + key.replace("_", "-")
            raise ModelError(
                f"{resume} was trained {_with(option, kept[key])}, and is asked to go on "
                f"{_with(option, value)}",
                f"leave out {option}, or train a new model",
            )
    return model


def _with(option: str, value: Any) -> str:
    if not value:
        return f"without {option}"
    return f"with {option}" if value is True else f"with {option} {value}"


def _unseen(paths: list[str], model: Model, console: Console) -> list[str]:
    """The files that the model has not learned yet."""
    from cwtool.data.digest import file_digest

    known = model.learned()
    left: list[str] = []
    for path in paths:
        name = known.get(file_digest(path) or "") if known else None
        if name is None and path not in left:
            left.append(path)
            continue
        before = "is given twice" if name is None else f"was learned before (as {name})"
        console.warn(f"{path} {before}: skipped; --again to repeat it")
        if console.json:
            console.event("skipped", {"file": path})
    return left
