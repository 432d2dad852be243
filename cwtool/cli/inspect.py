"""cwtool inspect"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cwtool.cli import options


@click.command(
    name="inspect",
    epilog=options.examples(
        "cwtool inspect url.cw --top 10 --feature-names names.tsv",
        "cwtool inspect topics.cw --class 3",
        "cwtool inspect topics.cw --weights weights.tsv",
    ),
)
@click.argument("model", type=click.Path(dir_okay=False, readable=False, path_type=Path))
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of features to show, in descending order of the absolute weight.",
)
@click.option(
    "--class",
    "label",
    metavar="LABEL",
    help="Show and write only the weights of this class of a model of more than two classes. "
    "Without it, features are ordered by the sum of their absolute weights over all classes.",
)
@click.option(
    "--feature-names",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="File with names of features: a feature id, a tab and its name on each line.",
)
@click.option(
    "--weights",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File to write id, weight and variance of every nonzero weight to, tab-separated and in "
    "full precision; - is stdout. With more than two classes and without --class, the file has "
    "one column of weights per class under a header line with the labels.",
)
@options.max_memory
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(
    model: Path,
    top: int,
    label: str | None,
    feature_names: Path | None,
    weights: Path | None,
    max_memory: int,
    as_json: bool,
) -> None:
    """Show the algorithm, parameters, history and largest weights of a model."""
    from cwtool.data.names import bytes_of_names
    from cwtool.inspect import bytes_shown, class_number, describe, names_of, write_weights
    from cwtool.messages.inspect_text import text
    from cwtool.messages.width import fitted
    from cwtool.model import Model
    from cwtool.model.memory_estimate import check_load

    named = bytes_of_names(feature_names)
    check_load(model, max_memory, lambda found: named + bytes_shown(found, top))
    subject = Model.load(model)
    names = names_of(feature_names, subject.reading) if feature_names else {}
    class_ = None if label is None else class_number(subject, label)
    if weights is not None:
        sources = [model, *([feature_names] if feature_names else [])]
        write_weights(subject, weights, sources, class_)
        if str(weights) == "-":
            return
    found = describe(subject, top, names, class_)
    console = options.console(as_json, False, False)
    if as_json:
        import json

        console.result(json.dumps(console.stamped() | found, allow_nan=False))
    else:
        console.result(fitted(text(found), sys.stdout))
