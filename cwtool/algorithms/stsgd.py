"""Stabilized truncated stochastic gradient descent (Ma 2017, Algorithm 3.4), on a stream.

M paths learn side by side. In the first pass each learns its own random share of the rows as they
come; in later passes all rows, each path in an order of its own. After every burst of K rows the
weights that moved are pulled to zero with a gravity that a share beta of the moves in the last
stage would not have survived; after every stage of n_K bursts, features that were kept in too few
of the bursts that informed them leave for good, and beta falls with the features that are left.
The model is the mean of the paths. A burst that is under way counts, when weights are read, as
ended; so reading does not depend on where the data happened to end.

Defaults: of bursts of a fifth, tenth or twentieth of the rows, rejection .6, .7, .8 and stability
.5, .6, .7, those with the fewest features (geometric mean over the sets) among all whose mean error
is within half a point of the best, by cross-validation in 6 passes within the training rows of a9a,
gisette_valid, mnist_6v7, reuters_earn, sentiment_books, sentiment_electronics, spambase,
uci_ionosphere, url_mini and zip_4v9. What is tested elsewhere took no part. The other parameters
were not searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from cwtool.algorithms import columns
from cwtool.algorithms.base import Algorithm, Scores
from cwtool.algorithms.gravity import base_gravity, burst_size, rejection_rate
from cwtool.algorithms.sgd import LOSSES
from cwtool.algorithms.shelf import Shelf, joined
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.parallel import together
from cwtool.params import AUTO, param
from cwtool.state import DIRECT, Features, State
from cwtool_ext import shuffle, stages

SHARED = ("damp", "gone", "bursts", "kept", "nnz", "mean", "M2", "before")
PATH = ("weight", "count")
GONE, BEFORE = SHARED.index("gone"), SHARED.index("before")
LEAST_BURST = {True: 1000, False: 20}  # in the first pass, when it is not known how many rows
# will come and a feature that leaves is lost for all of them; and in later ones
UNBALANCED = 0.1  # share of the smaller class at which an intercept pays
BIAS = 0.1  # of a row's squared norm: how the constant of the intercept compares with it
REFIT = 2  # times the rows, and the scale of the columns is fitted again
CALM = 3  # stages in a row that hardly changed the mean
ALONE = 1 << 16  # entries below which threads would only cost
ROOM = 1 << 20  # features on the shelf with which it may take in another block


class Rows(NamedTuple):
    """In CSR form, scaled, without the features that are gone; the learning rate of each, and y."""

    starts: Longs
    slots: Ints
    z: Floats
    rates: Floats
    y: Floats


# slots, or numbers while there is a shelf:
Pool = tuple[Ints, Floats, Any]  # with |change| / q, kept or not; one a path, burst and feature
Touched = tuple[Ints, Floats]  # in this burst: with the weight before


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
    stability: float = param(0.7, "share of bursts in which a feature must be kept", low=0, high=1)
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
            "norm": 1.0,  # the mean of these, of the last stage that has one
            "bias": 0.0, "calm": 0, "met": 0, "gone": 0,  # features
        }  # fmt: skip
        return State(Features(SHARED, DIRECT, *paths), numbers, arrays={"intercept": np.zeros(M)})

    def learn(self, block: Block, state: State, order: Longs) -> Scores:
        numbers, n, M = state.numbers, len(order), self.params.paths
        score, learned = np.zeros((M, n)), np.empty((M, n), dtype=np.uint8)
        for m, mine in enumerate(learned):
            seeds = np.array([m], dtype=np.uint64)
            shuffle.choose(seeds, int(numbers["visits"]), self.params.share, mine)
        self._close(state)
        if numbers["stage"] == 0:
            self._begin(state, np.empty(0), fresh=True)
        done = 0
        while done < n:
            if numbers["calm"] >= CALM:
                return self.scores(block, state, np.zeros(block.n_rows))
            if self._due(numbers, REFIT):
                self._fit(state)
            some = slice(done, min(n, done + self._until(numbers)))
            self._meet(block, state, order[some], learned[:, some], score[:, some])
            done = some.stop
            if self._ended(numbers):
                self._end(state, fresh=True)
        return self._mean(score, order, block.n_rows)

    def relearn(self, block: Block, state: State, order: Longs) -> Scores:
        if state.numbers["stage"] == 1:  # nothing was judged yet: begin anew, with all rows known
            for table in state.features.tables[1:]:
                table[state.features.ids_and_slots()[1]] = 0
            state.scratch.clear()
            state.arrays = {"intercept": np.zeros(self.params.paths)}
            state.numbers["stage"] = 0

        def mixed(m: int) -> Longs:
            mine = np.empty(len(order), dtype=np.int64)
            shuffle.permute(np.array([m, state.numbers["visits"]], dtype=np.uint64), mine)
            return order[mine]

        orders = together(mixed, range(self.params.paths), self._jobs(block.nnz))
        return self.revisit(block, state, orders)

    def revisit(self, block: Block, state: State, orders: list[Longs]) -> Scores:
        """Rows that were met before, by each path in its order."""
        numbers, n, rows = state.numbers, len(orders[0]), None
        score, learned = np.zeros((len(orders), block.n_rows)), np.ones(n, dtype=np.uint8)
        if numbers["stage"] == 0:
            self._begin(state, np.empty(0), fresh=False)
        done = 0
        while done < n and numbers["calm"] < CALM:
            if self._due(numbers, 1):
                self._fit(state)
            if rows is None or "shelf" not in state.scratch:
                rows = self._again(block, state)
            some = slice(done, min(n, done + self._left(numbers)))
            visits = [order[some] for order in orders]
            self._walk(state, rows, visits, [learned[some]] * len(orders), score)
            done = some.stop
            if self._ended(numbers):
                self._end(state, fresh=False)
        if numbers["calm"] >= CALM:
            return self.scores(block, state, np.zeros(block.n_rows))
        return self._mean(score, block.order, block.n_rows)

    def _mean(self, score: Floats, rows: Longs, n: int) -> Scores:
        out = Scores.zeros(n)
        with np.errstate(invalid="ignore"):  # rows near the end of the double range
            out.score[rows] = score.mean(axis=0)
        return out

    def _left(self, numbers: dict[str, int | float]) -> int:
        """Rows to the end of the stage."""
        bursts: int = self.params.bursts
        return int(numbers["burst"]) * bursts - int(numbers["into"])

    def _ended(self, numbers: dict[str, int | float]) -> bool:
        return self._left(numbers) == 0

    def _until(self, numbers: dict[str, int | float]) -> int:
        """Rows to the end of the stage, or to that of the burst after which columns are fitted."""
        burst, stage = int(numbers["burst"]), self._left(numbers)
        if self.params.scale == "none":
            return stage
        first = burst - int(numbers["into"]) % burst
        more = ceil((REFIT * numbers["fitted"] - numbers["rows"] - first) / burst)
        return min(stage, first + burst * max(0, more))

    def _due(self, numbers: dict[str, int | float], factor: int) -> bool:
        """Are there enough new rows to fit the scale of the columns, and no burst under way?"""
        enough = numbers["rows"] >= factor * numbers["fitted"] + 1
        between = numbers["into"] % numbers["burst"] == 0
        return self.params.scale != "none" and enough and between

    def _fit(self, state: State) -> None:
        self._close(state)
        jobs = self._jobs(state.features.count)
        columns.fit(state, self.params.scale == "floor", jobs)
        state.numbers["fitted"] = state.numbers["rows"]

    def _meet(self, block: Block, state: State, order: Longs, learned: Any, score: Floats) -> None:
        """Fresh rows within one stage and between two fits of the scale: the paths walk them, and
        they enter the statistics of the columns."""
        numbers, n, shared = state.numbers, len(order), state.features.table
        data = block.indptr, block.indices, block.values

        def prepared(some: Longs) -> tuple[tuple[Longs, Ints, Floats], Floats]:
            nnz = int((block.indptr[some + 1] - block.indptr[some]).sum())
            starts, slots = np.empty(len(some) + 1, dtype=np.int64), np.empty(nnz, dtype=np.int32)
            z, norms = np.empty(nnz), np.empty((len(some), 3))
            nnz = stages.prepare(*data, some, shared, block.scale, starts, slots, z, norms)
            return (starts, slots[:nnz], z[:nnz]), norms

        jobs = self._jobs(int(block.nnz * n / block.n_rows))
        parts = together(prepared, np.array_split(order, jobs), jobs)
        csr = joined([part for part, _ in parts], jobs)
        norms = np.concatenate([norms for _, norms in parts])
        names = ("seen", "norms", "left_norms")
        before = np.array([[numbers[name] for name in names]])
        sums = np.cumsum(np.concatenate([before, norms]), axis=0)  # row by row, as they come
        numbers.update(zip(names, sums[-1].tolist(), strict=True))
        rates = np.zeros(n)
        np.divide(sums[1:, 0], sums[1:, 1], out=rates, where=sums[1:, 1] > 0)
        if self.params.eta != AUTO:
            rates[:] = self.params.eta
        rows = Rows(*csr, rates, block.y[order])

        def count() -> None:
            numbers["met"] += stages.count(*data, order, shared, block.scale, norms)

        visits = [np.arange(n)] * self.params.paths
        self._walk(state, rows, visits, learned, score, beside=count)
        numbers["left_rows"] += n
        numbers["rows"] += n
        numbers["positive"] += int(np.count_nonzero(rows.y > 0))

    def _again(self, block: Block, state: State) -> Rows:
        """Rows that were met before, by the numbers of their features on the shelf."""
        numbers = state.numbers
        if "shelf" in state.scratch and len(state.scratch["shelf"].own) > ROOM:
            self._close(state)
        csr, square = self._open(state).rows(block, self._jobs(block.nnz))
        numbers["left_norms"] += square
        numbers["left_rows"] += block.n_rows
        eta = numbers["seen"] / numbers["norms"] if numbers["norms"] else 0.0
        rates = np.full(block.n_rows, eta if self.params.eta == AUTO else self.params.eta)
        return Rows(*csr, rates, block.y)

    def _open(self, state: State) -> Shelf:
        """The shelf; what is under way goes by its numbers."""
        scratch = state.scratch
        if "shelf" not in scratch:
            scratch["shelf"] = Shelf(state.features)
            self._rename(state, scratch["shelf"].numbers)
        shelf: Shelf = scratch["shelf"]
        return shelf

    def _put_back(self, state: State) -> None:
        """Before tables are read: what changed on the shelf."""
        if "shelf" in state.scratch:
            state.scratch["shelf"].put_back()

    def _close(self, state: State) -> None:
        if "shelf" in state.scratch:
            shelf = state.scratch.pop("shelf")
            shelf.put_back()
            self._rename(state, lambda numbers: shelf.own[numbers])

    def _rename(self, state: State, new: Callable[[Ints], Ints]) -> None:
        pool, touched = self._scratch(state)
        pool[:] = [(new(slots), values, kept) for slots, values, kept in pool]
        touched[:] = [(new(slots), began) for slots, began in touched]

    def _tables(self, state: State) -> list[Floats]:
        """Shared rows, and those of each path: of features on the shelf, or of all."""
        shelf: Shelf | None = state.scratch.get("shelf")
        return shelf.tables if shelf else state.features.tables

    def _jobs(self, entries: int) -> int:
        return self.jobs if entries * self.params.paths > ALONE else 1

    def _walk(
        self, state: State, rows: Rows, visits: list[Longs], learned: Any, score: Floats,
        beside: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """Visits within one stage, by all paths; and what else is to be done meanwhile."""
        numbers, p = state.numbers, self.params
        how = stages.Walk(
            LOSSES[p.loss], p.gravity == "norm", p.pull_on == "weight",
            p.informed_by == "gradients", numbers["bias"],
        )  # fmt: skip
        burst, into = int(numbers["burst"]), int(numbers["into"]) % int(numbers["burst"])
        tables, (pool, touched) = self._tables(state)[1:], self._scratch(state)
        lengths = np.diff(rows.starts)

        def path(m: int) -> tuple[Touched, Pool]:
            order, before = visits[m], len(touched[m][0])
            most = before + int(lengths[order].sum())
            room = min(most, len(tables[m]))
            now, began = np.empty(room, dtype=np.int32), np.empty(room)
            now[:before], began[:before] = touched[m]
            room = min(most, (into + len(order)) // burst * len(tables[m]))
            slot, value = np.empty(room, dtype=np.int32), np.empty(room)
            kept = np.empty(room, dtype=np.uint8)
            count, out = stages.walk(
                *rows, order, learned[m], tables[m], how, numbers["base_gravity"], burst, into,
                state.arrays["intercept"][m : m + 1], now, began, before, slot, value, kept,
                score[m],
            )  # fmt: skip
            touches = now[:count].copy(), began[:count].copy()
            return touches, (slot[:out].copy(), value[:out].copy(), kept[:out].copy())

        tasks: list[Callable[[], Any]] = [partial(path, m) for m in range(p.paths)]
        if beside is not None:  # takes longer than a path: first
            tasks.insert(0, beside)
        found = together(lambda task: task(), tasks, self._jobs(len(rows.z)))[-p.paths :]
        for m, (touches, emitted) in enumerate(found):
            touched[m] = touches
            if len(emitted[0]):
                pool.append(emitted)
        numbers["into"] += len(visits[0])
        numbers["visits"] += len(visits[0])

    def _end(self, state: State, fresh: bool) -> None:
        """Of a stage: purge, and begin the next."""
        numbers, p = state.numbers, self.params
        (pool, _), (shared, *paths) = self._scratch(state), self._tables(state)
        for slots, _, kept in pool:
            stages.tally(slots, kept, shared)
        leaving: list[Ints] = [np.empty(0, dtype=np.int32)]
        for slots, _, _ in pool:
            some = np.empty_like(slots)
            leaving.append(some[: stages.judge(slots, shared, p.stability, max(p.least, 1), some)])
        left = np.concatenate(leaving)
        if len(left) > max(0, int(numbers["met"] - numbers["gone"]) - 1):  # nobody would be left
            shared[left, GONE] = 0
            left = left[:0]
        numbers["gone"] += len(left)

        if "shelf" in state.scratch:
            state.scratch["shelf"].leave(left)
        for path in paths:
            path[left, 0] = 0

        def remaining(part: Pool) -> Floats:
            slots, values, _ = part
            return values[: stages.remaining(slots, values, shared)]

        jobs = self._jobs(sum(len(slots) for slots, _, _ in pool))
        values = np.concatenate([np.empty(0), *together(remaining, pool, jobs)])
        pool.clear()
        self._begin(state, values, fresh)

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
        if numbers["left_rows"]:  # none came where a stage ended amid rows that were met before
            numbers["norm"] = numbers["left_norms"] / numbers["left_rows"]
        numbers["bias"] = BIAS * numbers["norm"] if on else 0.0
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
        self._close(state)
        _, slots = state.features.ids_and_slots()
        w, _ = self.weights(state, slots)
        before = state.features.table[slots, BEFORE]
        state.features.table[slots, BEFORE] = w
        calm = np.linalg.norm(w - before) < self.params.tol * np.linalg.norm(w)
        state.numbers["calm"] = state.numbers["calm"] + 1 if calm else 0

    def _scratch(self, state: State) -> tuple[list[Pool], list[Touched]]:
        """What this stage emitted so far, and what each path has touched in this burst."""
        scratch, features, arrays = state.scratch, state.features, state.arrays
        if "pool" not in scratch:
            nothing = np.empty(0, dtype=np.int32), np.empty(0)
            scratch["pool"], scratch["touched"] = [], [nothing] * self.params.paths
            if "pool.id" in arrays:
                ids, value, kept = (arrays[f"pool.{k}"] for k in ("id", "value", "kept"))
                scratch["pool"].append((features.slots_of(ids), value, kept))
                slots = features.slots_of(arrays["touched.id"])
                cuts = np.cumsum(arrays["touched.count"])[:-1]
                parts = (np.split(a, cuts) for a in (slots, arrays["touched.began"]))
                scratch["touched"] = list(zip(*parts, strict=True))
        return scratch["pool"], scratch["touched"]

    def advice(self, state: State) -> str | None:
        numbers = state.numbers
        if numbers["stage"] > 1 or self.params.stability == 0:
            return None
        stage = int(numbers["burst"]) * self.params.bursts
        return (
            f"no feature was judged yet: that takes {stage:,} rows, and there were "
            f"{int(numbers['rows']):,}; on so few, give --passes 6"
        )

    def settle(self, state: State) -> None:
        self._close(state)
        pool, touched = self._scratch(state)
        features, arrays = state.features, state.arrays
        empty = (np.empty(0, dtype=np.int32), np.empty(0), np.empty(0, dtype=np.uint8))
        slots, value, kept = (np.concatenate(part) for part in zip(empty, *pool, strict=True))
        ids = features.ids_of(slots)
        by_id = np.lexsort((kept, value, ids))
        for name, part in (("id", ids), ("value", value), ("kept", kept)):
            arrays[f"pool.{name}"] = part[by_id]
        slots, began = (np.concatenate(part) for part in zip(*touched, strict=True))
        counts = [len(part[0]) for part in touched]
        ids = features.ids_of(slots)
        by_id = np.lexsort((ids, np.repeat(np.arange(len(counts)), counts)))
        arrays["touched.count"] = np.array(counts, dtype=np.int64)
        arrays["touched.id"], arrays["touched.began"] = ids[by_id], began[by_id]

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        self._put_back(state)
        out, M, features = Scores.zeros(block.n_rows), self.params.paths, state.features
        for table in features.tables[1:]:
            stages.add_scores(
                block.indptr, block.indices, block.values, features.table, table,
                state.numbers["base_gravity"], self.params.gravity == "norm", block.scale,
                out.score,
            )  # fmt: skip
        return Scores(out.score / M + state.arrays["intercept"].mean(), out.variance)

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        self._put_back(state)
        w, g0, features = np.zeros(len(slots)), state.numbers["base_gravity"], state.features
        for table in features.tables[1:]:
            stages.add_weights(slots, features.table, table, g0, self.params.gravity == "norm", w)
        return w / self.params.paths, None


ALGORITHMS = {"stsgd": Stsgd}
