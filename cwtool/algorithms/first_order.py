"""First-order rules: a weight vector that moves along x, w += alpha y x, averaged if asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Coefficients, Variants
from cwtool.algorithms.online import Online
from cwtool.data.rows import Ints
from cwtool.params import param
from cwtool.state import Column, Layout, Merge, Number, State, merging
from cwtool_ext import first_order, rival
from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

ROUNDS = Number("rounds", merge=Merge.SUM)  # rows learned so far, those of all passes


@dataclass(frozen=True)
class FirstOrderParams:
    average: bool = param(
        False,
        "Predict with the mean of the weight vectors after all rows so far instead of the latest "
        "one. It lowers the error on noisy data and takes 8 more bytes a feature.",
    )


class FirstOrder(Online):
    """w_j and, to average, `debt`: the mean of w_1 .. w_T is w - debt / T."""

    variants: ClassVar[Variants] = {"latest": {}, "average": {"average": True}}

    @property
    def layout(self) -> Layout:
        weight, debt = Column("weight", Merge.MEAN), Column("debt", Merge.MEAN)
        return Layout(((weight, debt) if self.params.average else (weight,),), numbers=(ROUNDS,))

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The step: margin, squared norm and row weight -> alpha."""

    def learner(self, state: State) -> Learner:
        return first_order.FirstOrder(state.table, self.rule, int(state.numbers["rounds"]))

    def keep(self, state: State, learner: Any) -> None:
        state.numbers["rounds"] = learner.rounds

    def begin_class(self, state: State) -> None:
        state.numbers["rounds"] = 0
        if self.params.average:
            state.column("debt")[:] = 0.0

    @property
    def has_rivals(self) -> bool:
        return True

    def rival_learner(self, state: State) -> Learner:
        return rival.FirstOrderRival(
            state.table, state.labels, state.arrays["rounds"], self.rule, self.params.average
        )

    def class_coefficients(self, state: State, slots: Ints) -> Coefficients:
        n, table = len(state.labels), state.table[slots]
        weight = table[:, :n]
        if self.params.average:
            debt = table[:, state.places : state.places + n]
            weight = weight - debt / np.maximum(1, state.arrays["rounds"])
        return Coefficients(weight, None, np.zeros(n))

    def merge(self, state: State, parts: Sequence[State]) -> None:
        merging.merge(state, parts)

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        table = state.table[slots]
        if not self.params.average:
            return Coefficients(table[:, 0])
        return Coefficients(table[:, 0] - table[:, 1] / max(1, state.numbers["rounds"]))
