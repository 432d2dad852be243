"""The first pass of stabilized truncated descent, in which all paths walk side by side."""

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
    path_tables,
    problem,
    rows_of,
)

from cwtool.algorithms.stabilized_descent.first_pass import drawn
from cwtool.algorithms.stabilized_descent.gravity import burst_size, rejection_rate
from cwtool.algorithms.stabilized_descent.stsgd_state import GONE


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("paths", [1, 3, 4, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_dense_oracle(variant, paths, weighted):
    """In blocks, so that bursts and stages go on from one block to the next."""
    X, y = problem(paths)
    rng = np.random.default_rng(paths)
    h = rng.choice([0.25, 1.0, 2.0], N) if weighted else None
    algo = algorithm(rejection=0.5, stability=0.5, paths=paths, share=0.6, **VARIANTS[variant])
    p = algo.params
    order = np.concatenate([np.arange(N), *(rng.permutation(N) for _ in range(9))])
    share = drawn(p, 0, len(order), np.arange(len(order)))
    W, _, omega, history = sparse_oracles.stsgd(
        X, y, [order] * paths, 5, p.loss, p.rate,
        lambda d: rejection_rate(d, p.rejection, p.annealing), p.bursts,
        lambda d: burst_size(p.burst, p.growth, d), p.stability, p.least, p.gravity_by == "norm",
        p.pull_on == "weight", p.informed_by == "gradients", weight=h, share=share,
    )  # fmt: skip
    visits = sum(size * p.bursts for _, size, _ in history)
    rows = rows_of(X, y, weight=h)
    state = fresh(algo, rows)
    for block in np.array_split(order[:visits], 7):
        algo.learn(state, rows, block, RUN)
    assert state.numbers["stage"] == 6
    np.testing.assert_array_equal(state.table[:P, GONE] == 0, omega)
    for table, w in zip(path_tables(state), W, strict=True):
        np.testing.assert_allclose(table[:, WEIGHT], w, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(table[:, WEIGHT] != 0, w != 0)


def test_scores_are_those_of_the_mean_before_each_row():
    X, y = problem(2)
    algo, rows = algorithm(burst=N, paths=4), rows_of(X, y)
    state = fresh(algo, rows)
    for i in range(N):
        before = X[i] @ np.mean([table[:, WEIGHT] for table in path_tables(state)], axis=0)
        assert algo.learn(state, rows, np.array([i]), RUN).score[i] == pytest.approx(before)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("usual", [4, 8])
def test_four_or_eight_paths_have_the_bits_of_any_number_of_paths(variant, huge, usual):
    """Before the first stage ends, paths do not depend on each other. With huge values some moves
    are left out, and with equal ones weights return to 0."""
    X, y = problem(5)
    X, found = np.round(X, 1), []
    if huge:
        X[::3, :4] *= 1e99
    for paths in (usual, 9):
        given = {**VARIANTS[variant], "burst": 2 * N, "paths": paths, "rate": 50.0 if huge else 0.5}
        algo, rows = algorithm(**given), rows_of(X, y)
        state = fresh(algo, rows)
        for _ in range(2):
            algo.learn(state, rows, rows.order, RUN)
        assert state.numbers["stage"] == 1
        found.append([table[:, WEIGHT].tobytes() for table in path_tables(state)][:usual])
    assert found[0] == found[1]
