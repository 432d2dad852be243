"""First-order rules: a weight vector that moves along x, w += alpha y x, averaged if asked."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Coefficients, Variants
from cwtool.algorithms.merging.base import Merging
from cwtool.algorithms.merging.merged_rules import WEIGHTS
from cwtool.algorithms.online.learner import Online
from cwtool.data.rows import Ints
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.state import Column, Layout, Number, State
from cwtool_ext import first_order
from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

ROUNDS = Number("rounds")  # rows learned so far, those of all passes


@dataclass(frozen=True)
class FirstOrderParams:
    average: bool = param(
        False,
        "Predict with the mean of the weight vectors after all rows so far instead of the latest "
        "one. It lowers the error on noisy data and takes 8 more bytes per feature.",
    )


class FirstOrder(Online):
    """w_j and, to average, `debt`: the mean of w_1 .. w_T is w - debt / T."""

    variants: ClassVar[Variants] = {"latest": {}, "average": {"average": True}}

    @property
    def layout(self) -> Layout:
        weight, debt = Column("weight"), Column("debt")
        return Layout(((weight, debt) if self.params.average else (weight,),), numbers=(ROUNDS,))

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The step: margin, squared norm and row weight -> alpha."""

    def learner(self, state: State) -> Learner:
        return first_order.FirstOrder(state.table, self.rule, int(state.numbers["rounds"]))

    def keep(self, state: State, learner: Any) -> None:
        state.numbers["rounds"] = learner.rounds

    @property
    def is_wide(self) -> bool:
        return True

    def rival_learner(self, state: State) -> Learner:
        from cwtool_ext import rival  # only models of several classes need it

        return self._wide(rival.FirstOrderRival, state)

    def versus_learner(self, state: State, seen: Ints) -> Learner:
        from cwtool_ext import versus  # only models of several classes need it

        return self._wide(versus.FirstOrderVersusRest, state, seen)

    def _wide(self, kind: Any, state: State, *seen: Ints) -> Learner:
        classes = state.table, state.labels, state.arrays["rounds"], *seen
        made: Learner = kind(*classes, self.rule, self.params.average)
        return made

    def class_coefficients(self, state: State, slots: Ints) -> Coefficients:
        n = len(state.labels)
        places, table = np.arange(state.ghosts, state.ghosts + n), state.table[slots]
        weight = table[:, places]
        if self.params.average:
            debt, rounds = table[:, state.places + places], state.arrays["rounds"][places]
            weight = weight - debt / np.maximum(1, rounds)
        return Coefficients(weight, None, np.zeros(n))

    @property
    def merging(self) -> Merging:
        return WEIGHTS

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        table = state.table[slots]
        if not self.params.average:
            return Coefficients(table[:, 0])
        return Coefficients(table[:, 0] - table[:, 1] / max(1, state.numbers["rounds"]))
