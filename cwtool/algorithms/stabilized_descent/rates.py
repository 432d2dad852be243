"""Learning rates of stabilized truncated gradient descent, and those of its intercept.

The intercept acts as a feature whose squared value is a tenth of Q, the mean squared norm of rows
over the features that are left:  w -= eta c z,  b -= eta c Q / 10. A given rate is for columns
divided by max(spread, tau), and the paths see them multiplied by tau, so that it is divided by
tau^2. The rate auto is c / (mean squared norm of the rows): c = 1 for the hinge loss and 2 for the
logistic loss, whose gradient is smaller.
"""

from __future__ import annotations

import numpy as np

from cwtool.algorithms.stabilized_descent.schedule import BIAS, Numbers
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.data.rows import Floats
from cwtool.params import AUTO


def _auto(params: StsgdParams, numbers: Numbers) -> float:
    """c of the rate auto; 1 in models of cwtool 0.1."""
    return 2.0 if params.loss == "logistic" and numbers["rules"] else 1.0


def of_new(params: StsgdParams, numbers: Numbers, sums: Floats) -> Floats:
    """The rate of each of some rows, and that of its intercept, given the number of rows and the
    sum of squared norms before the first row and after each of them. Until columns are scaled for
    the first time, a given rate has no meaning and auto is used."""
    numbers["seen"], numbers["norms"] = sums[-1].tolist()
    seen, total = sums[1:].T
    given = params.rate != AUTO and (numbers["fitted"] or not numbers["longest"])
    if given:
        rates = np.full(len(seen), float(params.rate) / numbers["unit"])
    else:
        rates = _quotients(_auto(params, numbers) * seen, total)
    if numbers["stage"] > 1:  # before, all features are left
        return _with_intercept(numbers, rates, numbers["norm"])
    return _with_intercept(numbers, rates, _quotients(total, seen))


def of_known(params: StsgdParams, numbers: Numbers, n: int) -> Floats:
    """The same of n rows that were met before, in the stage that begins."""
    if params.rate != AUTO:
        rate = float(params.rate) / numbers["unit"]
    else:
        seen = _auto(params, numbers) * numbers["seen"]
        rate = seen / numbers["norms"] if numbers["norms"] else 0.0
    return _with_intercept(numbers, np.full(n, rate), numbers["norm"])


def _quotients(a: Floats, b: Floats) -> Floats:
    """a / b of numbers that are not negative; 0 where b is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = a / b
    if len(b) and not b[0] > 0:  # sums, which grow: the first of them may be 0
        found[b == 0] = 0.0
    return found


def _with_intercept(numbers: Numbers, rates: Floats, norm: Floats | float) -> Floats:
    found = np.zeros((len(rates), 2))
    found[:, 0] = rates
    if numbers["bias"]:
        found[:, 1] = BIAS * norm * rates
    return found
