"""The command line: each command is a short module. Only this package exits the process."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from types import FrameType

import click

from cwtool import __version__
from cwtool.cli.streams import prepare_streams
from cwtool.errors import CwtoolError
from cwtool.parallel import one_blas_thread

COMMANDS = {
    "train": "Learn a model from LIBSVM data, or continue one with --resume.",
    "feed": "Predict, check and learn one day of a feed, and keep the old model.",
    "predict": "Print labels, scores or probabilities for new rows, or evaluate with --evaluate.",
    "merge": "Make one model from several that learned different rows.",
    "select-features": "Select features and measure the error of classifiers that use only them.",
    "tune": "Choose parameters by cross-validation, then train with the best ones.",
    "bench": "Repeat the experiments of the papers and compare with the published numbers.",
    "inspect": "Show the parameters, history and weights of a model.",
    "convert": "Convert between LIBSVM, CSV, VW text and Parquet, and from lists of URLs.",
    "export": "Write a linear model for another program: LIBLINEAR, ONNX, SQL and more.",
    "import": "Convert a LIBLINEAR model to a model that train --resume can continue.",
    "report": "Show the days of a feed as an HTML page or as text.",
    "algorithms": "List the algorithms, and when to use each.",
    "completion": "Print the shell completion script for bash, zsh or fish.",
}
FILES = {"import": "import_model"}  # commands whose name cannot be that of a module
FIRST_STEPS = """\b
First steps:
  cwtool convert table.csv -o day1.svm          make LIBSVM text of a table
  cwtool train day1.svm -m url.cw               learn a model
  cwtool predict day2.svm -m url.cw --evaluate  measure it on the next day
  cwtool feed day2.svm -m url.cw                predict, check and learn a day

cwtool COMMAND --help describes a command and ends with examples."""
CONFIG = "cwtool.toml"
CANNOT_WRITE = 74  # exit code, as EX_IOERR of sysexits.h
COMPLETE = "_CWTOOL_COMPLETE"  # set by the completion scripts


class Lazy(click.Group):
    """Imports a command only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = FILES.get(name, name.replace("-", "_"))
        command: click.Command = import_module(f"cwtool.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from cwtool.cli.config import nearest

            describe = "cwtool COMMAND --help describes a command"
            next_step = describe if args[0] == "help" else nearest(args[0], COMMANDS)
            ctx.fail(f"there is no command {args[0]!r}; {next_step}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Lazy,
    epilog=FIRST_STEPS,
    context_settings={
        "auto_envvar_prefix": "CWTOOL",
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
)
@click.version_option(__version__, "-V", "--version", prog_name="cwtool")
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"TOML file with a section of options for each command. Without this option, {CONFIG} in "
    "the working folder is read if it exists.",
)
@click.pass_context
def group(ctx: click.Context, config: Path | None) -> None:
    """Train classifiers on LIBSVM-format data, by default by confidence-weighted online learning.

    Options can also be set in a configuration file or by environment variables such as
    CWTOOL_TRAIN_ALGO. The command line overrides variables, and variables override the file.
    """
    if config is None and not Path(CONFIG).is_file():
        return
    from cwtool.cli.config import PLACE, defaults_of, read_config

    path = config or Path(CONFIG)
    ctx.meta[PLACE] = path
    found = read_config(path, COMMANDS)
    name = ctx.invoked_subcommand or ""
    command = group.get_command(ctx, name)
    if command is not None:
        ctx.default_map = {name: defaults_of(path, command, found.get(name, {}))}


class Terminated(KeyboardInterrupt):
    """SIGTERM, as sent by timeout or systemd. It ends the command as Ctrl-C does and removes
    temporary files."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def main() -> None:
    """Run, and turn every ending into its exit code."""
    prepare_streams()
    one_blas_thread()
    signal.signal(signal.SIGTERM, _terminate)
    gc.set_threshold(50_000)  # imports make no garbage; looking for it took a tenth of the start
    code = run(sys.argv[1:])
    gc.freeze()  # nor is there any use in looking for it at the end, which takes as long
    sys.exit(code)


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as failure:
        return _cannot_write(failure)
    return code


def _cannot_write(failure: OSError) -> int:
    """Exit after stdout failed: silently if its reader, such as head, has closed the pipe."""
    from cwtool.messages.console import complain, unheard

    unheard(sys.stdout)
    if failure.errno == errno.EPIPE:
        return 0
    what = failure.filename if isinstance(failure.filename, str) else "the result"
    complain(f"cannot write {what}: {os.strerror(failure.errno or errno.EIO)}")
    return CANNOT_WRITE


def _show_examples(command: click.Command) -> None:
    """What to type, for a command that was given too little."""
    if command.epilog:
        click.echo(command.epilog.replace("\b\n", "\n"), err=True)


def _stopped(interrupt: BaseException) -> int:
    from cwtool.messages.console import complain

    changed = next(iter(interrupt.args), "no model was changed")
    if isinstance(interrupt, Terminated):
        complain(f"terminated; {changed}")
        return 143
    complain(f"interrupted; {changed}")
    return 130


def _interrupt_behind(failure: BaseException | None) -> BaseException | None:
    """The KeyboardInterrupt that caused a failure. Python raises a RuntimeError instead if it is
    interrupted while it creates the classes of a module."""
    while failure is not None and not isinstance(failure, KeyboardInterrupt):
        failure = failure.__cause__ or failure.__context__
    return failure


def run(args: list[str]) -> int:
    from cwtool.messages.console import complain

    try:
        if COMPLETE in os.environ:
            from click.shell_completion import shell_complete

            return shell_complete(group, {}, "cwtool", COMPLETE, os.environ[COMPLETE])
        with group.make_context("cwtool", args) as ctx:
            group.invoke(ctx)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as ending:
        return _flushed(ending.exit_code)
    except click.ClickException as failure:
        if isinstance(failure, click.BadParameter):
            from cwtool.cli.config import with_source

            failure = with_source(failure)
        failure.show()
        if isinstance(failure, click.MissingParameter) and failure.ctx:
            _show_examples(failure.ctx.command)
        return failure.exit_code
    except CwtoolError as failure:
        complain(str(failure), failure.hint)
        return failure.exit_code
    except (KeyboardInterrupt, click.Abort) as interrupt:
        return _stopped(interrupt)
    except OSError as failure:  # all others were turned into sentences where they arose
        return _cannot_write(failure)
    except MemoryError:
        complain(
            "out of memory", "fold the feature ids with --hash-bits, or use a smaller covariance"
        )
        return 1
    except Exception as failure:
        if (cause := _interrupt_behind(failure)) is not None:
            return _stopped(cause)
        import traceback

        traceback.print_exc()
        complain(f"a bug in cwtool {__version__}: {failure!r}", "please report the lines above")
        return 1
