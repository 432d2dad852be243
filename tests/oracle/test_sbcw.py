"""SBCW and FGM against frozen vectors, the slow dense version, and what must hold of both."""

import json
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blocks import Slow, omega, slow_sbcw
from scipy.sparse import csc_matrix

from cwtool.algorithms.groups import Groups, Rows
from cwtool.algorithms.inverted import Columns, Matrix
from cwtool.algorithms.sbcw import FGM, PLACE, SBCW, FgmParams, SbcwParams, largest
from cwtool.data import Block
from cwtool.errors import UsageError
from cwtool.state import State
from cwtool_ext import sbcw as kernel

FOLDER = Path(__file__).parent / "vectors/bcw-sbcw"
VECTORS = json.loads((FOLDER / "vectors.json").read_text())
DEFAULT = json.loads((FOLDER / "default_mode.json").read_text())["sbcw_default_mode"]
X, Y = np.array(VECTORS["sbcw_X"]), np.array(VECTORS["sbcw_y"])
LOSS = {1: "hinge", 2: "squared-hinge"}
PLAIN: dict[str, Any] = {"prior": 1.0, "shuffle": False, "final_sweeps": 0, "tol": 0.0}


def block_of(x: np.ndarray, y: np.ndarray) -> Block:
    rows = [[(j, float(v)) for j, v in enumerate(row) if v] for row in x]
    return Block.from_rows(rows, y.tolist())


def learned(algorithm: FGM, *slots: tuple[np.ndarray, np.ndarray]) -> State:
    state = algorithm.new_state()
    for x, y in slots:
        block = block_of(x, y)
        state.features.observe(block)
        algorithm.learn(block, state, block.order)
    return state


def sbcw(**params: Any) -> SBCW:
    return SBCW(SbcwParams(**{**PLAIN, **params}))


def blocks_of(algorithm: FGM, state: State) -> list[list[int]]:
    chosen = algorithm.chosen(state)
    return [chosen[at].tolist() for _, at in algorithm.groups(state).parts()]


def mean_of(state: State, d: int) -> np.ndarray:
    return state.features.table[:d, 0].copy()


def random_data(seed: int, n: int = 60, d: int = 12, density: float = 0.6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    x[3] = 0
    return x, np.sign(x @ rng.normal(size=d) + 0.5 * rng.normal(size=n) + 1e-9)


def rows_over(x, y, blocks, C, c, q, sigma) -> Rows:
    """The subproblem over given blocks."""
    groups = Groups(c, max(map(len, blocks)))
    for B in blocks:
        groups.add(x[:, B].T @ x[:, B])
    chosen = np.concatenate(blocks)
    part = csc_matrix(x[:, chosen])
    columns = Matrix(part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data)
    empty = Rows.empty(y, groups, C, q, sigma, lambda: np.arange(len(y)))
    return empty.widened(columns, np.arange(len(chosen)), np.zeros(len(chosen)))


@pytest.mark.parametrize("v", VECTORS["omega"])
def test_frozen_vectors_of_omega(v) -> None:
    a = np.array(v["a"])
    t = np.empty(len(a))
    S = kernel.omega(a, v["sigma"], t)
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
            S = kernel.omega(a, sigma, t)
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
    blocks = [np.arange(a, b) for a, b in pairwise(ends.tolist())]
    rows = rows_over(x, y, blocks, v["C"], 0.0, v["q"], v["sigma"])
    if "kind" not in v:
        found = rows.metric(rows.start(), 5000, 1e-9)
        assert found.primal == pytest.approx(v["P_opt"], rel=1e-7)
        np.testing.assert_allclose(found.mu, v["w_opt"], atol=2e-4)
        return
    ridge = rows.ridge
    exact = v["kind"].endswith("exact")
    if not exact and v["q"] == 2:
        ridge = 0.5 / v["C"]
    found = rows.conjugate(rows.start(), 1, 0.0, exact=exact, ridge=ridge)
    np.testing.assert_allclose(found.beta, v["beta"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.mu, v["w"], rtol=1e-9, atol=1e-9)
    assert found.primal == pytest.approx(v["P"], rel=1e-9)
    assert found.dual == pytest.approx(v["D"], rel=1e-9)


@pytest.mark.parametrize("v", VECTORS["sbcw"])
def test_frozen_vectors(v) -> None:
    online = v["mode"] != "converged"
    algorithm = sbcw(
        C=v["C"], kappa=v["C"] / v["cov_C"] if v["cov_C"] else 1e300, loss=LOSS[v["q"]],
        sigma=v["sigma"], features=v["r"] * v["m_iter"], block=v["r"], score="plain",
        solver="printed" if online else "mm", sweeps=600, tol=1e-8,
    )  # fmt: skip
    state = learned(algorithm, (X, Y))
    assert blocks_of(algorithm, state) == v["blocks"]
    rtol = 1e-9 if online else 1e-6
    np.testing.assert_allclose(state.arrays["theta"], v["theta"], rtol=rtol)
    np.testing.assert_allclose(mean_of(state, X.shape[1]), v["mu"], atol=v["mu_tol"])


@pytest.mark.parametrize("v", DEFAULT)
def test_frozen_vectors_of_the_default_mode(v) -> None:
    algorithm = sbcw(
        C=v["C"], kappa=v["kappa"], loss=LOSS[v["q"]], block=v["r"], score="diag",
        features=v["p"] or v["r"] * v["m_iter"],
    )  # fmt: skip
    state = learned(algorithm, (X, Y))
    assert blocks_of(algorithm, state) == v["blocks"]
    np.testing.assert_allclose(state.arrays["theta"], v["P"], rtol=1e-9)
    np.testing.assert_allclose(mean_of(state, X.shape[1]), v["mu"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("sigma", [0.0, 0.3])
@pytest.mark.parametrize("kappa", [1.0, 20.0])
@pytest.mark.parametrize("score", ["gain", "diag", "plain"])
def test_agrees_with_the_slow_one(q: int, sigma: float, kappa: float, score: str) -> None:
    x, y = random_data(q)
    algorithm = sbcw(
        C=2.0, kappa=kappa, loss=LOSS[q], sigma=sigma, features=8, block=3, sweeps=3, score=score
    )
    state = learned(algorithm, (x, y))
    blocks, mu, thetas, beta = slow_sbcw(
        x, y, C=2.0, c=2.0 / kappa, q=q, sigma=sigma, p=8, r=3, passes=3, score=score
    )
    assert blocks_of(algorithm, state) == blocks
    np.testing.assert_allclose(state.arrays["theta"], thetas, rtol=1e-10)
    np.testing.assert_allclose(mean_of(state, 12), mu, atol=1e-10)
    np.testing.assert_allclose(state.features.table[:12, 1], x.T @ (beta * y), atol=1e-9)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("step", ["printed", "exact"])
def test_conjugate_steps_agree_with_the_slow_ones(q: int, step: str) -> None:
    x, y = random_data(q + 10, n=30)
    blocks = [np.array([0, 5, 7]), np.array([1, 2]), np.array([3, 8, 10])]
    slow = Slow(x, y, blocks, 0.7, 0.1, q, 0.4)
    rows = rows_over(x, y, blocks, 0.7, 0.1, q, 0.4)
    found, beta, before = rows.start(), np.zeros(30), -np.inf
    for _ in range(3):
        found = rows.conjugate(found, 1, 0.0, exact=step == "exact", ridge=rows.ridge)
        beta = slow.online(beta, step)
        np.testing.assert_allclose(found.beta, beta, atol=1e-8)
        assert found.dual == pytest.approx(slow.dual(beta), rel=1e-8)
        assert found.primal == pytest.approx(slow.primal(slow.gradient(slow.z(beta))), rel=1e-7)
        if step == "exact":
            assert found.dual >= before
        before = found.dual


@pytest.mark.parametrize("q", [1, 2])
def test_the_gap_is_a_certificate(q: int) -> None:
    """Never negative, for any feasible dual variables; closed by more sweeps; and where
    w = grad Omega*(z) it is the sum of C/q xi^q - b (1 - m) + (q-1) b^2/(2C)."""
    x, y = random_data(20 + q)
    blocks = [np.array([0, 5, 7]), np.array([1, 2]), np.array([3, 8, 10])]
    rng, C = np.random.default_rng(q), 1.5
    rows = rows_over(x, y, blocks, C, 0.02, q, 0.2)
    for _ in range(30):
        start = replace(rows.start(), beta=rng.random(60) * C)
        found = rows.conjugate(start, 1, 0.0, exact=True, ridge=rows.ridge)
        m = y * (x[:, np.concatenate(blocks)] @ found.mu)
        b, xi = found.beta, np.maximum(0, 1 - m)
        terms = C / q * xi**q - b * (1 - m) + (q - 1) * b**2 / (2 * C)
        assert terms.min() >= -1e-12
        assert found.primal - found.dual == pytest.approx(terms.sum(), rel=1e-8)
        found = rows.metric(start, 2, 0.0)
        assert found.primal >= found.dual
    assert rows.metric(rows.start(), 500, 1e-6).near(1e-6)


@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_more_sweeps_of_the_metric_are_never_worse(sigma: float) -> None:
    """The best primal falls, the dual rises, and they meet."""
    x, y = random_data(25)
    rows = rows_over(x, y, [np.arange(0, 5), np.arange(5, 9)], 1.5, 0.05, 2, sigma)
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


def test_theta_falls_and_sigma_bounds_it() -> None:
    """theta_t does not rise with t when solved; theta_0 <= theta_sigma <= (1 + sigma) theta_0."""
    x, y = random_data(30, n=80)
    solved = {"features": 10, "block": 2, "sweeps": 3000, "tol": 1e-7, "C": 1.0, "kappa": 10.0}
    thetas = {s: learned(sbcw(sigma=s, **solved), (x, y)).arrays["theta"] for s in (0.0, 0.1)}
    assert len(thetas[0.0]) == 5
    assert (np.diff(thetas[0.0]) <= 1e-6 * thetas[0.0][0]).all()
    assert thetas[0.0][-1] < 0.95 * thetas[0.0][0]
    blocks = [np.arange(0, 4), np.arange(4, 9)]
    a, b = (rows_over(x, y, blocks, 1.0, 0.1, 2, s) for s in (0.0, 0.1))
    low, high = (rows.metric(rows.start(), 5000, 1e-8).primal for rows in (a, b))
    assert low * (1 - 1e-6) <= high <= 1.1 * low * (1 + 1e-6)
    assert high > low


def test_one_block_of_everything_is_bcw() -> None:
    from test_bcw import slow_bcw

    x, y = random_data(40)
    for q in (1, 2):
        algorithm = sbcw(C=0.8, kappa=4.0, loss=LOSS[q], features=12, block=12, sweeps=1)
        state = learned(algorithm, (x, y))
        mu, _ = slow_bcw(x, y, 0.8, 0.2, q, 1)
        np.testing.assert_allclose(mean_of(state, 12), mu, atol=1e-10)


def test_symmetries() -> None:
    """Permuted features, turned labels, scaled rows."""
    x, y = random_data(50)
    given = {"C": 3.0, "kappa": 10.0, "features": 6, "block": 2}
    mu = mean_of(learned(sbcw(**given), (x, y)), 12)
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_allclose(
        mean_of(learned(sbcw(**given), (x[:, order], y)), 12), mu[order], atol=1e-9
    )
    np.testing.assert_allclose(mean_of(learned(sbcw(**given), (x, -y)), 12), -mu, atol=1e-12)
    plain, scaled = (learned(sbcw(**{**given, "C": 3.0 / s**2}), (s * x, y)) for s in (1.0, 5.0))
    np.testing.assert_allclose(mean_of(scaled, 12), mu / 5, atol=1e-10)
    dual = plain.features.table[:12, 1]  # sum b y x: b / 25 of rows times 5
    np.testing.assert_allclose(scaled.features.table[:12, 1], dual / 5, atol=1e-10)


def test_without_covariance_it_is_fgm() -> None:
    x, y = random_data(60)
    given = {**PLAIN, "C": 3.0, "features": 6, "block": 2}
    fgm = FGM(FgmParams(**given))
    one, two = learned(fgm, (x, y)), learned(sbcw(**given, kappa=1e300, score="plain"), (x, y))
    assert np.array_equal(mean_of(one, 12), mean_of(two, 12))
    found = fgm.scores(block_of(x, y), one, np.empty(0))
    chosen = fgm.chosen(one)
    np.testing.assert_allclose(found.variance, (x[:, chosen] ** 2).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("q", [1, 2])
def test_rows_without_chosen_features(q: int) -> None:
    """b = C for both losses, and no effect on w."""
    x, y = random_data(70)
    blocks, C = [np.array([0, 1]), np.array([2, 4])], 0.9
    x[10:20, [0, 1, 2, 4]] = 0
    rows = rows_over(x, y, blocks, C, 0.1, q, 0.0)
    found = rows.metric(rows.start(), 3, 0.0)
    np.testing.assert_allclose(found.beta[10:20], C, rtol=1e-12)
    keep = np.r_[0:10, 20:60]
    without = rows_over(x[keep], y[keep], blocks, C, 0.1, q, 0.0)
    np.testing.assert_allclose(without.metric(without.start(), 3, 0.0).mu, found.mu, rtol=1e-12)


def test_blocks_are_disjoint_and_hold_no_useless_feature() -> None:
    x, y = random_data(80)
    x[:, [2, 9]] = 0
    for p, r in ((5, 2), (50, 4), (1, 1)):
        algorithm = sbcw(features=p, block=r)
        state = learned(algorithm, (x, y))
        chosen = list(chain(*blocks_of(algorithm, state)))
        assert len(chosen) == len(set(chosen)) == min(p, 10)
        assert not {2, 9} & set(chosen)
        assert all(len(b) <= r for b in blocks_of(algorithm, state))


def test_the_score_is_the_gain_of_a_newton_step() -> None:
    """s_j^2 / 2H for s_j and H as differences of the problem with one more block, of share 1/K."""
    x, y = random_data(85)
    C, c, K = 2.0, 0.4, 3
    blocks = [np.array([0, 5]), np.array([1, 2])]
    rows = rows_over(x, y, blocks, C, c, 2, 0.0)
    found = rows.metric(rows.start(), 5000, 1e-12)
    f = y * (x[:, np.concatenate(blocks)] @ found.mu)
    algorithm = sbcw(C=C, kappa=C / c, features=6, block=2)
    block = block_of(x, y)
    state = algorithm.new_state()
    state.features.observe(block)
    columns = Columns(block, state, np.empty(0, dtype=np.int32))
    score = algorithm.score(np.zeros(12), found.beta * y, columns, K)
    step = 1e-5
    for j in set(range(12)) - {0, 1, 2, 5}:

        def objective(w: float, j: int = j) -> float:
            xi = np.maximum(0, 1 - f - y * x[:, j] * w)
            return float(K / 2 * (1 + c * x[:, j] @ x[:, j]) * w**2 + C / 2 * (xi @ xi))

        low, middle, high = (objective(w) for w in (-step, 0.0, step))
        slope, bend = (high - low) / (2 * step), (high - 2 * middle + low) / step**2
        assert score[j] == pytest.approx(slope**2 / bend, rel=1e-3)


def test_equal_scores_go_to_the_lowest_id() -> None:
    assert largest(np.array([0.0, 2, 1, 2, 2, 0]), 2).tolist() == [1, 3]
    assert largest(np.array([0.0, 2, 1, 2, 2, 0]), 9).tolist() == [1, 2, 3, 4]
    assert largest(np.array([0.0]), 1).tolist() == []


def test_the_converged_result_does_not_depend_on_the_order() -> None:
    x, y = random_data(90)
    given = {"features": 6, "block": 3, "sweeps": 5000, "tol": 1e-9, "C": 2.0, "kappa": 10.0}
    plain = learned(sbcw(**given), (x, y))
    for seed in (1, 2):
        algorithm = sbcw(**given, shuffle=True)
        algorithm.seed = seed
        mixed = learned(algorithm, (x, y))
        assert blocks_of(algorithm, mixed) == blocks_of(algorithm, plain)
        np.testing.assert_allclose(mean_of(mixed, 12), mean_of(plain, 12), atol=1e-3)
    once = {**given, "sweeps": 1}
    online = [learned(sbcw(**once), s) for s in ((x, y), (x[::-1], y[::-1]))]
    assert not np.allclose(*(mean_of(s, 12) for s in online), atol=1e-3)


def test_variance_is_that_of_the_blocks() -> None:
    x, y = random_data(100)
    algorithm = sbcw(C=2.0, kappa=5.0, features=7, block=3)
    state = learned(algorithm, (x, y))
    blocks = [np.array(b) for b in blocks_of(algorithm, state)]
    slow = Slow(x, y, blocks, 2.0, 0.4, 2, 0.0)
    expected = sum((xh**2).sum(axis=1) for xh in slow.xh)
    block = replace(block_of(2 * x, y), scale=0.5)
    found = algorithm.scores(block, state, np.empty(0))
    np.testing.assert_allclose(found.variance, expected, rtol=1e-10)
    slots = np.arange(12, dtype=np.int32)
    weight, variance = algorithm.weights(state, slots)
    np.testing.assert_allclose(found.score, x @ weight, atol=1e-12)
    for B, L in zip(blocks, slow.L, strict=True):
        np.testing.assert_allclose(variance[B], np.diag(np.linalg.inv(L @ L.T)), rtol=1e-10)


def test_kept_blocks_go_on() -> None:
    """The second slot adds to G and s of the blocks of the first, and takes none of the rest."""
    x, y = random_data(110, n=100)
    algorithm = sbcw(C=2.0, kappa=5.0, features=6, block=3, sweeps=2000, tol=1e-10)
    state = learned(algorithm, (x[:60], y[:60]))
    blocks, before = blocks_of(algorithm, state), state.features.table[:12].copy()
    late = block_of(x[60:], y[60:])
    algorithm.learn(late, state, late.order)
    assert blocks_of(algorithm, state) == blocks
    groups = algorithm.groups(state)
    for (_, at), B in zip(groups.parts(), blocks, strict=True):
        np.testing.assert_allclose(groups.gram[at, : len(B)], x[:, B].T @ x[:, B], rtol=1e-10)
    added = state.features.table[:12, 1] - before[:, 1]
    beta = np.linalg.lstsq((x[60:] * y[60:, None]).T, added, rcond=None)[0]
    np.testing.assert_allclose((x[60:] * y[60:, None]).T @ beta, added, atol=1e-9)
    # at the optimum of the second slot's problem, mu solves it: no step along mu lowers it
    P = np.eye(12)
    for (_, at), B in zip(groups.parts(), blocks, strict=True):
        P[np.ix_(B, B)] += 0.4 * groups.gram[at, : len(B)]

    def objective(mu: np.ndarray) -> float:
        norms = sum(np.sqrt(mu[B] @ P[np.ix_(B, B)] @ mu[B]) for B in blocks)
        xi = np.maximum(0, 1 - y[60:] * (x[60:] @ mu))
        return norms**2 / 2 - mu @ before[:, 1] + 2.0 / 2 * (xi**2).sum()

    mu, rng = mean_of(state, 12), np.random.default_rng(0)
    chosen = np.concatenate(blocks)
    for _ in range(50):
        other = mu.copy()
        other[chosen] += 1e-2 * rng.normal(size=len(chosen))
        assert objective(other) > objective(mu) - 1e-6


def test_new_blocks_of_a_later_slot_count_the_rows_before() -> None:
    x, y = random_data(120, n=100)
    first = x[:60].copy()
    first[:, 6:] = 0
    algorithm = sbcw(C=2.0, kappa=5.0, features=9, block=3)
    state = learned(algorithm, (first, y[:60]), (x[60:], y[60:]))
    blocks = blocks_of(algorithm, state)
    assert sorted(chain(*blocks[:2])) == list(range(6))
    groups, B = algorithm.groups(state), blocks[2]
    fresh = (1 + 60 / 40) * x[60:][:, B].T @ x[60:][:, B]
    np.testing.assert_allclose(groups.gram[6:9, :3], fresh, rtol=1e-10)


def test_restart_remembers_the_precision_of_old_blocks_alone() -> None:
    x, y = random_data(130, n=100)
    algorithm = sbcw(C=2.0, kappa=5.0, features=6, block=3, carry="restart")
    one = learned(algorithm, (x[:60], y[:60]))
    old, former = blocks_of(algorithm, one), algorithm.groups(one).gram.copy()
    two = learned(algorithm, (x[:60], y[:60]), (x[60:], y[60:]))
    assert not two.features.table[:12, 1].any()
    whole = np.zeros((12, 12))
    for k, B in enumerate(old):
        whole[np.ix_(B, B)] = former[3 * k : 3 * k + 3, :3]
    for k, B in enumerate(blocks_of(algorithm, two)):
        expected = whole[np.ix_(B, B)] + x[60:][:, B].T @ x[60:][:, B]
        found = algorithm.groups(two).gram[3 * k : 3 * k + 3, :3]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert np.count_nonzero(two.features.table[:12, PLACE]) == 6


def test_the_objective_can_end_the_choice() -> None:
    x, y = random_data(140)
    given = {"features": 12, "block": 1, "sweeps": 500, "tol": 1e-5, "C": 0.05}
    some, every = (learned(sbcw(**given, change=c), (x, y)) for c in (0.05, 0.0))
    assert 1 < len(some.arrays["theta"]) < len(every.arrays["theta"]) == 12


def test_exact_steps_need_sigma() -> None:
    with pytest.raises(UsageError, match="sigma above 0"):
        sbcw(solver="exact")
