"""sdist against frozen vectors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sdist_cases import PLAIN, boost_of, frozen, pulled
from taught import score_of, taught

from cwtool.algorithms.neighbours.boosting import hood
from cwtool.algorithms.neighbours.eigenvector import sparse_eigenvector
from cwtool.algorithms.neighbours.search import csr
from cwtool.algorithms.sdist import SDist, space_of
from cwtool.algorithms.stabilized_descent.gravity import rejection_rate
from cwtool_ext import oja, sdist

CORE, RUN, STSGD = frozen("core"), frozen("sdist"), frozen("stsgd")


def test_frozen_eigenvector():
    xi, value = sparse_eigenvector(CORE["A"], CORE["kappa"])
    np.testing.assert_allclose(xi, CORE["xi"], atol=1e-8)
    assert value == pytest.approx(CORE["value"], abs=1e-8)


def test_frozen_neighbours_learner_and_matrix():
    x = CORE["X"]
    around = hood(x, CORE["y"] > 0, CORE["k"], 1)
    np.testing.assert_array_equal(around.same, CORE["same"])
    np.testing.assert_array_equal(around.opposite, CORE["opp"])
    np.testing.assert_allclose(around.learner(x @ CORE["xi_g"]), CORE["g"], atol=1e-8)
    A = x.T @ pulled(x, around, np.arange(60), CORE["u"])
    np.testing.assert_allclose(A, CORE["A_m"], atol=1e-8)


def test_frozen_line_search():
    u, g = np.array(CORE["ls"]["u"]), np.array(CORE["ls"]["g"])
    w = sdist.line_search(-np.log(u), g, False, 1e3)
    assert w == pytest.approx(CORE["ls"]["w"], abs=1e-8)


def test_frozen_run():
    boost = boost_of(RUN["X"], RUN["y"], PLAIN)
    sizes = []

    def find(candidates, *rest):
        sizes.append(len(candidates.keys))
        return boost.truncated_power(candidates, *rest)

    path = boost.run(30, find)
    np.testing.assert_allclose(path.loss, RUN["loss"], atol=1e-6)
    np.testing.assert_allclose(path.complexity, RUN["C"], atol=1e-6)
    assert sizes[1:] == RUN["p_m"].tolist()[:-1]
    assert [t.step for t in path.terms] == list(range(1, 31))
    for found, want in zip(path.terms, RUN["terms"], strict=True):
        assert [list(key) for key in found.keys] == want["keys"]
        assert found.weight == pytest.approx(want["w"], abs=1e-6)
        np.testing.assert_allclose(found.xi, want["xi"], atol=1e-6)
    common = boost.common_loss(path.terms, 30)
    np.testing.assert_allclose(common + 0.1 * np.array(path.complexity), RUN["common"], atol=1e-6)
    prices = (0.1, 1, 5, 10, 20, 30)
    ends = [boost.stopped(path, 30, price)[-1].step for price in prices]
    assert ends == [30, 29, 11, 7, 4, 1]
    boost.params = replace(PLAIN, stop="thesis")
    ends = [boost.stopped(path, 30, price)[-1].step for price in prices]
    assert ends == [30, 30, 9, 9, 7, 1]
    boost.params = replace(PLAIN, stop="last")
    assert boost.stopped(path, 12, 30)[-1].step == 12


@pytest.mark.parametrize("predict", ["knn", "fw"])
def test_frozen_predictions(predict):
    algorithm = SDist(replace(PLAIN, predict=predict))
    state = taught(algorithm, RUN["X"], RUN["y"])
    found = space_of(state).metric
    assert [[j for j in key if j >= 0] for key in found.keys.tolist()] == RUN["support"]
    np.testing.assert_allclose(found.factor @ found.factor.T, RUN["W"], atol=1e-6)
    score = score_of(algorithm, state, RUN["Xt"])
    if predict == "fw":
        np.testing.assert_allclose(score, RUN["f"], atol=1e-6)
    else:
        np.testing.assert_array_equal(np.where(score >= 0, 1, -1), RUN["pred_knn"])


def test_frozen_bursts():
    phi, p = csr_array(STSGD["P"]), 8
    xi, updated, kept = STSGD["xi0"].copy(), np.zeros(p), np.zeros(p)
    n = oja.bursts(
        csr(phi), STSGD["I"], STSGD["J"], STSGD["S"].astype(float), STSGD["K"],
        STSGD["active"].astype(np.uint8), STSGD["step"], STSGD["g0"], xi, updated, kept,
        np.empty(p, np.int32), np.zeros(p, np.int32), np.full(p, -1), np.empty((2, p)),
        np.empty(p * STSGD["nK"]),
    )  # fmt: skip
    np.testing.assert_allclose(xi, STSGD["xi"], atol=1e-8)
    np.testing.assert_array_equal(updated, STSGD["cnt_upd"])
    np.testing.assert_array_equal(kept, STSGD["cnt_act"])
    assert n == updated.sum()


def test_frozen_annealing():
    for d, gamma, beta in STSGD["anneal"].tolist():
        assert rejection_rate(1 - d, 0.7, gamma) == pytest.approx(beta, abs=1e-8)
