"""The parameter `prior`, which many algorithms share: the scale of the rows, or of the weights."""

from __future__ import annotations

from math import inf
from typing import Any

from cwtool.params import AUTO, param

AUTOMATIC = (
    "auto is 1 / (typical squared norm of the first 1,000 rows), so that the other parameters do "
    "not depend on the scale of the data; 1 is the choice of the papers."
)


def prior_of_weights() -> Any:
    """For learners that keep a covariance of the weights."""
    return _prior(f"Variance of every weight before any data. {AUTOMATIC}")


def prior_of_rows(unasked: float = inf) -> Any:
    """For learners without a covariance, where it acts as a scale of the rows. A model file cannot
    ask for more than `unasked`."""
    scaled = "Rows are multiplied by the square root of this number before learning."
    return _prior(f"{scaled} {AUTOMATIC}", unasked)


def _prior(help: str, unasked: float = inf) -> Any:
    return param(AUTO, help, kind=float, above=0, auto=True, unasked=unasked)
