"""Every sparse online kernel against its dense oracle, and against itself cut into blocks."""

import tracemalloc

import numpy as np
import oracles
import pytest
import sparse_oracles
from test_cw_kernels import FEATURES, SCALE, problem

from cwtool_ext import averaging, budget, descent, diagonal, rules, smooth

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
        averaging.learn(
            *self.data, self.y, order, self.table, self.loss, *self.pull, self.rounds, SCALE,
            self.score,
        )  # fmt: skip
        self.rounds += len(order)

    def scores(self):
        out = np.empty(len(self.y))
        averaging.scores(*self.data, self.table, *self.pull, self.rounds, SCALE, out)
        return out

    def weights(self):
        out = np.empty(FEATURES)
        averaging.weights(self.table, *self.pull, self.rounds, out)
        return out


SMOOTHS = {  # lam, projection, every round, proximal, columns
    "tg": (0.3, "kl", False, False, 3),
    "tg-l2": (0.3, "l2", False, False, 3),
    "tg-every": (0.2, "kl", True, False, 3),
    "da": (0.3, "kl", False, False, 2),
    "da-l2": (0.3, "l2", True, False, 2),
    "da-proximal": (0.3, "kl", False, True, 2),
}
BUDGETS = {f"{ranking}-{B}": (ranking, B) for ranking in sparse_oracles.WORTH for B in (1, 4, 99)}
R = 0.7


class Smoothing:
    def __init__(self, name, loss, X, y):
        self.lam, self.projection, self.every, self.proximal, columns = SMOOTHS[name]
        self.data, self.y, self.C = oracles.csr(X), y, 0.0
        self.table, self.score = np.zeros((FEATURES, columns)), np.full(len(y), 7.0)
        self.variance = np.full(len(y), 7.0)

    def learn(self, order):
        self.C = smooth.learn(
            *self.data, self.y, order, self.table, R, self.lam, int(self.projection == "l2"),
            1e-12, self.every, self.proximal, self.C, SCALE, self.score, self.variance,
        )  # fmt: skip

    def scores(self):
        out = np.empty((2, len(self.y)))
        smooth.scores(*self.data, self.table, self.C, SCALE, *out)
        return out[0]

    def weights(self):
        out = np.empty(FEATURES)
        smooth.means(self.table, self.C, out)
        return out


class Budgeting:
    """Slots are not in the order of ids: the features from 5 on are hashed, last id first."""

    DIRECT = 5

    def __init__(self, name, loss, X, y):
        ranking, B = BUDGETS[name]
        self.ranking, self.room = list(sparse_oracles.WORTH).index(ranking), B
        self.keys = np.arange(FEATURES - 1, self.DIRECT - 1, -1, dtype=np.int32)
        ids = np.concatenate([np.arange(self.DIRECT), self.keys])
        self.slots = np.argsort(ids)
        indptr, indices, values = oracles.csr(X)
        self.data, self.y = (indptr, self.slots[indices].astype(np.int32), values), y
        self.table, self.score = np.zeros((FEATURES, 2)), np.full(len(y), 7.0)
        self.variance, self.kept = np.full(len(y), 7.0), np.empty(0, dtype=np.int32)

    def learn(self, order):
        kept = np.zeros(self.room, dtype=np.int32)
        kept[: len(self.kept)] = self.kept
        count = budget.learn(
            *self.data, self.y, order, self.table, self.ranking, R, kept, len(self.kept),
            self.DIRECT, self.keys, 1e12, SCALE, self.score, self.variance,
        )  # fmt: skip
        self.kept = np.sort(kept[:count])[::-1].copy()  # in which order must not matter

    def scores(self):
        out = np.empty((2, len(self.y)))
        diagonal.scores(*self.data, self.table, SCALE, *out)
        return out[0]

    def weights(self):
        return self.table[self.slots, 0]


def oracle(kind, name, loss, X, y, order):
    if kind is Smoothing:
        lam, projection, every, proximal, columns = SMOOTHS[name]
        end = sparse_oracles.smooth_tg(lam)
        if columns == 2:
            end = sparse_oracles.SmoothDa(lam, proximal)
        return sparse_oracles.confident(SCALE * X, y, order, R, projection, end, every)[::2]
    if kind is Budgeting:
        ranking, B = BUDGETS[name]
        return sparse_oracles.confident(
            SCALE * X, y, order, R, end=sparse_oracles.Best(B, ranking)
        )[::2]
    if kind is Descending:
        return sparse_oracles.truncated(SCALE * X, y, order, loss, *DESCENTS[name])
    return sparse_oracles.dual_averaging(SCALE * X, y, order, loss, *PULLS[name])


every = pytest.mark.parametrize(
    ("kind", "name", "loss"),
    [(Descending, n, loss) for n in DESCENTS for loss in LOSSES]
    + [(Averaging, n, loss) for n in PULLS for loss in LOSSES]
    + [(Smoothing, n, "") for n in SMOOTHS]
    + [(Budgeting, n, "") for n in BUDGETS],
)
each_loss = pytest.mark.parametrize("loss", LOSSES)


@every
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


@every
def test_the_order_of_columns_does_not_matter(kind, name, loss):
    X, y, order = problem(7)
    shuffled = np.random.default_rng(7).permutation(FEATURES)
    one, other = kind(name, loss, X, y), kind(name, loss, X[:, shuffled], y)
    one.learn(order)
    other.learn(order)
    np.testing.assert_allclose(other.weights(), one.weights()[shuffled], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(other.weights() != 0, one.weights()[shuffled] != 0)


@every
def test_memory_does_not_grow_with_the_visits(kind, name, loss):
    """No step keeps or gathers anything."""
    X, y, order = problem(8)
    peaks = []
    for visits in (order, np.tile(order, 500)):
        run = kind(name, loss, X, y)
        tracemalloc.start()
        run.learn(visits)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= peaks[0] + 1000


@pytest.mark.parametrize("name", ["fobos", "tg", "thesis"])
def test_gravity_makes_zeros_that_descent_does_not_have(name):
    X, y, order = problem(6)
    run, plain = Descending(name, "hinge", X, y), Descending("constant", "hinge", X, y)
    run.learn(order)
    plain.learn(order)
    assert np.count_nonzero(run.weights()) < np.count_nonzero(plain.weights())


def test_without_shrinking_it_is_arow():
    X, y, order = problem(8)
    run, arow = Smoothing("tg", "", X, y), np.zeros((FEATURES, 2))
    run.lam = 0.0
    run.learn(order)
    diagonal.learn(
        *run.data, y, order, arow, rules.arow(R), 0, 1e-12, SCALE, *np.empty((2, len(y)))
    )
    np.testing.assert_allclose(run.table[:, :2], arow, rtol=0, atol=1e-12)


def test_a_budget_for_all_is_arow():
    X, y, order = problem(8)
    run, arow = Budgeting("weight-99", "", X, y), np.zeros((FEATURES, 2))
    run.learn(order)
    diagonal.learn(
        *run.data, y, order, arow, rules.arow(R), 0, 1e-12, SCALE, *np.empty((2, len(y)))
    )
    np.testing.assert_allclose(run.table, arow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ranking", sparse_oracles.WORTH)
def test_equal_features_lower_id_wins(ranking):
    """Twelve features that always come together, with the same value: only ties."""
    y = np.array([1.0, -1.0] * 3)
    X = y[:, None] * np.ones((6, FEATURES))
    BUDGETS["ties"] = (ranking, 7)
    run = Budgeting("ties", "", X, y)
    run.learn(np.arange(6))
    assert np.flatnonzero(run.weights()).tolist() == list(range(7))


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
