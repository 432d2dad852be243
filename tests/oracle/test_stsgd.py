"""Stabilized truncated descent against its dense oracle, and the invariants of its stages."""

import numpy as np
import pytest
import sparse_oracles
from stabilized import (
    COUNT,
    RUN,
    SLOTS,
    VARIANTS,
    WEIGHT,
    M,
    N,
    P,
    algorithm,
    fresh,
    known,
    learned,
    orders,
    path_tables,
    problem,
    rows_of,
    same_tables,
    weights,
)

from cwtool import params
from cwtool.algorithms.base import Linear
from cwtool.algorithms.sgd import Sgd, SgdParams
from cwtool.algorithms.stabilized_descent import prepared_rows
from cwtool.algorithms.stabilized_descent.gravity import burst_size, rejection_rate
from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory
from cwtool.algorithms.stabilized_descent.stsgd_state import GONE
from cwtool.run import Run


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_dense_oracle(variant, scaled, seed):
    """With a scale, the oracle gets scaled columns, and its weights come back by the scale."""
    X, y = problem(seed)
    algo = algorithm(rejection=0.5, stability=0.5, **VARIANTS[variant])
    p, scale = algo.params, 1 / X.std(axis=0) if scaled else np.ones(P)
    paths = orders(seed, 2000)
    W, _, omega, history = sparse_oracles.stsgd(
        X * scale, y, paths, 7, p.loss, p.rate,
        lambda d: rejection_rate(d, p.rejection, p.annealing), p.bursts,
        lambda d: burst_size(p.burst, p.growth, d), p.stability, p.least, p.gravity_by == "norm",
        p.pull_on == "weight", p.informed_by == "gradients",
    )  # fmt: skip
    visits = sum(size * p.bursts for _, size, _ in history)
    state = learned(algo, X, y, [path[:visits] for path in paths], 5, scale if scaled else None)
    assert state.numbers["stage"] == 8
    np.testing.assert_array_equal(state.table[:P, GONE] == 0, omega)
    assert 0 < omega.sum() < P
    for table, w in zip(path_tables(state), W, strict=True):
        np.testing.assert_allclose(table[:P, WEIGHT], w, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(table[:P, WEIGHT] != 0, w != 0)
    np.testing.assert_allclose(weights(algo, state), W.mean(axis=0) * scale, rtol=0, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_without_gravity_and_purge_it_is_the_mean_of_descents(loss):
    X, y = problem(4)
    algo = algorithm(rejection=0.0, stability=0.0, loss=loss)
    sgd = Sgd(params.build(SgdParams, {"rate": 0.03, "loss": loss}))
    paths, rows, target = orders(4, 120), rows_of(X, y), np.zeros(P)
    for path in paths:
        state = sgd.new_state()
        sgd.learn(state, rows, path, RUN)
        target += sgd.coefficients(state, SLOTS).weight
    np.testing.assert_array_equal(weights(algo, learned(algo, X, y, paths)), target / M)


def test_stable_sets_are_nested_and_removed_features_stay_zero():
    X, y = problem(5)
    algo, rows = algorithm(rejection=0.6, stability=0.7), rows_of(X, y)
    state = known(algo, rows)
    gone, gravities = np.zeros(P, bool), []
    for path in np.array_split(np.array(orders(5, 12 * 20)), 20, axis=1):
        algo.revisit(state, rows, list(path), RUN)
        algo.finish(state)
        now = state.table[:P, GONE] == 1
        assert (now >= gone).all()
        assert not any(table[now].any() for table in path_tables(state))
        gone = now
        gravities.append(state.numbers["base_gravity"])
    assert 0 < gone.sum() < P
    assert max(gravities) > 0


def test_threads_change_no_bit(monkeypatch):
    X, y = problem(3)
    monkeypatch.setattr(prepared_rows, "ALONE", 0)
    algo, paths = algorithm(), orders(3, 300)
    one, three = learned(algo, X, y, paths), learned(algo, X, y, paths, run=Run(jobs=3))
    same_tables(one, three)
    assert one.numbers == three.numbers


def test_other_labels_other_signs():
    X, y = problem(6)
    algo, paths = algorithm(), orders(6, 240)
    np.testing.assert_array_equal(
        weights(algo, learned(algo, X, -y, paths)), -weights(algo, learned(algo, X, y, paths))
    )


def test_dense_rows_count_as_universal_gravity():
    """Fully dense rows: k = K for all, so that Algorithm 3.2 is 3.1 with g = g0 K."""
    X, y = problem(7, dense=True)
    algo = algorithm(gravity_by="count", paths=1, stability=0.0)
    (path,) = orders(7, 24)[:1]
    before = learned(algo, X, y, [path[:12]])
    g0, w = before.numbers["base_gravity"], weights(algo, before)
    assert g0 > 0
    for i in path[12:16]:
        w = w - 0.03 * sparse_oracles.slope("hinge", y[i], w @ X[i]) * X[i]
    after = weights(algo, learned(algo, X, y, [path[:16]]))
    np.testing.assert_allclose(after, sparse_oracles.shrink(w, 4 * g0), rtol=0, atol=1e-12)


def test_reading_within_a_burst_is_reading_a_burst_that_ended():
    X, y = problem(8)
    paths = orders(8, 15)  # a stage of 12, then 3 of a burst of 4
    algo = algorithm(stability=0.0)
    state = learned(algo, X, y, paths)
    w, g0 = weights(algo, state), state.numbers["base_gravity"]
    tables = np.array(path_tables(state))
    assert (tables[:, :, COUNT] > 0).any()
    pulled = sparse_oracles.shrink(tables[:, :, WEIGHT], g0 * np.sqrt(tables[:, :, COUNT]))
    np.testing.assert_allclose(w, pulled.mean(axis=0), rtol=0, atol=1e-12)
    assert not np.allclose(w, tables[:, :, WEIGHT].mean(axis=0))
    score = algo.scores(state, rows_of(X, y), np.zeros(N), RUN).score
    np.testing.assert_allclose(score, X @ w, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gravity_by", ["norm", "count"])
@pytest.mark.parametrize("visits", [12, 15, 36, 38])  # stages have 12 rows, bursts 4
def test_weights_and_intercept_make_up_the_score(gravity_by, visits):
    X, y = problem(16)
    algo = algorithm(intercept="on", scale="std", gravity_by=gravity_by)
    state = learned(algo, X, y, orders(16, visits), scale=1 / X.std(axis=0))
    assert isinstance(algo, Linear)
    weight, variance, intercept = algo.coefficients(state, SLOTS)
    assert variance is None
    assert np.count_nonzero(weight) > 0
    assert intercept == pytest.approx(state.arrays["intercept"].mean(), rel=1e-15)
    assert intercept != 0
    score = algo.scores(state, rows_of(X, y, scale=0.7), np.zeros(N), RUN).score
    np.testing.assert_allclose(score, 0.7 * X @ weight + intercept, rtol=0, atol=1e-12)


def test_without_an_intercept_it_is_zero():
    X, y = problem(17)
    algo = algorithm()
    assert algo.coefficients(learned(algo, X, y, orders(17, 40)), SLOTS).intercept == 0


def test_class_1_is_counted_as_positive():
    X, y = problem(18)
    algo, rows = algorithm(), rows_of(X, y)
    state = fresh(algo, rows)
    algo.learn(state, rows, rows.order, RUN)
    assert (state.numbers["rows"], state.numbers["positive"]) == (N, (y > 0).sum())


def test_a_purge_that_would_leave_nothing_is_not_made():
    X, y = problem(9)
    algo = algorithm(stability=1.0, rejection=1.0)
    rows, paths = rows_of(X, y), orders(9, 240)
    state = known(algo, rows)
    state.numbers |= {"rows": N, "positive": N // 2}
    algo.revisit(state, rows, paths, RUN)
    assert (state.numbers["empty"], state.numbers["gone"] < P) == (1, True)
    visits, w = state.numbers["visits"], weights(algo, state)
    algo.revisit(state, rows, paths, RUN)  # learning has stopped
    assert state.numbers["visits"] == visits < 240
    np.testing.assert_array_equal(weights(algo, state), w)
    assert "no feature would have been left" in algo.advice(state)


def test_rows_of_one_class_do_not_stop_learning():
    X, _ = problem(9)
    algo = algorithm(stability=1.0, rejection=1.0)
    state = learned(algo, X, -np.ones(N), orders(9, 240))
    assert (state.numbers["empty"], state.numbers["visits"]) == (0, 240)


def test_tol_stops_learning():
    X, y = problem(10)
    loose, strict = algorithm(tol=1e6, stability=0.0), algorithm(tol=1e-9, stability=0.0)
    paths = orders(10, 240)
    state = learned(loose, X, y, paths)
    assert (state.numbers["calm"], state.numbers["stage"]) == (3, 4)
    np.testing.assert_array_equal(
        weights(loose, state), weights(loose, learned(loose, X, y, [p[:36] for p in paths]))
    )
    assert learned(strict, X, y, paths).numbers["calm"] == 0


def test_empty_columns_change_nothing():
    X, y = problem(11)
    wide = np.hstack([X, np.zeros((N, 3))])
    algo, paths = algorithm(), orders(11, 240)
    np.testing.assert_array_equal(
        weights(algo, learned(algo, wide, y, paths)), weights(algo, learned(algo, X, y, paths))
    )


def test_what_a_burst_emits_does_not_depend_on_the_scale_of_a_column():
    """|change| / sqrt(k), as long as the slopes of the loss are the same: no margin reaches 1."""
    X, y = problem(13)
    wide = X * np.where(np.arange(P) == 4, 8.0, 1.0)
    (path,) = orders(13, 40)[:1]

    def emitted(gravity_by, rows):
        algo = algorithm(paths=1, rate=1e-5, burst=40, bursts=2, gravity_by=gravity_by)
        (part,) = StageMemory.of(learned(algo, rows, y, [path])).pool.parts
        return part.values[np.argsort(part.slots)]

    np.testing.assert_allclose(emitted("norm", wide), emitted("norm", X), rtol=1e-12)
    assert emitted("count", wide)[4] == pytest.approx(8 * emitted("count", X)[4])


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_order_of_columns_does_not_matter(variant):
    X, y = problem(14)
    algo = algorithm(rejection=0.5, stability=0.5, **VARIANTS[variant])
    paths, order = orders(14, 240), np.random.default_rng(14).permutation(P)
    w = weights(algo, learned(algo, X, y, paths))
    assert 0 < np.count_nonzero(w) < P
    np.testing.assert_allclose(
        weights(algo, learned(algo, X[:, order], y, paths)), w[order], rtol=0, atol=1e-12
    )
