"""The error for numbers of a model that have overflowed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.linalg import LinAlgError

from cwtool.errors import Damage, ModelError

M = TypeVar("M")
P = ParamSpec("P")
R = TypeVar("R")


def computing(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A method of a model that raises ModelError where numbers overflow, a matrix has no inverse or
    a copy cannot be made: the state, which may be of a file, or the rows have values that are too
    large."""

    @wraps(method)
    def computed(model: M, /, *args: P.args, **more: P.kwargs) -> R:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # found by checks, and told once
                return method(model, *args, **more)
        except (ArithmeticError, Damage, LinAlgError) as failure:
            named: Any = model
            raise ModelError(
                f"the numbers of the {named.algorithm.name} model cannot be computed with: "
                f"{failure}",
                "restore the model from a copy, and look for very large values in the rows, or "
                "divide rows by their length with `normalize=l2`",
            ) from failure

    return computed
