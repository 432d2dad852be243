"""cwtool export"""

from __future__ import annotations

from pathlib import Path

import click

from cwtool.cli import options
from cwtool.export import FORMATS


@click.command(
    name="export",
    epilog=options.examples(
        "cwtool export url.cw --format liblinear -o url.model",
        "cwtool export topics.cw --format sql | sqlite3 topics.db",
        "cwtool export url.cw --format onnx -o url.onnx",
    ),
)
@click.argument("model", type=click.Path(dir_okay=False, readable=False, path_type=Path))
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice(list(FORMATS)),
    help="liblinear is the text that the predict program of LIBLINEAR reads; json, one object with "
    "all that a scorer needs; tsv, a table of weights; sql, tables and the views that score rows "
    "of a database; python, a module that needs nothing else; onnx, a graph with labels, scores "
    "and probabilities (pip install 'cwtool[onnx]'); vw, a Vowpal Wabbit regressor (pip install "
    "vowpalwabbit).",
)
@click.option(
    "-o",
    "--out",
    default="-",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File to write to; - is stdout.  [default: -]",
)
def command(model: Path, form: str, out: Path) -> None:
    """Write a linear model in the form of another program.

    Scores, labels and thresholds are those of the command predict; the bias becomes the intercept.
    Probabilities are in json, python, sql and onnx, unless they need the covariances of more than
    1,000 features or of several classes. Models that are not linear are refused, and so is what a
    format cannot express, such as folded feature ids.
    """
    from cwtool.export.writing import export
    from cwtool.model import Model

    scorer = export(Model.load(model), form, out, (model,))
    if not scorer.has_probability and form in ("json", "python", "sql", "onnx"):
        options.console(False, False, False).note(
            "probabilities are left out: the variance of a score needs the covariances of more "
            "features or classes than are written"
        )
