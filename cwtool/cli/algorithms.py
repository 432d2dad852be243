"""cwtool algorithms"""

from __future__ import annotations

import click

from cwtool.cli import options


@click.command(
    name="algorithms",
    epilog=options.examples(
        "cwtool algorithms",
        "cwtool algorithms --json",
        "cwtool train --algo scw1 --help",
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(as_json: bool) -> None:
    """List the algorithms in groups, each with a line that says when to use it.

    cwtool train --algo NAME --help lists the options of an algorithm.
    """
    from cwtool import catalog, registry

    if as_json:
        import json

        found = [
            {
                "algorithm": name,
                "group": title,
                "what": registry.algorithm(name).summary,
                "use": use,
            }
            for title, members in catalog.lines()
            for name, use in members
        ]
        click.echo(json.dumps({"algorithms": found, "default": registry.DEFAULT}))
        return
    for title, members in catalog.lines():
        click.echo(f"{title}:")
        for name, use in members:
            click.echo(f"  {name:<11} {registry.algorithm(name).summary}")
            click.echo(f"  {'':<11} Use it for {use}.")
        click.echo()
