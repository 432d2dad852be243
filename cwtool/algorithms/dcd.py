"""Linear SVM by dual coordinate descent with shrinking (Hsieh et al. 2008); for the squared hinge
over few features it ends with Newton steps, if it takes many passes.

min 1/2 ||w||^2 + C/q sum h xi^q over the rows of a batch, h their weights. The dual variables
of earlier batches stay as they are, so that w = sum of all a_i y_i x_i goes on from batch to batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cwtool.algorithms.batch import BATCHES, EARLY, BatchParams, Bounds, LinearBatchLearner
from cwtool.algorithms.cocoa import Momentum, Totals, descend, lower, primal
from cwtool.algorithms.dealt import Shards
from cwtool.algorithms.inverted import Columns
from cwtool.algorithms.newton import Newton, passes_for
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.order import by_fours
from cwtool.parallel import together
from cwtool.params import param
from cwtool.run import Run
from cwtool.state import Column, Layout, State
from cwtool_ext import dual

ROUNDS = 300  # of shards, at most
PASSES = 5  # of a shard over its rows in a round
NONE: Ints = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class DcdParams(BatchParams):
    tol: float = param(
        0.1,
        "Stop when the largest and the smallest projected gradient of the dual differ by no more "
        "than this. Smaller values solve each batch more exactly and take longer.",
        above=0,
    )
    max_batch_passes: int = param(
        1000,
        "Largest number of passes over the rows of a batch, if `tol` is not reached before.",
        low=1,
        formerly=("max_epochs",),
    )


class DCD(LinearBatchLearner):
    name = "dcd"
    summary = "linear SVM by dual coordinate descent"
    Params = DcdParams
    takes_weights = True
    layout = Layout(tables=((Column("mean"),),), numbers=(BATCHES,))

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, v: Floats, run: Run
    ) -> None:
        assert rows.csr  # made here, before several threads ask for it

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
        """Passes over the active rows, each in a new random order, until a pass over all rows
        finds their gradients close enough together. Returns the number of passes, and whether it
        was so."""
        p, n = self.params, rows.n_rows
        bounds: Bounds = p.bounds(rows)
        batch, mu = int(state.numbers["batches"]), state.table[:, 0]
        a, idle = np.zeros(n), np.zeros(n, dtype=np.uint8)
        active, above, below = rows.order, math.inf, -math.inf
        visits, enough = 0, self._enough(rows, state.index.count)
        used = NONE if math.isinf(enough) else state.index.ids_and_slots()[1]
        before = mu[used]
        for pass_ in range(1, p.max_batch_passes + 1):
            order = active[by_fours(len(active), seed, batch, pass_)]
            most, least = dual.shrinking_pass(
                rows.csr, y, order, v, *bounds, above, below, mu, a, idle
            )
            if most - least <= p.tol:
                if math.isinf(above) and len(active) == n:
                    return pass_, True
                # solved over the active rows: were the others rightly left out?
                active, above, below = rows.order, math.inf, -math.inf
                idle[:] = 0
                continue
            visits += len(active)
            if visits >= enough:
                enough = math.inf
                columns = Columns(rows, state.index, NONE)
                left = p.max_batch_passes - pass_
                start = np.zeros(len(mu))  # of which only the memory of features seen is used
                start[used] = before
                if steps := self._newton(columns, y, bounds.ridge, start, mu, left):
                    return pass_ + steps, True
            active = active[idle[active] == 0]
            above = most if most > 0 else math.inf
            below = least if least < 0 else -math.inf
        return p.max_batch_passes, False

    def _enough(self, rows: SlotRows, features: int) -> float:
        """After how many visits of rows Newton steps are tried: when descent has cost as much as
        they would. The hinge has none."""
        if self.params.loss == "hinge":
            return math.inf
        return rows.n_rows * passes_for(np.diff(rows.indptr), features)

    def _newton(
        self, columns: Columns, y: Floats, ridge: Floats, before: Floats, mu: Floats, most: int
    ) -> int | None:
        """Newton steps from mu, until the gradients of the dual at a = c xi are as close together
        as `tol` says. Returns their number, or None if that was not reached; then mu is as it
        was."""
        newton = Newton(columns.signed(y), 1 / ridge, columns.n_rows)
        w0, w = before[columns.slots], mu[columns.slots]
        m = newton.z.products(w)
        for step in range(1, most + 1):
            xi, losses = newton.losses(m)
            g = w - w0 + losses
            # with a = c xi the mean of the dual is w - g
            slope = m - 1 + xi - newton.z.products(g)
            slope = np.where(xi > 0, slope, np.minimum(slope, 0))
            if slope.max() - slope.min() <= self.params.tol:
                mu[columns.slots] = w
                return step
            if not (found := newton.ridge_step((w, m), w0, g)):
                return None
            w, m = found
        return None

    def learn_dealt(
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
                f"{rounds} `rounds` ended the descent at a relative duality gap of {gap:.2g}, "
                f"before `gap={shards.gap:g}` was reached"
            )
        run.note(f"{done} rounds, relative duality gap {gap:.2g}")


ALGORITHMS = {"dcd": DCD}
