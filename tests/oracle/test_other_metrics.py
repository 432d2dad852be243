"""Metrics of other methods against minimizers that know only values, and on classes they suit."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from cwtool.bench import other_metrics
from cwtool.bench.other_metrics import by_triplets, learned_metric, pgdm, psd


def cloud(n=40, p=3):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(n, p))
    return x, (x[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(np.int32), rng


def least(value, p):
    """The least value over M = LL', which is M >= 0."""
    found = [
        minimize(lambda part: value(part.reshape(p, p) @ part.reshape(p, p).T), start, tol=1e-12)
        for start in (np.eye(p).ravel(), np.random.default_rng(1).normal(size=p * p))
    ]
    return min(one.fun for one in found)


def squared(x, M, i, j):
    apart = x[i] - x[j]
    return ((apart @ M) * apart).sum(axis=1)


@pytest.mark.parametrize(("pull", "gamma"), [(0.01, 0.0), (0.005, 0.3)])
def test_triplets_have_the_least_objective(pull, gamma, monkeypatch):
    x, _, rng = cloud()
    monkeypatch.setattr(other_metrics, "TOL", 1e-12)
    monkeypatch.setattr(other_metrics, "STEPS", 3000)
    same, other = (rng.integers(0, len(x), (len(x), k)) for k in (2, 3))
    near = 0.01 * np.cov(x.T) if gamma == 0 else np.zeros((3, 3))

    def value(M):
        total = (near * M).sum() + gamma * (np.trace(M) / 3) ** 2
        for j, far in itertools.product(same.T, other.T):
            gap = 1 + squared(x, M, range(len(x)), j) - squared(x, M, range(len(x)), far)
            hinge = np.where(gap < 0.1, np.maximum(gap, 0) ** 2 / 0.2, gap - 0.05)
            total += pull * hinge.sum()
        return total

    M = by_triplets(x, near, same, other, pull, gamma)
    assert np.linalg.eigvalsh(M)[0] > -1e-12
    assert value(M) == pytest.approx(least(value, 3), rel=1e-5)


def test_pgdm_has_the_largest_distances_between_classes(monkeypatch):
    x, kind, _ = cloud()
    monkeypatch.setattr(other_metrics, "TOL", 1e-13)
    monkeypatch.setattr(other_metrics, "STEPS", 3000)
    within = x - np.stack([x[kind == c].mean(axis=0) for c in (0, 1)])[kind]
    C = within.T @ within / len(x)
    C += 0.1 * np.trace(C) / 3 * np.eye(3)
    i, j = np.nonzero(kind[:, None] < kind[None, :])

    def value(M):  # any M can be divided so that the constraint holds
        return -np.sqrt(squared(x, M, i, j)).mean() / np.sqrt((C * M).sum())

    M = pgdm(x, kind, 0, ridge=0.1)
    assert (C * M).sum() == pytest.approx(1)
    assert value(M) == pytest.approx(least(value, 3), rel=1e-6)


def test_projections():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(5, 5))
    A = A + A.T
    for simplex in (False, True):
        M = psd(A, simplex)
        assert np.linalg.eigvalsh(M)[0] > -1e-12
        for _ in range(50):  # no other matrix of the set is nearer
            root = rng.normal(size=(5, 5))
            other = root @ root.T
            other = other / np.trace(other) if simplex else other
            assert ((A - M) * (other - M)).sum() < 1e-9
    assert np.trace(psd(A, True)) == pytest.approx(1)


@pytest.mark.parametrize("name", ["pgdm", "lmnn", "smlsm"])
def test_learned_metrics_see_the_column_that_decides(name):
    """Also where there are more columns than rows."""
    rng = np.random.default_rng(6)
    for n, p in ((150, 12), (40, 60)):
        x = rng.normal(size=(n + 200, p))
        x[:, 0] *= 3
        kind = (x[:, 0] > 0).astype(np.int32)
        predict = learned_metric(name, csr_array(x[:n]), kind[:n], 0)
        wrong = np.mean(predict(csr_array(x[n:])) != kind[n:])
        assert wrong < (0.12 if p < n else 0.4)
