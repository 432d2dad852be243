"""Notices about predictions in which a class is missing or rare, or that are worse than none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.metrics.tally import AnyTally, Tally
from cwtool.metrics.threshold import LOSSES
from cwtool.model import Model

FEWEST = 20  # rows below which predictions say too little
RARE = 0.1  # a class with at most this share of the rows is rare
SHARE, RECALL = 0.01, 0.05  # a class with this share of the rows should have this recall
SURE = 2.0  # standard errors by which the predictions are worse than those of one class


def noticed(model: Model, tally: AnyTally) -> str | None:
    """The notice about these predictions of the model, or None."""
    matrix = tally.measured[1] if isinstance(tally, Tally) else tally.measured[1:, 1:]
    names = model.labels.names[: len(matrix)]
    setting = model.operating_point.setting
    passes = model.batch is None  # batch learners refuse several
    found = imbalance(matrix, names, bias=model.reading.bias, threshold=setting, passes=passes)
    if found or setting or model.class_weight.setting:  # these are meant to change the error
        return found
    return worse_than_one_class(matrix, names)


def worse_than_one_class(matrix: NDArray[Any], names: Sequence[str]) -> str | None:
    """A sentence if the most frequent class as the prediction of every row has fewer errors. The
    variance of the difference of two errors is at most their sum divided by the number of rows."""
    total = float(matrix.sum())
    if total < FEWEST:
        return None
    support = matrix.sum(axis=1)
    most = int(np.argmax(support))
    error, of_one = 1 - np.trace(matrix) / total, 1 - support[most] / total
    if error - of_one <= SURE * np.sqrt((error + of_one) / total):
        return None
    return (
        f"the error is {_percent(error)}, and that of predicting every row as {names[most]} is "
        f"only {_percent(of_one)}; try newer training rows, other parameters or another `algo`"
    )


def imbalance(
    matrix: NDArray[Any],
    names: Sequence[str],
    *,
    bias: bool,
    threshold: str,
    passes: bool = True,
) -> str | None:
    """A sentence with a remedy, if all rows are of one class, if all predictions are, if a class is
    hardly ever predicted where it should be, or if one of two classes is rare and nothing was done.
    `matrix[actual, predicted]` counts the rows of the classes with these names; `bias` tells
    whether the model has one, `threshold` is its setting, and `passes` tells whether it can learn
    rows in several passes."""
    support, called = matrix.sum(axis=1), matrix.sum(axis=0)
    total = float(support.sum())
    if total < FEWEST or len(names) < 2:
        return None
    if np.count_nonzero(support) == 1:
        return (
            f"all rows have the label {names[int(np.argmax(support))]}; a line that begins with a "
            "feature, such as 1:0.5, has no label, and the feature is read as one with a weight"
        )
    share = support / total
    recall = np.diagonal(matrix) / np.maximum(support, 1e-300)
    missed = np.flatnonzero((share >= SHARE) & (recall < RECALL))
    rarest = int(np.argmin(np.where(support > 0, support, np.inf)))
    if np.count_nonzero(called) == 1:
        only = int(np.argmax(called))
        others = _percent(1 - share[only])
        found = (
            f"all rows are predicted as {names[only]}, and {others} of them are of another class"
        )
    elif len(missed):
        least = int(missed[np.argmin(recall[missed])])
        some = f"only {_percent(recall[least])}" if recall[least] else "none"
        found = f"{some} of the rows of the class {names[least]} are predicted as it"
        if len(names) > 2 and share[least] >= 1 / (2 * len(names)):  # the class is not rare
            other = "more `passes` or another `algo`" if passes else "another `algo`"
            return f"{found}; {other} may separate it from other classes"
    elif len(names) == 2 and share[rarest] <= RARE and not (bias or threshold):
        found = f"only {_percent(share[rarest])} of the rows are of the class {names[rarest]}"
    else:
        return None
    return f"{found}; {_remedy(len(names), bias, threshold)}"


def _remedy(classes: int, bias: bool, threshold: str) -> str:
    if threshold not in ("", *LOSSES):
        return f"this is an effect of the threshold, which is {threshold}"
    if threshold in ("f1", "balanced"):
        return "training with `class_weight=balanced` gives rows of rare classes a larger weight"
    points = "`threshold=balanced` or `threshold=f1`" if classes == 2 else "`threshold=balanced`"
    moved = f"with {points} rare classes are predicted more often"
    return moved if bias else f"{moved}, and training with `bias` adds an intercept"


def ties(model: Model, tally: AnyTally) -> str | None:
    """A sentence if the model predicts many of the rows that score exactly 0 as another class than
    the progressive metrics assume."""
    if not isinstance(tally, Tally) or model.operating_point or model.threshold == 0:
        return None
    tied, total = float(tally.ties.sum()), tally.measured[1].sum()
    if total < FEWEST or tied < SHARE * total:
        return None
    return (
        f"{_percent(tied / total)} of the rows score exactly 0; progressive metrics count them as "
        f"predicted {model.labels.name(1)}, but the trained model predicts {model.labels.name(0)}; "
        "with `bias` they get another score"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
