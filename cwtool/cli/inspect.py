"""cwtool inspect"""

from __future__ import annotations

from pathlib import Path

import click

from cwtool.cli import options


@click.command(name="inspect")
@click.argument("model", type=click.Path(dir_okay=False, readable=False, path_type=Path))
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many of the largest weights to show.",
)
@click.option(
    "--feature-names",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Names for ids: lines of id, tab, name.",
)
@click.option(
    "--weights",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Write id, weight and variance of every nonzero weight to this file (- for stdout), "
    "tab-separated, in full precision.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    model: Path, top: int, feature_names: Path | None, weights: Path | None, as_json: bool
) -> None:
    """Show what a model is: algorithm, parameters, history, and its largest weights."""
    from cwtool.inspect import describe, names_of, text, write_weights
    from cwtool.model import Model

    subject = Model.load(model)
    names = names_of(feature_names, subject.reading) if feature_names else {}
    if weights is not None:
        write_weights(subject, weights, [model, *([feature_names] if feature_names else [])])
        if str(weights) == "-":
            return
    found = describe(subject, top, names)
    console = options.console(as_json, False, False)
    if as_json:
        import json

        console.result(json.dumps(found, allow_nan=False))
    else:
        console.result(text(found))
