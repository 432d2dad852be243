"""cwtool completion"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from cwtool.cli import COMPLETE


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and algorithms.

    \b
    bash:  eval "$(cwtool completion bash)"
    zsh:   eval "$(cwtool completion zsh)"
    fish:  cwtool completion fish | source
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "cwtool", COMPLETE).source())
