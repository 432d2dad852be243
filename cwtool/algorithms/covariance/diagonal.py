"""How second-order learners keep the covariance Sigma of their weights, and the diagonal one.

Every rule gives (alpha, kappa) from margin and variance; a covariance applies them:
mu += alpha y Sigma x,  Sigma^-1 += kappa x x'. Rows come scaled so that Sigma_0 = I.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, runtime_checkable

from cwtool.algorithms.covariance.prior import prior_of_weights
from cwtool.algorithms.merging.base import NAT, Merging, Refusal
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import PRECISION, Column, Layout, State
from cwtool_ext import diagonal
from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

PROJECTIONS = {"kl": 0, "l2": 1}


@dataclass(frozen=True)
class PriorParams:
    prior: float | str = prior_of_weights()
    variance_floor: float = param(
        1e-12,
        "Smallest variance of a weight, as a share of the prior. It only guards against numerical "
        "underflow; there is rarely a reason to change it.",
        above=0,
        high=0.999999,
        kind=float,
        formerly=("floor",),
    )


@dataclass(frozen=True)
class CovarianceParams(PriorParams):
    covariance: str = param(
        "diag",
        "Form of the covariance of the weights: diag has one variance per feature; full is the "
        "whole matrix, which takes 8 bytes times the square of the number of features and suits up "
        "to some thousand features.",
        choices=("diag", "full"),
    )
    projection: str = param(
        "kl",
        "Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of "
        "the inverse covariance, l2 those of the covariance.",
        choices=tuple(PROJECTIONS),
    )
    half_life: int | str = param(
        0,
        "Number of rows (20000) or days (30d) after which half of the gained precision is "
        "forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are "
        "counted between the dates of runs. Not for a factored covariance.",
        kind=int,
        low=0,
        or_days=True,
    )


class Covariance(ABC):
    """One way of keeping Sigma, for one rule."""

    layout: ClassVar[Layout]

    def __init__(self, params: Any, rule: Rule) -> None:
        self.params = params
        self.rule = rule

    def prepare(self, state: State) -> None:
        """Fill what a new state keeps beside the features."""
        return

    def reserve(self, state: State, rows: SlotRows, run: Run) -> None:
        """Make room for what learning these rows may add."""
        return

    @abstractmethod
    def learner(self, state: State) -> Learner:
        """The learner on the tables of this state."""

    def keep(self, state: State, learner: Any) -> None:
        """Put what the learner has changed back into the state."""
        return

    @abstractmethod
    def moments(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        """Mean and variance of the weights of the features at these slots."""

    @abstractmethod
    def merging(self, additive: bool) -> Merging | Refusal:
        """How states are merged. The precision of a rule that is `additive` gains the same from a
        row whatever it has learned before."""

    def details(self, state: State) -> dict[str, Any]:
        """What inspect shows of Sigma."""
        return {}

    def check(self, state: State) -> None:
        """Raise Damage if a state that came from a file cannot be."""
        return


@runtime_checkable
class Forgets(Protocol):
    """A covariance whose gained precision, Sigma^-1 - I, can fade with time."""

    def forget(self, state: State, factor: float) -> None:
        """Multiply the precision that was gained by this number, which is between 0 and 1."""


class Diagonal(Covariance):
    """mu_j and the precision gained, p_j: Sigma_jj = 1 / (1 + p_j)."""

    layout = Layout(((Column("mean"), PRECISION),))

    def learner(self, state: State) -> Learner:
        p = self.params
        return diagonal.Diagonal(
            state.table, self.rule, PROJECTIONS[p.projection], p.variance_floor
        )

    def moments(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        table = state.table[slots]
        return table[:, 0], 1 / (1 + table[:, 1])

    def forget(self, state: State, factor: float) -> None:
        state.shrink("precision", factor)

    def merging(self, additive: bool) -> Merging | Refusal:
        from cwtool.algorithms.merging.merged_rules import DIAGONAL  # only merges need it

        return DIAGONAL._replace(without_base=NAT["1"]) if additive else DIAGONAL
