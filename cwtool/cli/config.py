"""Configuration files: defaults of options, by command."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from cwtool.cli.declared import owners


def read_config(path: Path, commands: Collection[str]) -> dict[str, Any]:
    """The sections of a configuration file by command, as in [train] algo = "arow". A section that
    is not named after a command is an error."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except OSError as failure:
        raise click.UsageError(f"{path}: {os.strerror(failure.errno or 0)}") from None
    except tomllib.TOMLDecodeError as failure:
        raise click.UsageError(f"{path}: {failure}") from None
    for command, section in found.items():
        if command not in commands or not isinstance(section, dict):
            raise click.UsageError(
                f"{path}: [{command}] is no command; choose one of {', '.join(commands)}"
            )
    return {
        command: {key.replace("-", "_"): value for key, value in section.items()}
        for command, section in found.items()
    }


def defaults_of(path: Path, command: click.Command, section: dict[str, Any]) -> dict[str, Any]:
    """The options of a section by parameter name. Unknown options are errors; options of another
    algorithm than the present one are allowed."""
    names = {word.lstrip("-").replace("-", "_"): p.name for p in command.params for word in p.opts}
    for key in section.keys() - names.keys():
        option = "--" + key.replace("_", "-")
        if "algo" not in names or not owners(option):
            raise click.UsageError(f"{path}: {command.name} has no option {option}")
    return {names.get(key) or key: value for key, value in section.items()}
