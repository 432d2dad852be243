"""The learning of rows over groups of features against frozen vectors, the slow dense version, and
what must hold of primal and dual."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from group_cases import VECTORS, problem_over, random_data
from slow_batch import Slow, omega

from cwtool.algorithms.selection.groups import Groups
from cwtool_ext import conjugate
from cwtool_ext.csr import Csr


@pytest.mark.parametrize("v", VECTORS["omega"])
def test_frozen_vectors_of_omega(v) -> None:
    a = np.array(v["a"])
    t = np.empty(len(a))
    S = conjugate.omega(a, v["sigma"], t)
    np.testing.assert_allclose(t, v["t"], rtol=1e-9, atol=1e-9)
    assert pytest.approx(v["S"], rel=1e-9) == S
    assert np.count_nonzero(a > S * (1 + 1e-12)) == v["rho"]
    value = v["sigma"] / 2 * (t @ t) + S**2 / 2
    assert value == pytest.approx(v["omega_conj"], rel=1e-9)


@pytest.mark.parametrize("sigma", [0.0, 1e-12, 0.01, 1.0, 30.0])
def test_omega_is_the_maximum(sigma: float) -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 40):
        for ties in (False, True):
            a = rng.exponential(size=n) * rng.integers(0, 2, n)
            a = np.round(a, 1) if ties else a
            t, expected = np.empty(n), omega(a, sigma)
            S = conjugate.omega(a, sigma, t)
            assert pytest.approx(expected[1], rel=1e-12) == S
            assert pytest.approx(t.sum(), rel=1e-6, abs=1e-12) == S
            np.testing.assert_allclose(t, expected[0], rtol=1e-3 if sigma < 1e-6 else 1e-9)
            value = a @ t - sigma / 2 * (t @ t) - t.sum() ** 2 / 2
            assert value >= -1e-15
            for other in rng.exponential(size=(20, n)) * S / n:
                assert (
                    a @ other - sigma / 2 * (other @ other) - other.sum() ** 2 / 2 <= value + 1e-9
                )


@pytest.mark.parametrize("v", VECTORS["sub"])
def test_frozen_vectors_of_the_subproblem(v) -> None:
    x, y, ends = (np.array(VECTORS[k]) for k in ("sub_X", "sub_y", "sub_ptr"))
    members = [np.arange(a, b) for a, b in pairwise(ends.tolist())]
    rows = problem_over(x, y, members, v["C"], 0.0, v["q"], v["sigma"])
    if "kind" not in v:
        found = rows.metric(rows.start(), 5000, 1e-9)
        assert found.primal == pytest.approx(v["P_opt"], rel=1e-7)
        np.testing.assert_allclose(found.mu, v["w_opt"], atol=2e-4)
        return
    ridge = rows.bounds.ridge
    exact = v["kind"].endswith("exact")
    if not exact and v["q"] == 2:
        ridge = ridge / 2
    found = rows.conjugate(rows.start(), 1, 0.0, exact=exact, ridge=ridge)
    np.testing.assert_allclose(found.beta, v["beta"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.mu, v["w"], rtol=1e-9, atol=1e-9)
    assert found.primal == pytest.approx(v["P"], rel=1e-9)
    assert found.dual == pytest.approx(v["D"], rel=1e-9)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("step", ["printed", "exact"])
def test_conjugate_steps_agree_with_the_slow_ones(q: int, step: str) -> None:
    x, y = random_data(q + 10, n=30)
    members = [np.array([0, 5, 7]), np.array([1, 2]), np.array([3, 8, 10])]
    slow = Slow(x, y, members, 0.7, 0.1, q, 0.4)
    rows = problem_over(x, y, members, 0.7, 0.1, q, 0.4)
    found, beta, before = rows.start(), np.zeros(30), -np.inf
    for _ in range(3):
        found = rows.conjugate(found, 1, 0.0, exact=step == "exact", ridge=rows.bounds.ridge)
        beta = slow.online(beta, step)
        np.testing.assert_allclose(found.beta, beta, atol=1e-8)
        assert found.dual == pytest.approx(slow.dual(beta), rel=1e-8)
        assert found.primal == pytest.approx(slow.primal(slow.gradient(slow.z(beta))), rel=1e-7)
        if step == "exact":
            assert found.dual >= before
        before = found.dual


@pytest.mark.parametrize("q", [1, 2])
def test_the_gap_is_a_certificate(q: int) -> None:
    """Never negative, for any feasible dual variables; closed by more passes; and where
    w = grad Omega*(z) it is the sum of C/q xi^q - b (1 - m) + (q-1) b^2/(2C)."""
    x, y = random_data(20 + q)
    members = [np.array([0, 5, 7]), np.array([1, 2]), np.array([3, 8, 10])]
    rng, C = np.random.default_rng(q), 1.5
    rows = problem_over(x, y, members, C, 0.02, q, 0.2)
    for _ in range(30):
        start = replace(rows.start(), beta=rng.random(60) * C)
        found = rows.conjugate(start, 1, 0.0, exact=True, ridge=rows.bounds.ridge)
        m = y * (x[:, np.concatenate(members)] @ found.mu)
        b, xi = found.beta, np.maximum(0, 1 - m)
        terms = C / q * xi**q - b * (1 - m) + (q - 1) * b**2 / (2 * C)
        assert terms.min() >= -1e-12
        assert found.primal - found.dual == pytest.approx(terms.sum(), rel=1e-8)
        found = rows.metric(start, 2, 0.0)
        assert found.primal >= found.dual
    assert rows.metric(rows.start(), 500, 1e-6).near(1e-6)


@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_more_passes_of_the_metric_are_never_worse(sigma: float) -> None:
    """The best primal falls, the dual rises, and they meet."""
    x, y = random_data(25)
    rows = problem_over(x, y, [np.arange(0, 5), np.arange(5, 9)], 1.5, 0.05, 2, sigma)
    found = rows.start()
    primals, duals = [], []
    for _ in range(300):
        found = rows.metric(found, 1, 0.0)
        primals.append(found.primal)
        duals.append(found.dual)
    assert (np.diff(primals) <= 0).all()
    assert (np.diff(duals) >= 0).all()
    assert primals[0] > 1.001 * primals[-1]
    assert primals[-1] - duals[-1] < 1e-3 * primals[-1]


@pytest.mark.parametrize("enough", [30.0, 0.5, 0.1])
def test_passes_follow_until_the_gap_is_small_enough(enough: float) -> None:
    """The result is that of as many passes as it takes, at least 2 and at most 2 + 30."""
    x, y = random_data(26, n=200)
    x[:, 1] = x[:, 0] + 0.05 * x[:, 1]
    rows = problem_over(x, y, [np.array([k]) for k in range(6)], 100.0, 0.01, 2, 0.0)
    gaps = [rows.metric(rows.start(), n, 0.0).gap for n in range(1, 33)]
    wanted = next((n for n in range(2, 33) if gaps[n - 1] <= enough), 32)
    assert (wanted > 2) == (enough < 30)
    found = rows.metric(rows.start(), 2, 0.0, enough)
    assert np.array_equal(found.beta, rows.metric(rows.start(), wanted, 0.0).beta)


@pytest.mark.parametrize("q", [1, 2])
def test_rows_without_chosen_features(q: int) -> None:
    """b = C for both losses, and no effect on w."""
    x, y = random_data(70)
    members, C = [np.array([0, 1]), np.array([2, 4])], 0.9
    x[10:20, [0, 1, 2, 4]] = 0
    rows = problem_over(x, y, members, C, 0.1, q, 0.0)
    found = rows.metric(rows.start(), 3, 0.0)
    np.testing.assert_allclose(found.beta[10:20], C, rtol=1e-12)
    keep = np.r_[0:10, 20:60]
    without = problem_over(x[keep], y[keep], members, C, 0.1, q, 0.0)
    np.testing.assert_allclose(without.metric(without.start(), 3, 0.0).mu, found.mu, rtol=1e-12)


def test_rows_whose_groups_do_not_follow_one_another_are_refused() -> None:
    """They would need more room than there is for a number of each group."""
    groups = Groups.empty(0.0, 2)
    for _ in range(2):
        groups.add(np.zeros((2, 2)))
    place = np.array([0, 2, 1, 3], dtype=np.int32)
    rows = Csr(np.array([0, 4]), place, np.ones(4))
    one, order = np.ones(1), np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="do not ascend"):
        conjugate.conjugate_pass(
            rows, one, order, groups.owner, groups.first, groups.sigma, np.ones(4), 0.1, one, one,
            True, np.ones(2), np.empty((5, 2)), np.zeros(4), np.zeros(1),
        )  # fmt: skip
