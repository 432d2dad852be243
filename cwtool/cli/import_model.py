"""cwtool import"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwtool import registry
from cwtool.cli import options
from cwtool.cli.algorithm import ALGO, AlgorithmCommand, given
from cwtool.params import declared


@click.command(
    cls=AlgorithmCommand,
    name="import",
    epilog=options.examples(
        "cwtool import url.model -m url.cw",
        "cwtool import url.model -m url.cw --algo scw1 --precision 10",
        "cwtool train day2.svm --resume url.cw -m url.cw",
    ),
)
@click.argument("file", type=click.Path(dir_okay=False, readable=False, path_type=Path))
@click.option(
    "-m",
    "--model",
    required=True,
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="File to write the model to.",
)
@click.option(
    "-a",
    "--algo",
    metavar="NAME",
    default=registry.DEFAULT,
    show_default=True,
    help="Algorithm that goes on from the weights: arow, cw, cw-var, scw1, scw2, nherd, "
    "perceptron, pa, pa1 or pa2.",
)
@click.option(
    "--precision",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="How sure the model is of the weights: the variance of each is prior / (1 + precision). "
    "With 0 it learns as fast as a new model, and large values keep the weights near what they "
    "are. Algorithms without variances do not use it.",
)
@click.option(
    "--multiclass",
    type=click.Choice(["auto", "rival", "ovr"]),
    default="auto",
    show_default=True,
    help="How more than two classes are learned from now on, as in train; auto is rival.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: Path,
    model: Path,
    algo: str,
    precision: float,
    multiclass: str,
    **others: Any,
) -> None:
    """Make a model of a LIBLINEAR model, as a starting point for train --resume.

    The model predicts the labels that LIBLINEAR predicts. Its bias becomes the bias of every row.
    The prior is 1 unless --prior is given, because a prior that is found from rows would change the
    weights.
    """
    from cwtool.importing import imported, read_liblinear
    from cwtool.lock import locked
    from cwtool.model.file import check_target

    name = ctx.meta[ALGO]
    own = tuple(p.name for p in declared(registry.algorithm(name).Params))
    check_target(model, [str(file)])
    found = imported(read_liblinear(file), name, given(ctx, others, own), precision, multiclass)
    with locked(model, wait=False):
        found.save(model)
