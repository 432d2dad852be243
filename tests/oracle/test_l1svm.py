"""l1svm against proximal gradient descent, its optimality conditions, and its path."""

import numpy as np
import pytest
from few_weights import learn, learned, random_data

from cwtool.algorithms.l1svm import L1SVM
from cwtool_ext import l1

LOSSES = ["squared-hinge", "logistic"]


def gradient(x, y, w, C, loss):
    m = y * (x @ w)
    slope = np.maximum(0, 1 - m) if loss == "squared-hinge" else 1 / (1 + np.exp(m))
    return -C * x.T @ (slope * y)


def objective(x, y, w, C, loss):
    m = y * (x @ w)
    each = np.maximum(0, 1 - m) ** 2 / 2 if loss == "squared-hinge" else np.log1p(np.exp(-m))
    return np.abs(w).sum() + C * each.sum()


def slow_l1(x, y, C, loss):
    """Proximal gradient with the step 1/L."""
    w = np.zeros(x.shape[1])
    L = C * np.linalg.norm(x, 2) ** 2 * (1 if loss == "squared-hinge" else 0.25)
    for _ in range(20000):
        v = w - gradient(x, y, w, C, loss) / L
        before, w = w, np.sign(v) * np.maximum(np.abs(v) - 1 / L, 0)
        if np.abs(w - before).max() < 1e-14:
            break
    return w


def test_violations() -> None:
    rng = np.random.default_rng(3)
    g, w = rng.normal(size=30), rng.normal(size=30) * (rng.random(30) < 0.5)
    some, out = rng.permutation(30)[:20], np.empty(20)
    total = l1.violations(1.5, g, w, some, out)
    each = np.where(w == 0, np.maximum(np.abs(1.5 * g) - 1, 0), np.abs(1.5 * g + np.sign(w)))
    np.testing.assert_allclose(out, each[some], rtol=1e-15)
    assert total == pytest.approx(out.sum(), rel=1e-14)
    with pytest.raises(ValueError, match="feature 30 lies outside"):
        l1.violations(1.5, g, w, np.array([30]), out[:1])
    with pytest.raises(ValueError, match="a place for each violation"):
        l1.violations(1.5, g, w, some, out[:1])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.05, 0.3, 3.0])
def test_reaches_the_optimum(loss: str, C: float) -> None:
    x, y = random_data(1)
    _, state = learned(L1SVM, x, y, C=C, loss=loss, features=0, tol=1e-11)
    w, slow = state.table[:25, 0], slow_l1(x, y, C, loss)
    assert np.count_nonzero(w) > 0
    np.testing.assert_allclose(w, slow, atol=1e-5)
    assert objective(x, y, w, C, loss) <= objective(x, y, slow, C, loss) * (1 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_optimality_conditions(loss: str) -> None:
    """g = -sign w where w is not 0, |g| <= 1 where it is."""
    x, y = random_data(2, n=80, d=200)
    _, state = learned(L1SVM, x, y, C=1.0, loss=loss, features=0, tol=1e-10)
    w = state.table[:200, 0]
    g = gradient(x, y, w, 1.0, loss)
    some = w != 0
    assert 10 < some.sum() < 80
    np.testing.assert_allclose(g[some], -np.sign(w[some]), atol=1e-5)
    assert np.abs(g[~some]).max() <= 1 + 1e-5


@pytest.mark.parametrize("loss", LOSSES)
def test_exactly_so_many_features(loss: str) -> None:
    x, y = random_data(3, n=80, d=120)
    for p in (1, 2, 5, 11, 40):
        algorithm, state = learned(L1SVM, x, y, features=p, loss=loss)
        w = state.table[:120, 0]
        chosen = algorithm.selection(state)
        assert np.count_nonzero(w) == len(chosen.slots) == p
        assert (np.sort(chosen.group)[:1] >= 1).all()
        # optimal among its own features, at the C that was found
        C = state.numbers["C"]
        g = gradient(x[:, w != 0], y, w[w != 0], C, loss)
        assert np.abs(g + np.sign(w[w != 0])).max() < 0.2


def test_fewer_when_there_are_fewer() -> None:
    x, y = random_data(4, d=6)
    _, state = learned(L1SVM, x, y, features=50)
    assert np.count_nonzero(state.table[:6, 0]) == 6


def test_identical_features_cannot_be_told_apart_by_any_C() -> None:
    """Where many come at once, still no more than asked for."""
    x, y = random_data(5, d=1)
    algorithm, state = learned(L1SVM, np.repeat(x, 8, axis=1), y, features=3)
    assert 1 <= np.count_nonzero(state.table[:8, 0]) <= 3
    assert len(algorithm.selection(state).slots) <= 3


def test_a_new_batch_is_learned_anew() -> None:
    (x, y), (u, v) = random_data(6), random_data(7)
    algorithm, state = learned(L1SVM, x, y, features=5)
    u[:, 3] = 0
    learn(algorithm, state, (u, v))
    _, alone = learned(L1SVM, u, v, features=5)
    np.testing.assert_allclose(state.table[:25, 0], alone.table[:25, 0], atol=0.05)
    assert np.array_equal(state.table[:25, 1] > 0, alone.table[:25, 1] > 0)
