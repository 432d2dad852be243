"""SBCW and FGM against frozen vectors, the slow dense version, and what must hold of both."""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest
from few_weights import learned_batches
from group_cases import (
    DEFAULT,
    LOSS,
    PLAIN,
    VECTORS,
    groups_of,
    mean_of,
    problem_over,
    random_data,
    sbcw,
)
from slow_batch import Slow, slow_bcw, slow_gains, slow_sbcw
from taught import slot_rows

from cwtool.algorithms.batch.rows_by_column import Columns
from cwtool.algorithms.fgm import FGM
from cwtool.algorithms.sbcw import SBCW
from cwtool.algorithms.selection import newton_gain, subproblem
from cwtool.algorithms.selection.fgm_params import FgmParams
from cwtool.algorithms.selection.group_selection import Side, largest
from cwtool.algorithms.selection.subproblem import sampled
from cwtool.errors import UsageError
from cwtool.run import Run

X, Y = np.array(VECTORS["sbcw_X"]), np.array(VECTORS["sbcw_y"])


@pytest.mark.parametrize("v", VECTORS["sbcw"])
def test_frozen_vectors(v) -> None:
    online = v["mode"] != "converged"
    algorithm = sbcw(
        C=v["C"], precision_divisor=v["C"] / v["cov_C"] if v["cov_C"] else 1e300, loss=LOSS[v["q"]],
        sigma=v["sigma"], features=v["r"] * v["m_iter"], group_size=v["r"], score="plain",
        solver="printed" if online else "mm", group_passes=600, tol=1e-8,
    )  # fmt: skip
    state = learned_batches(algorithm, (X, Y))
    assert groups_of(algorithm, state) == v["blocks"]
    rtol = 1e-9 if online else 1e-6
    np.testing.assert_allclose(state.arrays["theta"], v["theta"], rtol=rtol)
    np.testing.assert_allclose(mean_of(state, X.shape[1]), v["mu"], atol=v["mu_tol"])


@pytest.mark.parametrize("v", DEFAULT)
def test_frozen_vectors_of_the_default_mode(v) -> None:
    algorithm = sbcw(
        C=v["C"], precision_divisor=v["kappa"], loss=LOSS[v["q"]], group_size=v["r"], score="diag",
        features=v["p"] or v["r"] * v["m_iter"],
    )  # fmt: skip
    state = learned_batches(algorithm, (X, Y))
    assert groups_of(algorithm, state) == v["blocks"]
    np.testing.assert_allclose(state.arrays["theta"], v["P"], rtol=1e-9)
    np.testing.assert_allclose(mean_of(state, X.shape[1]), v["mu"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("sigma", [0.0, 0.3])
@pytest.mark.parametrize("divisor", [1.0, 20.0])
@pytest.mark.parametrize("score", ["gain", "diag", "plain"])
def test_agrees_with_the_slow_one(q: int, sigma: float, divisor: float, score: str) -> None:
    x, y = random_data(q)
    algorithm = sbcw(
        C=2.0,
        precision_divisor=divisor,
        loss=LOSS[q],
        sigma=sigma,
        features=8,
        group_size=3,
        group_passes=3,
        score=score,
    )
    state = learned_batches(algorithm, (x, y))
    members, mu, thetas, beta = slow_sbcw(
        x, y, C=2.0, c=2.0 / divisor, q=q, sigma=sigma, p=8, r=3, passes=3, score=score
    )
    assert groups_of(algorithm, state) == members
    np.testing.assert_allclose(state.arrays["theta"], thetas, rtol=1e-10)
    np.testing.assert_allclose(mean_of(state, 12), mu, atol=1e-10)
    np.testing.assert_allclose(state.table[:12, 1], x.T @ (beta * y), atol=1e-9)


def test_theta_falls_and_sigma_bounds_it() -> None:
    """theta_t does not rise with t when solved; theta_0 <= theta_sigma <= (1 + sigma) theta_0."""
    x, y = random_data(30, n=80)
    solved = {
        "features": 10,
        "group_size": 2,
        "group_passes": 3000,
        "tol": 1e-7,
        "C": 1.0,
        "precision_divisor": 10.0,
    }
    thetas = {
        s: learned_batches(sbcw(sigma=s, **solved), (x, y)).arrays["theta"] for s in (0.0, 0.1)
    }
    assert len(thetas[0.0]) == 5
    assert (np.diff(thetas[0.0]) <= 1e-6 * thetas[0.0][0]).all()
    assert thetas[0.0][-1] < 0.95 * thetas[0.0][0]
    members = [np.arange(0, 4), np.arange(4, 9)]
    a, b = (problem_over(x, y, members, 1.0, 0.1, 2, s) for s in (0.0, 0.1))
    low, high = (rows.metric(rows.start(), 5000, 1e-8).primal for rows in (a, b))
    assert low * (1 - 1e-6) <= high <= 1.1 * low * (1 + 1e-6)
    assert high > low


def test_one_group_of_everything_is_bcw() -> None:
    x, y = random_data(40)
    for q in (1, 2):
        algorithm = sbcw(
            C=0.8, precision_divisor=4.0, loss=LOSS[q], features=12, group_size=12, group_passes=1
        )
        state = learned_batches(algorithm, (x, y))
        mu, _ = slow_bcw(x, y, 0.8, 0.2, q, 1)
        np.testing.assert_allclose(mean_of(state, 12), mu, atol=1e-10)


def test_symmetries() -> None:
    """Permuted features, turned labels, scaled rows."""
    x, y = random_data(50)
    given = {"C": 3.0, "precision_divisor": 10.0, "features": 6, "group_size": 2}
    mu = mean_of(learned_batches(sbcw(**given), (x, y)), 12)
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_allclose(
        mean_of(learned_batches(sbcw(**given), (x[:, order], y)), 12), mu[order], atol=1e-9
    )
    np.testing.assert_allclose(
        mean_of(learned_batches(sbcw(**given), (x, -y)), 12), -mu, atol=1e-12
    )
    plain, scaled = (
        learned_batches(sbcw(**{**given, "C": 3.0 / s**2}), (s * x, y)) for s in (1.0, 5.0)
    )
    np.testing.assert_allclose(mean_of(scaled, 12), mu / 5, atol=1e-10)
    dual = plain.table[:12, 1]  # sum b y x: b / 25 of rows times 5
    np.testing.assert_allclose(scaled.table[:12, 1], dual / 5, atol=1e-10)


def test_without_covariance_it_is_fgm() -> None:
    x, y = random_data(60)
    given = {**PLAIN, "C": 3.0, "features": 6, "group_size": 2}
    fgm = FGM(FgmParams(**given))
    one, two = (
        learned_batches(fgm, (x, y)),
        learned_batches(sbcw(**given, precision_divisor=1e300, score="plain"), (x, y)),
    )
    assert np.array_equal(mean_of(one, 12), mean_of(two, 12))
    found = fgm.scores(one, slot_rows(x, y, one), np.empty(0), Run())
    chosen = fgm.chosen(one)
    np.testing.assert_allclose(found.variance, (x[:, chosen] ** 2).sum(axis=1), rtol=1e-12)


def test_groups_are_disjoint_and_hold_no_useless_feature() -> None:
    x, y = random_data(80)
    x[:, [2, 9]] = 0
    for p, r in ((5, 2), (50, 4), (1, 1)):
        algorithm = sbcw(features=p, group_size=r)
        state = learned_batches(algorithm, (x, y))
        chosen = list(chain(*groups_of(algorithm, state)))
        assert len(chosen) == len(set(chosen)) == min(p, 10)
        assert not {2, 9} & set(chosen)
        assert all(len(b) <= r for b in groups_of(algorithm, state))


@pytest.mark.parametrize("passes", [1, 5000])
@pytest.mark.parametrize("measured", [12, 5, 0])
def test_the_score_is_the_gain_of_a_newton_step(
    passes: int, measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together with the chosen features, or alone for those with a small bound of the gain; also
    from weights that are not optimal."""
    monkeypatch.setattr(newton_gain, "MEASURED", measured)
    x, y = random_data(85)
    x[:, 3] = x[:, 0] + 0.1 * x[:, 3]
    C, c, K, sigma = 2.0, 0.4, 3, 0.2
    members = [np.array([0, 5]), np.array([1, 2])]
    chosen = np.concatenate(members)
    rows = problem_over(x, y, members, C, c, 2, sigma)
    found = rows.metric(rows.start(), passes, 1e-12)
    algorithm = sbcw(C=C, precision_divisor=C / c, features=6, group_size=2, sigma=sigma)
    state = algorithm.new_state()
    columns = Columns(slot_rows(x, y, state), state.index, np.empty(0, dtype=np.int32))
    side = Side(algorithm.params, y, np.zeros(12), rows.groups, (), None)
    side.found, side.problem, side.chosen = found, rows, chosen
    score = algorithm.score(side, columns, K, 1 + c * columns.squares)

    mu, own, L = np.zeros(12), (sigma + K) * (1 + c * (x**2).sum(axis=0)), np.zeros((4, 4))
    mu[chosen] = found.mu
    for k, B in enumerate(members):
        at = slice(2 * k, 2 * k + 2)
        L[at, at] = (np.eye(2) + c * x[:, B].T @ x[:, B]) * (sigma + 1 / found.share[k])
    joint = slow_gains(x, y, mu, L, chosen, own, C)
    wrong = y * (x @ mu) < 1
    H = C * x[wrong].T @ x[wrong]
    g = C * x[wrong].T @ (y - x @ mu)[wrong]
    v = np.linalg.solve(L + H[np.ix_(chosen, chosen)], g[chosen] - L @ mu[chosen])
    r = g - H[:, chosen] @ v
    others = np.setdiff1d(np.arange(12), chosen)
    low, high = (r**2 / (own + np.diag(H)))[others], (r**2 / own)[others]
    assert (low <= joint[others] * (1 + 1e-9)).all() and (joint[others] <= high * (1 + 1e-9)).all()
    may_win = high >= np.sort(low)[-2]  # of two features that are to be chosen
    may_win &= np.argsort(np.argsort(-high)) < max(measured, 4)
    wanted = np.where(may_win, joint[others], low)
    np.testing.assert_allclose(score[others], wanted, rtol=1e-9, atol=1e-12)
    if measured == 12:
        assert set(np.argsort(score[others])[-2:]) == set(np.argsort(joint[others])[-2:])
    assert not np.allclose(joint[others], low, rtol=0.05)


def test_many_rows_with_an_error_are_represented_by_a_sample() -> None:
    h = np.where(np.arange(5000) % 3 == 0, 1 + np.arange(5000) % 7, 0).astype(float)
    some = sampled(h, 400)
    assert np.count_nonzero(some) == 400
    kept = np.flatnonzero(some)
    assert (h[kept] > 0).all()
    np.testing.assert_allclose(some[kept] / h[kept], h.sum() / h[kept].sum(), rtol=1e-12)
    assert np.std(np.diff(kept)) > 5  # not every n-th row, which could all be of one class
    assert sampled(h, 5000) is h
    h[[6, 9]] = 1e4, 1e6  # such rows are kept as they are, and the others represent the rest
    some = sampled(h, 400)
    assert some[[6, 9]].tolist() == [1e4, 1e6]
    assert some.sum() == pytest.approx(h.sum())
    rest = np.setdiff1d(np.flatnonzero(some), [6, 9])
    np.testing.assert_allclose(some[rest] / h[rest], (h.sum() - 1.01e6) / h[rest].sum())


@pytest.mark.parametrize("given", [{}, {"solver": "exact", "sigma": 0.3}])
def test_the_penalty_touches_the_objective_at_the_optimum(given: dict[str, Any]) -> None:
    """There the derivative of the losses is L mu."""
    x, y = random_data(87)
    algorithm = sbcw(C=2.0, precision_divisor=5.0, features=6, group_size=2, **given)
    rows = problem_over(x, y, [np.array([0, 5]), np.array([1, 2])], 2.0, 0.4, 2, 0.3)
    side = Side(algorithm.params, y, np.zeros(12), rows.groups, (), None)
    side.problem = rows
    if given:
        ridge = rows.bounds.ridge
        side.found = rows.conjugate(rows.start(), 20_000, 1e-13, exact=True, ridge=ridge)
    else:
        side.found = rows.metric(rows.start(), 20_000, 1e-13)
    mu, chosen = side.found.mu, [0, 5, 1, 2]
    xi = np.maximum(0, 1 - y * (x[:, chosen] @ mu))
    np.testing.assert_allclose(side.penalty @ mu, 2 * x[:, chosen].T @ (xi * y), atol=1e-4)


@pytest.mark.parametrize("carry", ["keep", "restart"])
def test_the_score_has_the_precision_of_the_new_group(
    carry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of all rows so far with `carry=keep`, and with what old groups know with restart."""
    x, y = random_data(88, n=90)
    seen = []
    plain = SBCW.score

    def noted(self: SBCW, side: Side, columns: Columns, K: int, precision: Any) -> Any:
        seen.append(precision)
        return plain(self, side, columns, K, precision)

    monkeypatch.setattr(SBCW, "score", noted)
    more = {"features": 4 if carry == "keep" else 6, "group_size": 2, "carry": carry}
    first = sbcw(C=2.0, precision_divisor=5.0, **{**more, "features": 2})
    state = learned_batches(first, (x[:30], y[:30]))
    old = first.chosen(state)
    second = sbcw(C=2.0, precision_divisor=5.0, **more)
    rows = slot_rows(x[30:], y[30:], state)
    second.learn(state, rows, np.arange(60), Run())
    squares, before = (x[30:] ** 2).sum(axis=0), np.zeros(12)
    before[old] = (x[:30, old] ** 2).sum(axis=0)
    wanted = 1 + 0.4 * (1.5 * squares if carry == "keep" else squares + before)
    np.testing.assert_allclose(seen[-1], wanted, rtol=1e-12)


def test_a_sample_of_the_rows_chooses_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = random_data(86, n=3000)
    given = {"C": 2.0, "precision_divisor": 10.0, "features": 6, "group_size": 1}
    every = learned_batches(sbcw(**given), (x, y))
    monkeypatch.setattr(subproblem, "SAMPLE", 500)
    some = learned_batches(sbcw(**given), (x, y))
    a, b = (set(sbcw().chosen(state).tolist()) for state in (every, some))
    assert len(a & b) >= 5
    assert some.arrays["score"].tolist() != every.arrays["score"].tolist()


def test_equal_scores_go_to_the_lowest_id() -> None:
    assert largest(np.array([0.0, 2, 1, 2, 2, 0]), 2).tolist() == [1, 3]
    assert largest(np.array([0.0, 2, 1, 2, 2, 0]), 9).tolist() == [1, 2, 3, 4]
    assert largest(np.array([0.0]), 1).tolist() == []


def test_the_converged_result_does_not_depend_on_the_order() -> None:
    x, y = random_data(90)
    given = {
        "features": 6,
        "group_size": 3,
        "group_passes": 5000,
        "tol": 1e-9,
        "C": 2.0,
        "precision_divisor": 10.0,
    }
    plain = learned_batches(sbcw(**given), (x, y))
    for seed in (1, 2):
        algorithm = sbcw(**given, shuffle=True)
        mixed = learned_batches(algorithm, (x, y), seed=seed)
        assert groups_of(algorithm, mixed) == groups_of(algorithm, plain)
        np.testing.assert_allclose(mean_of(mixed, 12), mean_of(plain, 12), atol=1e-3)
    once = {**given, "group_passes": 1}
    online = [learned_batches(sbcw(**once), s) for s in ((x, y), (x[::-1], y[::-1]))]
    assert not np.allclose(*(mean_of(s, 12) for s in online), atol=1e-3)


def test_variance_is_that_of_the_groups() -> None:
    x, y = random_data(100)
    algorithm = sbcw(C=2.0, precision_divisor=5.0, features=7, group_size=3)
    state = learned_batches(algorithm, (x, y))
    members = [np.array(b) for b in groups_of(algorithm, state)]
    slow = Slow(x, y, members, 2.0, 0.4, 2, 0.0)
    expected = sum((xh**2).sum(axis=1) for xh in slow.xh)
    rows = replace(slot_rows(2 * x, y, state), scale=0.5)
    found = algorithm.scores(state, rows, np.empty(0), Run())
    np.testing.assert_allclose(found.variance, expected, rtol=1e-10)
    slots = np.arange(12, dtype=np.int32)
    weight, variance, _ = algorithm.coefficients(state, slots)
    np.testing.assert_allclose(found.score, x @ weight, atol=1e-12)
    for B, L in zip(members, slow.L, strict=True):
        np.testing.assert_allclose(variance[B], np.diag(np.linalg.inv(L @ L.T)), rtol=1e-10)


def test_the_objective_can_end_the_choice() -> None:
    x, y = random_data(140)
    given = {"features": 12, "group_size": 1, "group_passes": 500, "tol": 1e-5, "C": 0.05}
    some, every = (learned_batches(sbcw(**given, change=c), (x, y)) for c in (0.05, 0.0))
    assert 1 < len(some.arrays["theta"]) < len(every.arrays["theta"]) == 12


def test_exact_steps_need_sigma() -> None:
    with pytest.raises(UsageError, match="needs `sigma` above 0"):
        sbcw(solver="exact")
