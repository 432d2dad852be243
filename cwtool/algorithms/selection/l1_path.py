"""The path of l1-regularized solutions over C, up to a given number of features; of several classes
this is the number of features that any of them uses.

C grows from the value at which the first weight appears, each solution starting from the one
before, until there are p weights. Where no C gives exactly p, the p largest weights of the next
solution are learned again by themselves, or kept as they are if that would make some of them 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats, Longs

GROWTH = 1.3  # factor from one C to the next
BISECTIONS = 25  # between two C, at most
WIDE = 1e16  # ratio of the last C of a path to the first; only values far apart need a larger one
FAR = 2.0**53  # ratio of the largest to the smallest value: beyond it, sums lose the smaller ones
LONG = 1e3  # root of the mean squared length of rows; of longer ones few solutions converge
PATIENCE = 1000  # passes of a path that is wide, or of values far apart, and does not converge

Kept = Any  # what `kept` returns and `back` takes
Together = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]  # (f, items) -> f of each


class Solver(Protocol):
    """What the path needs of a solver of one class or of several."""

    @property
    def passes(self) -> int:
        """Passes made so far."""

    @property
    def effort(self) -> float:
        """The work so far, in passes."""

    @property
    def early(self) -> int:
        """The number of solutions that ended before they reached the accuracy `tol`."""

    @property
    def far(self) -> bool:
        """Whether values of the rows are so far apart that few solutions converge."""

    @property
    def sizes(self) -> Floats:
        """|w_j| of each feature."""

    @property
    def steepest(self) -> float:
        """The largest |gradient| at w = 0."""

    @property
    def everything(self) -> Longs:
        """All features."""

    @property
    def chosen(self) -> Longs:
        """The features that have a weight."""

    def solve(self, C: float, among: Longs) -> None:
        """Solve for this C from the present weights; only features `among` get a weight."""

    def without(self, features: Longs) -> None:
        """Set the weights of these features to 0."""

    def kept(self) -> Kept:
        """A copy of the present solution."""

    def back(self, kept: Kept) -> None:
        """Return to a solution that was kept."""


class Fit(ABC):
    """A solver for min ||w||_1 + C sum of weighted losses over one batch: w and the margins m =
    y w.x while C changes. Features are columns of the batch."""

    def __init__(self, columns: AnyColumns, y: Floats, params: Any, seed: int) -> None:
        """At w = 0. The values of `columns` become z_ij = y_i x_ij."""
        self.p, self.seed, self.weight = params, seed, columns.weight
        self.squares = columns.squares
        self.z = columns.signed(y)
        self.w, self.m = np.zeros(len(self.squares)), np.zeros(len(y))
        self.g0 = self.gradient()
        self.passes = 0
        self.beside = 0.0  # other work, in passes that take as long
        self.early = 0  # solutions that were left before they were as exact as `tol` says

    @property
    def effort(self) -> float:
        return self.passes + self.beside

    @property
    def far(self) -> bool:
        """Or the rows are much longer than those that the parameters are meant for, of length 1. Of
        rows in shards, the values are not here to be compared."""
        total = len(self.m) if self.weight is None else self.weight.sum()
        if self.squares.sum() > LONG**2 * total:
            return True
        sizes = np.abs(self.z.value) if isinstance(self.z, Matrix) else np.empty(0)
        sizes = sizes[sizes > 0]
        return len(sizes) > 0 and bool(sizes.max() > FAR * sizes.min())

    def gradient(self) -> Floats:
        """The gradient of the weighted sum of losses, without C: squared hinge or logistic."""
        if self.p.loss == "logistic":
            slope = -np.exp(-np.logaddexp(0, self.m))
        else:
            slope = np.minimum(self.m - 1, 0)
        return self.z.products(slope if self.weight is None else self.weight * slope)

    @property
    def sizes(self) -> Floats:
        return np.abs(self.w)

    @property
    def steepest(self) -> float:
        return float(np.abs(self.g0).max(initial=0))

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


class Fits:
    """The fits of several classes, with one C. A feature is chosen if it has a weight in any.
    Classes may have the same fit."""

    def __init__(self, fits: Sequence[Fit], together: Together) -> None:
        self.fits, self.together = fits, together
        self.different = list(dict.fromkeys(fits))

    @property
    def passes(self) -> int:
        return max(fit.passes for fit in self.different)

    @property
    def effort(self) -> float:
        return max(fit.effort for fit in self.different)

    @property
    def far(self) -> bool:
        return self.fits[0].far

    @property
    def early(self) -> int:
        return max(fit.early for fit in self.different)

    @property
    def sizes(self) -> Floats:
        """The sum of |w_k| over the classes."""
        total: Floats = np.sum([fit.sizes for fit in self.fits], axis=0)
        return total

    @property
    def steepest(self) -> float:
        return max(fit.steepest for fit in self.different)

    @property
    def everything(self) -> Longs:
        return self.fits[0].everything

    @property
    def chosen(self) -> Longs:
        return np.flatnonzero(np.any([fit.w != 0 for fit in self.different], axis=0))

    def solve(self, C: float, among: Longs) -> None:
        self.together(lambda fit: fit.solve(C, among), self.different)

    def without(self, features: Longs) -> None:
        for fit in self.different:
            fit.without(features[fit.w[features] != 0])

    def kept(self) -> Kept:
        return [fit.kept() for fit in self.different]

    def back(self, kept: Kept) -> None:
        for fit, own in zip(self.different, kept, strict=True):
            fit.back(own)


def path(fit: Solver, features: int, most: float) -> tuple[float, Floats]:
    """Solve for exactly this number of features, or fewer if there are no more or C = `most` does
    not give more. Returns C, and for each feature with a weight the number of the step of the path
    at which it came in, counted from 1. A path that is wide or of values far apart, of which most
    solutions do not converge, ends when its patience does."""
    entry = np.zeros(len(fit.everything))
    step = 0
    low = C = float(min(most, 1 / fit.steepest))  # w = 0 up to here
    patience = PATIENCE if most > WIDE * C or fit.far else np.inf
    before = fit.kept()
    while len(fit.chosen) < features and most > C and not _ended(fit, patience):
        low, before = C, fit.kept()
        C, step = min(most, C * GROWTH), step + 1
        fit.solve(C, fit.everything)
        _enter(entry, fit.chosen, step)
    C = _exactly(fit, features, low, before, C, patience)
    _enter(entry, fit.chosen, step)
    entry[np.delete(fit.everything, fit.chosen)] = 0
    return C, entry


def _ended(fit: Solver, patience: float) -> bool:
    """Whether some solution did not converge, and the patience is used up."""
    return fit.early > 0 and fit.effort >= patience


def _enter(entry: Floats, chosen: Longs, step: int) -> None:
    """Note the step for those of the chosen features that came in with it."""
    entry[chosen] = np.where(entry[chosen], entry[chosen], step)


def _exactly(
    fit: Solver, features: int, low: float, before: Kept, high: float, patience: float
) -> float:
    """Bisect from the solution at C = high, where fit is now, towards the one before at C = low
    that has too few features; if that finds no C with exactly this number, cut. Returns C."""
    C, above, many = high, fit.kept(), len(fit.chosen)
    for _ in range(BISECTIONS):
        if len(fit.chosen) == features or many <= features or _ended(fit, patience):
            break
        C = (low * high) ** 0.5
        fit.back(before)
        fit.solve(C, fit.everything)
        if len(fit.chosen) < features:
            low, before = C, fit.kept()
        else:
            high, above, many = C, fit.kept(), len(fit.chosen)
    if len(fit.chosen) != features and many > features:
        C = high
        fit.back(above)
        _cut(fit, features, C)
    return C


def _cut(fit: Solver, features: int, C: float) -> None:
    """Only the largest weights remain; learn them again by themselves if all stay nonzero."""
    order = np.argsort(-fit.sizes, kind="stable")
    fit.without(order[features : len(fit.chosen)])
    cut = fit.kept()
    fit.solve(C, np.sort(order[:features]))
    if len(fit.chosen) < features:
        fit.back(cut)
