"""Confidence-weighted sparse learning (Wu 2013): AROW whose weights shrink, or are few."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Coefficients, Variants, each_choice
from cwtool.algorithms.covariance.diagonal import PROJECTIONS
from cwtool.algorithms.covariance.prior import prior_of_weights
from cwtool.algorithms.online.learner import Online
from cwtool.data.growing import zero_pages
from cwtool.data.rows import Ints, Rows
from cwtool.errors import Damage
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.state import PRECISION, Array, Column, Layout, Number, State
from cwtool.state.checking import ascending
from cwtool_ext import budget, rules, smooth
from cwtool_ext.diagonal import Diagonal
from cwtool_ext.visit import Learner

FLOOR = 1e-12  # the smallest variance, as a share of the prior
PLACE = 4  # bytes, of a feature in the heap
NONE: Ints = np.empty(0, dtype=np.int32)
RANKINGS = ("mahalanobis", "certain", "weight", "printed")


@dataclass(frozen=True)
class ConfidenceParams:
    r: float = param(
        1.0,
        "Regularization r of AROW. Larger values make smaller updates; raise it for noisy labels.",
        above=0,
    )
    prior: float | str = prior_of_weights()


@dataclass(frozen=True)
class CwSparseParams(ConfidenceParams):
    mode: str = param(
        "smooth-da",
        "How weights become zero: smooth-tg shrinks them row by row, smooth-da shrinks the sum of "
        "all updates, aggressive keeps only a given number of features.",
        choices=("smooth-tg", "smooth-da", "aggressive"),
    )
    lam: float = param(
        0.001,
        "Weight of the L1 norm in the two smooth modes. Larger values leave fewer features with a "
        "weight.",
        low=0,
    )
    features: int = param(
        1000,
        "Largest number of features with a weight in mode aggressive.",
        low=1,
        formerly=("budget",),
    )
    ranking: str = param(
        "mahalanobis",
        "Which features mode aggressive keeps: those with the largest |mu| / sigma (mahalanobis), "
        "1 / sigma (certain), |mu| (weight), or sigma^2 |mu| as printed in the paper (printed).",
        choices=RANKINGS,
    )
    projection: str = param(
        "kl",
        "Projection of an update of the smooth modes to a diagonal covariance: kl drops the "
        "off-diagonal elements of the inverse covariance, l2 those of the covariance.",
        choices=tuple(PROJECTIONS),
    )
    every_round: bool = param(
        False,
        "Shrink weights in the smooth modes after every row instead of only after margin errors.",
    )
    proximal: bool = param(
        False, "Centre the regularizer of mode smooth-da at the current weights instead of zero."
    )


class Smooth(Online):
    """mu_j or its dual, p_j; `shrinking` is C, the sum of all shrinking so far."""

    counts_unknown = True
    names: ClassVar[tuple[str, ...]]

    @property
    def layout(self) -> Layout:
        columns = tuple(
            PRECISION if name == PRECISION.name else Column(name) for name in self.names
        )
        return Layout((columns,), numbers=(Number("shrinking", 0.0),))

    def learner(self, state: State) -> smooth.Smooth:
        p = self.params
        return smooth.Smooth(
            state.table, p.r, p.lam, PROJECTIONS[p.projection], FLOOR, p.every_round, p.proximal,
            state.numbers["shrinking"],
        )  # fmt: skip

    def keep(self, state: State, learner: Any) -> None:
        state.numbers["shrinking"] = learner.shrinking

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        table, mu = state.table[slots], np.empty(len(slots))
        self.learner(state).means(table, mu)
        return Coefficients(mu, 1 / (1 + table[:, 1]))


class SmoothTg(Smooth):
    names = ("mean", "precision", "paid")


class SmoothDa(Smooth):
    names = ("dual", "precision")


class Budget(Online):
    """mu_j and p_j; the array `chosen` has the ids of the features that have a weight."""

    counts_unknown = True
    layout = Layout(((Column("mean"), PRECISION),), arrays=(Array("chosen", "<i4", low=0),))

    @property
    def ranking(self) -> str:
        return str(self.params.ranking)

    def learner(self, state: State) -> Learner:
        index, chosen = state.index, state.arrays["chosen"]
        kept = np.zeros(min(self.params.features, index.count) or 1, dtype=np.int32)
        kept[: len(chosen)] = index.known(chosen)
        state.scratch["kept"] = kept
        place = state.scratch.get("place", NONE)
        if len(place) < len(state.table):  # all of it is zero between two portions of rows
            place = np.frombuffer(zero_pages(PLACE * len(state.table)), dtype=np.int32)
            state.scratch["place"] = place
        return budget.Budget(
            state.table, RANKINGS.index(self.ranking), self.params.r, FLOOR, kept, len(chosen),
            index.direct, index.keys, place,
        )  # fmt: skip

    def reader(self, state: State) -> Learner:
        return Diagonal(state.table, rules.arow(self.params.r), PROJECTIONS["kl"], FLOOR)

    def keep(self, state: State, learner: Any) -> None:
        kept = state.scratch.pop("kept")[: learner.count]
        state.scratch["place"][kept] = 0
        state.arrays["chosen"] = np.sort(state.index.ids_of(kept))

    def bytes_beside(self, state: State, features: int, rows: Rows | None) -> int:
        return PLACE * features

    def check(self, state: State) -> None:
        chosen, ids = state.arrays["chosen"], state.index.ids_and_slots()[0]
        known = ascending(chosen) and np.isin(chosen, ids).all()
        if not known or len(chosen) > self.params.features:
            raise Damage("the array array.chosen is not some of the features")

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        table = state.table[slots]
        return Coefficients(table[:, 0], 1 / (1 + table[:, 1]))


class CwSparse(Online):
    name = "cw-sparse"
    unmergeable = "models that learned apart keep different features"
    summary = "confidence-weighted learning with few weights"
    Params = CwSparseParams
    counts_unknown = True
    modes: ClassVar[dict[str, type[Smooth] | type[Budget]]] = {
        "smooth-tg": SmoothTg,
        "smooth-da": SmoothDa,
        "aggressive": Budget,
    }
    variants: ClassVar[Variants] = {
        **each_choice(CwSparseParams, "mode"),
        "smooth-tg every round": {"mode": "smooth-tg", "every_round": True, "projection": "l2"},
        "smooth-da proximal": {"mode": "smooth-da", "proximal": True},
        **each_choice(CwSparseParams, "ranking", mode="aggressive", features=24),
    }

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        self.mode = self.modes[params.mode](params)

    @property
    def layout(self) -> Layout:
        return self.mode.layout

    def learner(self, state: State) -> Learner:
        return self.mode.learner(state)

    def reader(self, state: State) -> Learner:
        return self.mode.reader(state)

    def keep(self, state: State, learner: Any) -> None:
        self.mode.keep(state, learner)

    def bytes_beside(self, state: State, features: int, rows: Rows | None) -> int:
        return self.mode.bytes_beside(state, features, rows)

    def check(self, state: State) -> None:
        self.mode.check(state)

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        return self.mode.coefficients(state, slots)


ALGORITHMS = {"cw-sparse": CwSparse}
