"""Second-order learners: a rule for the step joined with a way of keeping the covariance."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Coefficients, Scores, Variants, each_choice
from cwtool.algorithms.covariance import forgetting
from cwtool.algorithms.covariance.diagonal import (
    PROJECTIONS,
    Covariance,
    CovarianceParams,
    Diagonal,
    Forgets,
)
from cwtool.algorithms.covariance.full import Full
from cwtool.algorithms.merging.base import Merging, Refusal
from cwtool.algorithms.online.learner import Online
from cwtool.data.rows import Ints, Longs, SlotRows
from cwtool.errors import UsageError
from cwtool.run import Run
from cwtool.state import Layout, State
from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

UNINTERRUPTED = 1 << 28  # entries of Sigma that are visited before an interrupt takes effect


class Confident(Online):
    """An update rule combined with a covariance; a new algorithm defines only its rule."""

    kinds: ClassVar[dict[str, type[Covariance]]] = {"diag": Diagonal, "full": Full}
    counts_unknown = True
    additive: ClassVar[bool] = False  # see Covariance.merging
    variants: ClassVar[Variants] = {
        **each_choice(CovarianceParams, "projection"),
        "full": {"covariance": "full"},
    }

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        self.covariance = self.kinds[params.covariance](params, self.rule)
        given = getattr(params, "half_life", 0)
        self.half_life = forgetting.HalfLife.of(given) if given else None
        self.fading = self.covariance if isinstance(self.covariance, Forgets) else None
        if self.half_life and self.fading is None:
            raise UsageError(
                f"`half_life` is not for `covariance={params.covariance}`, which does not keep the "
                "precision that was gained apart from the prior",
                "use `covariance=diag`",
            )

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The step: margin, variance and row weight -> (alpha, kappa)."""

    @property
    def layout(self) -> Layout:
        layout = self.covariance.layout
        return self.half_life.counting(layout) if self.half_life else layout

    def new_state(self, index: Any = None) -> State:
        state = super().new_state(index)
        self.covariance.prepare(state)
        return state

    def learner(self, state: State) -> Learner:
        return self.covariance.learner(state)

    def keep(self, state: State, learner: Any) -> None:
        self.covariance.keep(state, learner)

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        self.covariance.reserve(state, rows, run)
        if self.half_life is None or self.fading is None:
            return self._learn(state, rows, order, run)
        return self.half_life.learn(
            lambda some: self._learn(state, rows, some, run),
            self.fading.forget, state, rows, order, run.day,
        )  # fmt: skip

    def _learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        if "sigma" not in state.layout.squares:
            return super().learn(state, rows, order, run)
        out = Scores.zeros(rows.n_rows)
        step = max(16, UNINTERRUPTED // max(1, state.index.count**2))
        for start in range(0, len(order), step):
            some = order[start : start + step]
            for whole, part in zip(out, super().learn(state, rows, some, run), strict=True):
                whole[some] = part[some]
        return out

    @property
    def merging(self) -> Merging | Refusal:
        if self.half_life and (self.half_life.days or not isinstance(self.covariance, Diagonal)):
            return Refusal(
                "how much each has forgotten is known only with a `half_life` of rows and a "
                "diagonal covariance"
            )
        return self.covariance.merging(self.additive)

    def details(self, state: State) -> dict[str, Any]:
        return self.covariance.details(state)

    def check(self, state: State) -> None:
        self.covariance.check(state)

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        """The products of features that it uses: none."""
        return []


class SecondOrder(Confident):
    """A second-order learner whose score is the linear mu.x."""

    @property
    def is_wide(self) -> bool:
        return isinstance(self.covariance, Diagonal) and not self.half_life

    def rival_learner(self, state: State) -> Learner:
        from cwtool_ext import rival  # only models of several classes need it

        return self._wide(rival.DiagonalRival, state)

    def versus_learner(self, state: State, seen: Ints) -> Learner:
        from cwtool_ext import versus  # only models of several classes need it

        return self._wide(versus.DiagonalVersusRest, state, seen)

    def _wide(self, kind: Any, state: State, *seen: Ints) -> Learner:
        p, classes = self.params, (state.table, state.labels, state.arrays["rounds"], *seen)
        made: Learner = kind(*classes, self.rule, PROJECTIONS[p.projection], p.variance_floor)
        return made

    def class_coefficients(self, state: State, slots: Ints) -> Coefficients:
        classes = slice(state.ghosts, state.ghosts + len(state.labels))
        mean, precision = np.split(state.table[slots], [state.places], axis=1)
        variance = 1 / (1 + precision[:, classes])
        return Coefficients(mean[:, classes], variance, np.zeros(len(state.labels)))

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        return Coefficients(*self.covariance.moments(state, slots))
