"""Row weights in stabilized truncated descent: a dense oracle, and what must hold for any data."""

import numpy as np
import pytest
import sparse_oracles
from stabilized import (
    RUN,
    VARIANTS,
    WEIGHT,
    N,
    P,
    algorithm,
    fresh,
    learned,
    orders,
    path_tables,
    problem,
    rows_of,
    same_tables,
    weights,
)  # fmt: skip

from cwtool.algorithms.stabilized_descent.gravity import burst_size, rejection_rate
from cwtool.algorithms.stabilized_descent.stsgd_state import GONE


def weight_of(seed):
    return np.random.default_rng(seed).choice([0.25, 0.5, 1.0, 2.0, 3.0], N)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(2))
def test_equals_the_dense_oracle(variant, seed):
    X, y = problem(seed)
    h, paths = weight_of(seed), orders(seed, 2000)
    algo = algorithm(rejection=0.5, stability=0.5, **VARIANTS[variant])
    p = algo.params
    W, _, omega, history = sparse_oracles.stsgd(
        X, y, paths, 7, p.loss, p.rate, lambda d: rejection_rate(d, p.rejection, p.annealing),
        p.bursts, lambda d: burst_size(p.burst, p.growth, d), p.stability, p.least,
        p.gravity_by == "norm", p.pull_on == "weight", p.informed_by == "gradients", weight=h,
    )  # fmt: skip
    visits = sum(size * p.bursts for _, size, _ in history)
    state = learned(algo, X, y, [path[:visits] for path in paths], 5, weight=h)
    np.testing.assert_array_equal(state.table[:P, GONE] == 0, omega)
    for table, w in zip(path_tables(state), W, strict=True):
        np.testing.assert_allclose(table[:P, WEIGHT], w, rtol=0, atol=1e-9)
    np.testing.assert_allclose(weights(algo, state), W.mean(axis=0), rtol=0, atol=1e-9)


def passes(algo, rows, blocks=1):
    """The state and the scores of a first pass in blocks, and the state after two further passes
    over all rows at once."""
    state, scores = fresh(algo, rows), []
    for numbers in np.array_split(np.arange(rows.n_rows), blocks):
        part = rows.take(numbers)
        scores.append(algo.learn(state, part, part.order, RUN).score)
    algo.finish(state)
    first = packed(state)
    for _ in range(2):
        algo.relearn(state, rows, rows.order[::-1].copy(), RUN)
    algo.finish(state)
    return first, np.concatenate(scores), state


def packed(state):
    return {k: v.tobytes() for k, v in state.pack().items()} | {"numbers": repr(state.numbers)}


GIVEN = [
    {},
    {"scale": "floor", "intercept": "on", "rate": "auto"},
    {"scale": "std", "gravity_by": "count", "informed_by": "gradients"},
]


@pytest.mark.parametrize("given", GIVEN)
def test_weights_of_one_are_no_weights(given):
    X, y = problem(1)
    algo = algorithm(rejection=0.4, stability=0.5, **given)
    plain, ones = (passes(algo, rows_of(X, y, 0.3, h)) for h in (None, np.ones(N)))
    assert ones[0] == plain[0]
    np.testing.assert_array_equal(ones[1], plain[1])
    same_tables(ones[2], plain[2])


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("blocks", [1, 7])
def test_rows_of_weight_zero_are_scored_and_not_learned(given, blocks):
    """Also where a block has no other rows, begins or ends with them."""
    X, y = problem(2)
    algo = algorithm(rejection=0.4, stability=0.5, **given)
    h = weight_of(2)
    h[[0, 1, 11, 12, 13, 30, 48, 49]] = 0
    h[14:22] = 0
    there = np.flatnonzero(h)
    first, scores, state = passes(algo, rows_of(X, y, 0.3, h), blocks)
    absent, others, later = passes(algo, rows_of(X, y, 0.3, h).take(there))
    assert first == absent
    np.testing.assert_array_equal(scores[there], others)
    assert np.count_nonzero(scores[h == 0]) > 9
    same_tables(state, later)
    assert packed(state) == packed(later)


def test_weights_scale_the_steps():
    """With the weight t of all rows and the rate divided by t, without gravity, nothing changes."""
    X, y = problem(3)
    found = []
    for t in (1.0, 4.0):
        algo = algorithm(rejection=0.0, stability=0.0, rate=0.04 / t)
        found.append(weights(algo, learned(algo, X, y, orders(3, 120), weight=np.full(N, t))))
    np.testing.assert_array_equal(found[0], found[1])
    assert np.any(found[0])


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("rejection", [0.0, 0.4])
def test_weights_near_the_ends_of_the_double_range(given, rejection):
    X, y = problem(4)
    algo, h = algorithm(rejection=rejection, stability=0.5, **given), np.ones(N)
    h[[3, 20]], h[[7, 31]] = 1e300, 1e-300
    _, scores, state = passes(algo, rows_of(X, y, 0.3, h))
    assert np.isfinite(scores).all()
    assert np.isfinite(weights(algo, state)).all()
