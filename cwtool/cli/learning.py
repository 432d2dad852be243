"""Options of the commands that make or continue one model: train and feed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from cwtool import registry
from cwtool.cli import class_options, options
from cwtool.cli.options import F, apply


def target(*, data: bool, model: str, algo: str) -> Callable[[F], F]:
    """The argument DATA, --model and --algo. `data` tells whether DATA is required; the other
    arguments are help texts."""
    names = registry.names()
    return apply(
        click.argument(
            "data", nargs=-1, required=data, type=click.Path(allow_dash=True, readable=False)
        ),
        click.option(
            "-m",
            "--model",
            required=True,
            type=click.Path(dir_okay=False, readable=False, path_type=Path),
            help=model,
        ),
        click.option(
            "-a",
            "--algo",
            metavar="NAME",
            default=None,
            shell_complete=lambda ctx, param, typed: [n for n in names if n.startswith(typed)],
            help=f"{algo} One of {', '.join(names)}.",
        ),
    )


def conditions(name: str, what: str) -> Callable[[F], F]:
    """An option for conditions on metrics."""
    return click.option(name, multiple=True, metavar="CONDITION", help=what)


def settings(threshold: str) -> Callable[[F], F]:
    """The options of reading, learning and messages; `threshold` ends the help text of
    --threshold."""
    return apply(
        options.seed,
        class_options.classes,
        class_options.class_weight,
        class_options.threshold(threshold),
        options.rows,
        options.max_memory,
        options.reading,
        options.lock,
        options.talking,
    )
