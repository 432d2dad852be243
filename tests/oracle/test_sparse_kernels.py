"""Every sparse online kernel against its dense oracle, and against itself cut into blocks."""

import numpy as np
import oracles
import pytest
import sparse_oracles
from test_cw_kernels import FEATURES, SCALE, problem

from cwtool_ext import descent, dual

LOSSES = ["hinge", "logistic"]
DESCENTS = {
    "constant": (0.4, 0.0),
    "falling": (0.9, 0.5),
    "power": (0.9, 0.3),
    "fobos": (0.4, 0.5, 0.15),
    "tg": (0.4, 0.0, 0.05, 7, 0.3),
    "thesis": (0.4, 0.0, 0.01, 5, np.inf, False),
}
PULLS = {"plain": (0.02, 0.3, 0.0), "early": (0.01, 0.3, 0.1)}


class Descending:
    def __init__(self, name, loss, X, y):
        self.data, self.y, self.rounds, self.owed = oracles.csr(X), y, 0, 0.0
        self.how = descent.Descent(LOSSES.index(loss), *DESCENTS[name])
        lazy = len(DESCENTS[name]) > 2
        self.table, self.score = np.zeros((FEATURES, 1 + lazy)), np.full(len(y), 7.0)

    def learn(self, order):
        self.owed = descent.learn(
            *self.data, self.y, order, self.table, self.how, self.rounds, self.owed, SCALE,
            self.score,
        )  # fmt: skip
        self.rounds += len(order)

    def scores(self):
        out = np.empty(len(self.y))
        descent.scores(*self.data, self.table, self.how, self.owed, SCALE, out)
        return out

    def weights(self):
        if self.table.shape[1] == 1:
            return self.table[:, 0]
        out = np.empty(FEATURES)
        descent.weights(self.table, self.how, self.owed, out)
        return out


class Averaging:
    def __init__(self, name, loss, X, y):
        self.data, self.y, self.rounds, self.pull = oracles.csr(X), y, 0, PULLS[name]
        self.loss, self.table = LOSSES.index(loss), np.zeros((FEATURES, 1))
        self.score = np.full(len(y), 7.0)

    def learn(self, order):
        dual.learn(
            *self.data, self.y, order, self.table, self.loss, *self.pull, self.rounds, SCALE,
            self.score,
        )  # fmt: skip
        self.rounds += len(order)

    def scores(self):
        out = np.empty(len(self.y))
        dual.scores(*self.data, self.table, *self.pull, self.rounds, SCALE, out)
        return out

    def weights(self):
        out = np.empty(FEATURES)
        dual.weights(self.table, *self.pull, self.rounds, out)
        return out


def oracle(kind, name, loss, X, y, order):
    if kind is Descending:
        return sparse_oracles.truncated(SCALE * X, y, order, loss, *DESCENTS[name])
    return sparse_oracles.dual_averaging(SCALE * X, y, order, loss, *PULLS[name])


every = pytest.mark.parametrize(
    ("kind", "name"), [(Descending, n) for n in DESCENTS] + [(Averaging, n) for n in PULLS]
)
each_loss = pytest.mark.parametrize("loss", LOSSES)


@every
@each_loss
@pytest.mark.parametrize("seed", range(3))
def test_lazy_equals_dense(kind, name, loss, seed):
    X, y, order = problem(seed)
    order = np.concatenate([order, order[::-1]])  # a row visited twice scores as the second time
    run = kind(name, loss, X, y)
    run.learn(order)
    score, w = oracle(kind, name, loss, X, y, order)
    np.testing.assert_allclose(run.score[order], score[order], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.weights(), w, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.weights() != 0, w != 0)
    np.testing.assert_allclose(run.scores(), SCALE * X @ w, rtol=0, atol=1e-12)


@every
@each_loss
def test_blocks_change_no_bit(kind, name, loss):
    X, y, order = problem(5)
    whole, parts = kind(name, loss, X, y), kind(name, loss, X, y)
    whole.learn(order)
    for piece in np.split(order, [1, 2, 19, 40]):
        parts.learn(piece)
        parts.scores(), parts.weights()  # reading pays no debt
    np.testing.assert_array_equal(whole.table, parts.table)
    np.testing.assert_array_equal(whole.score, parts.score)
    assert whole.table.any()


@pytest.mark.parametrize("name", ["fobos", "tg", "thesis"])
def test_gravity_makes_zeros_that_descent_does_not_have(name):
    X, y, order = problem(6)
    run, plain = Descending(name, "hinge", X, y), Descending("constant", "hinge", X, y)
    run.learn(order)
    plain.learn(order)
    assert np.count_nonzero(run.weights()) < np.count_nonzero(plain.weights())


def test_without_gravity_a_lazy_table_is_plain_descent():
    X, y, order = problem(7)
    lazy, plain = Descending("fobos", "hinge", X, y), Descending("falling", "hinge", X, y)
    lazy.how = descent.Descent(0, *DESCENTS["falling"])
    lazy.learn(order)
    plain.learn(order)
    np.testing.assert_array_equal(lazy.weights(), plain.weights())


@pytest.mark.parametrize("value", [1e101, 1e200, 1e308])
@each_loss
def test_a_row_too_long_to_learn_is_scored_and_left_out(loss, value):
    X, y = np.array([[1.0, 0.0], [0.0, value], [1.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    for run in (Descending("constant", loss, X, y), Averaging("plain", loss, X, y)):
        run.data, run.table = oracles.csr(X), run.table[:2].copy()
        run.learn(np.array([0, 1]))
        assert run.table[0, 0] != 0
        assert run.table[1, 0] == 0


@pytest.mark.parametrize(
    "wrong", [(2, 1.0), (0, 0.0), (0, 1.0, -1.0), (0, 1.0, 0.0, -1.0), (0, 1.0, 0.0, 1.0, 0)]
)
def test_a_descent_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"loss is 0|must be positive"):
        descent.Descent(*wrong)
