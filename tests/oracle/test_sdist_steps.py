"""The parts of a step of sdist against dense text-book versions."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sdist_cases import crowd, pulled

from cwtool.algorithms.neighbours.boosting import residuals, total_loss
from cwtool.algorithms.neighbours.eigenvector import sparse_eigenvector
from cwtool.algorithms.neighbours.oja import laplacian
from cwtool_ext import monomials, sdist


def differences(x, around, i):
    """D_i"""
    total = np.zeros((x.shape[1], x.shape[1]))
    for j in around.opposite[i]:
        total += np.outer(x[i] - x[j], x[i] - x[j]) / around.opposite.shape[1]
    for j in around.same[i]:
        total -= np.outer(x[i] - x[j], x[i] - x[j]) / around.same.shape[1]
    return total


def test_matrix_and_learner_are_sums_of_differences():
    x, _, around = crowd()
    rng = np.random.default_rng(2)
    bag, u = np.sort(rng.permutation(70)[:40]), rng.random(40)
    want = sum(w * differences(x, around, i) for i, w in zip(bag, u, strict=True))
    np.testing.assert_allclose(x.T @ pulled(x, around, bag, u), want, atol=1e-12)
    lam = laplacian(around, bag, u)
    np.testing.assert_allclose(lam.toarray() @ x, pulled(x, around, bag, u), atol=1e-13)
    assert np.abs(lam.sum(axis=1)).max() < 1e-15  # Lam 1 = 0
    np.testing.assert_allclose(pulled(x + 5, around, bag, u), lam @ x, atol=1e-12)
    xi = rng.normal(size=6)
    g = around.learner(x @ xi)
    np.testing.assert_allclose(
        g, [xi @ differences(x, around, i) @ xi for i in range(70)], atol=1e-12
    )
    margin = [np.trace(differences(x, around, i)) for i in range(70)]
    np.testing.assert_allclose(around.margin, margin, atol=1e-12)


def test_same_and_opposite_is_positive_and_negative():
    """u_i D_i with D relative to y_i is r_i D with r_i = y_i u_i and D of absolute classes."""
    x, y, around = crowd()
    f = 0.1 * around.margin
    for i in range(len(y)):
        positive = around.same[i] if y[i] > 0 else around.opposite[i]
        negative = around.opposite[i] if y[i] > 0 else around.same[i]
        absolute = sum(np.outer(x[i] - x[j], x[i] - x[j]) / 4 for j in negative)
        absolute = absolute - sum(np.outer(x[i] - x[j], x[i] - x[j]) / 4 for j in positive)
        r = y[i] * np.exp(-y[i] * (y[i] * f[i]))
        np.testing.assert_allclose(
            r * absolute, np.exp(-f[i]) * differences(x, around, i), atol=1e-12
        )


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_line_search_finds_the_minimum(loss):
    rng = np.random.default_rng(4)
    for _ in range(20):
        f, g = rng.normal(size=30), rng.normal(size=30) + 0.3
        w = sdist.line_search(f, g, loss == "logistic", 1e3)
        peer = minimize_scalar(
            lambda w, f=f, g=g: total_loss(f + w * g, loss), bounds=(0, 50), method="bounded",
            options={"xatol": 1e-10},
        )  # fmt: skip
        assert w == pytest.approx(peer.x, abs=1e-5)
        step = 1e-6
        slope = (total_loss(f - step * g, loss) - total_loss(f + step * g, loss)) / (2 * step)
        want = residuals(f, loss) * (np.exp(-f.min()) if loss == "exp" else 1) @ g
        assert slope == pytest.approx(want, rel=1e-6)
    assert sdist.line_search(f, -np.abs(g), loss == "logistic", 1e3) == 0
    assert sdist.line_search(f, np.abs(g), loss == "logistic", 1e3) == 1e3
    far = np.array([-800.0, 0.0, 800.0])
    assert np.isfinite(sdist.line_search(far, np.array([1.0, -3.0, -500.0]), False, 1e3))


def test_transform_is_the_product_of_columns():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(37, 4))
    keys = np.array([[0, -1, -1], [1, 1, -1], [0, 2, 3]], dtype=np.int32)
    scale, factor = np.array([1.0, 2.0, 0.5]), rng.normal(size=(3, 2))
    phi = np.stack([x[:, 0], x[:, 1] ** 2 / 2, x[:, 0] * x[:, 2] * x[:, 3] * 2], axis=1)
    found = np.empty((37, 3))
    monomials.products(x, keys, scale, found)
    np.testing.assert_allclose(found, phi, rtol=1e-15)
    z = np.zeros((37, 2))
    monomials.transform(x, keys, scale, factor, z)
    np.testing.assert_allclose(z, phi @ factor, atol=1e-13)
    alone = np.zeros((1, 2))
    monomials.transform(np.ascontiguousarray(x[5:6]), keys, scale, factor, alone)
    np.testing.assert_array_equal(alone[0], z[5])


def test_planted_sparse_eigenvectors_are_found():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        planted = np.zeros(100)
        planted[rng.permutation(100)[:5]] = rng.choice([-1, 1], 5) / np.sqrt(5)
        noise = rng.normal(size=(100, 100))
        A = 30 * np.outer(planted, planted) + (noise + noise.T) / 2
        xi, value = sparse_eigenvector(A, 5)
        assert set(np.flatnonzero(xi)) == set(np.flatnonzero(planted))
        assert value == pytest.approx(xi @ A @ xi)
        assert np.linalg.norm(xi) == pytest.approx(1)
        assert xi[np.argmax(np.abs(xi))] > 0


def test_power_never_falls_and_keeps_kappa():
    rng = np.random.default_rng(0)
    for _ in range(50):
        A = rng.normal(size=(9, 9))
        A = A + A.T
        x = rng.normal(size=9)
        largest = np.argsort(-np.abs(x), kind="stable")[:3]
        start = np.zeros(9)
        start[largest] = x[largest]
        start /= np.linalg.norm(start)
        q = sdist.power(A, x, 3, 100, 1e-7, np.empty(40))
        assert q == pytest.approx(x @ A @ x)
        assert q >= start @ A @ start - 1e-9
        assert np.count_nonzero(x) <= 3
