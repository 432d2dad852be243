"""cwtool import"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwtool import registry
from cwtool.cli import options
from cwtool.cli.algorithm import ALGO, AlgorithmCommand, given
from cwtool.params import declared

# those with a weight for each feature to start from
ALGORITHMS = (
    "arow", "cw", "cw-var", "scw1", "scw2", "nherd", "perceptron", "pa", "pa1", "pa2",
)  # fmt: skip


class ImportCommand(AlgorithmCommand):
    """Lists the algorithms that can start from weights. The prior is 1 unless it is given."""

    listed = ALGORITHMS

    def _with_those_of(self, name: str, own: list[click.Parameter]) -> list[click.Parameter]:
        found = super()._with_those_of(name, own)
        for option in found:
            if option.name == "prior":
                option.default = 1.0
        return found


@click.command(
    cls=ImportCommand,
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
    help=f"Algorithm that continues from the weights: {', '.join(ALGORITHMS[:-1])} or "
    f"{ALGORITHMS[-1]}.",
)
@click.option(
    "--precision",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Confidence in the imported weights: the variance of each is prior / (1 + precision). "
    "With 0 the model changes as fast as a new one; large values keep the weights near the "
    "imported ones. Algorithms without variances ignore it.",
)
@click.option(
    "--multiclass",
    type=click.Choice(["auto", "rival", "ovr"]),
    default="auto",
    show_default=True,
    help="How more than two classes are learned after the import, as in train; auto is rival.",
)
@options.max_memory
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: Path,
    model: Path,
    algo: str,
    precision: float,
    multiclass: str,
    max_memory: int,
    **others: Any,
) -> None:
    """Convert a LIBLINEAR model to a cwtool model, which train --resume can continue.

    The new model predicts the same labels as LIBLINEAR. The bias of LIBLINEAR becomes the constant
    feature of --bias. The prior is 1 unless --prior is given, because --prior auto would scale the
    rows and so change the meaning of the weights.
    """
    from cwtool.importing import imported, read_liblinear
    from cwtool.lock import locked
    from cwtool.memory import words
    from cwtool.model.file import check_target

    name = ctx.meta[ALGO]
    own = tuple(p.name for p in declared(registry.algorithm(name).Params))
    check_target(model, [str(file)])
    found = imported(
        read_liblinear(file, max_memory), name, given(ctx, others, own), precision, multiclass,
        max_memory,
    )  # fmt: skip
    with locked(model, wait=False):
        size = found.save(model)
    options.console(False, False, False).note(f"wrote {model} ({words(size)})")
