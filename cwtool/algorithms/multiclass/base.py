"""More than two classes: an algorithm for two classes becomes one for any number of them.

Scores then have one column per class, in the order of the first rows of the classes; a class
without a row so far scores -infinity. The variance of a row is the mean of those of its two
highest scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from cwtool.algorithms.base import Algorithm, Chosen, Coefficients, Scores
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.run import Run
from cwtool.state import FeatureIndex, State
from cwtool_ext import tally

# ids below are their own slot; tables are as wide as there are classes, so this is less than for
# two classes
DIRECT = 1 << 18


class Several(ABC):
    """An algorithm as it learns several classes."""

    mode: ClassVar[str]  # as users call it
    # whether `learn` does not look at the feature index, so that this may grow at the same time
    leaves_index: ClassVar[bool] = False

    def __init__(self, base: Algorithm) -> None:
        self.base = base

    def lighter(self) -> Several:
        """The same for models that only give scores for probabilities: see Algorithm.lighter."""
        return type(self)(self.base.lighter())

    def new_index(self) -> FeatureIndex:
        """An empty feature index for the states."""
        return FeatureIndex(0 if self.base.layout.compact else DIRECT)

    @abstractmethod
    def new_state(self, index: FeatureIndex | None = None) -> State:
        """An untrained state that knows no class."""

    @abstractmethod
    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        """Visit the rows in this order; each is predicted before it is learned. `rows.y` are class
        numbers; `state.labels` has the label of each."""

    @abstractmethod
    def relearn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        """Visit rows that were learned in an earlier pass, once more."""

    @abstractmethod
    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        """Predict the rows; the state stays as it is."""

    @abstractmethod
    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        """Weights (or importances) and variances with one column per class, and one intercept per
        class."""

    def selection(self, state: State) -> Chosen:
        """The features that an algorithm with the protocol Selects has chosen for all classes."""
        raise TypeError(f"{self.base.name} does not select features")

    @abstractmethod
    def untrained(self, state: State) -> bool:
        """Whether a batch learner has nothing yet to predict with."""

    @abstractmethod
    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        """Scores of the rows of the first batch after it was learned."""

    def described(self, state: State, class_: int | None) -> State | None:
        """The state that the algorithm for two classes can describe; None if there is none, or
        none of its classes is chosen."""
        return None

    @abstractmethod
    def finish(self, state: State) -> None:
        """Called before the state is packed."""

    @abstractmethod
    def check(self, state: State) -> None:
        """Raise Damage if a state that came from a file cannot be."""


def side_by_side(parts: Sequence[Scores | None], n_rows: int) -> Scores:
    """The scores of the classes as columns; None for a class without a row so far."""
    score, variance = np.full((n_rows, len(parts)), -np.inf), np.zeros((n_rows, len(parts)))
    for k, part in enumerate(parts):
        if part is not None:
            score[:, k], variance[:, k] = part
    return Scores(score, variance_of_best(score, variance))


def variance_of_best(score: Floats, variance: Floats) -> Floats:
    """For each row the mean variance of its two highest scores; a single class counts alone."""
    mean: Floats = np.empty(len(score))
    tally.mean_of_best(score, variance, mean)
    return mean
