"""Several classes by the votes of neighbours: one state with the rows of all classes."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from cwtool.algorithms.base import Batch, Coefficients, Ranks, Scores
from cwtool.algorithms.multiclass.base import Several
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.run import Run
from cwtool.state import FeatureIndex, State


@runtime_checkable
class Voting(Protocol):
    """An algorithm whose rows vote, each for its own class."""

    def learn_votes(self, state: State, rows: SlotRows, run: Run) -> None:
        """Learn a batch of several classes; `rows.y` are class numbers."""

    def votes(self, state: State, rows: SlotRows, run: Run) -> Floats:
        """Scores with one column per class; -inf for classes without a row."""

    def own_votes(self, state: State, rows: SlotRows, run: Run) -> Floats:
        """Scores of the rows of the first batch, each predicted by the other rows alone."""


class VoteState(State):
    """The state of the algorithm; its columns do not depend on the classes."""

    def admit(self, labels: list[float]) -> None:
        self.labels = np.array(labels)


class Votes(Several):
    """A class is as likely as the number of neighbours that have it."""

    mode = "ovr"

    @property
    def voting(self) -> Voting:
        assert isinstance(self.base, Voting)
        return self.base

    def new_state(self, index: FeatureIndex | None = None) -> VoteState:
        return VoteState(self.base.layout, index or self.new_index())

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        before = self.scores(state, rows, np.empty(0), run)
        self.voting.learn_votes(state, rows, run)
        return before

    def described(self, state: State, class_: int | None) -> State | None:
        return state

    def relearn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        raise TypeError("a batch learner learns each of them once")

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        if self.untrained(state):
            return self._scores(state, np.empty((rows.n_rows, 0)))
        return self._scores(state, self.voting.votes(state, rows, run))

    @staticmethod
    def _scores(state: State, found: Floats) -> Scores:
        """The votes with one column per class, also for classes without a row."""
        n, known = len(found), min(found.shape[1], len(state.labels))
        score = np.full((n, len(state.labels)), -np.inf)
        score[:, :known] = found[:, :known]
        return Scores(score, np.zeros(n))

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        """The importance of a feature is the same for all classes."""
        found = np.zeros(len(slots))
        if isinstance(self.base, Ranks):
            found = self.base.importance(state, slots)
        n = len(state.labels)
        return Coefficients(np.repeat(found[:, None], n, axis=1), None, np.zeros(n))

    def untrained(self, state: State) -> bool:
        assert isinstance(self.base, Batch)
        return self.base.untrained(state)

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        if self.untrained(state):
            return self.scores(state, rows, np.empty(0), run)
        return self._scores(state, self.voting.own_votes(state, rows, run))

    def finish(self, state: State) -> None:
        self.base.finish(state)

    def check(self, state: State) -> None:
        self.base.check(state)
