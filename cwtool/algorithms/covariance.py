"""The confidence part: how Sigma is kept, and the kernels that go with it.

Every rule gives (alpha, kappa) from margin and variance; a covariance applies them:
mu += alpha y Sigma x,  Sigma^-1 += kappa x x'. Rows come scaled so that Sigma_0 = I.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cwtool import memory
from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.errors import UsageError
from cwtool.params import AUTO, param
from cwtool.state import State
from cwtool_ext import diagonal, full
from cwtool_ext.rules import Rule

PROJECTIONS = {"kl": 0, "l2": 1}
BREATH = 1 << 28  # entries of Sigma that are visited before an interrupt is heard again


@dataclass(frozen=True)
class PriorParams:
    prior: float | str = param(
        AUTO,
        "variance of a weight before any data; auto = 1 / typical squared norm of the first 1,000 "
        "rows, which frees the other parameters from the scale of the rows; 1 = as in the papers",
        kind=float,
        above=0,
        auto=True,
    )
    floor: float = param(
        1e-12, "no variance falls below this share of the prior", above=0, high=1, kind=float
    )


@dataclass(frozen=True)
class CovarianceParams(PriorParams):
    covariance: str = param(
        "diag", "what is kept of Sigma: its diagonal, or all of it", choices=("diag", "full")
    )
    projection: str = param(
        "kl",
        "onto a diagonal: kl drops the off-diagonals of Sigma^-1, l2 those of Sigma",
        choices=tuple(PROJECTIONS),
    )


class Covariance(ABC):
    """One way of keeping Sigma, for one rule."""

    columns: ClassVar[tuple[str, ...]]
    compact: ClassVar[bool] = False
    max_memory = 0  # as that of the algorithm

    def __init__(self, params: Any, rule: Rule) -> None:
        self.params = params
        self.rule = rule

    def prepare(self, state: State) -> State:
        """Put into a new state what is kept beside the features."""
        return state

    def details(self, state: State) -> dict[str, Any]:
        """What inspect shows of Sigma."""
        return {}

    @abstractmethod
    def learn(self, block: Block, state: State, order: Longs, out: Scores) -> None: ...

    @abstractmethod
    def scores(self, block: Block, state: State, out: Scores) -> None: ...

    @abstractmethod
    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats]: ...


class Diagonal(Covariance):
    """mu_j and the precision gained, p_j: Sigma_jj = 1 / (1 + p_j)."""

    columns = ("mean", "precision")

    def learn(self, block: Block, state: State, order: Longs, out: Scores) -> None:
        diagonal.learn(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            self.rule, PROJECTIONS[self.params.projection], self.params.floor, block.scale,
            out.score, out.variance,
        )  # fmt: skip

    def scores(self, block: Block, state: State, out: Scores) -> None:
        diagonal.scores(
            block.indptr, block.indices, block.values, state.features.table, block.scale,
            out.score, out.variance,
        )  # fmt: skip

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        table = state.features.table[slots]
        return table[:, 0], 1 / (1 + table[:, 1])


class Full(Covariance):
    """mu_j, and all of Sigma over the features seen."""

    columns = ("mean",)
    compact = True
    shrink = 0.0  # NAROW's b: score = mu.x / max(1, b v)

    def learn(self, block: Block, state: State, order: Longs, out: Scores) -> None:
        sigma, n = room_for_all(state, self.max_memory), state.features.count
        step = max(16, BREATH // max(1, n * n))
        for start in range(0, len(order), step):
            full.learn(
                block.indptr, block.indices, block.values, block.y, order[start : start + step],
                state.features.table, sigma, n, self.rule, self.shrink, self.params.floor,
                block.scale, out.score, out.variance,
            )  # fmt: skip

    def scores(self, block: Block, state: State, out: Scores) -> None:
        full.scores(
            block.indptr, block.indices, block.values, state.features.table,
            room_for_all(state), state.features.count, self.shrink, self.params.floor,
            block.scale, out.score, out.variance,
        )  # fmt: skip

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        return state.features.table[slots, 0], np.diag(room_for_all(state))[slots]


def room_for_all(state: State, max_memory: int = 0) -> Floats:
    """Sigma with a row for every feature seen, the identity where nothing was learned yet."""
    n = state.features.count
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
            f"--covariance full over {n:,} features needs {memory.words(8 * n**2)}, and "
            f"{memory.words(free)} may be used",
            "use --covariance diag, or fold the ids with --hash-bits",
        )
    grown = np.zeros((wanted, wanted))
    np.fill_diagonal(grown, 1.0)
    if sigma is not None:
        grown[:have, :have] = sigma
    state.squares["sigma"] = grown
    return grown


class SecondOrder(Algorithm):
    """A rule joined with a covariance; a new algorithm states its rule and nothing else."""

    kinds: ClassVar[dict[str, type[Covariance]]] = {"diag": Diagonal, "full": Full}

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        self.covariance = self.kinds[params.covariance](params, self.rule)
        self.compact = self.covariance.compact

    @property
    def columns(self) -> tuple[str, ...]:
        return self.covariance.columns

    def new_state(self) -> State:
        return self.covariance.prepare(super().new_state())

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The step: margin and variance -> (alpha, kappa)."""

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        out = Scores.zeros(block.n_rows)
        self.covariance.max_memory = self.max_memory
        self.covariance.learn(block, state, order, out)
        return out

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = Scores.zeros(block.n_rows)
        self.covariance.scores(block, state, out)
        # a feature never seen still has its prior variance
        return Scores(out.score, out.variance + unknown)

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        return self.covariance.weights(state, slots)

    def details(self, state: State) -> dict[str, Any]:
        return self.covariance.details(state)
