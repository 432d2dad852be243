"""Online-batch confidence-weighted learning (Tan et al. 2016).

By default a batch is learned by the curvature of the loss (batch/curvature.py), with a number for
`precision_divisor` as in Algorithm 1 of the paper (batch/printed.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Scores, Variants, each_choice
from cwtool.algorithms.batch import posterior, printed, row_space
from cwtool.algorithms.batch.learner import (
    BATCHES,
    POSITIVE,
    BatchParams,
    LinearBatchLearner,
    usable,
)
from cwtool.algorithms.batch.leave_one_out import left_out
from cwtool.algorithms.batch.precision import (
    ALL,
    CURVED,
    by_rows,
    bytes_of_variances,
    check_room,
    grown,
    variances,
)
from cwtool.algorithms.batch.regularized_loss import loss_of
from cwtool.algorithms.batch.row_space import ROWS
from cwtool.algorithms.shards.steps import Shards, gathered
from cwtool.data.rows import Floats, SlotRows
from cwtool.errors import Damage
from cwtool.params import AUTO, param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import Column, Layout, Number, State


@dataclass(frozen=True)
class BcwParams(BatchParams):
    precision_divisor: float | str = param(
        AUTO,
        "Method of the precision matrix. auto builds it from the rows where the loss is curved, "
        "with the weight C, and finds the optimum of each batch; for this the hinge loss is "
        "rounded between the margins 0 and 1. A number builds it from all rows, with the weight C "
        "divided by this number, and visits the rows as the algorithm of the paper does; 1 is "
        "that algorithm, larger values give the precision less influence.",
        kind=float,
        above=0,
        auto=True,
        formerly=("kappa",),
    )
    batch_passes: int = param(
        1,
        "Number of passes over the rows of each batch; 1 is the algorithm of the paper. Applies "
        "only if `precision_divisor` is a number.",
        low=1,
        formerly=("epochs",),
        unasked=1000,
    )
    average: bool = param(
        True,
        "Predict with the mean of mu over the second half of the pass instead of the last mu, "
        "which the paper uses. Applies only if `batch_passes` is 1 and `precision_divisor` is a "
        "number.",
    )
    carry: str = param(
        "dual",
        "Start of a batch if `precision_divisor` is a number: dual keeps the dual variables of "
        "earlier batches, printed keeps the mean of earlier batches under the new precision as "
        "the paper does, forget keeps only the precision.",
        choices=("dual", "printed", "forget"),
    )


class BCW(LinearBatchLearner):
    name = "bcw"
    summary = "online-batch confidence-weighted"
    Params = BcwParams
    variants: ClassVar[Variants] = {
        **each_choice(BcwParams, "loss"),
        "batches": {"batch_rows": 200},
        "latest": {"average": False, "batch_rows": 200, "precision_divisor": 100},
        "passes": {"batch_passes": 3, "precision_divisor": 10},
        **each_choice(BcwParams, "carry", batch_rows=200, precision_divisor=100),
    }
    takes_weights = True
    counts_unknown = True
    shared = printed.SHARED
    layout = Layout(
        tables=((Column("mean"), Column("dual")),),  # mu, and b = sum of all a_i y_i x_i
        # the divisor that versions before 0.2 chose for auto; 0: none
        numbers=(BATCHES, Number("precision_divisor", 0.0, formerly="kappa")),
        # X'HX over all rows, or over those where the loss is curved, on and below the diagonal; as
        # long as there are fewer rows than features, the rows themselves
        squares=(ALL, CURVED),
        arrays=(*ROWS, row_space.CURVED),
        compact=True,
    )

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, run: Run
    ) -> None:
        divisor = self._divisor(states[0])
        if divisor is None:
            posterior.learn(states, classes, rows, loss_of(self.params), run)
        else:
            printed.learn(states, classes, rows, divisor, self.params, run)

    def make_room(self, states: Sequence[State], run: Run) -> None:
        n = states[0].index.count
        for state in states:
            for name in state.squares:
                check_room(n, "features", run, len(states))
                grown(state, name, n)
            state.refer(states[0], self.shared)

    def learn_shards(
        self, states: Sequence[State], classes: Sequence[int], shards: Shards, run: Run
    ) -> None:
        if by_rows(states[0], shards.rows.n_rows, states[0].index.count):  # as on one machine
            rows = gathered(shards)
            self.learn_batch(states, classes, rows, run)
            return
        divisor = self._divisor(states[0])
        if divisor is None:
            posterior.learn_shards(states, classes, shards, loss_of(self.params), run)
        else:
            printed.learn_shards(states, classes, shards, divisor, self.params, run)

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        """Scores of the learned rows, from the end of the search for the optimum if no
        probabilities are needed."""
        known = state.scratch.pop("fitted", None)
        if run.calibrate or known is None or len(known) != rows.n_rows:
            return super().fitted(state, rows, run)
        return Scores(known, np.zeros(rows.n_rows))

    def leaves_out(self, state: State) -> bool:
        return self._divisor(state) is None

    def left_out(self, state: State, rows: SlotRows, run: Run) -> Scores:
        loss = loss_of(self.params)
        fitted = self.scores(state, rows, np.empty(0), run)
        cost = np.where(usable(rows), loss.cost(rows), 0.0)
        return left_out(fitted, rows.signs(POSITIVE), cost, loss.squared)

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        return self.score_classes([state], rows, unknown, run)[0]

    def score_classes(
        self, states: Sequence[State], rows: SlotRows, unknown: Floats, run: Run
    ) -> list[Scores]:
        """A row has the same variance for all classes: x'P^-1 x of the precision that they share,
        or the mean of it over their own precisions."""
        margins = [super(BCW, self).scores(state, rows, unknown, run).score for state in states]
        variance = np.zeros(rows.n_rows)
        if states and not self.untrained(states[0]):
            C, divisor = self.params.C, self._divisor(states[0])
            if divisor is None:
                variance = variances(states, rows, C, CURVED)
            else:
                variance = variances(states[:1], rows, C / divisor, ALL)
            variance += unknown if len(unknown) else 0.0
        return [Scores(score, variance) for score in margins]

    def bytes_to_score(self, states: Sequence[State], jobs: int) -> int:
        if not states or self.untrained(states[0]):
            return 0
        if self._divisor(states[0]) is None:
            return bytes_of_variances(states, CURVED, jobs)
        return bytes_of_variances(states[:1], ALL, jobs)

    def check(self, state: State) -> None:
        super().check(state)
        row_space.check(state)
        curved, by_curvature = state.arrays[row_space.CURVED.name], self._divisor(state) is None
        if by_curvature and len(curved) != row_space.count(state):
            raise Damage("its rows and the array array.rows.curved do not fit each other")
        other = ALL if by_curvature else CURVED
        if other in state.squares:
            raise Damage(f"its precision divisor does not fit the array square.{other}")

    def details(self, state: State) -> dict[str, Any]:
        divisor = self._divisor(state)
        own = {} if divisor is None else {"precision_divisor": divisor}
        return super().details(state) | own

    def _divisor(self, state: State) -> float | None:
        """The precision divisor; None: the precision is the curvature of the loss."""
        given = self.params.precision_divisor
        found = float(state.numbers["precision_divisor"] if given == AUTO else given) or None
        if found is not None and isinf(self.params.C / found):
            raise OverflowError("C divided by the precision divisor is too large")
        return found


ALGORITHMS = {"bcw": BCW}
