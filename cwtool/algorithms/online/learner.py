"""The loop over rows that all online learners share; each algorithm supplies the learner."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool.run import Run
from cwtool.state import State
from cwtool_ext import visit
from cwtool_ext.visit import Learner


class Online(Algorithm):
    """An algorithm that learns row by row; a subclass supplies the learner for its state."""

    takes_weights = True

    @abstractmethod
    def learner(self, state: State) -> Any:
        """The learner on the tables of this state, as it stands after the rows so far."""

    def reader(self, state: State) -> Any:
        """The learner that predicts; by default the one that learns."""
        return self.learner(state)

    def keep(self, state: State, learner: Any) -> None:
        """Put the numbers that the learner has changed back into the state."""
        return

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        out = Scores.zeros(rows.n_rows)
        learner: Learner = self.learner(state)
        weight: Any = rows.weight  # None where all rows have the weight 1
        visit.learn(rows.csr, rows.y, weight, order, learner, *out)
        self.keep(state, learner)
        return out

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        out = Scores.zeros(rows.n_rows)
        visit.scores(rows.csr, self.reader(state), *out)
        return Scores(out.score, out.variance + unknown) if self.counts_unknown else out
