"""Several classes by the top rival: the formulas stand in cwtool_ext/rival.pyx."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from cwtool.algorithms.base import Coefficients, Scores
from cwtool.algorithms.several import Several
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.run import Run
from cwtool.state import Array, FeatureIndex, State
from cwtool_ext import visit
from cwtool_ext.visit import Learner


@runtime_checkable
class Rivals(Protocol):
    """An algorithm that has a learner of several classes by the top rival."""

    @property
    def has_rivals(self) -> bool:
        """Whether it has it with these parameters."""

    def rival_learner(self, state: State) -> Learner:
        """The learner on the tables of a state with `labels` and the array `rounds`."""

    def class_coefficients(self, state: State, slots: Ints) -> Coefficients:
        """Weights and variances with a column a class."""


class Rival(Several):
    """All classes in one state: the columns of a feature side by side."""

    mode = "rival"

    @property
    def rivals(self) -> Rivals:
        assert isinstance(self.base, Rivals)
        return self.base

    def new_state(self, index: FeatureIndex | None = None) -> State:
        layout = self.base.layout
        rounds = Array("rounds", "<i8")  # rows since the first one of each class
        return State(layout._replace(numbers=(), arrays=(rounds,)), index or self.new_index())

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        score, variance = np.zeros((rows.n_rows, len(state.labels))), np.zeros(rows.n_rows)
        weight: Any = rows.weight  # None where all rows have the weight 1
        visit.learn(rows.csr, rows.y, weight, order, self._learner(state), score.ravel(), variance)
        return Scores(score, variance)

    def _learner(self, state: State) -> Learner:
        rounds = np.zeros(len(state.labels), dtype=np.int64)
        rounds[: len(state.arrays["rounds"])] = state.arrays["rounds"]
        state.arrays["rounds"] = rounds
        return self.rivals.rival_learner(state)

    def relearn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        return self.learn(state, rows, order, run)

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        score, variance = np.zeros((rows.n_rows, len(state.labels))), np.zeros(rows.n_rows)
        visit.scores(rows.csr, self._learner(state), score.ravel(), variance)
        return Scores(score, variance + unknown if self.base.counts_unknown else variance)

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        return self.rivals.class_coefficients(state, slots)

    def untrained(self, state: State) -> bool:
        return False

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        raise TypeError("a learner of single rows has no batches")

    def finish(self, state: State) -> None:
        self.base.finish(state)
