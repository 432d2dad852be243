"""BCW and DCD against frozen vectors, dense text-book versions, and each other."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from few_weights import Batch, learn, learned_batches
from scipy.sparse import csr_array
from slow_batch import slow_bcw

from cwtool.algorithms.batch import gram as gram_of
from cwtool.algorithms.batch import metric
from cwtool.algorithms.batch.dual_ascent import Start
from cwtool.algorithms.batch.learner import Bounds
from cwtool.algorithms.bcw import BCW, BcwParams
from cwtool.algorithms.dcd import DCD, DcdParams
from cwtool.data.rows import Rows, SlotRows
from cwtool.run import Run
from cwtool.state import State

VECTORS = json.loads((Path(__file__).parent / "vectors/bcw-sbcw/vectors.json").read_text())
X, Y = np.array(VECTORS["bcw_X"]), np.array(VECTORS["bcw_y"])
FORMS = [metric.Whitened, metric.Covariance, metric.Kernel]
LOSS = {1: "hinge", 2: "squared-hinge"}


def rows_of(x: np.ndarray, y: np.ndarray, scale: float = 1.0) -> SlotRows:
    """Dense rows with the labels -1 and +1, by slot; the slot of column j is j."""
    rows = Rows.from_csr(csr_array(x), y > 0)
    return SlotRows(rows.indptr, rows.indices, rows.values, rows.y, scale=scale)


def learned(batches: list[Batch], **params: Any) -> State:
    """The state of BCW after these batches."""
    given = {"precision_divisor": 1.0, "prior": 1.0, "average": False, **params}
    return learned_batches(BCW(BcwParams(**given)), *batches)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", range(len(VECTORS["bcw"])))
def test_frozen_vectors_of_one_batch(case: int, form: type[metric.Metric]) -> None:
    v = VECTORS["bcw"][case]
    C, q = v["C"], v["q"]
    bounds = Bounds.of(C, LOSS[q], len(Y))
    if q == 2 and v["D"] == "0.5/C":
        bounds = Bounds.of(2 * C, LOSS[q], len(Y))
    inverse = form(np.tril(X.T @ X), 4, C, 1)
    passes = 1 if v["kind"] == "one pass" else 100000
    ((mu, a, _),) = inverse.ascend(rows_of(X, Y), [Start(Y, np.zeros(4))], bounds, passes)
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
def test_frozen_vectors_over_batches(case: int) -> None:
    v = VECTORS["bcw_batches"][case]
    batches = [(X[a:b], Y[a:b]) for a, b in v["batches"]]
    state = learned(batches, C=v["C"], loss=LOSS[v["q"]], carry=v["carry"])
    table = state.table[:4]
    np.testing.assert_allclose(table[:, 0], v["mu"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(table[:, 1], v["b"], rtol=1e-9, atol=1e-9)
    precision = 1 + v["C"] * np.diag(state.squares["gram"])
    np.testing.assert_allclose(precision, v["P_diag"], rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("passes", [1, 4])
def test_forms_agree_with_the_slow_one(form: type[metric.Metric], q: int, passes: int) -> None:
    rng = np.random.default_rng(q)
    x = rng.normal(size=(300, 12)) * (rng.random((300, 12)) < 0.6)
    x[7] = 0
    y = np.sign(x @ rng.normal(size=12) + 0.3 * rng.normal(size=300))
    C, c = 0.7, 0.05
    inverse, bounds = form(np.tril(x.T @ x), 12, c, 2), Bounds.of(C, LOSS[q], 300)
    start, other = Start(y, np.zeros(12)), Start(-np.ones(300), np.zeros(12))
    ((mu, a, done),) = inverse.ascend(rows_of(x, y), [start], bounds, passes)
    at_once = inverse.ascend(rows_of(x, y), [other, start], bounds, passes)
    assert [part.tobytes() for part in at_once[1][:2]] == [mu.tobytes(), a.tobytes()]
    slow_mu, slow_a = slow_bcw(x, y, C, c, q, passes)
    assert done == passes
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
    starts, bounds = [Start(y, np.zeros(4))], Bounds.of(1.0, "hinge", 20)
    ((mu, a, _),) = inverse.ascend(rows_of(x, y), starts, bounds, 1)
    np.testing.assert_allclose(mu, path[-1], atol=1e-12)
    late = inverse.late_mean(rows_of(x, y), y, mu, a)
    np.testing.assert_allclose(late, np.mean(path[10:], axis=0), atol=1e-12)


def test_gram_sparse_is_gram_dense() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(700, 30)) * (rng.random((700, 30)) < 0.3)
    rows = rows_of(x, np.ones(700), scale=0.5)
    totals = []
    for jobs, scattered in ((1, 1e9), (3, 1e9), (1, 0.0)):
        gram = np.zeros((30, 30))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gram_of, "SCATTERED", scattered)
            gram_of.add_gram(rows, gram, 30, jobs)
        np.testing.assert_allclose(np.tril(gram), np.tril(x.T @ x) / 4, atol=1e-12)
        totals.append(gram)
    assert np.array_equal(totals[0], totals[1])


def test_small_c_is_ridge_regression_and_batches_do_not_matter() -> None:
    """All dual variables at C: mu = (I/C + X'X)^-1 X'y, in one batch or in several."""
    rng = np.random.default_rng(2)
    x, y, C = rng.normal(size=(60, 8)), np.sign(rng.normal(size=60)), 1e-3
    ridge = np.linalg.solve(np.eye(8) / C + x.T @ x, x.T @ y)
    for cuts in ([], [20, 41]):
        batches = list(zip(np.split(x, cuts), np.split(y, cuts), strict=True))
        state = learned(batches, C=C, carry="dual")
        np.testing.assert_allclose(state.table[:8, 0], ridge, atol=1e-12)


def test_precision_does_not_depend_on_the_cut() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 5)), np.sign(rng.normal(size=40))
    one = learned([(x, y)])
    two = learned([(x[:13], y[:13]), (x[13:], y[13:])])
    np.testing.assert_allclose(one.squares["gram"], two.squares["gram"], rtol=1e-12)


def test_models_of_earlier_versions_keep_the_divisor_that_auto_chose() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(40, 5)), np.sign(rng.normal(size=40))
    algorithm = BCW(BcwParams(prior=1.0))
    state = algorithm.new_state()
    state.numbers["precision_divisor"] = 7.0
    learn(algorithm, state, (x, y))
    assert algorithm.details(state) == {"batches": 1, "precision_divisor": 7.0}
    same = learned([(x, y)], precision_divisor=7.0, average=True)
    assert state.table.tobytes() == same.table.tobytes()
    assert list(state.squares) == ["gram"]


def test_leverage_bounds() -> None:
    """|xh_i|^2 < 1/c and their sum is at most d/c."""
    rng = np.random.default_rng(4)
    x, c = rng.normal(size=(50, 6)), 3.0
    whitened = metric.Whitened(np.tril(x.T @ x), 6, c, 1)
    _, _, v = whitened.whitened(rows_of(x, np.ones(50)))(0)
    assert v.max() < 1 / c
    assert v.sum() <= 6 / c


def test_dcd_reaches_the_optimum_of_the_svm() -> None:
    """Duality gap of the plain SVM, both losses, and what was learned before is kept."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 10))
    y = np.sign(x @ rng.normal(size=10) + rng.normal(size=30))
    for q in (1, 2):
        C = 0.5
        algorithm = DCD(DcdParams(C=C, loss=LOSS[q], tol=1e-9, prior=1.0))
        state = learned_batches(algorithm, (x, y))
        w = state.table[:10, 0].copy()
        xi = np.maximum(0, 1 - y * (x @ w))
        primal = w @ w / 2 + C / q * (xi**q).sum()
        _, a = slow_bcw(x, y, C, 0.0, q, 400)
        dual_value = a.sum() - (q - 1) * (a @ a) / (2 * C) - ((a * y) @ x) @ ((a * y) @ x) / 2
        assert primal == pytest.approx(dual_value, rel=1e-8)
        learn(algorithm, state, (x, y))
        assert not np.array_equal(state.table[:10, 0], w)


def test_shrinking_changes_nothing_but_time() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(400, 6))
    y = np.sign(x[:, 0] + 0.5 * rng.normal(size=400))
    found = []
    for tol in (1e-3, 1e-8):
        algorithm = DCD(DcdParams(C=1.0, tol=tol, prior=1.0))
        state = learned_batches(algorithm, (x, y))
        found.append(state.table[:6, 0].copy())
    np.testing.assert_allclose(*found, atol=1e-2)


def test_learned_rows_have_no_variances_where_no_probabilities_are_asked_for() -> None:
    rows, algorithm = rows_of(X, Y), BCW(BcwParams(prior=1.0))
    state = learned_batches(algorithm, (X, Y))
    whole = algorithm.fitted(state, rows, Run())
    bare = algorithm.fitted(state, rows, Run(calibrate=False))
    np.testing.assert_array_equal(bare.score, whole.score)
    assert (whole.variance > 0).all() and not bare.variance.any()
