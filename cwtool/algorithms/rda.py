"""Regularized dual averaging with L1 (Xiao 2010)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Coefficients, Variants, each_choice
from cwtool.algorithms.online.first_order import ROUNDS
from cwtool.algorithms.online.learner import Online
from cwtool.algorithms.online.losses import LOSSES
from cwtool.algorithms.sgd import LossParams
from cwtool.data.rows import Ints
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.state import Column, Layout, State
from cwtool_ext.averaging import Averaging


@dataclass(frozen=True)
class RdaParams(LossParams):
    lam: float = param(
        1e-4,
        "Weight of the L1 norm of the weights against the loss of a row. Larger values leave "
        "fewer features with a weight.",
        low=0,
    )
    gamma: float = param(
        0.03,
        "Step parameter gamma: the learning rate after t rows is 1 / (gamma sqrt t). Larger "
        "values make smaller weights.",
        above=0,
    )
    rho: float = param(
        0.0,
        "Additional L1 norm at the beginning: after t rows the weight of the L1 norm is lam + "
        "gamma rho / sqrt t. Raise it if too many features get a weight from few rows.",
        low=0,
    )


class Rda(Online):
    """The sum of all gradients; the weights are read from it."""

    name = "rda"
    summary = "regularized dual averaging with L1"
    Params = RdaParams
    unmergeable = "its weights follow from the sum of the gradients along one path of weights"
    variants: ClassVar[Variants] = {
        **each_choice(RdaParams, "loss"),
        "rho": {"rho": 0.1},
    }
    layout = Layout(((Column("gradient"),),), numbers=(ROUNDS,))

    def learner(self, state: State) -> Averaging:
        p, rounds = self.params, int(state.numbers["rounds"])
        return Averaging(state.table, LOSSES[p.loss], p.lam, p.gamma, p.rho, rounds)

    def keep(self, state: State, learner: Any) -> None:
        state.numbers["rounds"] = learner.rounds

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        w = np.empty(len(slots))
        self.learner(state).weights(state.table[slots], w)
        return Coefficients(w)


ALGORITHMS = {"rda": Rda}
