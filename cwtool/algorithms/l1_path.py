"""The path of l1-regularized solutions over C, up to a given number of features.

C grows from the value at which the first weight appears, each solution starting from the one
before, until there are p weights. Where no C gives exactly p, the p largest weights of the next
solution are learned again by themselves, or kept as they are if that would make some of them 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from cwtool.algorithms.inverted import Columns
from cwtool.data.rows import Floats, Longs

GROWTH = 1.3  # factor from one C to the next
BISECTIONS = 25  # between two C, at most

Kept = tuple[Floats, Floats]  # what Fit.kept returns and Fit.back takes


class Fit(ABC):
    """A solver for min ||w||_1 + C sum of weighted losses over one batch: w and the margins m =
    y w.x while C changes. Features are columns of the batch."""

    def __init__(self, columns: Columns, y: Floats, params: Any, seed: int) -> None:
        """At w = 0. The values of `columns` become z_ij = y_i x_ij."""
        self.p, self.seed, self.weight = params, seed, columns.weight
        self.z, self.squares = columns.x, columns.squares
        self.z.value[:] *= y[self.z.place]
        self.w, self.m = np.zeros(len(self.squares)), np.zeros(len(y))
        self.g0 = self.gradient()
        self.passes = 0

    def gradient(self) -> Floats:
        """The gradient of the weighted sum of losses, without C: squared hinge or logistic."""
        if self.p.loss == "logistic":
            slope = -np.exp(-np.logaddexp(0, self.m))
        else:
            slope = np.minimum(self.m - 1, 0)
        return self.z.products(slope if self.weight is None else self.weight * slope)

    @property
    def everything(self) -> Longs:
        """All features."""
        return np.arange(len(self.w), dtype=np.int64)

    @property
    def chosen(self) -> Longs:
        """The features that have a weight."""
        return np.flatnonzero(self.w)

    @abstractmethod
    def solve(self, C: float, among: Longs) -> None:
        """Solve for this C from the present weights; only features `among` get a weight."""

    @abstractmethod
    def without(self, features: Longs) -> None:
        """Set the weights of these features to 0."""

    @abstractmethod
    def kept(self) -> Kept:
        """A copy of the present solution."""

    @abstractmethod
    def back(self, kept: Kept) -> None:
        """Return to a solution that was kept."""


def path(fit: Fit, features: int, most: float) -> tuple[float, Floats]:
    """Solve for exactly this number of features, or fewer if there are no more or C = `most` does
    not give more. Returns C, and for each feature with a weight the number of the step of the path
    at which it came in, counted from 1."""
    entry = np.zeros(len(fit.w))
    step = 0
    low = C = float(min(most, 1 / np.abs(fit.g0).max()))  # w = 0 up to here
    before = fit.kept()
    while len(fit.chosen) < features and most > C:
        low, before = C, fit.kept()
        C, step = min(most, C * GROWTH), step + 1
        fit.solve(C, fit.everything)
        _enter(entry, fit.chosen, step)
    C = _exactly(fit, features, low, before, C)
    _enter(entry, fit.chosen, step)
    entry[fit.w == 0] = 0
    return C, entry


def _enter(entry: Floats, chosen: Longs, step: int) -> None:
    """Note the step for those of the chosen features that came in with it."""
    entry[chosen] = np.where(entry[chosen], entry[chosen], step)


def _exactly(fit: Fit, features: int, low: float, before: Kept, high: float) -> float:
    """Bisect from the solution at C = high, where fit is now, towards the one before at C = low
    that has too few features; if that finds no C with exactly this number, cut. Returns C."""
    C, above = high, fit.kept()
    for _ in range(BISECTIONS):
        if len(fit.chosen) == features or np.count_nonzero(above[0]) <= features:
            break
        C = (low * high) ** 0.5
        fit.back(before)
        fit.solve(C, fit.everything)
        if len(fit.chosen) < features:
            low, before = C, fit.kept()
        else:
            high, above = C, fit.kept()
    if len(fit.chosen) != features and np.count_nonzero(above[0]) > features:
        C = high
        fit.back(above)
        _cut(fit, features, C)
    return C


def _cut(fit: Fit, features: int, C: float) -> None:
    """Only the largest weights remain; learn them again by themselves if all stay nonzero."""
    order = np.argsort(-np.abs(fit.w), kind="stable")
    fit.without(order[features : len(fit.chosen)])
    cut = fit.kept()
    fit.solve(C, np.sort(order[:features]))
    if len(fit.chosen) < features:
        fit.back(cut)
