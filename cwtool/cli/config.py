"""Configuration files: defaults of options, by command."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from cwtool.cli.declared import owners

PLACE = "cwtool.cli.config"  # where a context keeps the path of the configuration file
PLAIN = (str, int, float)  # what an option may have as its value
KINDS = {
    "integer range": "a whole number",
    "integer": "a whole number",
    "float range": "a number",
    "float": "a number",
}  # by the names that click uses in its messages
MOST = 1 << 20  # bytes of a configuration file


def read_config(path: Path, commands: Collection[str]) -> dict[str, Any]:
    """The sections of a configuration file by command, as in [train] algo = "arow". A section that
    is not named after a command is an error."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with path.open("rb") as file:
            text = file.read(MOST + 1)
        if len(text) > MOST:
            raise click.UsageError(
                f"{path} is longer than 1 MiB; it is not read as a configuration"
            )
        found = tomllib.loads(text.decode())
    except OSError as failure:
        raise click.UsageError(f"{path}: {os.strerror(failure.errno or 0)}") from None
    except UnicodeDecodeError as failure:
        raise click.UsageError(f"{path} is not UTF-8 text: {failure.reason}") from None
    except (ValueError, RecursionError) as failure:  # also a number of thousands of digits
        raise click.UsageError(f"{path}: {failure}") from None
    for command, section in found.items():
        if not isinstance(section, dict):
            raise click.UsageError(
                f"{path}: {command} stands before the first section; put it below the line of its "
                "command, such as [train]"
            )
        if command not in commands:
            raise click.UsageError(
                f"{path}: [{command}] is not a command; {nearest(command, commands)}"
            )
    return {
        command: {key.replace("-", "_"): value for key, value in section.items()}
        for command, section in found.items()
    }


def nearest(word: str, names: Collection[str]) -> str:
    """Which of the names was probably meant; all of them if none is similar."""
    import difflib

    near = difflib.get_close_matches(word.lower(), names, n=1)
    return f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}"


def defaults_of(path: Path, command: click.Command, section: dict[str, Any]) -> dict[str, Any]:
    """The options of a section by parameter name. Unknown options and values that no option can
    have are errors; options of another algorithm than the present one are allowed. An option that
    can be given more than once may have a list or a single value."""
    options = {word.lstrip("-").replace("-", "_"): p for p in command.params for word in p.opts}
    found: dict[str, Any] = {}
    for key, value in section.items():
        option = "--" + key.replace("_", "-")
        if key not in options and ("algo" not in options or not owners(option)):
            import difflib

            near = difflib.get_close_matches(key, options, n=1)
            meant = f"; did you mean {near[0].replace('_', '-')}?" if near else ""
            raise click.UsageError(f"{path}: {command.name} has no option {option}{meant}")
        several = getattr(options.get(key), "multiple", False)
        values = value if several and isinstance(value, list) else [value]
        flag = getattr(options.get(key), "is_flag", False)
        if not all(_fits(one, flag) for one in values):
            shown = f"{option} of {command.name} has {value!s:.40}".replace("\0", "\\0")
            raise click.UsageError(f"{path}: {shown}, which it cannot have")
        found[options[key].name or key if key in options else key] = values if several else value
    return found


def _fits(value: Any, flag: bool) -> bool:
    """Whether an option, or a flag, can have this value. No file name has a null character."""
    return isinstance(value, (str, bool) if flag else PLAIN) and "\0" not in str(value)


def with_source(failure: click.BadParameter) -> click.BadParameter:
    """The same error, with the kind of number that is expected instead of click's name of it, and
    with the place where the value was set, if that is not the command line."""
    message = failure.message
    for name, kind in KINDS.items():
        message = message.replace(f"is not a valid {name}.", f"is not {kind}")
    if place := _place(failure):
        message = f"{message} (set {place})"
    if message == failure.message:
        return failure
    return click.BadParameter(message, failure.ctx, failure.param, failure.param_hint)


def _place(failure: click.BadParameter) -> str:
    """Where the value was set; empty if on the command line."""
    ctx, param = failure.ctx, failure.param
    if ctx is None or param is None or param.name is None:
        return ""
    source = ctx.get_parameter_source(param.name)
    if source is click.core.ParameterSource.DEFAULT_MAP:
        return f"in {ctx.meta[PLACE]}"
    if source is click.core.ParameterSource.ENVIRONMENT:
        names = param.envvar or f"{ctx.auto_envvar_prefix}_{param.name.upper()}"
        shown = names if isinstance(names, str) else " or ".join(names)
        return f"by the environment variable {shown}"
    return ""
