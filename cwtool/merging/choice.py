"""The choice of a merge rule on rows that no part has learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cwtool.algorithms.merging.base import Rule
from cwtool.data.rows import Floats, Rows
from cwtool.model import Model
from cwtool.threads import together

HALVINGS, LARGEST = 60, 1024.0


def choose(
    rules: Sequence[Rule], candidate: Callable[[Rule], Model], tail: Sequence[Rows], jobs: int = 1
) -> tuple[Rule, list[float]]:
    """The rule whose model has the smallest loss on these rows, of equal ones the first; and the
    loss of each. `jobs` threads try the rules."""

    def loss_of(rule: Rule) -> float:
        model = candidate(rule)
        found = [margins(rows, model.scores(rows).score) for rows in tail]
        z, weight = (np.concatenate(column) for column in zip(*found, strict=True))
        return loss(z, weight)

    losses = together(loss_of, rules, jobs)
    return rules[int(np.argmin(losses))], losses


def margins(rows: Rows, score: Floats) -> tuple[Floats, Floats]:
    """The margin and weight of each row that counts. A row of two classes has the margin y s,
    y = +1 or -1; of several classes, the score of its own class minus the highest other one. Rows
    of weight 0 do not count, nor do rows whose class the model does not have."""
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    if score.ndim == 1:
        z = np.where(rows.y == 1, score, -score)
    else:
        n, classes = score.shape
        y = np.where((rows.y >= 0) & (rows.y < classes), rows.y, 0)
        others = score.copy()
        others[np.arange(n), y] = -np.inf
        with np.errstate(invalid="ignore"):
            z = score[np.arange(n), y] - others.max(axis=1, initial=-np.inf)
        z[y != rows.y] = np.nan
    counts = (weight > 0) & np.isfinite(z)
    return z[counts], weight[counts]


def loss(z: Floats, weight: Floats) -> float:
    """min over a >= 0 of mean max(0, 1 - a z)^2, with z divided by mean |z| and one more z = -1.
    The derivative in a is monotone, so a is found by halving [0, 1024]."""
    total = weight.sum()
    typical = float((weight * np.abs(z)).sum() / total) if total else 0.0
    z, weight = np.append(z / (typical or 1.0), -1.0), np.append(weight, 1.0)
    low, high = 0.0, LARGEST
    for _ in range(HALVINGS):
        a = (low + high) / 2
        rise = (weight * z * np.maximum(0.0, 1 - a * z)).sum()
        low, high = (a, high) if rise > 0 else (low, a)
    squares = np.maximum(0.0, 1 - (low + high) / 2 * z) ** 2
    return float((weight * squares).sum() / weight.sum())
