"""Later passes of stabilized truncated descent, and its scaled columns."""

from dataclasses import asdict

import numpy as np
import pytest
import sparse_oracles
from stabilized import RUN, N, P, algorithm, fresh, orders, problem, rows_of, weights

from cwtool.algorithms.stabilized_descent.gravity import burst_size, rejection_rate
from cwtool.algorithms.stabilized_descent.stsgd_state import DAMP, restart
from cwtool.data.rows import Rows
from cwtool.model import Model


def met(algo, X, y):
    """A state that has met these rows and forgotten what it learned."""
    rows, slow = rows_of(X, y), algorithm(**{**asdict(algo.params), "burst": N})
    state = fresh(algo, rows)
    slow.learn(state, rows, rows.order, RUN)  # too few rows to judge a feature
    restart(state)
    return state, rows


def column_scale(X, floor):
    """1 / std, or 1 / max(std, tau) with the median tau of std over the nonzero values."""
    std, nnz = X.std(axis=0), (X != 0).sum(axis=0)
    by_std = np.argsort(std, kind="stable")
    tau = std[by_std[np.searchsorted(np.cumsum(nnz[by_std]), 0.5 * nnz.sum())]]
    return 1 / (np.maximum(std, tau) if floor else std)


@pytest.mark.parametrize("scale", ["std", "floor"])
@pytest.mark.parametrize("intercept", ["off", "on"])
def test_a_given_rate_is_that_of_scaled_columns(scale, intercept):
    """Also the intercept, whose step has the mean squared norm over the features left now."""
    X, y = problem(31)
    algo = algorithm(scale=scale, rate=0.02, rejection=0.5, stability=0.5, intercept=intercept)
    p, by = algo.params, column_scale(X, scale == "floor")
    paths = orders(31, 96)
    W, b, omega, _ = sparse_oracles.stsgd(
        X * by, y, paths, 8, p.loss, p.rate,
        lambda d: rejection_rate(d, p.rejection, p.annealing), p.bursts,
        lambda d: burst_size(p.burst, p.growth, d), p.stability, p.least,
        bias=0.1 if intercept == "on" else 0.0,
    )  # fmt: skip
    state, rows = met(algo, X, y)
    algo.revisit(state, rows, paths, RUN)
    assert 0 < omega.sum() < P
    np.testing.assert_allclose(weights(algo, state), W.mean(axis=0) * by, rtol=0, atol=1e-9)
    np.testing.assert_allclose(state.arrays["intercept"], b, rtol=0, atol=1e-9)


def model_of(X, y, **given):
    """A model that has learned these rows, and the rows."""
    model = Model.new("stsgd", {"paths": 2, **given})
    some = rows_of(X, y)
    rows = Rows(some.indptr, some.indices, some.values, some.y)
    model.learn(rows, RUN)
    return model, rows


@pytest.mark.parametrize("scale", ["std", "floor"])
def test_deviations_are_those_of_the_rows_as_they_are(scale):
    """Not those of rows that were divided by the norms of the rows up to them."""
    X, y = problem(32)
    X *= np.logspace(-1, 1, N)[:, None]
    model, rows = model_of(X, y, scale=scale, burst=10)
    model.relearn(rows, rows.order, RUN)
    by = column_scale(X, scale == "floor")
    _, slots = model.index.ids_and_slots()
    found = 1 / (1 + model.state.table[slots, DAMP])
    np.testing.assert_allclose(found / found.max(), by / by.max(), rtol=1e-10)
    assert model.scale.value == 1


def test_passes_add_up_when_a_stage_is_longer_than_a_pass():
    X, y = problem(33)
    model, rows = model_of(X, y, burst=40, bursts=3)
    halves = np.array_split(rows.order, 2)
    visited = []
    for pass_ in range(3):
        for half in halves:  # as a file too large for one block
            model.relearn(rows.take(half), np.arange(len(half)), RUN)
            visited.append(model.state.numbers["into"])
        if pass_ == 0:
            advice = model.algorithm.advice(model.state)
    assert visited == [25, 50, 75, 100, 5, 30]  # the second stage began after 120 visits
    assert model.state.numbers["stage"] == 2
    assert "there were 50; use `passes=4` or a smaller `burst`" in advice


def test_what_few_rows_removed_is_judged_anew_in_later_passes():
    X, y = problem(35)
    rows = rows_of(np.tile(X, (40, 1)), np.tile(y, 40))
    rows = Rows(rows.indptr, rows.indices, rows.values, rows.y)
    model = Model.new("stsgd", {"paths": 2, "rejection": 0.9, "stability": 0.9})
    model.learn(rows, RUN)
    numbers = model.state.numbers
    assert numbers["stage"] > 1
    assert numbers["gone"] > 0
    model.relearn(rows, rows.order[:100], RUN)
    assert (numbers["stage"], numbers["gone"], numbers["restarted"]) == (1, 0, 1)
    assert not model.state.column("gone").any()


def test_a_first_burst_of_large_values_does_not_decide_with_a_given_rate():
    X, y = problem(34, dense=True)
    model, _ = model_of(1e6 * X, y, scale="std", rate=0.1, burst=10, stability=0.0)
    assert np.abs(model.weights().weight * (1e6 * X).std(axis=0)).max() < 10
