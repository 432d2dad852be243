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
    help="Number of features to show, those with the largest weights first.",
)
@click.option(
    "--feature-names",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="File with names of features: one feature id, a tab and its name on each line.",
)
@click.option(
    "--weights",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File to write id, weight and variance of every nonzero weight to, tab-separated and in "
    "full precision; - writes to stdout.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(
    model: Path, top: int, feature_names: Path | None, weights: Path | None, as_json: bool
) -> None:
    """Show the algorithm, parameters, history and largest weights of a model."""
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
