"""How bcw learns a batch as in Algorithm 1 of its paper (Tan et al. 2016): from the states before
it to those after.

First P += c X'HX over all rows, with c = C / divisor and the row weights H; then one pass (or more)
of dual coordinate ascent on

    1/2 (mu - mu0)' P (mu - mu0) + C/q sum h xi^q

With the divisor 1, as printed, this is ridge regression wherever margins stay below 1; with a
larger divisor the hinge loss has more influence on mu than the precision has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cwtool.algorithms.batch import metric
from cwtool.algorithms.batch.dual_ascent import Ascended, Start
from cwtool.algorithms.batch.precision import ALL, Precision
from cwtool.algorithms.batch.row_space import NAMES
from cwtool.algorithms.shards import cocoa
from cwtool.algorithms.shards.steps import Shards
from cwtool.data.rows import Floats, SlotRows
from cwtool.run import Run
from cwtool.state import State
from cwtool_ext import dual

SHARED = (ALL, *NAMES)  # P does not depend on the classes


def learn(
    states: Sequence[State],
    classes: Sequence[int],
    rows: SlotRows,
    divisor: float,
    params: Any,
    run: Run,
) -> None:
    """Learn a batch with each of the states, to which the rows of one class are positive: all have
    one metric, and each its own ascent."""
    p, first = params, states[0]
    n, untrained = first.index.count, first.numbers["batches"] == 0
    precision = Precision.of(first, rows, n, run)
    inverse = precision.metric(rows, p.C / divisor, p.batch_passes, untrained)
    starts = [
        Start(rows.signs(class_), _start(state, inverse, p.carry))
        for state, class_ in zip(states, classes, strict=True)
    ]
    found = _ascend(rows, inverse, starts, p)
    for state, start, (mu, a, _) in zip(states, starts, found, strict=True):
        state.table[:n, 0] = mu
        dual.add_rows(rows.csr, a * start.y, state.table, 1)
        _close(state, first)
    passes = max(one.passes for one in found)
    run.note(
        f"batch of {rows.n_rows:,} rows, {n:,} features: {inverse.name} form, "
        f"precision divisor {divisor:g}, {passes} passes"
    )


def learn_shards(
    states: Sequence[State],
    classes: Sequence[int],
    shards: Shards,
    divisor: float,
    params: Any,
    run: Run,
) -> None:
    """Learn a batch whose rows lie in shards with each of the states, as `learn` does in memory."""
    p, n = params, states[0].index.count
    precision = Precision.of_pairs(states[0], n, run)
    assert precision.gram is not None
    cocoa.add_grams(precision.gram, shards)
    inverse = metric.Covariance(precision.gram, n, p.C / divisor, run.jobs)
    starts = np.array([_start(state, inverse, p.carry) for state in states])
    means, sums = cocoa.rounds_in_metric(inverse, starts, classes, p.batch_passes, shards)
    for state, mu, b in zip(states, means, sums, strict=True):
        state.table[:n, 0] = mu
        state.table[:n, 1] += b
        _close(state, states[0])
    run.note(f"{n:,} features: precision divisor {divisor:g}")


def _start(state: State, inverse: metric.Metric, carry: str) -> Floats:
    """The weights mu from which the ascent over the rows of a batch begins; `carry` names them."""
    n = inverse.n
    if carry == "dual":
        b = state.table[:n, 1]
        return inverse.solve(b) if b.any() else np.zeros(n)
    return state.table[:n, 0].copy() if carry == "printed" else np.zeros(n)


def _ascend(
    rows: SlotRows, inverse: metric.Metric, starts: list[Start], params: Any
) -> list[Ascended]:
    found = inverse.ascend(rows, starts, params.bounds(rows), params.batch_passes)
    if params.average and params.batch_passes == 1:
        return [
            one._replace(mu=inverse.late_mean(rows, start.y, one.mu, one.a))
            for start, one in zip(starts, found, strict=True)
        ]
    return found


def _close(state: State, first: State) -> None:
    """Let the state have the precision of the first one, and forget what predicted the batch."""
    state.refer(first, SHARED)
    state.scratch.clear()
