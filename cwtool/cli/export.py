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
    help="Format of the output. liblinear is the text that the predict program of LIBLINEAR "
    "reads; json is one object with all numbers that a scorer needs; tsv is a table of weights; "
    "sql has tables, and views that score the rows of a database; python is a module without "
    "dependencies; onnx is a graph with labels, scores and probabilities (pip install "
    "'cwtool[onnx]'); vw is a Vowpal Wabbit regressor (pip install vowpalwabbit).",
)
@click.option(
    "-o",
    "--out",
    default="-",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File to write to; - is stdout.  [default: -]",
)
@options.max_memory
def command(model: Path, form: str, out: Path, max_memory: int) -> None:
    """Write a linear model in the format of another program.

    Scores, labels and thresholds are those of cwtool predict; the weight of --bias becomes the
    intercept. The formats json, python, sql and onnx include probabilities, unless these need the
    covariances of more than 1,000 features or of several classes. Models that are not linear are
    refused, and so are settings that a format cannot express, such as --hash-bits.
    """
    from cwtool.export.writing import bytes_of_export, export
    from cwtool.model import Model
    from cwtool.model.memory_estimate import check_load

    check_load(model, max_memory, lambda found: bytes_of_export(found, form))
    scorer = export(Model.load(model), form, out, (model,), max_memory)
    console = options.console(False, False, False)
    if str(out) != "-":
        console.note(f"wrote {out}")
    if not scorer.has_probability and form in ("json", "python", "sql", "onnx"):
        console.note(
            "probabilities are left out: they depend on the variance of the score, which needs the "
            "covariances of more features or classes than are written, or the means of columns"
        )
