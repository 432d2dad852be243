"""The direction of a step by stabilized truncated descent."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sdist_cases import PARAMS, crowd, pulled
from taught import taught

from cwtool.algorithms.neighbours.boosting import Boost, hood
from cwtool.algorithms.neighbours.eigenvector import sparse_eigenvector
from cwtool.algorithms.neighbours.monomials import Candidates, Monomials
from cwtool.algorithms.neighbours.oja import Oja, ascent, drawing, quantile
from cwtool.algorithms.sdist import SDist, space_of


def test_pairs_follow_u():
    around = crowd()[-1]
    bag = np.arange(0, 70, 2)
    u = np.where(bag < 10, 1.0, 0.0)
    found = drawing(around, bag, u, 2000)(1)
    assert set(found.first) == {0, 2, 4, 6, 8}
    for i, j, s in zip(*found, strict=True):
        assert j in (around.opposite if s > 0 else around.same)[i]
    assert abs(found.sign.mean()) < 0.1


def test_quantiles_are_those_of_numpy_bit_for_bit():
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 10, 101, 400):
        values = np.abs(rng.normal(size=n)) ** 3
        for share in (0.0, 1.0, 0.5, 0.7, 1 / 3, *rng.random(20).tolist()):
            assert quantile(values, share) == float(np.quantile(values, share))


def test_ascent_finds_planted_columns():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.4)
        y = np.where(x[:, 3] + x[:, 7] - x[:, 20] > 0, 1.0, -1.0)
        around, bag, u = hood(x, y > 0, 3, 1), np.arange(300), np.full(300, 1 / 300)
        A = x.T @ pulled(x, around, bag, u)
        draw = drawing(around, bag, u, 250, seed)
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
    algorithm = SDist(
        replace(PARAMS, engine="stsgd", direction_columns=5, steps=30, scale="global", order=1)
    )
    state = taught(algorithm, x, y)
    assert not space_of(state).dense
    slots = np.arange(state.index.n_slots, dtype=np.int32)
    top = slots[np.argsort(-algorithm.importance(state, slots))[:6]]
    assert set(state.index.ids_of(top)) <= set(range(10))


def test_columns_of_stsgd_grow():
    x, y, _ = crowd()
    boost = Boost(Monomials(csr_array(x), np.ones(6)), y > 0, PARAMS, (0,), 1)
    finder, candidates = Oja(boost), Candidates(boost.monomials, 2, squares=False)
    assert finder._columns(candidates.keys).shape == (70, 6)
    candidates.expand([(0,), (1,)])
    np.testing.assert_allclose(
        finder._columns(candidates.keys).toarray(), boost.monomials.matrix(candidates.keys)
    )
