"""Stabilized truncated descent against its dense oracle, and the invariants of its stages."""

import numpy as np
import oracles
import pytest
import sparse_oracles

from cwtool import params
from cwtool.algorithms import columns, stsgd
from cwtool.algorithms.gravity import burst_size, rejection_rate, smallest
from cwtool.algorithms.shelf import Shelf
from cwtool.algorithms.stsgd import GONE, Stsgd, StsgdParams
from cwtool.data.block import Block
from cwtool_ext import columns as kernels
from cwtool_ext import descent

N, P, M = 50, 12, 3


def problem(seed, dense=False):
    """Sparse rows over columns of different scales, every column in some row."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * np.logspace(-1, 1, P)
    X *= (rng.random((N, P)) < 0.3) | (np.arange(N)[:, None] % P == np.arange(P)) | dense
    y = np.where(X @ rng.standard_normal(P) + rng.standard_normal(N) > 0, 1.0, -1.0)
    return X, y


def block_of(X, y):
    return Block(*oracles.csr(X), y, np.arange(len(y), dtype=np.int32), y=y)


def algorithm(**given):
    base = {"paths": M, "eta": 0.03, "burst": 4, "bursts": 3, "scale": "none", "intercept": "off"}
    return Stsgd(params.build(StsgdParams, {**base, **given}))


def orders(seed, visits):
    rng = np.random.default_rng(seed)
    return [np.concatenate([rng.permutation(N) for _ in range(visits // N + 1)])[:visits]
            for _ in range(M)]  # fmt: skip


def run(algo, X, y, paths, pieces=1, scale=None):
    """The state after all visits, learned in so many pieces."""
    state, block = algo.new_state(), block_of(X, y)
    state.numbers["met"] = state.features.observe(block)
    if scale is not None:
        state.features.table[:P, 0] = 1 / scale - 1
    for some in np.array_split(np.arange(len(paths[0])), pieces):
        algo.revisit(block, state, [p[some] for p in paths])
    algo.settle(state)
    return state


def weights(algo, state):
    return algo.weights(state, np.arange(P, dtype=np.int32))[0]


VARIANTS = {
    "norm": {},
    "count": {"gravity": "count"},
    "weight": {"pull_on": "weight"},
    "gradients": {"informed_by": "gradients"},
    "logistic": {"loss": "logistic", "annealing": 2.0},
    "carried": {"least": 7},
    "growing": {"growth": 0.3},
}


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
        X * scale, y, paths, 7, p.loss, p.eta,
        lambda d: rejection_rate(d, p.rejection, p.annealing), p.bursts,
        lambda d: burst_size(p.burst, p.growth, d), p.stability, p.least, p.gravity == "norm",
        p.pull_on == "weight", p.informed_by == "gradients",
    )  # fmt: skip
    visits = sum(size * p.bursts for _, size, _ in history)
    state = run(algo, X, y, [path[:visits] for path in paths], 5, scale if scaled else None)
    assert state.numbers["stage"] == 8
    np.testing.assert_array_equal(state.features.table[:P, GONE] == 0, omega)
    assert 0 < omega.sum() < P
    for table, w in zip(state.features.tables[1:], W, strict=True):
        np.testing.assert_allclose(table[:P, 0], w, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(table[:P, 0] != 0, w != 0)
    np.testing.assert_allclose(weights(algo, state), W.mean(axis=0) * scale, rtol=0, atol=1e-9)


@pytest.mark.parametrize("loss", [0, 1])
def test_without_gravity_and_purge_it_is_the_mean_of_descents(loss):
    X, y = problem(4)
    algo = algorithm(rejection=0.0, stability=0.0, loss=["hinge", "logistic"][loss])
    paths, target = orders(4, 120), np.zeros(P)
    for path in paths:
        table = np.zeros((P, 1))
        descent.learn(
            *oracles.csr(X), y, path, table, descent.Descent(loss, 0.03), 0, 0.0, 1.0, np.empty(N)
        )
        target += table[:, 0]
    np.testing.assert_array_equal(weights(algo, run(algo, X, y, paths)), target / M)


def test_stable_sets_are_nested_and_those_who_left_stay_zero():
    X, y = problem(5)
    algo = algorithm(rejection=0.6, stability=0.7)
    state, block = algo.new_state(), block_of(X, y)
    state.numbers["met"] = state.features.observe(block)
    gone, gravities = np.zeros(P, bool), []
    for path in np.array_split(np.array(orders(5, 12 * 20)), 20, axis=1):
        algo.revisit(block, state, list(path))
        algo.settle(state)
        now = state.features.table[:P, GONE] == 1
        assert (now >= gone).all()
        assert not any(table[:P][now].any() for table in state.features.tables[1:])
        gone = now
        gravities.append(state.numbers["base_gravity"])
    assert 0 < gone.sum() < P
    assert max(gravities) > 0


def test_threads_change_no_bit(monkeypatch):
    X, y = problem(3)
    monkeypatch.setattr(stsgd, "ALONE", 0)
    one, three, paths = algorithm(), algorithm(), orders(3, 300)
    three.jobs = 3
    a, b = run(one, X, y, paths), run(three, X, y, paths)
    for mine, other in zip(a.features.tables, b.features.tables, strict=True):
        np.testing.assert_array_equal(mine[:P], other[:P])
    assert a.numbers == b.numbers


def test_other_labels_other_signs():
    X, y = problem(6)
    algo, paths = algorithm(), orders(6, 240)
    np.testing.assert_array_equal(
        weights(algo, run(algo, X, -y, paths)), -weights(algo, run(algo, X, y, paths))
    )


def test_dense_rows_count_as_universal_gravity():
    """Fully dense rows: k = K for all, so that Algorithm 3.2 is 3.1 with g = g0 K."""
    X, y = problem(7, dense=True)
    algo = algorithm(gravity="count", paths=1, stability=0.0)
    (path,) = orders(7, 24)[:1]
    before = run(algo, X, y, [path[:12]])
    g0, w = before.numbers["base_gravity"], weights(algo, before)
    assert g0 > 0
    for i in path[12:16]:
        w = w - 0.03 * sparse_oracles.slope("hinge", y[i], w @ X[i]) * X[i]
    after = weights(algo, run(algo, X, y, [path[:16]]))
    np.testing.assert_allclose(after, sparse_oracles.shrink(w, 4 * g0), rtol=0, atol=1e-12)


def test_reading_within_a_burst_is_reading_a_burst_that_ended():
    X, y = problem(8)
    paths = orders(8, 15)  # a stage of 12, then 3 of a burst of 4
    algo = algorithm(stability=0.0)
    state = run(algo, X, y, paths)
    w, g0 = weights(algo, state), state.numbers["base_gravity"]
    tables = np.array([table[:P] for table in state.features.tables[1:]])
    assert (tables[:, :, 1] > 0).any()
    pulled = sparse_oracles.shrink(tables[:, :, 0], g0 * np.sqrt(tables[:, :, 1]))
    np.testing.assert_allclose(w, pulled.mean(axis=0), rtol=0, atol=1e-12)
    assert not np.allclose(w, tables[:, :, 0].mean(axis=0))
    block = block_of(X, y)
    np.testing.assert_allclose(
        algo.scores(block, state, np.zeros(N)).score, X @ w, rtol=0, atol=1e-12
    )


def test_a_purge_that_would_leave_nothing_is_not_made():
    X, y = problem(9)
    algo = algorithm(stability=1.0, rejection=1.0)
    state = run(algo, X, y, orders(9, 240))
    assert state.numbers["stage"] > 5
    assert state.numbers["gone"] < P


def test_tol_stops_learning():
    X, y = problem(10)
    loose, strict = algorithm(tol=1e6, stability=0.0), algorithm(tol=1e-9, stability=0.0)
    paths = orders(10, 240)
    state = run(loose, X, y, paths)
    assert (state.numbers["calm"], state.numbers["stage"]) == (3, 4)
    np.testing.assert_array_equal(
        weights(loose, state), weights(loose, run(loose, X, y, [p[:36] for p in paths]))
    )
    assert run(strict, X, y, paths).numbers["calm"] == 0


def test_empty_columns_change_nothing():
    X, y = problem(11)
    wide = np.hstack([X, np.zeros((N, 3))])
    algo, paths = algorithm(), orders(11, 240)
    np.testing.assert_array_equal(
        weights(algo, run(algo, wide, y, paths)), weights(algo, run(algo, X, y, paths))
    )


def fitted(X, floor):
    """damp after all rows were met."""
    algo = algorithm(scale="floor" if floor else "std", eta="auto")
    state, block = algo.new_state(), block_of(X, np.where(np.arange(len(X)) % 2, 1.0, -1.0))
    state.features.observe(block)
    algo.learn(block, state, block.order)
    columns.fit(state, floor)
    return state, state.features.column("damp")[: X.shape[1]]


@pytest.mark.parametrize("floor", [False, True])
def test_columns_are_scaled_by_their_deviation(floor):
    X, _ = problem(12)
    X[:, 3] = 0.7  # constant: leaves
    state, damp = fitted(X, floor)
    var, nnz = X.var(axis=0), (X != 0).sum(axis=0)
    assert damp[3] == -1
    alive = np.arange(P) != 3
    var[3] = 0.0
    by_std = np.argsort(var, kind="stable")
    tau2 = var[by_std[np.flatnonzero(np.cumsum(nnz[by_std]) >= 0.5 * nnz.sum())[0]]]
    square = tau2 / np.maximum(var[alive], tau2) if floor else 1 / var[alive]
    np.testing.assert_allclose(1 / (1 + damp[alive]) ** 2, square, rtol=1e-10)
    norms = (X[:, alive] ** 2 @ square).sum()
    assert state.numbers["norms"] == pytest.approx(norms, rel=1e-10)


def test_frozen_scales():
    data = np.load(sparse_oracles.VECTORS / "data.npz")
    X = np.zeros((60, 40))
    for i in range(60):
        some = slice(data["indptr"][i], data["indptr"][i + 1])
        X[i, data["indices"][some]] = data["data"][some]
    met = np.arange(40) != 6
    _, damp = fitted(X[:, met], floor=False)
    np.testing.assert_allclose(1 / (1 + damp), data["scale"][met], rtol=1e-10)
    _, damp = fitted(X[:, met], floor=True)
    found = 1 / (1 + damp)
    np.testing.assert_allclose(
        found / found.max(), data["floor_scale"][met] / data["floor_scale"].max(), rtol=1e-10
    )


@pytest.mark.parametrize("seed", range(20))
def test_weighted_median(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, 30) / 4.0 if seed % 2 else rng.random(31)
    weights = rng.integers(0, 5, len(values)).astype(float) + (seed % 3 == 0)
    order = np.argsort(values, kind="stable")
    at = np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum())
    assert kernels.median(values.copy(), weights.copy()) == values[order[at]]


def test_what_a_burst_emits_does_not_depend_on_the_scale_of_a_column():
    """|change| / sqrt(k), as long as the slopes of the loss are the same: no margin reaches 1."""
    X, y = problem(13)
    wide = X * np.where(np.arange(P) == 4, 8.0, 1.0)
    (path,) = orders(13, 40)[:1]

    def emitted(gravity, rows):
        algo = algorithm(paths=1, eta=1e-5, burst=40, bursts=2, gravity=gravity)
        ((slots, values, _),) = algo._scratch(run(algo, rows, y, [path]))[0]
        return values[np.argsort(slots)]

    np.testing.assert_allclose(emitted("norm", wide), emitted("norm", X), rtol=1e-12)
    assert emitted("count", wide)[4] == pytest.approx(8 * emitted("count", X)[4])


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_order_of_columns_does_not_matter(variant):
    X, y = problem(14)
    algo = algorithm(rejection=0.5, stability=0.5, **VARIANTS[variant])
    paths, order = orders(14, 240), np.random.default_rng(14).permutation(P)
    w = weights(algo, run(algo, X, y, paths))
    assert 0 < np.count_nonzero(w) < P
    np.testing.assert_allclose(
        weights(algo, run(algo, X[:, order], y, paths)), w[order], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_where_rows_are_cut_and_columns_compacted_changes_no_bit(variant):
    X, y = problem(15)
    algo = algorithm(rejection=0.5, stability=0.5, **VARIANTS[variant])
    paths = orders(15, 240)
    one, many = run(algo, X, y, paths), run(algo, X, y, paths, 240)
    assert one.numbers["gone"] > 0
    for mine, other in zip(one.features.tables, many.features.tables, strict=True):
        np.testing.assert_array_equal(mine[:P], other[:P])


def test_rejection_falls_with_the_features_left():
    shares = np.linspace(0, 1, 21)
    for gamma in (-5.0, -1.0, 0.0, 1.0, 5.0):
        rates = [rejection_rate(d, 0.7, gamma) for d in shares]
        assert rates[0] == pytest.approx(0)
        assert rates[-1] == pytest.approx(0.7)
        assert (np.diff(rates) >= -1e-15).all()
        slower = [rejection_rate(d, 0.7, gamma - 0.5) for d in shares]
        assert (np.array(slower) >= np.array(rates) - 1e-15).all()
    sizes = [burst_size(40, 0.3, d) for d in shares[:0:-1]]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 1000, 20_000])
def test_smallest_is_that_of_a_sort(n):
    rng = np.random.default_rng(n)
    for values in (rng.random(n), rng.integers(3, size=n) / 2, np.sort(rng.random(n))):
        for rank in {1, (n + 1) // 2, max(1, n - 1), n}:
            assert smallest(values.copy(), rank) == np.sort(values)[rank - 1]


def shelved(seed):
    """Features of which number 3 is gone and 4 constant, and rows that hold them all."""
    X, y = problem(seed)
    algo, block = algorithm(), block_of(X, y)
    state = algo.new_state()
    state.features.observe(block)
    rng = np.random.default_rng(seed)
    for table in state.features.tables:
        table[:P] = rng.random((P, table.shape[1])) + 0.5
    state.features.table[:P, GONE] = np.arange(P) == 3
    state.features.table[4, 0] = -1
    return state.features, block, X


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_shelf_has_the_rows_of_features_that_are_left(jobs):
    features, block, X = shelved(12)
    block.scale = 0.5
    shelf = Shelf(features)
    shelf.numbers(np.array([7], dtype=np.int32))
    (starts, numbers, z), square = shelf.rows(block, jobs)
    Z = 0.5 * X / (1 + features.table[:P, 0] + (np.arange(P) == 4))
    Z[:, [3, 4]] = 0
    dense = np.zeros((N, len(shelf.own)))
    dense[np.repeat(np.arange(N), np.diff(starts)), numbers] = z
    assert shelf.own[0] == 7
    assert sorted(shelf.own) == [j for j in range(P) if j != 3]
    np.testing.assert_allclose(dense, Z[:, shelf.own], rtol=1e-15)
    assert square == pytest.approx((Z**2).sum())
    for mine, theirs in zip(shelf.tables, features.tables, strict=True):
        np.testing.assert_array_equal(mine, theirs[shelf.own])


def test_what_changed_on_a_shelf_is_put_back():
    features, block, _ = shelved(13)
    before = [table[:P].copy() for table in features.tables]
    shelf = Shelf(features)
    shelf.rows(block, 1)
    for table in shelf.tables:
        table += 1
    shelf.leave(np.array([5], dtype=np.int32))
    left = shelf.own[5]
    assert left not in shelf.own[shelf.rows(block, 1)[0][1]]
    shelf.put_back()
    for k, (old, new) in enumerate(zip(before, features.tables, strict=True)):
        old[np.arange(P) != 3] += 1
        if k:
            old[left] = 0
        np.testing.assert_array_equal(new[:P], old)


def test_a_shelf_may_be_cleared_at_any_time(monkeypatch):
    X, y = problem(14)
    algo, paths = algorithm(stability=0.5), orders(14, 300)
    whole = weights(algo, run(algo, X, y, paths, 10))
    monkeypatch.setattr(stsgd, "ROOM", 0)
    np.testing.assert_array_equal(weights(algo, run(algo, X, y, paths, 10)), whole)
