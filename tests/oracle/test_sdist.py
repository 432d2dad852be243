"""sDist against frozen vectors, dense text-book versions, and what must hold of any metric."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

from cwtool.algorithms import monomials as monomials_module
from cwtool.algorithms.boosting import Boost, hood, residuals, total_loss
from cwtool.algorithms.eigen import sparse_eigenvector
from cwtool.algorithms.gravity import rejection_rate
from cwtool.algorithms.knn import KNN, KnnParams
from cwtool.algorithms.monomials import Candidates, Monomials, metric
from cwtool.algorithms.neighbours import nearest
from cwtool.algorithms.oja import Oja, ascent, laplacian, pairs
from cwtool.algorithms.sdist import SDist, SdistParams
from cwtool.bench.synthetic import hidden
from cwtool.data.block import Block
from cwtool_ext import oja, sdist

VECTORS = Path(__file__).parent / "vectors" / "sdist"


def frozen(name):
    found = json.loads((VECTORS / f"frozen_{name}.json").read_text())
    lists = "terms", "support"
    return {
        k: np.array(v) if isinstance(v, list) and k not in lists else v for k, v in found.items()
    }


CORE, RUN, STSGD = frozen("core"), frozen("sdist"), frozen("stsgd")
PARAMS = SdistParams(kappa=2, steps=30)  # settled: no auto
PLAIN = replace(  # of the frozen run: nothing is drawn
    PARAMS, bag=1.0, sample="none", weight_on="bag", update_every=10, scale="std",
    init_squares=False,
)  # fmt: skip


def boost_of(x, y, params, seed=0):
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return Boost(Monomials(x, np.ones(x.shape[1])), y > 0, params, seed, 1)


def taught(algorithm, x, y):
    """The state after learning these rows."""
    state = algorithm.new_state()
    block = block_of(x, y, state)
    algorithm.learn(block, state, block.order)
    return state


def block_of(x, y, state):
    rows = [[(j, v) for j, v in enumerate(row) if v] for row in x.tolist()]
    block = Block.from_rows(rows, y.tolist())
    state.features.observe(block)
    return block


def score_of(algorithm, state, x):
    return algorithm.scores(block_of(x, np.ones(len(x)), state), state, np.zeros(len(x))).score


# ---- frozen vectors


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
    pulled = np.zeros(x.shape)
    sdist.laplacian(x, around.same, around.opposite, np.arange(60), CORE["u"], pulled)
    np.testing.assert_allclose(x.T @ pulled, CORE["A_m"], atol=1e-8)


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
    found = algorithm.space(state).metric
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
        phi.indptr.astype(np.int64), phi.indices.astype(np.int32), phi.data, STSGD["I"],
        STSGD["J"], STSGD["S"].astype(float), STSGD["K"], STSGD["active"].astype(np.uint8),
        STSGD["step"], STSGD["g0"], xi, updated, kept, np.empty(p, np.int32),
        np.zeros(p, np.int32), np.full(p, -1), np.empty((2, p)), np.empty(p * STSGD["nK"]),
    )  # fmt: skip
    np.testing.assert_allclose(xi, STSGD["xi"], atol=1e-8)
    np.testing.assert_array_equal(updated, STSGD["cnt_upd"])
    np.testing.assert_array_equal(kept, STSGD["cnt_act"])
    assert n == updated.sum()


def test_frozen_annealing():
    for d, gamma, beta in STSGD["anneal"].tolist():
        assert rejection_rate(1 - d, 0.7, gamma) == pytest.approx(beta, abs=1e-8)


# ---- dense versions


@pytest.fixture
def crowd():
    rng = np.random.default_rng(11)
    x = rng.normal(size=(70, 6))
    y = np.where(x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=70) > 0, 1.0, -1.0)
    return x, y, hood(x, y > 0, 4, 1)


def differences(x, around, i):
    """D_i"""
    total = np.zeros((x.shape[1], x.shape[1]))
    for j in around.opposite[i]:
        total += np.outer(x[i] - x[j], x[i] - x[j]) / around.opposite.shape[1]
    for j in around.same[i]:
        total -= np.outer(x[i] - x[j], x[i] - x[j]) / around.same.shape[1]
    return total


def pulled(x, around, bag, u):
    out = np.zeros(x.shape)
    sdist.laplacian(np.ascontiguousarray(x), around.same, around.opposite, bag, u, out)
    return out


def test_matrix_and_learner_are_sums_of_differences(crowd):
    x, _, around = crowd
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


def test_same_and_opposite_is_positive_and_negative(crowd):
    """u_i D_i with D relative to y_i is r_i D with r_i = y_i u_i and D of absolute classes."""
    x, y, around = crowd
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
    x = rng.normal(size=(9, 4))
    keys = np.array([[0, -1, -1], [1, 1, -1], [0, 2, 3]], dtype=np.int32)
    scale, factor = np.array([1.0, 2.0, 0.5]), rng.normal(size=(3, 2))
    phi = np.stack([x[:, 0], x[:, 1] ** 2 / 2, x[:, 0] * x[:, 2] * x[:, 3] * 2], axis=1)
    z = np.zeros((9, 2))
    sdist.transform(x, keys, scale, factor, z)
    np.testing.assert_allclose(z, phi @ factor, atol=1e-13)
    alone = np.zeros((1, 2))
    sdist.transform(np.ascontiguousarray(x[5:6]), keys, scale, factor, alone)
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


# ---- what must hold of any run


@pytest.fixture(scope="module", params=["oob", "bag"])
def ran(request):
    x, y = hidden("xor", 160, 8, 3)
    params = replace(
        PARAMS, steps=60, weight_on=request.param, order=3, kappa=3, update_every=20, loss="exp"
    )
    boost = boost_of(x, y, params, seed=5)
    return boost, boost.run(60, boost.truncated_power)


def test_invariants_of_a_run(ran):
    boost, path = ran
    assert 5 < len(path.terms) <= 60
    assert all(b >= a - 1e-12 for a, b in zip(path.complexity, path.complexity[1:], strict=False))
    seen = {(j,) for j in range(8)} | {(j, j) for j in range(8)}
    chosen = set()
    for term in path.terms:
        assert term.weight > 0
        assert len(term.keys) == len(set(term.keys)) <= 3
        assert np.linalg.norm(term.xi) == pytest.approx(1)
        for key in term.keys:
            assert list(key) == sorted(key)
            assert len(key) <= 3
            assert key in seen  # a product of two that were chosen before
        chosen |= set(term.keys)
        seen |= {tuple(sorted(a + b)) for a in chosen for b in chosen}
    found = metric(path.terms, boost.monomials, 3)
    W = found.factor @ found.factor.T
    assert np.linalg.eigvalsh(W).min() >= -1e-12
    assert np.trace(W) == pytest.approx(sum(t.weight for t in path.terms))
    assert found.factor.shape[1] <= min(len(path.terms), len(found.keys))
    z = boost.points(path.terms)
    phi = boost.monomials.matrix([tuple(j for j in key if j >= 0) for key in found.keys.tolist()])
    for i, j in ((0, 1), (5, 77), (100, 3)):
        d = phi[i] - phi[j]
        assert ((z[i] - z[j]) ** 2).sum() == pytest.approx(d @ W @ d)


def test_loss_of_the_bag_never_rises_in_a_step():
    x, y = hidden("ring", 150, 6, 4)
    params = replace(PARAMS, weight_on="bag", bag=1.0, update_every=0)
    boost = boost_of(x, y, params)
    path = boost.run(40, boost.truncated_power)
    assert all(b <= a + 1e-9 for a, b in zip([150.0, *path.loss], path.loss, strict=False))


def test_the_out_of_bag_rows_reject_noise():
    x, _ = hidden("ring", 200, 20, 1)
    y = np.random.default_rng(9).choice([-1.0, 1.0], 200)  # nothing to learn
    counts = {}
    for how in ("oob", "bag"):
        boost = boost_of(x, y, replace(PARAMS, weight_on=how))
        counts[how] = len(boost.run(60, boost.truncated_power).terms)
    assert counts["bag"] > 40
    assert counts["oob"] < 15


def test_candidates():
    rng = np.random.default_rng(0)
    columns = Monomials(rng.normal(size=(30, 4)), np.array([1.0, 1.0, 0.0, 1.0]))
    few = Candidates(columns, 2, squares=False)
    assert few.keys == [(0,), (1,), (3,)]  # column 2 is constant
    few.expand([(0,), (3,)])
    assert few.keys == [(0,), (1,), (3,), (0, 0), (0, 3), (3, 3)]
    few.expand([(1,), (0, 3)])
    assert few.keys[6:] == [(0, 1), (1, 3), (1, 1)]
    assert few.chosen == [(0,), (3,), (1,), (0, 3)]
    more = Candidates(columns, 3, squares=True)
    assert more.keys == [(0,), (1,), (3,), (0, 0), (1, 1), (3, 3)]
    more.expand([(0, 0), (1,)])
    assert more.keys[6:] == [(0, 0, 1)]


def test_samples_of_candidates(monkeypatch):
    rng = np.random.default_rng(0)
    columns = Monomials(rng.normal(size=(10, 150)), np.ones(150))
    candidates = Candidates(columns, 2, squares=True)
    for how in ("strat", "uniform"):
        found = candidates.sample(how, 1, 2)
        assert len(found) == len(set(found)) == 18  # root of 300, rounded up
        assert found == candidates.sample(how, 1, 2) != candidates.sample(how, 1, 3)
        places = [candidates.keys.index(key) for key in found]
        assert places == sorted(places)
    assert sum(len(key) == 2 for key in candidates.sample("strat", 1)) == 9
    assert candidates.sample("none", 1) == candidates.keys
    monkeypatch.setattr(monomials_module, "MOST", 160)
    assert len(Candidates(columns, 2, squares=True).keys) == 160


def test_products_have_the_deviation_of_their_factors():
    rng = np.random.default_rng(1)
    sd = np.array([1.0, 3.0, 0.5])
    columns = Monomials(rng.normal(size=(500, 3)) * sd, sd)
    for key in ((0, 1), (1, 1), (0, 1, 2)):
        want = np.prod(sd[list(key)]) ** (1 / len(key))
        assert columns.column(key).std() == pytest.approx(want, rel=1e-9)
    rare = np.zeros((500, 2))
    rare[:2] = 1
    assert np.isinf(Monomials(csr_array(rare), np.ones(2)).scale((0, 1)))
    assert np.isfinite(Monomials(rare, np.ones(2)).scale((0, 1)))


def test_sparse_rows_are_the_same_uncentred(ran):
    """The only difference between dense and sparse data is centring."""
    x, y = hidden("xor", 120, 6, 2)
    runs = []
    for base in (x, csr_array(x)):
        params = replace(PARAMS, init_squares=False, update_every=10)
        boost = Boost(Monomials(base, np.ones(6)), y > 0, params, 3, 1)
        runs.append(boost.run(30, boost.truncated_power))
    assert len(runs[0].terms) > 3
    assert [t.keys for t in runs[0].terms] == [t.keys for t in runs[1].terms]
    np.testing.assert_allclose(runs[0].loss, runs[1].loss, rtol=1e-12)


@pytest.mark.parametrize("scale", ["auto", "std", "global"])
def test_without_steps_it_is_plain_nearest_neighbours(scale):
    x, y = hidden("xor", 150, 5, 1)
    x *= np.array([1, 10, 0.1, 3, 1])
    test, _ = hidden("xor", 80, 5, 2)
    said = []
    for algorithm in (
        KNN(KnnParams(scale=scale)),
        SDist(replace(PARAMS, steps=0, scale=scale)),
    ):
        said.append(score_of(algorithm, taught(algorithm, x, y), test))
    np.testing.assert_array_equal(said[0] >= 0, said[1] >= 0)
    np.testing.assert_allclose(said[0], said[1], atol=1e-9)


def test_identity_part():
    """Distances in (w0/p) I + W are those of both parts."""
    x, y = hidden("xor", 120, 5, 1)
    algorithm = SDist(replace(PARAMS, w0=2.0, scale="std"))
    state = taught(algorithm, x, y)
    space = algorithm.space(state)
    found = space.metric
    assert space.share > 0
    assert 5 * space.share + found.importance.sum() == pytest.approx(1)
    rows = csr_array(x)
    points, z = space.points(rows), found.embed(space.base(rows)[:, found.used], found.used)
    base = (x - x.mean(axis=0)) / x.std(axis=0)
    want = space.share * ((base[3] - base[50]) ** 2).sum() + ((z[3] - z[50]) ** 2).sum()
    assert ((points[3] - points[50]) ** 2).sum() == pytest.approx(want)


def test_importance_is_the_trace_by_column():
    x, y = hidden("xor", 300, 6, 1)
    algorithm = SDist(replace(PARAMS, steps=80))
    state = taught(algorithm, x, y)
    weights, variance = algorithm.weights(state, np.arange(6, dtype=np.int32))
    assert variance is None
    assert weights.sum() == pytest.approx(1)
    assert set(np.argsort(-weights)[:2]) == {0, 1}
    top = max(algorithm.interactions(state), key=lambda found: found[1])
    assert top[0].tolist() == [0, 1]


# ---- stsgd


def test_pairs_follow_u(crowd):
    around = crowd[-1]
    bag = np.arange(0, 70, 2)
    u = np.where(bag < 10, 1.0, 0.0)
    found = pairs(around, bag, u, 2000, 1)
    assert set(found.first) == {0, 2, 4, 6, 8}
    for i, j, s in zip(*found, strict=True):
        assert j in (around.opposite if s > 0 else around.same)[i]
    assert abs(found.sign.mean()) < 0.1


def test_ascent_finds_planted_columns():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.4)
        y = np.where(x[:, 3] + x[:, 7] - x[:, 20] > 0, 1.0, -1.0)
        around, bag, u = hood(x, y > 0, 3, 1), np.arange(300), np.full(300, 1 / 300)
        A = x.T @ pulled(x, around, bag, u)
        draw = [pairs(around, bag, u, 250, seed, m) for m in range(32)]
        start = np.sqrt(np.maximum(np.diag(A), 0))
        xi = ascent(csr_array(x), start / np.linalg.norm(start), 3, draw)
        assert np.linalg.norm(xi) == pytest.approx(1)
        _, power = sparse_eigenvector((A + A.T) / 2, 3)
        largest = np.argsort(-np.abs(xi))[:3]
        value = np.linalg.eigvalsh(A[np.ix_(largest, largest)])[-1]
        assert value >= 0.9 * power


def test_stsgd_selects_the_words_that_matter():
    rng = np.random.default_rng(6)
    often = np.where(np.arange(300) < 10, 0.3, 0.05)
    x = (rng.random((400, 300)) < often) * rng.uniform(0.5, 1.5, (400, 300))
    y = np.where(x[:, :5].sum(axis=1) - x[:, 5:10].sum(axis=1) > 0, 1.0, -1.0)
    algorithm = SDist(replace(PARAMS, engine="stsgd", kappa=5, steps=30, scale="global", order=1))
    state = taught(algorithm, x, y)
    assert not algorithm.space(state).dense
    slots = np.arange(state.features.n_slots, dtype=np.int32)
    top = slots[np.argsort(-algorithm.weights(state, slots)[0])[:6]]
    assert set(state.features.ids_of(top)) <= set(range(10))


def test_columns_of_stsgd_grow(crowd):
    x, y, _ = crowd
    boost = Boost(Monomials(csr_array(x), np.ones(6)), y > 0, PARAMS, 0, 1)
    finder, candidates = Oja(boost), Candidates(boost.monomials, 2, squares=False)
    assert finder._columns(candidates.keys).shape == (70, 6)
    candidates.expand([(0,), (1,)])
    np.testing.assert_allclose(
        finder._columns(candidates.keys).toarray(), boost.monomials.matrix(candidates.keys)
    )


def test_nearest_of_the_embedding_is_what_boosting_uses(ran):
    boost, path = ran
    z = boost.points(path.terms)
    near = nearest(z, z, boost.positive, boost.k, loo=True)
    around = hood(z, boost.positive, boost.k, 1)
    np.testing.assert_array_equal(around.same[boost.positive], near.who[boost.positive, 1])
    np.testing.assert_array_equal(around.opposite[boost.positive], near.who[boost.positive, 0])
