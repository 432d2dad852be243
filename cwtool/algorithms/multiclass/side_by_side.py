"""Several classes in one state: every column has a place for each class, side by side in memory.

This serves the online learners that have a weight (and a variance) a feature: all scores
of a row come from one visit of its features.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from cwtool.algorithms.base import Coefficients, Scores
from cwtool.algorithms.multiclass.base import Several
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.errors import Damage
from cwtool.run import Run
from cwtool.state import Array, FeatureIndex, State
from cwtool.state.layout import MOST
from cwtool_ext import visit
from cwtool_ext.visit import Learner


@runtime_checkable
class Wide(Protocol):
    """An algorithm that has learners of several classes side by side."""

    @property
    def is_wide(self) -> bool:
        """Whether the algorithm can use one table for all classes with these parameters."""

    def rival_learner(self, state: State) -> Learner:
        """The learner by the top rival, on the tables of a state of several classes."""

    def versus_learner(self, state: State, seen: Ints) -> Learner:
        """The learner of each class against the rest; `seen` are the slots of all features, if a
        class may come for the first time."""

    def class_coefficients(self, state: State, slots: Ints) -> Coefficients:
        """Weights and variances with one column per class."""


class SideBySide(Several):
    """Common part of the two ways of learning several classes in one table."""

    ghosts: ClassVar[int]  # places before that of class 0

    @property
    def wide(self) -> Wide:
        assert isinstance(self.base, Wide)
        return self.base

    @abstractmethod
    def learner(self, state: State) -> Learner:
        """The learner on the tables of this state."""

    def new_state(self, index: FeatureIndex | None = None) -> State:
        rounds = Array(
            "rounds", "<i8", low=0, below=MOST
        )  # by place: rows since the first one of the class
        layout = self.base.layout._replace(numbers=(), arrays=(rounds,))
        state = State(layout, index or self.new_index())
        state.ghosts = self.ghosts
        return state

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        score, variance = np.zeros((rows.n_rows, len(state.labels))), np.zeros(rows.n_rows)
        weight: Any = rows.weight  # None where all rows have the weight 1
        if score.shape[1]:  # there is no class if all rows so far have the weight 0
            learner = self._ready(state)
            visit.learn(rows.csr, rows.y, weight, order, learner, score.ravel(), variance)
        return Scores(score, variance)

    def _ready(self, state: State) -> Learner:
        """The learner, once every class has its number of rounds."""
        self._count_all(state)
        return self.learner(state)

    def _count_all(self, state: State) -> None:
        """Give classes that have learned nothing their number of rounds, 0."""
        rounds = np.zeros(state.ghosts + len(state.labels), dtype=np.int64)
        rounds[: len(state.arrays["rounds"])] = state.arrays["rounds"]
        state.arrays["rounds"] = rounds

    def relearn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        return self.learn(state, rows, order, run)

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        score, variance = np.zeros((rows.n_rows, len(state.labels))), np.zeros(rows.n_rows)
        visit.scores(rows.csr, self._ready(state), score.ravel(), variance)
        return Scores(score, variance + unknown if self.base.counts_unknown else variance)

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        self._count_all(state)
        return self.wide.class_coefficients(state, slots)

    def untrained(self, state: State) -> bool:
        return False

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        raise TypeError("an online learner has no batches")

    def finish(self, state: State) -> None:
        self.base.finish(state)

    def check(self, state: State) -> None:
        if len(state.arrays["rounds"]) > state.ghosts + len(state.labels):
            raise Damage("the array array.rounds has more values than there are classes")


class Rival(SideBySide):
    """A step updates the class of the row and the best wrong class: cwtool_ext/rival.pyx."""

    mode = "rival"
    leaves_index = True
    ghosts = 0

    def learner(self, state: State) -> Learner:
        return self.wide.rival_learner(state)


class VersusRest(SideBySide):
    """Each class against the rest, with a ghost for classes of later rows:
    cwtool_ext/versus.pyx."""

    mode = "ovr"
    ghosts = 1

    def learner(self, state: State) -> Learner:
        seen = np.empty(0, dtype=np.int32)
        if not state.arrays["rounds"].all():
            _, seen = state.index.ids_and_slots()
        return self.wide.versus_learner(state, seen)
