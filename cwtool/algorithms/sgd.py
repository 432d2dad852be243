"""Stochastic gradient descent, and with gravity: truncated gradient, FOBOS."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import inf

import numpy as np

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.params import AUTO, param
from cwtool.state import State
from cwtool_ext import descent
from cwtool_ext.descent import Descent

LOSSES = {"hinge": 0, "logistic": 1}


@dataclass(frozen=True)
class LossParams:
    loss: str = param("hinge", "what a margin costs", choices=tuple(LOSSES))
    prior: float | str = param(
        AUTO,
        "rows are multiplied by its square root; auto = 1 / typical squared norm of the first "
        "1,000 rows, which frees the other parameters from the scale of the rows",
        kind=float,
        above=0,
        auto=True,
    )


@dataclass(frozen=True)
class SgdParams(LossParams):
    eta: float = param(1.0, "learning rate of the first row", above=0)
    power: float = param(
        0.0, "it falls with the number of rows to this power; 0 = constant", low=0, high=1
    )


@dataclass(frozen=True)
class FobosParams(SgdParams):
    lam: float = param(1e-4, "weight of the L1 norm", low=0)


@dataclass(frozen=True)
class TgParams(SgdParams):
    gravity: float = param(1e-4, "pull to zero a row", low=0)
    every: int = param(10, "rows between two truncations", low=1)
    theta: float | str = param(
        AUTO, "weights larger than this are not pulled; auto = all are", kind=float, above=0,
        auto=True,
    )  # fmt: skip
    by_rate: bool = param(True, "gravity is multiplied by the learning rate")


class GradientDescent(Algorithm):
    """State: w_j and the debts already paid; numbers: rounds, and all that was ever owed."""

    columns: tuple[str, ...] = ("weight", "paid")

    @property
    @abstractmethod
    def how(self) -> Descent:
        """Loss, learning rate and gravity."""

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        out = Scores.zeros(block.n_rows)
        rounds = int(state.numbers.get("rounds", 0))
        state.numbers["owed"] = descent.learn(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            self.how, rounds, state.numbers.get("owed", 0.0), block.scale, out.score,
        )  # fmt: skip
        state.numbers["rounds"] = rounds + len(order)
        return out

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = Scores.zeros(block.n_rows)
        descent.scores(
            block.indptr, block.indices, block.values, state.features.table, self.how,
            state.numbers.get("owed", 0.0), block.scale, out.score,
        )  # fmt: skip
        return out

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        w = np.empty(len(slots))
        descent.weights(state.features.table[slots], self.how, state.numbers.get("owed", 0.0), w)
        return w, None


class Sgd(GradientDescent):
    name = "sgd"
    summary = "stochastic gradient descent"
    Params = SgdParams
    columns: tuple[str, ...] = ("weight",)

    @property
    def how(self) -> Descent:
        return Descent(LOSSES[self.params.loss], self.params.eta, self.params.power)

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        return state.features.table[slots, 0], None


class TruncatedGradient(GradientDescent):
    """Langford, Li, Zhang (2009)."""

    name = "tg"
    summary = "truncated gradient"
    Params = TgParams

    @property
    def how(self) -> Descent:
        p = self.params
        theta = inf if p.theta == AUTO else p.theta
        return Descent(LOSSES[p.loss], p.eta, p.power, p.gravity, p.every, theta, p.by_rate)


class Fobos(GradientDescent):
    """Forward-backward splitting (Duchi and Singer 2009)."""

    name = "fobos"
    summary = "forward-backward splitting with L1"
    Params = FobosParams

    @property
    def how(self) -> Descent:
        p = self.params
        return Descent(LOSSES[p.loss], p.eta, p.power, p.lam)


ALGORITHMS = {"sgd": Sgd, "tg": TruncatedGradient, "fobos": Fobos}
