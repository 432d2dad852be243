"""Shared by the batch learners: the loss, the parameters, and scores from a mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.base import Algorithm, Coefficients, Scores, Variants, each_choice
from cwtool.algorithms.covariance.prior import prior_of_rows
from cwtool.data.rows import Floats, Ints, Longs, Rows, SlotRows, batch_bytes
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import Number, State
from cwtool_ext import dual

LONGEST = 1e100  # rows with a larger squared norm are predicted but not learned
BATCHES = Number("batches", formerly="slots")  # batches learned so far
EARLY = (  # a warning
    "`max_batch_passes` ended the solver before `tol` was reached; allow more passes, or a greater "
    "`tol`"
)
POSITIVE = 1  # the number of the positive one of two classes
LEAST, MOST = 1e-100, 1e100  # bounds of h and of C h, so that they and their inverses are finite


class Bounds(NamedTuple):
    """What limits the dual variable of each row: D, which the squared loss adds to the diagonal of
    the dual, and U, its largest value. With C h for the weight h of the row:
    hinge D = 0, U = C h;  squared hinge D = 1/(C h), U = inf."""

    ridge: Floats
    upper: Floats

    @classmethod
    def of(cls, C: float, loss: str, n: int, weight: Floats | None = None) -> Bounds:
        """The bounds of n rows; without weights all of them are one number in memory."""
        cost = C if weight is None else np.clip(C * weight, LEAST, MOST)
        D, U = (0.0, cost) if loss == "hinge" else (1 / cost, np.inf)
        return cls(np.broadcast_to(D, n), np.broadcast_to(U, n))


def loss_param(default: str) -> Any:
    """The parameter `loss`."""
    return param(
        default,
        "Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi, "
        "squared-hinge is C/2 xi^2, where LIBLINEAR has C xi^2.",
        choices=("hinge", "squared-hinge"),
    )


@dataclass(frozen=True)
class BatchParams:
    C: float = param(
        1.0,
        "Weight C of the training loss against the regularizer, for rows of length 1. Larger "
        "values fit the training rows more closely.",
        above=0,
    )
    loss: str = loss_param("hinge")
    batch_rows: int = param(
        0,
        "Number of rows that are learned together as one batch; 0 learns each file as one batch. "
        "Set it if a file does not fit into memory.",
        low=0,
        formerly=("slot_rows",),
        unasked_below=50,
    )
    prior: float | str = prior_of_rows()

    def bounds(self, rows: SlotRows) -> Bounds:
        """The bounds of the dual variables of these rows."""
        return Bounds.of(self.C, self.loss, rows.n_rows, rows.weight)


class BatchLearner(Algorithm):
    """Learns a batch at once. Its layout has the number BATCHES."""

    @property
    def batch_rows(self) -> int:
        return int(self.params.batch_rows)

    def bytes_beside(self, state: State, features: int, rows: Rows | None) -> int:
        return 0 if rows is None else batch_bytes(rows)

    def untrained(self, state: State) -> bool:
        return state.numbers["batches"] == 0

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        """Predict all rows by the state before the batch, then learn them; rows too long for sums
        of squares, and rows of weight 0, are left out of learning."""
        before = self.scores(state, rows, np.empty(0), run)
        self._learn([state], [POSITIVE], rows, run)
        return before

    def learn_classes(
        self,
        states: Sequence[State],
        classes: Sequence[int],
        rows: SlotRows,
        orders: Sequence[Longs],
        run: Run,
    ) -> list[Scores]:
        before = self.score_classes(states[1:], rows, np.empty(0), run)
        self._learn(states, classes, rows, run)
        return [Scores.zeros(rows.n_rows), *before]

    def _learn(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, run: Run
    ) -> None:
        rows = learnable(rows)
        if rows.n_rows:
            self.learn_batch(states, classes, rows, run)
            for state in states:
                state.numbers["batches"] += 1
        else:
            self.make_room(states, run)

    def make_room(self, states: Sequence[State], run: Run) -> None:
        """Give the features of a batch of which no row is learned the memory that the others have
        beside the tables."""

    @abstractmethod
    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, run: Run
    ) -> None:
        """Learn these rows at once with each of the states, to which the rows of one class are
        positive. Of two classes there is one state, and POSITIVE; of several, the first state is
        the ghost, to which no row is positive."""

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        return self.scores(state, rows, np.zeros(rows.n_rows), run)

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        """The products of features that it uses: none."""
        return []

    def details(self, state: State) -> dict[str, Any]:
        return {"batches": state.numbers["batches"]}


class LinearBatchLearner(BatchLearner):
    """A batch learner whose score is linear, with the weights in column 0 of its table."""

    unmergeable = "its weights are the optimum for all rows together, which no parts of them give"
    variants: ClassVar[Variants] = {
        **each_choice(BatchParams, "loss"),
        "batches": {"batch_rows": 120},
    }

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        out = Scores.zeros(rows.n_rows)
        if not self.untrained(state):
            dual.margins(rows.csr, state.table, 0, out.score)
        return out

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        """Scores of the learned rows. Variances, which may cost as much as learning, are left out
        if no probabilities are needed."""
        if run.calibrate:
            return super().fitted(state, rows, run)
        return LinearBatchLearner.scores(self, state, rows, np.empty(0), run)

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        return Coefficients(state.table[slots, 0])


def squared_norms(rows: SlotRows) -> Floats:
    """||x_i||^2 of every row."""
    v = np.empty(rows.n_rows)
    dual.squared_norms(rows.csr, v)
    return v


def usable(rows: SlotRows) -> NDArray[np.bool_]:
    """Which rows are learned."""
    size = abs(float(rows.values[0])) if rows.alike and rows.nnz else rows.csr.largest()
    most = rows.scale * size
    if most * most * rows.csr.longest <= LONGEST:  # no norm needs to be computed
        some = np.ones(rows.n_rows, dtype=bool)
    else:
        some = squared_norms(rows) <= LONGEST
    return some if rows.weight is None else some & (rows.weight > 0)


def learnable(rows: SlotRows) -> SlotRows:
    """The rows of a batch that are learned."""
    some = usable(rows)
    return _limited(rows if some.all() else rows.take(np.flatnonzero(some)))


def _limited(rows: SlotRows) -> SlotRows:
    """The rows with weights between LEAST and MOST; weights of 1 are left out, so that they do
    exactly what no weights do."""
    if rows.weight is None:
        return rows
    if (rows.weight == 1).all():
        return replace(rows, weight=None)
    limited = np.clip(rows.weight, LEAST, MOST)
    return rows if (limited == rows.weight).all() else replace(rows, weight=limited)


def weights(rows: SlotRows) -> Floats:
    """The weight of each row; without weights all of them are one number in memory."""
    return np.broadcast_to(1.0, rows.n_rows) if rows.weight is None else rows.weight
