"""Linear SVM by dual coordinate descent (Hsieh et al. 2008); for the squared hinge
over few features it ends with Newton steps, if it takes many passes.

min 1/2 ||w||^2 + C/q sum h xi^q over the rows of a batch, h their weights. The dual variables
of earlier batches stay as they are, so that w = sum of all a_i y_i x_i goes on from batch to batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cwtool.algorithms.batch.learner import (
    BATCHES,
    EARLY,
    BatchParams,
    Bounds,
    LinearBatchLearner,
    loss_param,
    squared_norms,
)
from cwtool.algorithms.batch.newton import Newton, passes_for
from cwtool.algorithms.batch.rows_by_column import Columns
from cwtool.algorithms.shards.cocoa import Momentum, Totals, descend, lower, primal
from cwtool.algorithms.shards.steps import Shards
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import Column, Layout, State
from cwtool.threads import together
from cwtool_ext.dual_descent import DualDescent

ROUNDS = 300  # of shards, at most
PASSES = 5  # of a shard over its rows in a round
NONE: Ints = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class DcdParams(BatchParams):
    # the hinge loss of rare or overlapping classes is often least with all weights near 0
    loss: str = loss_param("squared-hinge")
    tol: float = param(
        0.1,
        "Relative duality gap in percent at which a batch is solved: its objective is then at "
        "most this percentage above the optimum. Smaller values are more exact and slower.",
        above=0,
    )
    max_batch_passes: int = param(
        1000,
        "Largest number of passes over the rows of a batch, if `tol` is not reached before.",
        low=1,
        formerly=("max_epochs",),
        unasked=10_000,
    )


class DCD(LinearBatchLearner):
    name = "dcd"
    summary = "linear SVM by dual coordinate descent"
    Params = DcdParams
    takes_weights = True
    layout = Layout(tables=((Column("mean"),),), numbers=(BATCHES,))

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, run: Run
    ) -> None:
        v = squared_norms(rows)

        def one(k: int) -> tuple[int, bool]:
            return self._descend(states[k], rows, rows.signs(classes[k]), v, run.seed)

        for passes, ended in together(one, range(len(states)), run.jobs):
            if not ended:
                run.warn(EARLY)
            number = int(states[0].numbers["batches"]) + 1
            run.note(f"batch {number}: {rows.n_rows:,} rows, {passes} passes")

    def _descend(
        self, state: State, rows: SlotRows, y: Floats, v: Floats, seed: int
    ) -> tuple[int, bool]:
        """Descend until the duality gap is small enough; if that takes many visits of rows and
        Newton steps cost less, these end it. Returns the number of passes, and whether the gap is
        small enough."""
        p, n, batch = self.params, rows.n_rows, int(state.numbers["batches"])
        bounds: Bounds = p.bounds(rows)
        mu, share = state.table[:, 0], p.tol / 100
        most, enough = float(n * p.max_batch_passes), self._enough(rows, state.index.count)
        before = mu[: rows.indices.max(initial=-1) + 1].copy() if enough < most else mu[:0]
        seeds = np.array([seed, batch], dtype=np.uint64)
        descent = DualDescent(rows.csr, y, v, *bounds, mu, seeds)
        if (ended := descent.run(share, min(enough, most))) or enough >= most:
            return math.ceil(descent.visits / n), ended
        columns = Columns(rows, state.index, NONE)
        left = p.max_batch_passes - math.ceil(descent.visits / n)
        steps = self._newton(columns, y, bounds.ridge, before, mu, left)
        ended = bool(steps) or descent.run(share, most)
        return math.ceil(descent.visits / n) + steps, ended

    def _enough(self, rows: SlotRows, features: int) -> float:
        """After how many visits of rows Newton steps are tried: when descent has cost as much as
        they would. The hinge has none."""
        if self.params.loss == "hinge":
            return math.inf
        return rows.n_rows * passes_for(np.diff(rows.indptr), features)

    def _newton(
        self,
        columns: Columns,
        y: Floats,
        ridge: Floats,
        before: Floats,
        mu: Floats,
        most: int,
    ) -> int:
        """Newton steps from mu, until the duality gap is small enough. Returns their number, or 0
        if that was not reached; then mu is as it was."""
        newton = Newton(columns.signed(y), 1 / ridge, columns.n_rows)
        w0, w = before[columns.slots], mu[columns.slots]
        m = newton.z.products(w)
        for step in range(1, most + 1):
            xi, losses = newton.losses(m)
            g = w - w0 + losses
            objective = (w - w0) @ (w - w0) / 2 + newton.weight @ np.square(xi) / 2
            # the dual at a = c xi lies below by |g|^2 / 2
            if g @ g / 2 <= self.params.tol / 100 * objective:
                mu[columns.slots] = w
                return step
            if not (found := newton.ridge_step((w, m), w0, g)):
                return 0
            w, m = found
        return 0

    def learn_shards(
        self, states: Sequence[State], classes: Sequence[int], shards: Shards, run: Run
    ) -> None:
        """Rounds of the shards until the duality gap of all classes is small enough."""
        total, q = Totals.zero(shards, len(states)), 1 if self.params.loss == "hinge" else 2
        w0 = np.array([state.table[total.slots, 0] for state in states])
        own, gap, rounds = slice(len(states) > 1, None), math.inf, shards.rounds or ROUNDS
        momentum = Momentum(len(states))
        for done in range(rounds + 1):
            common = {
                "classes": np.array(classes), "passes": np.array([PASSES * (done < rounds)]),
                "momentum": momentum.length,
            }  # fmt: skip
            mu = w0 + total.u
            parts = shards.ask(descend, [{"mu": mu[:, at]} for at in total.places], common)
            objective = primal(total.u, parts, q)
            gaps = (objective - momentum.dual) / np.maximum(objective, 1e-300)
            gap = float(gaps[own].max())
            if gap <= shards.gap or done == rounds:
                break
            total.add(parts)
            momentum.heed(lower(w0, total.u, parts))
        for state, w in zip(states, w0 + total.u, strict=True):
            state.table[total.slots, 0] = w
        if gap > shards.gap:
            run.warn(
                f"the descent ended after {rounds} `rounds` at a relative duality gap of "
                f"{gap:.2g}, before `gap={shards.gap:g}` was reached"
            )
        run.note(f"{done} rounds, relative duality gap {gap:.2g}")


ALGORITHMS = {"dcd": DCD}
