"""Stochastic gradient descent, and its sparse forms: truncated gradient, FOBOS."""

from __future__ import annotations

from abc import abstractmethod
from math import inf
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Coefficients, Variants, each_choice
from cwtool.algorithms.covariance.prior import prior_of_rows
from cwtool.algorithms.merging.base import Merging
from cwtool.algorithms.merging.merged_rules import WEIGHTS
from cwtool.algorithms.online.first_order import ROUNDS
from cwtool.algorithms.online.learner import Online
from cwtool.algorithms.online.losses import LOSSES
from cwtool.data.rows import Ints
from cwtool.params import AUTO, param
from cwtool.records import dataclass
from cwtool.state import Column, Layout, Number, State
from cwtool_ext.descent import Descent


@dataclass(frozen=True)
class LossParams:
    loss: str = param(
        "hinge",
        "Loss of a margin m: hinge is max(0, 1 - m), logistic is log(1 + exp(-m)).",
        choices=tuple(LOSSES),
    )
    prior: float | str = prior_of_rows()


@dataclass(frozen=True)
class SgdParams(LossParams):
    rate: float = param(
        1.0,
        "Learning rate of the first row. Larger values make larger updates; lower it for noisy "
        "labels.",
        above=0,
        formerly=("eta",),
    )
    power: float = param(
        0.0,
        "Exponent with which the learning rate falls: row t has rate / t^power. 0 keeps the rate "
        "constant, 0.5 suits data that do not change over time.",
        low=0,
        high=1,
    )


@dataclass(frozen=True)
class FobosParams(SgdParams):
    lam: float = param(
        1e-4,
        "Weight of the L1 norm of the weights against the loss of a row. Larger values leave "
        "fewer features with a weight.",
        low=0,
    )


@dataclass(frozen=True)
class TgParams(SgdParams):
    gravity: float = param(
        1e-4,
        "Amount by which every weight is pulled towards zero for each row. Larger values leave "
        "fewer features with a weight.",
        low=0,
    )
    every: int = param(
        10,
        "Number of rows between two truncations; each truncation applies the gravity of all "
        "these rows at once. Larger values save time.",
        low=1,
    )
    theta: float | str = param(
        AUTO,
        "Weights whose absolute value is larger than this number are not pulled towards zero. "
        "auto pulls all weights.",
        kind=float,
        above=0,
        auto=True,
    )
    by_rate: bool = param(
        True,
        "Multiply the gravity by the learning rate, as in the paper. Without it the gravity is "
        "constant.",
    )


class GradientDescent(Online):
    """w_j and, with gravity, the shrinkage that was applied to it; `owed` is the total shrinkage so
    far, of which a feature receives the rest when a row has it."""

    unmergeable = "each row shrinks all weights, and each model has learned other rows"
    variants: ClassVar[Variants] = {
        **each_choice(LossParams, "loss"),
        "falling rate": {"power": 0.5},
    }

    @property
    def layout(self) -> Layout:
        owed = Number("owed", 0.0)
        return Layout(((Column("weight"), Column("paid")),), numbers=(ROUNDS, owed))

    @abstractmethod
    def learner(self, state: State) -> Descent:
        """The learner with its loss, learning rate and gravity."""

    def descent(self, state: State, **how: Any) -> Descent:
        p, owed = self.params, state.numbers.get("owed", 0.0)
        rounds = int(state.numbers["rounds"])
        return Descent(state.table, LOSSES[p.loss], p.rate, p.power, rounds, owed=owed, **how)

    def keep(self, state: State, learner: Any) -> None:
        state.numbers["rounds"] = learner.rounds
        if "owed" in state.numbers:
            state.numbers["owed"] = learner.owed

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        w = np.empty(len(slots))
        self.learner(state).weights(state.table[slots], w)
        return Coefficients(w)


class Sgd(GradientDescent):
    name = "sgd"
    summary = "stochastic gradient descent"
    Params = SgdParams

    @property
    def layout(self) -> Layout:
        return Layout(((Column("weight"),),), numbers=(ROUNDS,))

    @property
    def merging(self) -> Merging:
        return WEIGHTS

    def learner(self, state: State) -> Descent:
        return self.descent(state)


class TruncatedGradient(GradientDescent):
    """Langford, Li, Zhang (2009)."""

    name = "tg"
    summary = "truncated gradient"
    Params = TgParams
    variants: ClassVar[Variants] = {
        **GradientDescent.variants,
        "theta": {"theta": 0.5, "gravity": 0.001, "every": 7},
        "constant": {"by_rate": False, "power": 0.5},
    }

    def learner(self, state: State) -> Descent:
        p = self.params
        theta = inf if p.theta == AUTO else p.theta
        how = {"gravity": p.gravity, "every": p.every, "theta": theta, "by_rate": p.by_rate}
        return self.descent(state, **how)


class Fobos(GradientDescent):
    """Forward-backward splitting (Duchi and Singer 2009)."""

    name = "fobos"
    summary = "forward-backward splitting with L1"
    Params = FobosParams

    def learner(self, state: State) -> Descent:
        return self.descent(state, gravity=self.params.lam)


ALGORITHMS = {"sgd": Sgd, "tg": TruncatedGradient, "fobos": Fobos}
