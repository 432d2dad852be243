"""Options about classes: what the labels mean, class weights, and the threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cwtool.cli.options import F, apply
from cwtool.errors import UsageError
from cwtool.messages.console import with_options

if TYPE_CHECKING:
    from cwtool.data.labels import Labels


def _setting(kind: Callable[[str], Any], text: str | None) -> str:
    """Parse `text` with `kind` and return the setting in its canonical spelling."""
    try:
        found: str = kind(text or "").setting
    except UsageError as failure:
        hint = f" ({failure.hint})" if failure.hint else ""
        raise click.BadParameter(with_options(f"{failure}{hint}")) from None
    return found


def _class_weight(ctx: click.Context, param: click.Parameter, text: str | None) -> str:
    from cwtool.model.class_weight import ClassWeight

    return _setting(ClassWeight, text)


def _threshold(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    from cwtool.metrics.threshold import OperatingPoint

    return None if text is None else _setting(OperatingPoint, text)


class_weight = click.option(
    "--class-weight",
    metavar="balanced|LABEL=W,...",
    callback=_class_weight,
    help="Factors of the row weights of each class in learning. balanced gives rows of the rarer "
    "class a larger weight, inversely proportional to the number of rows of the class learned so "
    "far; -1=1,+1=10 multiplies the weights of rows with the label +1 by 10. Metrics do not use "
    "these factors. Kept in the model.  [default: 1 for all classes]",
)


def _label(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """A label as a number."""
    from math import isfinite

    try:
        label = None if text is None else float(text)
    except ValueError:
        label = float("nan")
    if label is not None and not isfinite(label):
        raise click.BadParameter(f"{text!r} is not a label; labels are numbers such as 1 or -1")
    return label


# what the labels mean: kept in the model
classes = apply(
    click.option(
        "--multiclass",
        type=click.Choice(["auto", "no", "rival", "ovr"]),
        default="auto",
        show_default=True,
        help="How more than two classes are learned. rival updates the class of a row and the "
        "class with the highest score among the others; ovr learns each class against the rest. "
        "auto learns two classes if the first 1,000 rows have two labels, otherwise rival if the "
        "algorithm supports it, and else ovr. no always expects two labels. On text, ovr often "
        "has fewer errors with second-order algorithms. Kept in the model.",
    ),
    click.option(
        "--positive",
        metavar="LABEL",
        callback=_label,
        help="Learn two classes: rows with this label are positive, rows with any other label are "
        "negative. Kept in the model.",
    ),
)

CLASSES = ("multiclass", "positive")


def labels(given: dict[str, Any]) -> Labels:
    """The labels of a new model by the options of `classes` that were given."""
    from cwtool.data.labels import Labels

    multiclass, positive = given.get("multiclass", "auto"), given.get("positive")
    if positive is None:
        return Labels(multiclass=multiclass)
    if multiclass not in ("auto", "no"):
        raise click.UsageError(
            f"--positive makes two classes, and --multiclass {multiclass} is for several; give one "
            "of them"
        )
    return Labels.against_rest(positive)


def threshold(which: str) -> Callable[[F], F]:
    """The option --threshold; `which` says how the command uses and stores it."""
    return click.option(
        "--threshold",
        "--operating-point",
        "threshold",
        metavar="error|f1|balanced|fpr=P|precision=P|NUMBER",
        callback=_threshold,
        help="Rows whose score is at least the threshold are predicted positive. NUMBER is the "
        "threshold itself; error minimizes the number of errors; f1 maximizes F1; balanced "
        "minimizes the mean of the error rates of both classes; fpr=0.001 maximizes the recall at "
        "a false positive rate of at most 0.001; precision=0.99 maximizes the recall at a "
        "precision of at least 0.99. All use the scores of the training rows before they were "
        "learned (for the first batch of a batch learner, after it was learned). With more than "
        "two classes only error and balanced are possible: error predicts the class of the highest "
        "probability instead of that of the highest score; balanced predicts rare classes more "
        f"often, according to their shares of the training rows. {which}",
    )
