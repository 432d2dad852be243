"""The designs of Figures 3(b) and 3(c) of Ma et al. 2010 against dense matrices written out."""

from functools import partial

import numpy as np
import oracles
import pytest

from cwtool.algorithms.cw import Eta
from cwtool.bench.designs import BufferAlone, FactoredSigma, progressive
from cwtool.bench.generators import of_arrays

ROWS, FEATURES = 80, 6


def problem(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, FEATURES))
    x[3] = 0.0
    y = np.where(x @ rng.standard_normal(FEATURES) + 0.1 * rng.standard_normal(ROWS) > 0, 1.0, -1.0)
    return x, y


def rule(m, v):
    return oracles.cw(m, v, Eta().phi)


def written_out(x, y, kept):
    """(score, Sigma, updates): `kept` turns the list of all (x, kappa) so far into Sigma."""
    mu, sigma, score, updates = np.zeros(FEATURES), np.eye(FEATURES), np.zeros(len(y)), []
    for i in range(len(y)):
        score[i], v = mu @ x[i], x[i] @ sigma @ x[i]
        alpha, kappa = rule(y[i] * score[i], v) if v > 0 else (0.0, 0.0)
        if alpha > 0:
            mu = mu + alpha * y[i] * sigma @ x[i]
            updates.append((x[i], kappa))
            sigma = kept(updates)
    return score, sigma, len(updates)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "made", [partial(BufferAlone, buffer=ROWS), partial(FactoredSigma, rank=ROWS)]
)
def test_nothing_is_lost_in_a_large_buffer(made, seed):
    x, y = problem(seed)
    score, _ = progressive(of_arrays(x, y), made)
    full, *_ = oracles.second_order(x, y, range(ROWS), rule, "full")
    np.testing.assert_allclose(score, full, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("buffer", [1, 4])
def test_a_buffer_alone_forgets(buffer, seed):
    def kept(updates):
        inverse = np.eye(FEATURES) + sum(k * np.outer(x, x) for x, k in updates[-buffer:])
        return np.linalg.inv(inverse)

    x, y = problem(seed)
    score, arrays = progressive(of_arrays(x, y), partial(BufferAlone, buffer=buffer))
    target, sigma, updates = written_out(x, y, kept)
    assert updates > 2 * buffer
    np.testing.assert_allclose(score, target, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.inv(np.eye(FEATURES) + arrays["B"] @ arrays["B"].T), sigma)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rank", [1, 3])
def test_a_full_buffer_is_fitted_into_the_factors_of_sigma(rank, seed):
    start, sigma = np.random.default_rng(0), np.eye(FEATURES)

    def kept(updates):
        nonlocal sigma
        sigma = oracles.project(sigma, *updates[-1], "full", 0)
        if len(updates) % rank == 0:
            D = np.diag(sigma) / 2
            R = np.sqrt(D / rank)[:, None] * start.standard_normal((FEATURES, rank))
            for _ in range(10):
                D, R = oracles.em(sigma, D, R)
            sigma = np.diag(D) + R @ R.T
        return sigma

    x, y = problem(seed)
    score, arrays = progressive(of_arrays(x, y), partial(FactoredSigma, rank=rank))
    target, _, updates = written_out(x, y, kept)
    assert updates > 2 * rank
    np.testing.assert_allclose(score, target, rtol=0, atol=1e-9)
    D, R, B = (arrays[name] for name in "DRB")
    np.testing.assert_allclose(np.diag(D) + R @ R.T - B @ B.T, sigma, rtol=0, atol=1e-9)


def test_as_many_factors_as_features_can_hold_all_of_sigma():
    rng = np.random.default_rng(1)
    design = FactoredSigma(3, 3, iterations=5000)
    sigma = np.eye(3)
    for _ in range(3):
        x = rng.standard_normal(3)
        sigma = oracles.project(sigma, x, 0.5, "full", 0)
        design.update(x, 0.5)
    assert design.B.shape == (3, 0)
    np.testing.assert_allclose(design.times(np.eye(3)), sigma, rtol=0, atol=1e-3)
