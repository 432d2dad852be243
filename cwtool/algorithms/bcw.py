"""Online-batch confidence-weighted learning (Tan et al. 2016, Algorithm 1).

For each batch:  P += c X'HX with c = C / precision_divisor and the row weights H;  then one pass
(or more) of dual coordinate ascent on 1/2 (mu - mu0)' P (mu - mu0) + C/q sum h xi^q. With the
divisor 1, as printed, this is ridge regression wherever margins stay below 1; with a larger divisor
the hinge loss has more influence on mu than the precision has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms import cocoa, metric, row_space
from cwtool.algorithms.ascent import Ascended, Start
from cwtool.algorithms.base import Scores, Variants, each_choice
from cwtool.algorithms.batch import BATCHES, BatchParams, LinearBatchLearner, squared_norms, weights
from cwtool.algorithms.dealt import Shards, gathered
from cwtool.algorithms.precision import Precision, by_rows, variances
from cwtool.algorithms.row_space import NAMES, ROWS
from cwtool.data.rows import Floats, SlotRows
from cwtool.params import AUTO, param
from cwtool.run import Run
from cwtool.state import Column, Layout, Number, State
from cwtool_ext import dual

DIVISORS = (1.0, 10.0, 100.0, 1000.0)  # tried by auto
USUAL = 100.0  # auto takes it unless another one is better beyond doubt
TRIAL = 2000  # rows that each divisor is tried on
CHECK = 10000  # rows that it is judged by


@dataclass(frozen=True)
class BcwParams(BatchParams):
    precision_divisor: float | str = param(
        AUTO,
        "C divided by this number is the weight of X'X in the precision matrix. 1 is the printed "
        "algorithm; larger values trust the precision less. auto tries 1, 10, 100 and 1000 on "
        "part of the first batch and keeps the one with the fewest errors.",
        kind=float,
        above=0,
        auto=True,
        formerly=("kappa",),
    )
    batch_passes: int = param(
        1,
        "Number of passes over the rows of each batch; 1 is the printed algorithm.",
        low=1,
        formerly=("epochs",),
    )
    average: bool = param(
        True,
        "Predict with the mean of mu over the second half of the pass; applies only if "
        "`batch_passes` is 1. The printed algorithm predicts with the last mu.",
    )
    carry: str = param(
        "dual",
        "What a batch starts from: dual keeps the dual variables of earlier batches, printed "
        "keeps the mean of earlier batches under the new precision, forget keeps only the "
        "precision.",
        choices=("dual", "printed", "forget"),
    )


class BCW(LinearBatchLearner):
    name = "bcw"
    summary = "online-batch confidence-weighted"
    Params = BcwParams
    variants: ClassVar[Variants] = {
        **each_choice(BcwParams, "loss"),
        "latest": {"average": False, "batch_rows": 200},
        "passes": {"batch_passes": 3, "precision_divisor": 10},
        **each_choice(BcwParams, "carry", batch_rows=200),
    }
    takes_weights = True
    counts_unknown = True
    shared = ("gram", *NAMES)
    layout = Layout(
        tables=((Column("mean"), Column("dual")),),  # mu, and b = sum of all a_i y_i x_i
        numbers=(BATCHES, Number("precision_divisor", 0.0, formerly="kappa")),  # 0: not chosen yet
        # X'HX of all batches, on and below the diagonal; or, as long as there are fewer rows than
        # features, the rows themselves
        squares=("gram",),
        arrays=ROWS,
        compact=True,
    )

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, v: Floats, run: Run
    ) -> None:
        """P does not depend on the classes: all states have one metric, and each its own ascent."""
        p, first = self.params, states[0]
        n = first.index.count
        precision = Precision.of(first, rows, n, run)
        total = float(weights(rows).sum())
        divisor = self._divisor(states, classes, rows, precision, total, run)
        inverse = precision.metric(rows, p.C / divisor, p.batch_passes, self.untrained(first))
        starts = [
            Start(rows.signs(class_), self._start(state, inverse))
            for state, class_ in zip(states, classes, strict=True)
        ]
        found = self._ascend(rows, inverse, starts, p.batch_passes)
        for state, start, (mu, a, _) in zip(states, starts, found, strict=True):
            state.table[:n, 0] = mu
            dual.add_rows(rows.csr, a * start.y, state.table, 1)
            state.refer(first, self.shared)
            state.scratch.clear()
        passes = max(one.passes for one in found)
        run.note(
            f"batch of {rows.n_rows:,} rows, {n:,} features: {inverse.name} form, "
            f"precision divisor {divisor:g}, {passes} passes"
        )

    def learn_dealt(
        self, states: Sequence[State], classes: Sequence[int], shards: Shards, run: Run
    ) -> None:
        p, n = self.params, states[0].index.count
        if by_rows(states[0], shards.rows.n_rows, n):  # few rows: as on one machine
            rows = gathered(shards)
            self.learn_batch(states, classes, rows, squared_norms(rows), run)
            return
        precision = Precision.of_pairs(states[0], n, run)
        assert precision.gram is not None
        cocoa.add_grams(precision.gram, shards)
        total = float(weights(shards.rows).sum())
        divisor = self._divisor(states, classes, shards.head, precision, total, run)
        inverse = metric.Covariance(precision.gram, n, p.C / divisor, run.jobs)
        starts = np.array([self._start(state, inverse) for state in states])
        means, sums = cocoa.rounds_in_metric(inverse, starts, classes, p.batch_passes, shards)
        for state, mu, b in zip(states, means, sums, strict=True):
            state.table[:n, 0] = mu
            state.table[:n, 1] += b
            state.refer(states[0], self.shared)
            state.scratch.clear()
        run.note(f"{n:,} features: precision divisor {divisor:g}")

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        return self.score_classes([state], rows, unknown, run)[0]

    def score_classes(
        self, states: Sequence[State], rows: SlotRows, unknown: Floats, run: Run
    ) -> list[Scores]:
        """All classes have one precision, so that a row has the same variance x'P^-1 x for each."""
        margins = [super(BCW, self).scores(state, rows, unknown, run).score for state in states]
        variance = np.zeros(rows.n_rows)
        if states and not self.untrained(states[0]):
            c = self.params.C / self._used_divisor(states[0])
            variance = variances(states[0], rows, c) + (unknown if len(unknown) else 0.0)
        return [Scores(score, variance) for score in margins]

    def check(self, state: State) -> None:
        super().check(state)
        row_space.check(state)

    def _used_divisor(self, state: State) -> float:
        given = self.params.precision_divisor
        return float(state.numbers["precision_divisor"] or USUAL if given == AUTO else given)

    def _start(self, state: State, inverse: metric.Metric) -> Floats:
        """mu before the rows of the batch are visited."""
        n = inverse.n
        if self.params.carry == "dual":
            b = state.table[:n, 1]
            return inverse.solve(b) if b.any() else np.zeros(n)
        return state.table[:n, 0].copy() if self.params.carry == "printed" else np.zeros(n)

    def _ascend(
        self, rows: SlotRows, inverse: metric.Metric, starts: list[Start], passes: int
    ) -> list[Ascended]:
        p = self.params
        found = inverse.ascend(rows, starts, p.bounds(rows), passes)
        if p.average and passes == 1:
            return [
                one._replace(mu=inverse.late_mean(rows, start.y, one.mu, one.a))
                for start, one in zip(starts, found, strict=True)
            ]
        return found

    def _divisor(
        self,
        states: Sequence[State],
        classes: Sequence[int],
        rows: SlotRows,
        precision: Precision,
        total: float,
        run: Run,
    ) -> float:
        """The precision divisor of all classes: as given, or as chosen on rows of the first batch;
        `total` is the weight of all rows that `gram` was made from."""
        if self.params.precision_divisor != AUTO:
            return float(self.params.precision_divisor)
        numbers = states[0].numbers
        if not numbers["precision_divisor"]:
            own = classes[1:] or classes
            chosen = self._choose(own, rows, precision, total, run)
            for state in states:
                state.numbers["precision_divisor"] = chosen
        return float(numbers["precision_divisor"])

    def _choose(
        self,
        classes: Sequence[int],
        rows: SlotRows,
        precision: Precision,
        total: float,
        run: Run,
    ) -> float:
        """Each divisor learns a sample of the rows, as a problem of that size, and the errors on
        other rows decide. Small samples favour small divisors; therefore the usual one is left
        only for an error that is lower by three standard deviations."""
        half = rows.n_rows // 2
        tried = np.arange(0, 2 * half, 2)[:: max(1, half // TRIAL)][:TRIAL]
        trial = rows.take(tried)
        check = rows.take(np.arange(1, 2 * half, 2)[:: max(1, half // CHECK)][:CHECK])
        share = weights(trial).sum() / total
        part = precision.part(tried, share)
        errors = {d: self._error(trial, check, classes, part, d) for d in DIVISORS if half}
        best = min(errors, key=lambda d: errors[d], default=USUAL)
        usual = errors.get(USUAL, 0.0)
        if usual - errors.get(best, 0.0) < 3 * sqrt(
            usual * (1 - usual) / max(1.0, _effective(check))
        ):
            best = USUAL
        found = ", ".join(f"{d:g}: {100 * e:.2f} %" for d, e in errors.items())
        run.note(f"precision divisor {best:g} (errors of each: {found})")
        return best

    def _error(
        self,
        trial: SlotRows,
        check: SlotRows,
        classes: Sequence[int],
        precision: Precision,
        divisor: float,
    ) -> float:
        """The error rate on the rows `check` after learning `trial` with this divisor."""
        inverse = precision.metric(trial, self.params.C / divisor, 1, first=False)
        starts = [Start(trial.signs(class_), np.zeros(inverse.n)) for class_ in classes]
        score = np.empty((len(classes), check.n_rows))
        for own, one in zip(score, self._ascend(trial, inverse, starts, 1), strict=True):
            dual.margins(check.csr, np.ascontiguousarray(one.mu[:, None]), 0, own)
        if len(classes) == 1:
            wrong = (score[0] >= 0) != (check.y == classes[0])
        else:
            wrong = np.array(classes)[score.argmax(axis=0)] != check.y
        return float(np.average(wrong, weights=check.weight))

    def details(self, state: State) -> dict[str, Any]:
        given = self.params.precision_divisor
        used = state.numbers["precision_divisor"] if given == AUTO else given
        return super().details(state) | ({"precision_divisor": used} if used else {})


def _effective(rows: SlotRows) -> float:
    """The number of rows of equal weight whose mean is as certain as that of these rows."""
    h = weights(rows)
    return float(h.sum() ** 2 / (h @ h)) if rows.n_rows else 0.0


ALGORITHMS = {"bcw": BCW}
