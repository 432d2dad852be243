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

from dataclasses import replace
from math import ceil
from typing import ClassVar

import numpy as np

from cwtool.algorithms.base import Algorithm, Coefficients, Scores, Variants
from cwtool.algorithms.stabilized_descent import column_spread, rates
from cwtool.algorithms.stabilized_descent.first_pass import LONG, PIECE, drawn, meet
from cwtool.algorithms.stabilized_descent.later_passes import walk
from cwtool.algorithms.stabilized_descent.prepared_rows import PreparedRows, counting, threads
from cwtool.algorithms.stabilized_descent.schedule import RULES, Schedule
from cwtool.algorithms.stabilized_descent.stage_end import end_stage
from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory, put_back
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.algorithms.stabilized_descent.stsgd_state import BEFORE, check, layout, restart
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.errors import Damage
from cwtool.params import AUTO
from cwtool.run import Run
from cwtool.state import FeatureIndex, Layout, State
from cwtool.state.index import DIRECT
from cwtool.threads import together
from cwtool_ext import path_weights, shuffle

# stages that end within some hundred rows
SHORT = {"burst": 50, "rejection": 0.5, "stability": 0.3}
ANY = 1e200  # as long as the mean is not known, all rows up to this squared norm count
ROOM = 1 << 20  # a compact copy with more features is emptied before it takes in more rows


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

    def new_state(self, index: FeatureIndex | None = None) -> State:
        """Table rows are long, so that fewer ids are their own slots than elsewhere: the memory of
        ids that lie far apart would take most of the time of a first pass."""
        return State(self.layout, index or FeatureIndex(DIRECT // 8))

    def bytes_again(self, n_rows: int, nnz: int) -> int:
        """Rows by their numbers in the compact copy, and for each path an order and a score of each
        row."""
        return 2 * 12 * nnz + (64 + 24 * int(self.params.paths)) * n_rows

    def lighter(self) -> Stsgd:
        """With half of the paths: the mean of fewer gives about the same scores."""
        return Stsgd(replace(self.params, paths=(self.params.paths + 1) // 2))

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        numbers, n, signs, places = state.numbers, len(order), rows.signs(), counting(rows, order)
        learned = drawn(self.params, int(numbers["visits"]), n, places)
        out = Scores.zeros(rows.n_rows)
        StageMemory.of(state).close_compact_copy(state)
        if numbers["stage"] == 0:
            numbers["longest"] = 0.0 if self.params.scale == "none" else ANY
            numbers["rules"] = RULES
            self.begin(state, np.empty(0), fresh=True)
        done = counted = 0
        while done < n:
            if self.schedule.stopped(numbers):
                rest = order[done:]
                out.score[rest] = self.scores(state, rows, np.zeros(rows.n_rows), run).score[rest]
                return out
            again = self.schedule.refit(numbers)
            if counted < len(places) and self.schedule.fit_due(numbers, again):
                self._fit(state)
            counted += min(self.schedule.until(numbers), PIECE)
            some = slice(done, int(places[counted]) if counted < len(places) else n)
            out.score[order[some]] = meet(
                self.params, state, rows, order[some], signs, learned[:, some]
            )
            done = some.stop
            if self.schedule.left(numbers) == 0:
                self.begin(state, end_stage(self.params, state), fresh=True)
        return out

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
        score, stage_memory = np.zeros((len(orders), rows.n_rows)), StageMemory.of(state)
        if numbers["stage"] == 0:
            self.begin(state, np.empty(0), fresh=False)
        done = 0
        while done < n and not self.schedule.stopped(numbers):
            if self.schedule.fit_due(numbers, 1):
                self._fit(state)
            if ready is None or stage_memory.compact_copy is None:
                ready = self._again(state, rows, run)
            ready.rates = rates.of_known(self.params, numbers, rows.n_rows)
            some = slice(done, min(n, done + self.schedule.left(numbers)))
            walk(self.params, state, ready, [order[some] for order in orders], score, run.jobs)
            done = some.stop
            if self.schedule.left(numbers) == 0:
                self.begin(state, end_stage(self.params, state), fresh=False)
        if self.schedule.stopped(numbers):
            return self.scores(state, rows, np.zeros(rows.n_rows), run)
        out = Scores.zeros(rows.n_rows)
        with np.errstate(invalid="ignore"):  # rows near the end of the double range
            out.score[:] = score.mean(axis=0)
        return out

    def _threads(self, entries: int, run: Run) -> int:
        return threads(entries, self.params.paths, run.jobs)

    def _fit(self, state: State) -> None:
        """Fit the scale of the columns to the rows met so far."""
        StageMemory.of(state).close_compact_copy(state)
        mean = column_spread.fit(state, self.params.scale)
        state.numbers["fitted"] = state.numbers["rows"]
        if state.numbers["longest"]:
            state.numbers["longest"] = min(LONG * mean, ANY) or ANY

    def _again(self, state: State, rows: SlotRows, run: Run) -> PreparedRows:
        """Rows that were met before, by the numbers of their features in the compact copy."""
        stage_memory = StageMemory.of(state)
        if stage_memory.compact_copy is not None and len(stage_memory.compact_copy.own) > ROOM:
            stage_memory.close_compact_copy(state)
        compact_copy, jobs = stage_memory.open_compact_copy(state), self._threads(rows.nnz, run)
        entries = compact_copy.rows(state, rows, jobs, stage_memory.room)
        found = rates.of_known(self.params, state.numbers, rows.n_rows)
        return PreparedRows(entries, found, rows.signs(), rows.weight)

    def begin(self, state: State, emitted: Floats, fresh: bool) -> None:
        """Begin a stage after one whose bursts emitted these values; `fresh` if its rows come for
        the first time."""
        numbers = state.numbers
        self.schedule.begin(numbers, emitted, fresh)
        if not numbers["bias"]:
            state.arrays["intercept"][:] = 0
        else:
            column_spread.fit_norm(state)
        if self.params.tol > 0 and numbers["stage"] > 1:
            numbers["calm"] = numbers["calm"] + 1 if self._hardly_moved(state) else 0

    def _hardly_moved(self, state: State) -> bool:
        """Whether ||change of the mean weights since the stage before|| < tol ||mean weights||."""
        StageMemory.of(state).close_compact_copy(state)
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
        if state.numbers["stage"] and self.schedule.left(state.numbers) <= 0:
            raise Damage("its number into is not within a stage")

    def finish(self, state: State) -> None:
        StageMemory.of(state).save(state)

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        put_back(state)
        out, by_norm = Scores.zeros(rows.n_rows), self.params.gravity_by == "norm"
        g0, (shared, weights, counts) = state.numbers["base_gravity"], state.tables
        path_weights.add_scores(rows.csr, shared, weights, counts, g0, by_norm, out.score)
        intercept = state.arrays["intercept"].mean()
        return Scores(out.score / self.params.paths + intercept, out.variance)

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        put_back(state)
        w, by_norm = np.zeros(len(slots)), self.params.gravity_by == "norm"
        g0, (shared, weights, counts) = state.numbers["base_gravity"], state.tables
        path_weights.add_weights(slots, shared, weights, counts, g0, by_norm, w)
        intercept = float(state.arrays["intercept"].mean())
        return Coefficients(w / self.params.paths, intercept=intercept)


ALGORITHMS = {"stsgd": Stsgd}
