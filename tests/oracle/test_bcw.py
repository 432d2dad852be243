"""BCW and DCD against frozen vectors, dense text-book versions, and each other."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.algorithms import metric
from cwtool.algorithms.bcw import BCW, BcwParams
from cwtool.algorithms.dcd import DCD, DcdParams
from cwtool.data import Block
from cwtool.data.timeslots import joined, time_slots
from cwtool.state import State

VECTORS = json.loads((Path(__file__).parent / "vectors/bcw-sbcw/vectors.json").read_text())
X, Y = np.array(VECTORS["bcw_X"]), np.array(VECTORS["bcw_y"])
FORMS = [metric.Whitened, metric.Covariance, metric.Kernel]
LOSS = {1: "hinge", 2: "squared-hinge"}


def block_of(x: np.ndarray, y: np.ndarray) -> Block:
    rows = [[(j, float(v)) for j, v in enumerate(row) if v] for row in x]
    return Block.from_rows(rows, y.tolist())


def learned(slots: list[tuple[np.ndarray, np.ndarray]], **params: Any) -> tuple[BCW, State]:
    """BCW after these slots; the features are seen in order, so slot j is column j."""
    algorithm = BCW(BcwParams(**{"kappa": 1.0, "prior": 1.0, "average": False, **params}))
    state = algorithm.new_state()
    for x, y in slots:
        block = block_of(x, y)
        everything = block_of(np.ones((1, x.shape[1])), np.ones(1))
        state.features.observe(everything)
        state.features.observe(block)
        algorithm.learn(block, state, block.order)
    return algorithm, state


def slow_bcw(x, y, C, c, q, epochs, mu=None, D=None):
    """Algorithm 1 in the original space, with Sigma in full."""
    sigma = np.linalg.inv(np.eye(x.shape[1]) + c * x.T @ x)
    mu = np.zeros(x.shape[1]) if mu is None else mu.copy()
    a = np.zeros(len(y))
    D = (0.0 if q == 1 else 1 / C) if D is None else D
    U = C if q == 1 else np.inf
    for _ in range(epochs):
        for i in range(len(y)):
            v = x[i] @ sigma @ x[i]
            g = 1 - y[i] * (mu @ x[i]) - D * a[i]
            new = U if v + D == 0 else min(max(a[i] + g / (v + D), 0), U)
            mu += (new - a[i]) * y[i] * sigma @ x[i]
            a[i] = new
    return mu, a


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", range(len(VECTORS["bcw"])))
def test_frozen_vectors_of_one_slot(case: int, form: type[metric.Metric]) -> None:
    v = VECTORS["bcw"][case]
    C, q = v["C"], v["q"]
    block = block_of(X, Y)
    ridge = 0.0 if q == 1 else {"1/C": 1 / C, "0.5/C": 0.5 / C}[v["D"]]
    upper = C if q == 1 else np.inf
    inverse = form(np.tril(X.T @ X), 4, C, 1)
    epochs = 1 if v["kind"] == "one pass" else 100000
    mu, a, _ = inverse.ascend(block, np.zeros(4), ridge, upper, epochs)
    tolerance = 1e-9 if v["kind"] == "one pass" else 1e-7
    np.testing.assert_allclose(mu, v["mu"], rtol=tolerance, atol=tolerance)
    if v["kind"] == "one pass":
        np.testing.assert_allclose(a, v["alpha"], rtol=1e-9, atol=1e-9)
        return
    xi = np.maximum(0, 1 - Y * (X @ mu))
    primal = mu @ (np.eye(4) + C * X.T @ X) @ mu / 2 + C / q * (xi**q).sum()
    assert primal == pytest.approx(v["P"], rel=1e-7)
    assert primal == pytest.approx(v["Dual"], rel=1e-6)


@pytest.mark.parametrize("case", range(len(VECTORS["bcw_batches"])))
def test_frozen_vectors_over_slots(case: int) -> None:
    v = VECTORS["bcw_batches"][case]
    slots = [(X[a:b], Y[a:b]) for a, b in v["batches"]]
    _, state = learned(slots, C=v["C"], loss=LOSS[v["q"]], carry=v["carry"])
    table = state.features.table[:4]
    np.testing.assert_allclose(table[:, 0], v["mu"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(table[:, 1], v["b"], rtol=1e-9, atol=1e-9)
    precision = 1 + v["C"] * np.diag(state.squares["gram"])
    np.testing.assert_allclose(precision, v["P_diag"], rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("epochs", [1, 4])
def test_forms_agree_with_the_slow_one(form: type[metric.Metric], q: int, epochs: int) -> None:
    rng = np.random.default_rng(q)
    x = rng.normal(size=(300, 12)) * (rng.random((300, 12)) < 0.6)
    x[7] = 0
    y = np.sign(x @ rng.normal(size=12) + 0.3 * rng.normal(size=300))
    C, c = 0.7, 0.05
    mu, a, done = form(np.tril(x.T @ x), 12, c, 2).ascend(
        block_of(x, y), np.zeros(12), 0.0 if q == 1 else 1 / C, C if q == 1 else np.inf, epochs
    )
    slow_mu, slow_a = slow_bcw(x, y, C, c, q, epochs)
    assert done == epochs
    np.testing.assert_allclose(mu, slow_mu, atol=1e-10)
    np.testing.assert_allclose(a, slow_a, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_late_mean_is_the_mean_over_the_second_half(form: type[metric.Metric]) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(20, 4))
    y = np.sign(x @ rng.normal(size=4) + rng.normal(size=20))
    path = [slow_bcw(x[: i + 1], y[: i + 1], 1.0, 0.0, 1, 1)[0] for i in range(20)]
    # with c = 0 the metric does not depend on the rows, so prefixes give the path
    inverse = form(np.tril(x.T @ x), 4, 0.0, 1)
    mu, a, _ = inverse.ascend(block_of(x, y), np.zeros(4), 0.0, 1.0, 1)
    np.testing.assert_allclose(mu, path[-1], atol=1e-12)
    late = inverse.late_mean(block_of(x, y), mu, a)
    np.testing.assert_allclose(late, np.mean(path[10:], axis=0), atol=1e-12)


def test_gram_sparse_is_gram_dense() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(700, 30)) * (rng.random((700, 30)) < 0.3)
    block = replace(block_of(x, np.ones(700)), scale=0.5)
    totals = []
    for jobs, scattered in ((1, 1e9), (3, 1e9), (1, 0.0)):
        gram = np.zeros((30, 30))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(metric, "SCATTERED", scattered)
            metric.add_gram(block, gram, 30, jobs)
        np.testing.assert_allclose(np.tril(gram), np.tril(x.T @ x) / 4, atol=1e-12)
        totals.append(gram)
    assert np.array_equal(totals[0], totals[1])


def test_small_c_is_ridge_regression_and_slots_do_not_matter() -> None:
    """All dual variables at C: mu = (I/C + X'X)^-1 X'y, in one slot or in several."""
    rng = np.random.default_rng(2)
    x, y, C = rng.normal(size=(60, 8)), np.sign(rng.normal(size=60)), 1e-3
    ridge = np.linalg.solve(np.eye(8) / C + x.T @ x, x.T @ y)
    for cuts in ([], [20, 41]):
        slots = list(zip(np.split(x, cuts), np.split(y, cuts), strict=True))
        _, state = learned(slots, C=C, carry="dual")
        np.testing.assert_allclose(state.features.table[:8, 0], ridge, atol=1e-12)


def test_precision_does_not_depend_on_the_cut() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 5)), np.sign(rng.normal(size=40))
    _, one = learned([(x, y)])
    _, two = learned([(x[:13], y[:13]), (x[13:], y[13:])])
    np.testing.assert_allclose(one.squares["gram"], two.squares["gram"], rtol=1e-12)


def test_leverage_bounds() -> None:
    """|xh_i|^2 < 1/c and their sum is at most d/c."""
    rng = np.random.default_rng(4)
    x, c = rng.normal(size=(50, 6)), 3.0
    whitened = metric.Whitened(np.tril(x.T @ x), 6, c, 1)
    _, _, v = whitened._whitened(block_of(x, np.ones(50)))(0)
    assert v.max() < 1 / c
    assert v.sum() <= 6 / c


def test_dcd_reaches_the_optimum_of_the_svm() -> None:
    """Duality gap of the plain SVM, both losses, and what was learned before is kept."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 10))
    y = np.sign(x @ rng.normal(size=10) + rng.normal(size=200))
    for q in (1, 2):
        C = 0.5
        algorithm = DCD(DcdParams(C=C, loss=LOSS[q], tol=1e-9, prior=1.0))
        state = algorithm.new_state()
        block = block_of(x, y)
        state.features.observe(block)
        algorithm.learn(block, state, block.order)
        w = state.features.table[:10, 0].copy()
        xi = np.maximum(0, 1 - y * (x @ w))
        primal = w @ w / 2 + C / q * (xi**q).sum()
        _, a = slow_bcw(x, y, C, 0.0, q, 3000)
        dual_value = a.sum() - (q - 1) * (a @ a) / (2 * C) - ((a * y) @ x) @ ((a * y) @ x) / 2
        assert primal == pytest.approx(dual_value, rel=1e-8)
        algorithm.learn(block, state, block.order)
        assert not np.array_equal(state.features.table[:10, 0], w)


def test_shrinking_changes_nothing_but_time() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(400, 6))
    y = np.sign(x[:, 0] + 0.5 * rng.normal(size=400))
    found = []
    for tol in (1e-3, 1e-8):
        algorithm = DCD(DcdParams(C=1.0, tol=tol, prior=1.0))
        state = algorithm.new_state()
        block = block_of(x, y)
        state.features.observe(block)
        algorithm.learn(block, state, block.order)
        found.append(state.features.table[:6, 0].copy())
    np.testing.assert_allclose(*found, atol=1e-2)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 30, 1000])
def test_time_slots(n_rows: int) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(60, 4))
    whole = block_of(x, np.ones(60))
    blocks = [replace(whole.rows(a, b), file=f) for a, b, f in
              ((0, 11, 0), (11, 25, 0), (25, 26, 1), (26, 60, 1))]  # fmt: skip
    slots = list(time_slots(blocks, n_rows))
    sizes = [[s.n_rows for s in slots if s.file == f] for f in (0, 1)]
    assert [sum(s) for s in sizes] == [25, 35]
    for in_file in sizes:
        assert all(n == n_rows for n in in_file[:-1]) if n_rows else len(in_file) == 1
    again = joined(slots)
    assert np.array_equal(again.values, whole.values)
    assert np.array_equal(again.indptr, whole.indptr)
