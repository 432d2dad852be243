"""What must hold of any boosting of a metric, and of the products it chooses from."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sdist_cases import PARAMS, boost_of

from cwtool.algorithms.neighbours import boosting
from cwtool.algorithms.neighbours import monomials as monomials_module
from cwtool.algorithms.neighbours.boosting import Boost, hood
from cwtool.algorithms.neighbours.monomials import Candidates, Monomials, metric
from cwtool.algorithms.neighbours.screening import telling_pairs
from cwtool.algorithms.neighbours.search import nearest
from cwtool.bench.synthetic import hidden


@pytest.fixture(scope="module", params=["oob", "bag"])
def ran(request):
    x, y = hidden("xor", 160, 8, 3)
    params = replace(
        PARAMS,
        steps=60,
        weight_on=request.param,
        order=3,
        direction_columns=3,
        update_every=20,
        loss="exp",
    )
    boost = boost_of(x, y, params, seed=5)
    return boost, boost.run(60, boost.truncated_power)


def test_invariants_of_a_run(ran):
    boost, path = ran
    assert 5 < len(path.terms) <= 60
    assert all(b >= a - 1e-12 for a, b in zip(path.complexity, path.complexity[1:], strict=False))
    seen = {(j,) for j in range(8)} | {(j, j) for j in range(8)}
    seen |= set(telling_pairs(boost.monomials.base, boost.kind))
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


def test_one_row_far_from_all_others_does_not_decide_which_step_is_the_last(monkeypatch):
    x, y = hidden("xor", 160, 8, 3)
    x[0] *= 10 / np.abs(x[0]).max()
    y[0] = 1.0
    boost = boost_of(x, y, replace(PARAMS, steps=60, update_every=20), seed=5)
    path = boost.run(60, boost.truncated_power)
    assert len(path.terms) == len(boost.stopped(path, 60, 0.1)) > 10
    monkeypatch.setattr(boosting, "LEAST", -np.inf)
    assert len(boost.stopped(path, 60, 0.1)) < 10


def test_the_out_of_bag_rows_reject_noise():
    x, _ = hidden("ring", 200, 20, 1)
    y = np.random.default_rng(9).choice([-1.0, 1.0], 200)  # nothing to learn
    counts = {}
    for how in ("oob", "bag"):
        boost = boost_of(x, y, replace(PARAMS, weight_on=how))
        counts[how] = len(boost.run(60, boost.truncated_power).terms)
    assert counts["bag"] > 40
    assert counts["oob"] < 15


def test_nearest_of_the_embedding_is_what_boosting_uses(ran):
    boost, path = ran
    z = boost.points(path.terms)
    near = nearest(z, z, boost.kind, boost.k, loo=True)
    around = hood(z, boost.kind, boost.k, 1)
    np.testing.assert_array_equal(around.same[boost.kind], near.who[boost.kind, 1])
    np.testing.assert_array_equal(around.opposite[boost.kind], near.who[boost.kind, 0])


def test_sparse_rows_are_the_same_uncentred():
    """The only difference between dense and sparse data is centring."""
    x, y = hidden("xor", 120, 6, 2)
    runs = []
    for base in (x, csr_array(x)):
        params = replace(PARAMS, init_squares=False, update_every=10)
        boost = Boost(Monomials(base, np.ones(6)), y > 0, params, (3,), 1)
        runs.append(boost.run(30, boost.truncated_power))
    assert len(runs[0].terms) > 3
    assert [t.keys for t in runs[0].terms] == [t.keys for t in runs[1].terms]
    np.testing.assert_allclose(runs[0].loss, runs[1].loss, rtol=1e-12)


def test_candidates():
    rng = np.random.default_rng(0)
    columns = Monomials(rng.normal(size=(30, 4)), np.array([1.0, 1.0, 0.0, 1.0]))
    few = Candidates(columns, 2, squares=False)
    assert few.keys == [(0,), (1,), (3,)]  # column 2 is constant
    few.expand([(0,), (3,)])
    assert few.keys == [(0,), (1,), (3,), (0, 0), (0, 3), (3, 3)]
    few.expand([(1,), (0, 3)])
    assert few.keys[6:] == [(0, 1), (1, 3), (1, 1)]
    assert few.chosen == {(0,), (3,), (1,), (0, 3)}
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
