"""Stabilized truncated stochastic gradient descent (Ma 2017, Algorithm 3.4), on a stream.

M paths learn side by side. In the first pass each learns its own random share of the rows as they
come; in later passes each learns all rows, in an order of its own. After every burst of K rows the
weights that moved are pulled to zero, with a gravity that a share beta of the moves in the last
stage would not have survived. After every stage of n_K bursts, features that were kept in too few
of the bursts that informed them are removed for good, and beta falls with the features that are
left. The model is the mean of the paths. Weights that are read while a burst is under way are read
as if it had ended, so that they do not depend on where the data happened to end.
"""

from __future__ import annotations

from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms import columns, rates
from cwtool.algorithms.base import Algorithm, Coefficients, Scores, Variants
from cwtool.algorithms.paths import drawn, walk
from cwtool.algorithms.prepared import PreparedRows, counting, prepare, threads
from cwtool.algorithms.schedule import REFIT, RULES, Schedule
from cwtool.algorithms.stsgd_params import StsgdParams
from cwtool.algorithms.stsgd_state import BEFORE, GONE, WEIGHT, check, layout, restart
from cwtool.algorithms.underway import Emitted, Underway, put_back
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.parallel import together
from cwtool.params import AUTO
from cwtool.run import Run
from cwtool.state import Layout, State
from cwtool_ext import columns as statistics
from cwtool_ext import path_weights, prepared, shuffle, stability

# stages that end within some hundred rows
SHORT = {"burst": 50, "rejection": 0.5, "stability": 0.3}
LONG = 1e4  # rows of a squared norm above this times the mean are left out of statistics
ANY = 1e200  # as long as the mean is not known, all rows up to this squared norm count
ROOM = 1 << 20  # a shelf with more features is emptied before it takes in more rows


class Stsgd(Algorithm):
    name = "stsgd"
    unmergeable = "it purges features by what all of its paths have learned"
    summary = "stabilized truncated stochastic gradient descent"
    Params = StsgdParams
    takes_weights = True
    variants: ClassVar[Variants] = {
        "": {},
        "short": {**SHORT, "gravity_by": "count", "paths": 2},
        "scaled": {**SHORT, "scale": "std", "least": 20},
        "logistic": {**SHORT, "loss": "logistic", "rejection": 0.2, "intercept": "on"},
        "weight": {**SHORT, "pull_on": "weight", "informed_by": "gradients", "rejection": 0.2},
    }

    def __init__(self, params: StsgdParams) -> None:
        super().__init__(params)
        self.schedule = Schedule(params)

    @property
    def prior(self) -> float | str:
        """Columns that are scaled by their deviations are those of the rows as they are."""
        return AUTO if self.params.scale == "none" else 1.0

    @property
    def layout(self) -> Layout:
        return layout(self.params.paths)

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        numbers, n, signs, places = state.numbers, len(order), rows.signs(), counting(rows, order)
        learned = drawn(self.params, int(numbers["visits"]), n, places)
        score = np.zeros(learned.shape)
        Underway.of(state).close_shelf(state)
        if numbers["stage"] == 0:
            numbers["longest"] = 0.0 if self.params.scale == "none" else ANY
            numbers["rules"] = RULES
            self.begin(state, np.empty(0), fresh=True)
        done = counted = 0
        while done < n:
            if self.schedule.stopped(numbers):
                return self.scores(state, rows, np.zeros(rows.n_rows), run)
            if counted < len(places) and self.schedule.fit_due(numbers, REFIT):
                self._fit(state, run)
            counted += self.schedule.until(numbers)
            some = slice(done, int(places[counted]) if counted < len(places) else n)
            self._meet(state, rows, order[some], signs, learned[:, some], score[:, some], run)
            done = some.stop
            if self.schedule.left(numbers) == 0:
                self._end(state, fresh=True, run=run)
        return _mean(score, order, rows.n_rows)

    def relearn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        places = counting(rows, order)
        if len(places) < len(order):
            return self._relearn_some(state, rows, order[places], run)
        if self.schedule.restart_due(state.numbers):
            restart(state)

        def mixed(m: int) -> Longs:
            mine = np.empty(len(order), dtype=np.int64)
            shuffle.permute(np.array([m, state.numbers["visits"]], dtype=np.uint64), mine)
            return order[mine]

        orders = together(mixed, range(self.params.paths), self._threads(rows.nnz, run))
        return self.revisit(state, rows, orders, run)

    def _relearn_some(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        """Visit the rows in this order as if there were no others, and predict all rows before."""
        out = self.scores(state, rows, np.zeros(rows.n_rows), run)
        if len(order):
            kept = counting(rows, rows.order)
            place = np.searchsorted(kept, order)
            out.score[kept] = self.relearn(state, rows.take(kept), place, run).score
        return out

    def revisit(self, state: State, rows: SlotRows, orders: list[Longs], run: Run) -> Scores:
        """Visit rows that were met before, path m in the order orders[m]."""
        numbers, n, ready = state.numbers, len(orders[0]), None
        score, learned = np.zeros((len(orders), rows.n_rows)), np.ones(n, dtype=np.uint8)
        underway = Underway.of(state)
        if numbers["stage"] == 0:
            self.begin(state, np.empty(0), fresh=False)
        done = 0
        while done < n and not self.schedule.stopped(numbers):
            if self.schedule.fit_due(numbers, 1):
                self._fit(state, run)
            if ready is None or underway.shelf is None:
                ready = self._again(state, rows, run)
            ready.rates = rates.of_known(self.params, numbers, rows.n_rows)
            some = slice(done, min(n, done + self.schedule.left(numbers)))
            visits = [order[some] for order in orders]
            walk(self.params, state, ready, visits, [learned[some]] * len(orders), score, run.jobs)
            done = some.stop
            if self.schedule.left(numbers) == 0:
                self._end(state, fresh=False, run=run)
        if self.schedule.stopped(numbers):
            return self.scores(state, rows, np.zeros(rows.n_rows), run)
        return _mean(score, rows.order, rows.n_rows)

    def _threads(self, entries: int, run: Run) -> int:
        return threads(entries, self.params.paths, run.jobs)

    def _fit(self, state: State, run: Run) -> None:
        """Fit the scale of the columns to the rows met so far."""
        Underway.of(state).close_shelf(state)
        columns.fit(state, self.params.scale, self._threads(state.index.count, run))
        state.numbers["fitted"] = state.numbers["rows"]
        mean = self._squares(state)
        if state.numbers["longest"]:
            state.numbers["longest"] = LONG * mean

    def _squares(self, state: State) -> float:
        """Keep the mean squared norm of scaled rows over the features left, for the steps of the
        intercept; returns that of rows as they are."""
        n = state.numbers["seen"]
        if n == 0:
            return ANY / LONG
        put_back(state)
        every, left = statistics.squares(state.table, state.index.ids_and_slots()[1])
        state.numbers["norm"] = left / n
        return min(every / n, ANY / LONG) or ANY / LONG

    def _meet(
        self, state: State, rows: SlotRows, order: Longs, signs: Floats,
        learned: NDArray[np.uint8], score: Floats, run: Run,
    ) -> None:  # fmt: skip
        """Walk over fresh rows within one stage and between two fits of the scale of the columns;
        at the same time they enter the statistics of the columns."""
        numbers, n, shared = state.numbers, len(order), state.table
        jobs = self._threads(int(rows.nnz * n / rows.n_rows), run)
        entries, norms = prepare(rows, order, shared, numbers["longest"] or LONG, jobs)
        weight = None if rows.weight is None else rows.weight[order]
        if weight is not None:
            norms[weight == 0] = 0  # they are not counted
        ready = PreparedRows(
            entries, rates.of_new(self.params, numbers, norms), signs[order], weight
        )

        def count() -> None:
            numbers["met"] += prepared.count(rows.csr, order, shared, norms)

        visits = [np.arange(n)] * self.params.paths
        walk(self.params, state, ready, visits, list(learned), score, run.jobs, beside=count)
        counts = ready.weight > 0
        numbers["rows"] += int(np.count_nonzero(counts))
        numbers["positive"] += int(np.count_nonzero((ready.y > 0) & counts))

    def _again(self, state: State, rows: SlotRows, run: Run) -> PreparedRows:
        """Rows that were met before, by the numbers of their features on the shelf."""
        underway = Underway.of(state)
        if underway.shelf is not None and len(underway.shelf.own) > ROOM:
            underway.close_shelf(state)
        entries = underway.open_shelf(state).rows(state, rows, self._threads(rows.nnz, run))
        found = rates.of_known(self.params, state.numbers, rows.n_rows)
        return PreparedRows(entries, found, rows.signs(), rows.weight)

    def _end(self, state: State, fresh: bool, run: Run) -> None:
        """End a stage: judge the features it informed, and begin the next stage."""
        underway = Underway.of(state)
        pool, (shared, *paths) = underway.pool, underway.tables(state)
        left = self._judge(state, pool, shared)
        state.numbers["gone"] += len(left)
        if underway.shelf is not None:
            underway.shelf.leave(left)
        for path in paths:
            path[left, WEIGHT] = 0

        def remaining(part: Emitted) -> Floats:
            return part.values[: stability.remaining(part.slots, part.values, shared)]

        jobs = self._threads(sum(len(part.slots) for part in pool), run)
        values = np.concatenate([np.empty(0), *together(remaining, pool, jobs)])
        underway.pool = []
        self.begin(state, values, fresh)

    def _judge(self, state: State, pool: list[Emitted], shared: Floats) -> Ints:
        """The features that are removed; none, if there would be no others. Then learning stops,
        once there were rows of both classes."""
        numbers, p = state.numbers, self.params
        for part in pool:
            stability.tally(part.slots, part.kept, shared)
        leaving: list[Ints] = [np.empty(0, dtype=np.int32)]
        for part in pool:
            some, least = np.empty_like(part.slots), max(p.least, 1)
            n = stability.judge(part.slots, shared, p.stability, least, some)
            leaving.append(some[:n])
        left = np.concatenate(leaving)
        if len(left) > max(0, int(numbers["met"] - numbers["gone"]) - 1):
            shared[left, GONE] = 0
            left = left[:0]
            numbers["empty"] = int(0 < numbers["positive"] < numbers["rows"])
        return left

    def begin(self, state: State, emitted: Floats, fresh: bool) -> None:
        """Begin a stage after one whose bursts emitted these values; `fresh` if its rows come for
        the first time."""
        numbers = state.numbers
        self.schedule.begin(numbers, emitted, fresh)
        if not numbers["bias"]:
            state.arrays["intercept"][:] = 0
        else:
            self._squares(state)
        if self.params.tol > 0 and numbers["stage"] > 1:
            numbers["calm"] = numbers["calm"] + 1 if self._hardly_moved(state) else 0

    def _hardly_moved(self, state: State) -> bool:
        """Whether ||change of the mean weights since the stage before|| < tol ||mean weights||."""
        Underway.of(state).close_shelf(state)
        _, slots = state.index.ids_and_slots()
        w = self.coefficients(state, slots).weight
        before = state.table[slots, BEFORE]
        state.table[slots, BEFORE] = w
        return bool(np.linalg.norm(w - before) < self.params.tol * np.linalg.norm(w))

    def advice(self, state: State) -> str | None:
        numbers = state.numbers
        if numbers["empty"]:
            return (
                "learning stopped when no feature would have been left; lower `stability` or "
                "`rejection`, or raise `burst`"
            )
        if numbers["stage"] > 1 or self.params.stability == 0:
            return None
        needed, rows = self.schedule.stage_rows(numbers), int(numbers["rows"])
        said = f"no feature was judged yet: that takes {needed:,} rows, and there were "
        if numbers["restarted"]:
            passes = 1 + ceil(needed / max(rows, 1))
            return f"{said}{int(numbers['into']):,}; use `passes={passes}` or a smaller `burst`"
        return f"{said}{rows:,}; with so few rows, use `passes=6`"

    def check(self, state: State) -> None:
        check(state)

    def finish(self, state: State) -> None:
        Underway.of(state).save(state)

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        put_back(state)
        out, by_norm = Scores.zeros(rows.n_rows), self.params.gravity_by == "norm"
        for path in state.tables[1:]:
            g0 = state.numbers["base_gravity"]
            path_weights.add_scores(rows.csr, state.table, path, g0, by_norm, out.score)
        intercept = state.arrays["intercept"].mean()
        return Scores(out.score / self.params.paths + intercept, out.variance)

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        put_back(state)
        w, by_norm = np.zeros(len(slots)), self.params.gravity_by == "norm"
        for path in state.tables[1:]:
            g0 = state.numbers["base_gravity"]
            path_weights.add_weights(slots, state.table, path, g0, by_norm, w)
        intercept = float(state.arrays["intercept"].mean())
        return Coefficients(w / self.params.paths, intercept=intercept)


def _mean(score: Floats, order: Longs, n_rows: int) -> Scores:
    """The mean of the scores of the paths; its columns are rows in this order."""
    out = Scores.zeros(n_rows)
    with np.errstate(invalid="ignore"):  # rows near the end of the double range
        out.score[order] = score.mean(axis=0)
    return out


ALGORITHMS = {"stsgd": Stsgd}
