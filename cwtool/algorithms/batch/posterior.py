"""How bcw learns a batch by the curvature of the loss: from the states before it to those after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cwtool.algorithms.batch import row_space
from cwtool.algorithms.batch.convex import STEPS, minimize
from cwtool.algorithms.batch.curvature import TOLERANCE, Optimum, optimum
from cwtool.algorithms.batch.gram import add_gram
from cwtool.algorithms.batch.learner import weights
from cwtool.algorithms.batch.over_rows import ByRows
from cwtool.algorithms.batch.precision import CURVED, by_rows, check_room, grown
from cwtool.algorithms.batch.regularized_loss import Gaussian, Loss
from cwtool.algorithms.shards.sharded_curvature import RowsInShards
from cwtool.algorithms.shards.steps import Shards
from cwtool.data.rows import SlotRows
from cwtool.run import Run
from cwtool.state import State
from cwtool.threads import together


def learn(
    states: Sequence[State], classes: Sequence[int], rows: SlotRows, loss: Loss, run: Run
) -> None:
    """Learn a batch with each of the states, to which the rows of one class are positive."""
    first, n = states[0], states[0].index.count
    for state in states:
        state.scratch.clear()  # matrices that predicted the batch
    if by_rows(first, rows.n_rows, n):
        entries = row_space.entries(first) + rows.nnz
        check_room(row_space.count(first) + rows.n_rows, "rows", run, len(states), entries)
        _learn_by_rows(states, classes, rows, loss, n)
        run.note(f"batch of {rows.n_rows:,} rows, {n:,} features: the solver keeps the rows")
        return
    priors = _priors(states, n, loss, run)
    assert rows.csr  # made here, before several threads ask for it
    jobs = run.jobs if len(states) == 1 else 1

    def one(k: int) -> Optimum:
        return optimum(priors[k], loss, rows, rows.signs(classes[k]), jobs)

    found = together(one, range(len(states)), run.jobs)
    _keep(states, priors, found)
    if len(states) == 1 and first.numbers["batches"] == 0:
        first.scratch["fitted"] = found[0].scores  # which are asked for next
    run.note(f"batch of {rows.n_rows:,} rows, {n:,} features: the solver keeps pairs of features")


def learn_shards(
    states: Sequence[State], classes: Sequence[int], shards: Shards, loss: Loss, run: Run
) -> None:
    """The same for the rows of all shards. The search begins at the optimum of the first rows."""
    priors = _priors(states, states[0].index.count, loss, run)
    head = shards.head
    more = float(weights(shards.rows).sum() / max(weights(head).sum(), 1e-300))
    many = loss._replace(C=loss.C * more)

    def one(k: int) -> Optimum:
        prior, class_ = priors[k], classes[k]
        mu = prior.mean
        if head.n_rows:
            mu = optimum(prior, many, head, head.signs(class_), run.jobs).mean
        whole = RowsInShards(prior, loss, shards, class_)
        mu = minimize(whole, mu, TOLERANCE, shards.rounds or STEPS)
        return Optimum(mu, whole.gram_here(), np.empty(0))

    found = shards.together(one, range(len(states)), states[0].index.count ** 2)
    _keep(states, priors, found)


def _priors(states: Sequence[State], n: int, loss: Loss, run: Run) -> list[Gaussian]:
    """What is known before the batch, over pairs of features; rows that states have kept become a
    part of it."""
    check_room(n, "features", run, len(states), row_space.entries(states[0]))
    found = []
    for state in states:
        if row_space.count(state):
            gram = grown(state, CURVED, n)
            add_gram(row_space.curved(state), gram, n, run.jobs)
        gram_before = grown(state, CURVED, n) if state.squares else None
        found.append(Gaussian(state.table[:n, 0].copy(), gram_before, loss.C))
    for state in states:
        row_space.forget(state)
    return found


def _keep(states: Sequence[State], priors: Sequence[Gaussian], found: Sequence[Optimum]) -> None:
    for state, prior, (mu, gram, _) in zip(states, priors, found, strict=True):
        state.table[: len(mu), 0] = mu
        state.squares[CURVED] = gram if prior.gram is None else prior.gram + gram
        state.scratch.clear()


def _learn_by_rows(
    states: Sequence[State], classes: Sequence[int], rows: SlotRows, loss: Loss, n: int
) -> None:
    first, before = states[0], row_space.count(states[0])
    row_space.keep(first, rows)
    x = row_space.kept(first)
    products, here = row_space.products(x, n), x.slice(before, x.n_rows)
    cost = loss.cost(rows)
    for state, class_ in zip(states, classes, strict=True):
        mu = state.table[:n, 0].copy()
        some = np.flatnonzero(state.arrays[row_space.CURVED.name])
        k, old = products[before:, before:], None
        if len(some):  # K = X Sigma0 X' with the curved rows of earlier batches
            among = products[np.ix_(some, some)]
            old = row_space.RowSpace(x.take(some), n, loss.C, np.arange(0), among)
            cross = products[some, before:]
            k = k - loss.C * cross.T @ old.divide(old.weighed(cross), True)
        problem = ByRows(k, row_space.scores(here, mu), rows.signs(class_), cost, loss.squared)
        found = minimize(problem, np.zeros(rows.n_rows), TOLERANCE)
        pushed = row_space.pull(here, found, n)
        state.table[:n, 0] = mu + (pushed if old is None else old.solve(pushed))
        state.refer(first, row_space.NAMES)
        known = state.arrays[row_space.CURVED.name]
        state.arrays[row_space.CURVED.name] = np.append(known, problem.curved)
        state.scratch.clear()
