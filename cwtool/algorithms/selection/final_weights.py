"""Final weights of the selected features, with a C that is chosen for rows that were not learned.

As long as the same rows have an error, 1 - y w.x > 0, the squared hinge loss is quadratic. With the
penalty w'L w / 2 of the last pass, Newton steps over these rows give

    w = (L + t C X'HX)^-1 t C X'Hy      for t = 1, 3, 10, 30, ..., 10^6, one step for each.

The loss on other rows is estimated by generalized cross-validation (Golub, Heath and Wahba 1979):
loss / (1 - f/n)^2 with the sum n of the weights of these rows and f = tr (L + t C X'HX)^-1 t C X'HX
degrees of freedom. p features that were selected from d fit more noise than given ones, so that the
exponent is 2 + log(d/p). The first t that does not lower the estimate ends the search. Earlier
batches count by the quadratic of their rows with an error, as in bcw.
"""

from __future__ import annotations

from math import log
from typing import Protocol

import numpy as np

from cwtool.algorithms.batch.metric import cholesky
from cwtool.algorithms.batch.rows_by_column import Matrix, gram_of_rows
from cwtool.data.rows import Floats
from cwtool.records import dataclass
from cwtool_ext import fortran

FACTORS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6)  # t
MOST = 500  # features; the matrices of more would take longer than selecting them
HALVINGS = 5  # of a step, at most


@dataclass(frozen=True)
class Errors:
    """M = sum of h_i z_i z_i' with z = (x, y), over rows with an error at some weights."""

    matrix: Floats

    @classmethod
    def none(cls, features: int) -> Errors:
        return cls(np.zeros((features + 1, features + 1)))

    @classmethod
    def over(cls, x: Matrix, y: Floats, weight: Floats | None, w: Floats) -> Errors:
        """Of the rows x, which are over as many columns as there are weights w."""
        p = len(w)
        wrong = np.flatnonzero(y * x.products(w) < 1)
        h = np.zeros(len(y))
        h[wrong] = 1.0 if weight is None else weight[wrong]
        found = cls.none(p)
        found.matrix[:p, :p] = gram_of_rows(x, h, p)
        found.matrix[:p, p] = found.matrix[p, :p] = x.sums(h * y, p)
        found.matrix[p, p] = h.sum()
        return found

    def __add__(self, other: Errors) -> Errors:
        """`other` may have more features, behind those of this: the rows are without them."""
        total, p = other.matrix.copy(), len(self.matrix) - 1
        at = np.append(np.arange(p), len(total) - 1)
        total[np.ix_(at, at)] += self.matrix
        return Errors(total)

    @property
    def gram(self) -> Floats:
        """X'HX"""
        return self.matrix[:-1, :-1]

    @property
    def target(self) -> Floats:
        """X'Hy"""
        return self.matrix[:-1, -1]

    @property
    def weight(self) -> float:
        """The sum of h."""
        return float(self.matrix[-1, -1])

    def loss(self, w: Floats) -> float:
        """The sum of h (1 - y w.x)^2"""
        return max(0.0, float(self.weight - 2 * w @ self.target + w @ self.gram @ w))


class Erring(Protocol):
    """Rows over the selected features; a Subproblem is one."""

    C: float

    def errors(self, w: Floats) -> Errors: ...


def price(features: int, candidates: int) -> float:
    """What a feature costs that was selected from so many candidates, in units of the variance of
    the errors: the exponent of the estimate."""
    return 2 + log(max(1.0, candidates / features))


def final_weights(
    problem: Erring, w: Floats, penalty: Floats, past: Errors, candidates: int, first: float = 1.0
) -> tuple[Floats, Errors, float]:
    """The final weights, from w and t = first on, the rows with an error at them, with those of
    earlier batches, and t. The features were selected from so many candidates."""
    now = problem.errors(w)
    found, least = (w, past + now, first), np.inf
    exponent = price(len(w), candidates)
    for factor in FACTORS[FACTORS.index(first) :]:
        all_ = past + now
        if not all_.weight:  # nothing to learn from
            break
        C = factor * problem.C
        lower = cholesky(penalty + C * all_.gram)
        w, now = _step(problem, fortran.cho_solve(lower, C * all_.target), w, now, penalty, past, C)
        inverse = fortran.cho_solve(lower, np.eye(len(w)))
        left = 1 - C * float((inverse * all_.gram).sum()) / all_.weight
        new = past + now
        estimate = new.loss(w) / left**exponent if left > 0 else np.inf
        if not estimate < least:
            break
        found, least = (w, new, factor), estimate
    return found


def _step(
    problem: Erring, new: Floats, w: Floats, now: Errors, penalty: Floats, past: Errors, C: float
) -> tuple[Floats, Errors]:
    """From w, with the rows `now` that have an error there, to the new weights, or to half of the
    way, a quarter and so on, the first that does not raise the objective."""

    def objective(w: Floats, now: Errors) -> float:
        return float(w @ penalty @ w) + C * (past + now).loss(w)

    before = objective(w, now)
    for _ in range(HALVINGS):
        errors = problem.errors(new)
        if objective(new, errors) <= before:
            return new, errors
        new = (w + new) / 2
    return w, now
