"""Newton steps of l1svm over few features, against NumPy and against coordinate descent."""

from dataclasses import replace

import numpy as np
import pytest
from few_weights import random_data
from taught import slot_rows
from test_l1svm import objective

from cwtool.algorithms.batch.newton import Newton, passes_for
from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.l1svm import L1SVM
from cwtool.algorithms.selection import l1_descent
from cwtool.params import build
from cwtool.run import Run
from cwtool_ext import quadratic


def columns(x: np.ndarray) -> Matrix:
    filled = [np.flatnonzero(column) for column in x.T]
    start = np.cumsum([0, *map(len, filled)])
    value = [column[at] for column, at in zip(x.T, filled, strict=True)]
    return Matrix(start, np.concatenate(filled).astype(np.int32), np.concatenate(value))


def test_the_gram_matrix_follows_the_rows_with_a_loss() -> None:
    x, y = random_data(1)
    z, h = x * y[:, None], np.random.default_rng(0).random(len(y))
    newton = Newton(columns(z), h, len(y))
    for seed in range(3):
        m = np.random.default_rng(seed).normal(1, 1, len(y))
        some = m < 1
        want = (z[some] * h[some, None]).T @ z[some]
        np.testing.assert_allclose(newton.hessian(m), want, atol=1e-12)


def test_a_feature_that_is_there_twice_counts_as_the_sum_of_its_values() -> None:
    rows = Matrix(np.array([0, 3]), np.array([1, 1, 2], dtype=np.int32), np.array([2.0, 3.0, 7.0]))
    found = np.zeros((3, 3))
    quadratic.add_gram(rows.csr, np.array([0]), np.array([0.5]), found)
    x = np.array([0.0, 5.0, 7.0])
    np.testing.assert_allclose(found, np.tril(0.5 * np.outer(x, x)))


def test_solve() -> None:
    rng = np.random.default_rng(1)
    root, b = rng.normal(size=(30, 30)), rng.normal(size=30)
    H, x = root.T @ root + np.eye(30), np.zeros(30)
    quadratic.solve(H, b, x)
    np.testing.assert_allclose(x, np.linalg.solve(H, b), atol=1e-7)


def test_descent_finds_the_minimum_of_a_quadratic_with_an_l1_norm() -> None:
    rng = np.random.default_rng(2)
    root = rng.normal(size=(40, 15))
    H, g, w = root.T @ root, 20 * rng.normal(size=15), rng.normal(size=15)
    price, slope, v = 9.0, g.copy(), w.copy()
    quadratic.descent(H, price, 1e-10, 10000, slope, v)
    np.testing.assert_allclose(slope, g + H @ (v - w), atol=1e-8)
    assert 0 < np.count_nonzero(v) < 15
    np.testing.assert_allclose(slope[v != 0], -price * np.sign(v[v != 0]), atol=1e-9)
    assert np.abs(slope[v == 0]).max() <= price + 1e-9


@pytest.mark.parametrize("weight", [None, np.random.default_rng(1).random(300)])
def test_newton_steps_and_descent_end_at_the_same_weights(
    weight: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = random_data(5, n=300, d=20)
    given = {"prior": 1.0, "C": 2.0, "features": 0, "tol": 1e-10, "max_batch_passes": 20000}
    algorithm = L1SVM(build(L1SVM.Params, given))

    def found() -> np.ndarray:
        state = algorithm.new_state()
        rows = replace(slot_rows(*batch, state), weight=weight)
        algorithm.learn(state, rows, rows.order, Run())
        return np.array(state.table[state.slots_of(np.arange(20, dtype=np.int32)), 0])

    steps, plain = [], Newton.l1_step
    monkeypatch.setattr(Newton, "l1_step", lambda *args: steps.append(1) or plain(*args))
    w = found()
    assert 0 < len(steps) < 20
    monkeypatch.setattr(l1_descent, "passes_for", lambda *_: np.inf)
    other = found()
    np.testing.assert_allclose(w, other, atol=1e-7)
    assert (w != 0).tolist() == (other != 0).tolist()


def test_no_step_that_increases_the_objective() -> None:
    """From far away a full step overshoots; the steps still decrease the objective."""
    x, y = random_data(6, n=200, d=12)
    z = x * y[:, None]
    newton, C = Newton(columns(z), None, 200), 5.0
    w = np.random.default_rng(3).normal(0, 30, 12)
    for _ in range(15):
        m = z @ w
        g = -z.T @ np.maximum(0, 1 - m)
        before = objective(x, y, w, C, "squared-hinge")
        found = newton.l1_step((w, m), g, C, np.arange(12), 1e-9)
        if found is None:
            break
        w = found[0]
        np.testing.assert_allclose(found[1], z @ w, atol=1e-8)
        assert objective(x, y, w, C, "squared-hinge") <= before * (1 + 1e-12)
    assert np.abs(w).max() < 30


def test_the_choice_is_by_cost() -> None:
    assert passes_for(np.full(32561, 14), 123) == 13.5
    assert passes_for(np.full(60000, 150), 717) == 47.5
    assert passes_for(np.full(9603, 88), 29648) == np.inf  # H would be larger than the rows
    assert passes_for(np.full(2000, 500), 500) == np.inf  # 250 products an entry
