"""The contract of an algorithm: what it declares, how rows pass through it, and what else it may
be able to do. Each further capability is a protocol; an algorithm has it by having its methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cwtool.algorithms.merging.base import Merging, Refusal
from cwtool.data.rows import Floats, Ints, Longs, Rows, SlotRows
from cwtool.params import declared
from cwtool.run import Run
from cwtool.state import FeatureIndex, Layout, State
from cwtool.threads import together

Variants = dict[str, dict[str, Any]]  # name -> parameters


def each_choice(params: type, name: str, **others: Any) -> Variants:
    """One variant of the parameters for each choice of a parameter, with the other parameters
    given."""
    choices = next(p.choices for p in declared(params) if p.name == name)
    return {choice: {**others, name: choice} for choice in choices}


class Scores(NamedTuple):
    """For each row: the score, and the variance x'Sigma x of it (0 where there is none)."""

    score: Floats
    variance: Floats

    @classmethod
    def zeros(cls, n: int) -> Scores:
        return cls(np.zeros(n), np.zeros(n))

    def take(self, rows: Longs) -> Scores:
        """The scores of the rows with these numbers."""
        return Scores(self.score[rows], self.variance[rows])


def joined_scores(parts: Sequence[Scores]) -> Scores:
    """The scores of all parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Scores.zeros(0)
    return Scores(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Coefficients(NamedTuple):
    """A linear score: intercept + sum of weight_j x_j, for the features at some slots. With
    several classes weights and variances have a column, and the intercept a value, for each."""

    weight: Floats
    variance: Floats | None = None
    intercept: float | Floats = 0.0


class Chosen(NamedTuple):
    """Features that an algorithm has selected: their slots, scores, and groups counted from 1."""

    slots: Ints
    score: Floats
    group: Ints


class Algorithm(ABC):
    """A frozen set of parameters and what to do with them; all that changes is in the State."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Params: ClassVar[type]
    takes_weights: ClassVar[bool] = False  # whether rows may have weights
    counts_unknown: ClassVar[bool] = False  # a feature never seen has its prior variance in a score
    weighted_instead: ClassVar[str] = ""  # a similar algorithm that takes them
    unmergeable: ClassVar[str] = "there is no rule by which models that learned apart become one"
    # squares and arrays that do not depend on the classes: one against the rest, the states of all
    # classes refer to those of the ghost
    shared: ClassVar[tuple[str, ...]] = ()
    # parameters that together use every part of the algorithm, and are fast on a few hundred rows
    variants: ClassVar[Variants] = {"": {}}

    def __init__(self, params: Any) -> None:
        self.params = params

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The declaration of what the algorithm keeps in its state."""

    @property
    def prior(self) -> float | str:
        """Variance of a weight before any data, or auto."""
        return getattr(self.params, "prior", 1.0)

    def bytes_beside(self, state: State, features: int, rows: Rows | None) -> int:
        """Upper bound of the bytes that learning needs besides a state with so many features; for a
        batch learner, with the `rows` of one batch."""
        return 0

    def bytes_again(self, n_rows: int, nnz: int) -> int:
        """Upper bound of the bytes that learning `n_rows` rows again needs besides the state and
        the rows."""
        return 24 * n_rows

    def bytes_to_score(self, states: Sequence[State], jobs: int) -> int:
        """Upper bound of the bytes that predicting rows in `jobs` threads needs besides the states
        and the rows: those of one against the rest, or a single state."""
        return 0

    def new_state(self, index: FeatureIndex | None = None) -> State:
        """An untrained state that refers to this feature index, or to a new one."""
        return State(self.layout, index)

    def lighter(self) -> Algorithm:
        """An algorithm whose scores are about the same and take less time, or itself. Fold models,
        to whose scores probabilities are fitted, learn with it (cwtool/model/fold_models.py)."""
        return self

    @abstractmethod
    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        """Visit the rows in this order; each is predicted before it is learned. Returns these
        predictions by row."""

    def relearn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        """Visit rows that were learned in an earlier pass, once more."""
        return self.learn(state, rows, order, run)

    def finish(self, state: State) -> None:
        """Called before the state is saved: moves values that are only in scratch to the saved
        arrays."""
        return

    @abstractmethod
    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        """Predict the rows; unknown[i] is the squared norm of the part of row i that lies in
        features never seen. The state stays as it is."""

    def learn_classes(
        self,
        states: Sequence[State],
        classes: Sequence[int],
        rows: SlotRows,
        orders: Sequence[Longs],
        run: Run,
    ) -> list[Scores]:
        """One against the rest: learn the rows with each of these states, in its own order; the
        rows of one class are positive to it. The first state is that of no class: every row is
        negative to it."""
        return each_class(self.learn, states, classes, rows, orders, run)

    def score_classes(
        self, states: Sequence[State], rows: SlotRows, unknown: Floats, run: Run
    ) -> list[Scores]:
        """One against the rest: predict the rows with each of these states."""
        return [self.scores(state, rows, unknown, run) for state in states]

    @property
    def merging(self) -> Merging | Refusal:
        """How states that learned different rows become one, or why they cannot."""
        return Refusal(self.unmergeable)

    def check(self, state: State) -> None:
        """Raise Damage if a state that came from a file cannot be, for reasons that its layout
        does not say."""
        return

    def advice(self, state: State) -> str | None:
        """A sentence of advice for the user who trained this state, or None."""
        return None


def each_class(
    learn: Callable[[State, SlotRows, Longs, Run], Scores],
    states: Sequence[State],
    classes: Sequence[int],
    rows: SlotRows,
    orders: Sequence[Longs],
    run: Run,
) -> list[Scores]:
    """Learn the rows with each state in its own order and with its own class as the positive one,
    in `run.jobs` threads, which share nothing that changes."""
    alone = replace(run, jobs=1)
    return together(
        lambda one: learn(one[0], rows.against(one[1]), one[2], alone),
        zip(states, classes, orders, strict=True),
        run.jobs,
    )


@runtime_checkable
class Linear(Protocol):
    """The score is linear in the row."""

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        """The weights (and variances) of the features at these slots, and the intercept."""


@runtime_checkable
class Ranks(Protocol):
    """Features have an importance, though the score is not linear in the row."""

    def importance(self, state: State, slots: Ints) -> Floats:
        """The importance of the features at these slots; 0 where one is not used."""


@runtime_checkable
class Selects(Protocol):
    """Chooses a given number of features; the number is its parameter `features`."""

    def selection(self, state: State) -> Chosen:
        """The features chosen."""

    def class_selection(self, states: Sequence[State]) -> Chosen:
        """The features chosen for all classes together. The first state is that of no class."""


@runtime_checkable
class Batch(Protocol):
    """Learns whole batches of rows at once, each predicted by the state before the batch."""

    @property
    def batch_rows(self) -> int:
        """Rows of a batch; 0 for a whole file."""

    def untrained(self, state: State) -> bool:
        """Whether the state has learned no batch yet and so cannot predict."""

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        """Scores of the rows of the first batch after it was learned, for the calibration."""


@runtime_checkable
class Recalls(Protocol):
    """Keeps all rows, and can predict each of them by the others."""

    def recalled(self, state: State, run: Run) -> tuple[Ints, Scores] | None:
        """The classes of all rows learned so far, and their scores, each without the row itself;
        None if the rows have weights."""


@runtime_checkable
class LeavesOut(Protocol):
    """Can tell how it would score a row that it has learned if it had learned all rows but this
    one."""

    def leaves_out(self, state: State) -> bool:
        """Whether `left_out` can be called once this state has learned its first batch."""

    def left_out(self, state: State, rows: SlotRows, run: Run) -> Scores:
        """The scores of these rows of the first batch, each without the row itself."""


@runtime_checkable
class Describes(Protocol):
    """Has more to show of its state than weights."""

    def details(self, state: State) -> dict[str, Any]:
        """Values by name, ready for JSON."""

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        """The products of features that it uses: the slots of each, and its importance."""
