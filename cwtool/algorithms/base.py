"""The contract of an algorithm: what it declares, and how blocks pass through it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.errors import UsageError
from cwtool.state import DIRECT, Features, State

Tell = Callable[[str, float], None]  # what is being done, and the share that is done


def silent(what: str, done: float) -> None:
    """Nobody listens."""


class Scores(NamedTuple):
    """For each row of a block: the score, and the variance x'Sigma x (0 where there is none)."""

    score: Floats
    variance: Floats

    @classmethod
    def zeros(cls, n: int) -> Scores:
        return cls(np.zeros(n), np.zeros(n))


class Chosen(NamedTuple):
    """Features that an algorithm has selected: slots, scores, blocks counted from 1."""

    slots: Ints
    score: Floats
    block: Ints


class Algorithm(ABC):
    """A frozen set of parameters and what to do with them; all that changes is in the State."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Params: ClassVar[type]

    def __init__(self, params: Any) -> None:
        self.params = params
        # of this run, not of the model:
        self.jobs = 1  # threads it may use; they change no result
        self.seed = 0
        self.max_memory = 0  # bytes; 0: most of what is free
        self.notes: list[str] = []  # for --verbose
        self.tell: Tell = silent  # how far a long fit is

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The table columns of a feature, all zero at birth."""

    compact: bool = False  # needs slots 0 .. n-1 without gaps
    # what `weights` tells of a feature: its weight in a linear score, its importance, or nothing
    measure: str = "weight"

    @property
    def prior(self) -> float | str:
        """Initial variance of a weight, or auto."""
        return getattr(self.params, "prior", 1.0)

    @property
    def slot_rows(self) -> int | None:
        """Rows that are learned at once, 0 for a whole file; None: row by row, in any blocks."""
        return None

    def check_passes(self, passes: int) -> None:
        """Refuse several, before any work, where they would say nothing."""
        if passes > 1 and self.slot_rows is not None:
            raise UsageError(
                f"--passes is for learners of single rows; {self.name} visits each time slot as "
                "often as it needs"
            )

    def untrained(self, state: State) -> bool:
        """Is there nothing yet to predict with, where whole slots are predicted at once?"""
        return False

    def new_state(self) -> State:
        return State(Features(self.columns, 0 if self.compact else DIRECT))

    @abstractmethod
    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        """Visit the rows of the block (its indices are slots) in this order, each predicted before
        it is learned; returns those predictions by row."""

    def relearn(self, block: Block, state: State, order: Longs) -> Scores:
        """The same for rows that were learned in an earlier pass."""
        return self.learn(block, state, order)

    def settle(self, state: State) -> None:
        """Before the state is saved: put what is still in scratch where it is saved."""
        return

    @abstractmethod
    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        """Predict; unknown[i] is the squared norm of what row i has in features never seen."""

    def fitted(self, block: Block, state: State) -> Scores:
        """For the calibration: scores of the rows that were the first to be learned."""
        return self.scores(block, state, np.zeros(block.n_rows))

    @abstractmethod
    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        """Weight (or what `measure` says) and variance of the features at these slots."""

    def selection(self, state: State) -> Chosen | None:
        """What an algorithm that selects features has chosen; it has a parameter `features`."""
        return None

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        """The products of features that it uses: the slots of each, and its importance."""
        return []

    def advice(self, state: State) -> str | None:
        """What whoever trained this should know, if anything."""
        return None

    def details(self, state: State) -> dict[str, Any]:
        """What inspect shows besides, ready for JSON."""
        return {}
