"""Stabilized truncated stochastic gradient descent (Ma 2017, Algorithm 3.4), on a stream.

M paths learn side by side. In the first pass each learns its own random share of the rows as they
come; in later passes all rows, each path in an order of its own. After every burst of K rows the
weights that moved are pulled to zero with a gravity that a share beta of the moves in the last
stage would not have survived; after every stage of n_K bursts, features that were kept in too few
of the bursts that informed them leave for good, and beta falls with the features that are left.
The model is the mean of the paths. A burst that is under way counts, when weights are read, as
ended; so reading does not depend on where the data happened to end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log, log1p
from typing import Any, NamedTuple

import numpy as np

from cwtool.algorithms import columns
from cwtool.algorithms.base import Algorithm, Scores
from cwtool.algorithms.sgd import LOSSES
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.parallel import together
from cwtool.params import AUTO, param
from cwtool.state import DIRECT, Features, State
from cwtool_ext import shuffle, stages

SHARED = ("damp", "gone", "bursts", "kept", "nnz", "mean", "M2", "before")
PATH = ("weight", "start", "count", "less")
GONE, BEFORE = SHARED.index("gone"), SHARED.index("before")
LEAST_BURST = {True: 1000, False: 20}  # in the first pass, when it is not known how many rows
# will come and a feature that leaves is lost for all of them; and in later ones
UNBALANCED = 0.1  # share of the smaller class at which an intercept pays
BIAS = 0.1  # of a row's squared norm: how the constant of the intercept compares with it
REFIT = 2  # times the rows, and the scale of the columns is fitted again
CALM = 3  # stages in a row that hardly changed the mean
ALONE = 1 << 16  # entries below which threads would only cost


class Prepared(NamedTuple):
    """Rows in CSR form, the learning rate when each was met, and y."""

    starts: Longs
    slots: Ints
    x: Floats
    rates: Floats
    y: Floats


Pool = tuple[Ints, Floats, Any]  # slot, |change| / q, kept or not; one a path, burst and feature


@dataclass(frozen=True)
class StsgdParams:
    loss: str = param("hinge", "what a margin costs", choices=tuple(LOSSES))
    paths: int = param(8, "learners whose mean is the model", low=1, high=64)
    share: float = param(0.5, "of the rows that a path learns in the first pass", above=0, high=1)
    gravity: str = param(
        "norm",
        "pull of a weight after a burst: by the root of its squared inputs, or (thesis) by the "
        "number of rows that informed it, which favours rare features",
        choices=("norm", "count"),
    )
    eta: float | str = param(
        AUTO, "learning rate; auto = 1 / mean squared norm of the scaled rows", kind=float,
        above=0, auto=True,
    )  # fmt: skip
    burst: int | str = param(
        AUTO, "rows of a burst; auto = a tenth of the rows, at least 20", kind=int, low=1,
        auto=True,
    )  # fmt: skip
    bursts: int = param(5, "bursts of a stage", low=1)
    rejection: float = param(0.7, "share of moves that gravity rejects at first", low=0, high=1)
    annealing: float = param(-1.0, "how fast that falls with the features left; < 0 = slower")
    stability: float = param(0.6, "share of bursts in which a feature must be kept", low=0, high=1)
    least: int = param(0, "bursts that must have informed a feature before it is judged", low=0)
    growth: float | str = param(
        AUTO, "alpha of the burst schedule K log(1 / (alpha d)), d the share of features left; "
        "auto = none", kind=float, above=0, high=1, auto=True,
    )  # fmt: skip
    scale: str = param(
        "floor",
        "columns are divided by their standard deviation, by no less than a typical one, or not",
        choices=("none", "std", "floor"),
    )
    informed_by: str = param(
        "rows", "what informs a feature: every row it is in, or those with a gradient",
        choices=("rows", "gradients"),
    )  # fmt: skip
    pull_on: str = param(
        "change", "what gravity is measured by: the change of weights in a burst, or weights",
        choices=("change", "weight"),
    )  # fmt: skip
    intercept: str = param(
        AUTO, "auto = on when at most a tenth of the rows are of one class",
        choices=(AUTO, "on", "off"),
    )  # fmt: skip
    tol: float = param(0.0, "stop when 3 stages in a row change the mean by less", low=0)


def rejection_rate(d: float, beta0: float, gamma: float) -> float:
    """phi of (3.14) in the share d of features left: beta0 at d = 1, 0 at d = 0."""
    if gamma >= 0:
        return beta0 * (exp(-gamma * (1 - d)) - (1 - d) * exp(-gamma))
    return beta0 * log1p(-gamma * d) / log1p(-gamma)


def burst_size(size: int, alpha: float | str, d: float) -> int:
    """K_s = max(K, ceil(K log(1 / (alpha d))))."""
    return size if alpha == AUTO else max(size, ceil(size * log(1 / (float(alpha) * d))))


def base_gravity(values: Floats, beta: float) -> float:
    """The l-th smallest, l = floor(beta D); 0 if l = 0."""
    rank = int(beta * len(values))
    return float(np.partition(values, rank - 1)[rank - 1]) if rank else 0.0


class Stsgd(Algorithm):
    name = "stsgd"
    summary = "stabilized truncated stochastic gradient descent"
    Params = StsgdParams
    columns = SHARED
    prior = AUTO

    def new_state(self) -> State:
        M = self.params.paths
        paths = [tuple(f"{name}.{m}" for name in PATH) for m in range(M)]
        numbers: dict[str, int | float] = {
            "visits": 0, "rows": 0, "positive": 0,  # visited; met, of them of the positive class
            "seen": 0.0, "norms": 0.0,  # rows in the column statistics, sum of their ||s x||^2
            "stage": 0, "burst": 0, "into": 0, "base_gravity": 0.0, "fitted": 0,
            "left_rows": 0, "left_norms": 0.0,  # of this stage, over the features left
            "bias": 0.0, "calm": 0, "met": 0, "gone": 0,  # features
        }  # fmt: skip
        return State(Features(SHARED, DIRECT, *paths), numbers, arrays={"intercept": np.zeros(M)})

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        learned = np.empty((self.params.paths, len(order)), dtype=np.uint8)
        for m, mine in enumerate(learned):
            seeds = np.array([m], dtype=np.uint64)
            shuffle.choose(seeds, int(state.numbers["visits"]), self.params.share, mine)
        return self._learn(block, state, [order] * len(learned), learned, fresh=True)

    def relearn(self, block: Block, state: State, order: Longs) -> Scores:
        if state.numbers["stage"] == 1:  # nothing was judged yet: begin anew, with all rows known
            for table in state.features.tables[1:]:
                table[state.features.ids_and_slots()[1], :3] = 0
            state.scratch.clear()
            state.arrays = {"intercept": np.zeros(self.params.paths)}
            state.numbers["stage"] = 0
        orders = []
        for m in range(self.params.paths):
            mine = np.empty(len(order), dtype=np.int64)
            shuffle.permute(np.array([m, state.numbers["visits"]], dtype=np.uint64), mine)
            orders.append(order[mine])
        learned = np.ones((len(orders), len(order)), dtype=np.uint8)
        return self._learn(block, state, orders, learned, fresh=False)

    def _learn(
        self, block: Block, state: State, orders: list[Longs], learned: Any, *, fresh: bool
    ) -> Scores:
        out, numbers, n = Scores.zeros(block.n_rows), state.numbers, len(orders[0])
        if numbers["stage"] == 0:
            self._begin(state, np.empty(0), fresh)
        rows = orders[0] if fresh else block.order
        score = np.zeros((len(orders), len(rows)))
        prepared = None if fresh else self._prepare(block, state, rows, fresh)
        done = 0
        while done < n:
            if numbers["calm"] >= CALM:
                return self.scores(block, state, out.variance)
            self._fit(state, fresh)
            some = slice(done, min(n, done + self._until(numbers, fresh)))
            size = some.stop - done
            if prepared is None:
                part = self._prepare(block, state, rows[some], fresh)
                visits = [np.arange(size)] * len(orders)
                self._walk(state, part, visits, learned[:, some], 0.0, score[:, some])
                numbers["rows"] += size
                numbers["positive"] += int(np.count_nonzero(part.y > 0))
            else:
                eta = numbers["seen"] / numbers["norms"] if numbers["norms"] else 0.0
                visits = [order[some] for order in orders]
                self._walk(state, prepared, visits, learned[:, some], eta, score)
            numbers["into"] += size
            numbers["visits"] += size
            done = some.stop
            if numbers["into"] == numbers["burst"] * self.params.bursts:
                self._end(state, fresh)
        with np.errstate(invalid="ignore"):  # rows near the end of the double range
            out.score[rows] = score.mean(axis=0)
        return out

    def _until(self, numbers: dict[str, int | float], fresh: bool) -> int:
        """Rows to the end of the stage, or to that of the burst after which columns are fitted."""
        burst = int(numbers["burst"])
        stage: int = burst * self.params.bursts - int(numbers["into"])
        if not fresh or self.params.scale == "none":
            return stage
        first = burst - int(numbers["into"]) % burst
        more = ceil((REFIT * numbers["fitted"] - numbers["rows"] - first) / burst)
        return min(stage, first + burst * max(0, more))

    def _fit(self, state: State, fresh: bool) -> None:
        """The scale of the columns, between two bursts, when there are enough new rows."""
        numbers = state.numbers
        due = numbers["rows"] >= (REFIT if fresh else 1) * numbers["fitted"] + 1
        if due and self.params.scale != "none" and numbers["into"] % numbers["burst"] == 0:
            columns.fit(state, self.params.scale == "floor")
            numbers["fitted"] = numbers["rows"]

    def _prepare(self, block: Block, state: State, rows: Longs, fresh: bool) -> Prepared:
        """These rows without the features that are gone."""
        numbers, n = state.numbers, len(rows)
        nnz = int((block.indptr[rows + 1] - block.indptr[rows]).sum())
        starts, slots = np.empty(n + 1, dtype=np.int64), np.empty(nnz, dtype=np.int32)
        x, rates = np.empty(nnz), np.empty(n)
        seen = np.array([numbers[name] for name in ("seen", "norms", "left_norms")])
        nnz, met = stages.prepare(
            block.indptr, block.indices, block.values, rows, state.features.table, block.scale,
            fresh, seen, starts, slots, x, rates,
        )  # fmt: skip
        numbers["seen"], numbers["norms"], numbers["left_norms"] = seen.tolist()
        numbers["met"] += met
        numbers["left_rows"] += n
        return Prepared(starts, slots[:nnz], x[:nnz], rates, block.y[rows])

    def _walk(
        self, state: State, rows: Prepared, visits: list[Longs], learned: Any, rate: float,
        score: Floats,
    ) -> None:  # fmt: skip
        """Visits within one stage, by all paths, at this rate or at those of the rows."""
        numbers, p = state.numbers, self.params
        how = stages.Walk(
            LOSSES[p.loss], p.gravity == "norm", p.pull_on == "weight",
            p.informed_by == "gradients", numbers["bias"],
        )  # fmt: skip
        eta = rate if p.eta == AUTO else p.eta
        burst, into = int(numbers["burst"]), int(numbers["into"]) % int(numbers["burst"])
        pool, touched = self._scratch(state)

        def path(m: int) -> tuple[Ints, Pool]:
            before, order = touched[m], visits[m]
            room = len(before) + int((rows.starts[order + 1] - rows.starts[order]).sum())
            now, slot = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
            now[: len(before)] = before
            value, kept = np.empty(room), np.empty(room, dtype=np.uint8)
            count, out = stages.walk(
                *rows, order, learned[m], state.features.tables[1 + m], how, eta,
                numbers["base_gravity"], burst, into, state.arrays["intercept"][m : m + 1],
                now, len(before), slot, value, kept, score[m],
            )  # fmt: skip
            return now[:count].copy(), (slot[:out].copy(), value[:out].copy(), kept[:out].copy())

        jobs = self.jobs if len(rows.x) * p.paths > ALONE else 1
        for m, (now, emitted) in enumerate(together(path, range(p.paths), jobs)):
            touched[m] = now
            pool.append(emitted)

    def _end(self, state: State, fresh: bool) -> None:
        """Of a stage: purge, and begin the next."""
        features, numbers, p = state.features, state.numbers, self.params
        pool, _ = self._scratch(state)
        slots, values, kept = (np.concatenate(part) for part in zip(*pool, strict=True))
        pool.clear()
        spare = max(0, int(numbers["met"] - numbers["gone"]) - 1)
        left = stages.purge(slots, kept, features.table, p.stability, max(p.least, 1), spare)
        numbers["gone"] += left
        gone = features.table[slots, GONE] != 0
        if left:
            for table in features.tables[1:]:
                table[slots[gone]] = (0, 0, 0, 1)
        self._begin(state, values[~gone], fresh)

    def _begin(self, state: State, values: Floats, fresh: bool) -> None:
        """A stage, after one in which weights moved by these amounts."""
        numbers, p = state.numbers, self.params
        d = 1 - numbers["gone"] / max(numbers["met"], 1)
        beta = rejection_rate(d, p.rejection, p.annealing)
        numbers["base_gravity"] = base_gravity(values, beta)
        numbers["burst"] = self._burst(state, d, fresh)
        numbers["stage"] += 1
        rare = min(numbers["positive"], numbers["rows"] - numbers["positive"])
        on = p.intercept == "on" or (
            p.intercept == AUTO and 0 < rare <= UNBALANCED * numbers["rows"]
        )
        norm = numbers["left_norms"] / numbers["left_rows"] if numbers["left_rows"] else 1.0
        numbers["bias"] = BIAS * norm if on else 0.0
        if not on:
            state.arrays["intercept"][:] = 0
        numbers["into"] = numbers["left_rows"] = 0
        numbers["left_norms"] = 0.0
        if p.tol > 0 and numbers["stage"] > 1:
            self._compare(state)

    def _burst(self, state: State, d: float, fresh: bool) -> int:
        size = self.params.burst
        if size == AUTO:
            size = max(LEAST_BURST[fresh], int(state.numbers["rows"]) // 10)
        return burst_size(int(size), self.params.growth, d)

    def _compare(self, state: State) -> None:
        """||change of the mean|| against ||mean||, since the stage before."""
        _, slots = state.features.ids_and_slots()
        w, _ = self.weights(state, slots)
        before = state.features.table[slots, BEFORE]
        state.features.table[slots, BEFORE] = w
        calm = np.linalg.norm(w - before) < self.params.tol * np.linalg.norm(w)
        state.numbers["calm"] = state.numbers["calm"] + 1 if calm else 0

    def _scratch(self, state: State) -> tuple[list[Pool], list[Ints]]:
        """What this stage emitted so far, and what each path has touched in this burst."""
        scratch, features = state.scratch, state.features
        if "pool" not in scratch:
            scratch["pool"] = []
            if "pool.id" in state.arrays:
                ids, value, kept = (state.arrays[f"pool.{k}"] for k in ("id", "value", "kept"))
                scratch["pool"].append((features.slots_of(ids), value, kept))
            _, slots = features.ids_and_slots()
            scratch["touched"] = [slots[t[slots, 2] > 0] for t in features.tables[1:]]
        return scratch["pool"], scratch["touched"]

    def settle(self, state: State) -> None:
        pool, _ = self._scratch(state)
        empty = (np.empty(0, dtype=np.int32), np.empty(0), np.empty(0, dtype=np.uint8))
        slots, value, kept = (np.concatenate(part) for part in zip(empty, *pool, strict=True))
        ids = state.features.ids_of(slots)
        by_id = np.lexsort((kept, value, ids))
        for name, part in (("id", ids), ("value", value), ("kept", kept)):
            state.arrays[f"pool.{name}"] = part[by_id]

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out, M = Scores.zeros(block.n_rows), self.params.paths
        for table in state.features.tables[1:]:
            stages.add_scores(
                block.indptr, block.indices, block.values, table,
                state.numbers["base_gravity"], self.params.gravity == "norm", block.scale,
                out.score,
            )  # fmt: skip
        return Scores(out.score / M + state.arrays["intercept"].mean(), out.variance)

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        w, g0 = np.zeros(len(slots)), state.numbers["base_gravity"]
        for table in state.features.tables[1:]:
            stages.add_weights(table[slots], g0, self.params.gravity == "norm", w)
        return w / self.params.paths, None


ALGORITHMS = {"stsgd": Stsgd}
