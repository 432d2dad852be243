"""The confidence of second-order learners: how Sigma is kept, and the learner that goes with it.

Every rule gives (alpha, kappa) from margin and variance; a covariance applies them:
mu += alpha y Sigma x,  Sigma^-1 += kappa x x'. Rows come scaled so that Sigma_0 = I.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from cwtool import memory
from cwtool.algorithms import forgetting
from cwtool.algorithms.base import Coefficients, Scores, Variants, each_choice
from cwtool.algorithms.merging import NAT, Merging, Refusal
from cwtool.algorithms.online import Online
from cwtool.algorithms.priors import prior_of_weights
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.errors import Damage, UsageError
from cwtool.params import param
from cwtool.run import Run
from cwtool.state import Column, Layout, State
from cwtool_ext import diagonal, full
from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

PROJECTIONS = {"kl": 0, "l2": 1}
UNINTERRUPTED = 1 << 28  # entries of Sigma that are visited before an interrupt takes effect


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
        "How the covariance of the weights is kept: diag keeps one variance a feature; full keeps "
        "the whole matrix, which needs 8 bytes a pair of features.",
        choices=("diag", "full"),
    )
    projection: str = param(
        "kl",
        "How an update is brought back to a diagonal covariance: kl drops the off-diagonal part "
        "of the inverse covariance, l2 that of the covariance itself.",
        choices=tuple(PROJECTIONS),
    )
    half_life: int | str = param(
        0,
        "Number of rows (20000) or days (30d) after which half of the precision that was gained is "
        "forgotten, so that old certainty does not keep weights from following a feed that "
        "changes; 0 forgets nothing. Days are counted from the date of one run to that of the "
        "next. Not for a factored covariance.",
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

    layout = Layout(((Column("mean"), Column("precision")),))

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
        from cwtool.algorithms.merged_rules import DIAGONAL  # only merges need it

        return DIAGONAL._replace(without_base=NAT["1"]) if additive else DIAGONAL


class Full(Covariance):
    """mu_j, and all of Sigma over the features seen."""

    layout = Layout(((Column("mean"),),), squares=("sigma",), compact=True)
    shrink = 0.0  # NAROW's b: score = mu.x / max(1, b v)

    def reserve(self, state: State, rows: SlotRows, run: Run) -> None:
        grown_sigma(state, run.max_memory)

    def learner(self, state: State) -> Learner:
        return full.Full(
            state.table, grown_sigma(state), state.index.count, self.rule, self.shrink,
            self.params.variance_floor,
        )  # fmt: skip

    def moments(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        return state.table[slots, 0], np.diag(grown_sigma(state))[slots]

    def check(self, state: State) -> None:
        check_sigma(state)

    def forget(self, state: State, factor: float) -> None:
        """Sigma <- (I + f (Sigma^-1 - I))^-1 = (f I + (1 - f) Sigma)^-1 Sigma, over the features
        that were learned."""
        sigma = grown_sigma(state)
        some = np.flatnonzero(np.diag(sigma) != 1)
        part = sigma[np.ix_(some, some)]
        mixed = (1 - factor) * part
        mixed[np.diag_indices(len(some))] += factor
        found = np.linalg.solve(mixed, part)
        sigma[np.ix_(some, some)] = (found + found.T) / 2

    def merging(self, additive: bool) -> Merging | Refusal:
        from cwtool.algorithms.merged_matrices import FULL  # only merges need it

        return FULL._replace(without_base=NAT["1"]) if additive else FULL


def check_sigma(state: State) -> None:
    """Raise Damage if there are features and no Sigma over them, which would have to be made."""
    if state.index.count and "sigma" not in state.squares:
        raise Damage("it has no array square.sigma")


def grown_sigma(state: State, max_memory: int = 0) -> Floats:
    """Sigma with a row for every feature seen; the identity where nothing was learned yet."""
    n = state.index.count
    sigma = state.squares.get("sigma")
    have = 0 if sigma is None else len(sigma)
    if sigma is not None and n <= have:
        return sigma
    wanted = max(n, have + have // 4, 64)
    free = memory.allowed(max_memory)
    if free < 8 * wanted**2:
        wanted = n
    if free < 8 * n**2:
        raise UsageError(
            f"a full covariance over {n:,} features needs {memory.words(8 * n**2)} of memory, and "
            f"{memory.words(free)} may be used",
            "use `covariance=diag`, or fold the feature ids, for example with "
            f"`hash_bits={max(1, int((free / 8) ** 0.5).bit_length() - 1)}`",
        )
    grown = np.zeros((wanted, wanted))
    np.fill_diagonal(grown, 1.0)
    if sigma is not None:
        grown[:have, :have] = sigma
    state.squares["sigma"] = grown
    return grown


class Confident(Online):
    """A rule joined with a covariance; a new algorithm states its rule and nothing else."""

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
