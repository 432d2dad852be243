"""Every sparse online kernel against its dense oracle, and against itself cut into blocks."""

import tracemalloc

import learners
import numpy as np
import pytest
import sparse_oracles
from test_cw_kernels import FEATURES, SCALE, problem

from cwtool_ext import averaging, budget, descent, rules, smooth
from cwtool_ext.csr import Csr
from cwtool_ext.diagonal import Diagonal

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


class Visits:
    """A learner on one problem, made anew for every call with the numbers that it had."""

    def __init__(self, X, y, columns):
        self.rows, self.y, self.numbers = learners.csr(X, SCALE), y, {}
        self.table, self.out = np.zeros((FEATURES, columns)), np.full((2, len(y)), 7.0)

    def learn(self, order):
        made = self.made()
        learners.learn(made, self.rows, self.y, order=order, out=self.out)
        self.numbers = {name: getattr(made, name) for name in self.numbers}

    @property
    def score(self):
        return self.out[0]

    def scores(self):
        return learners.scores(self.made(), self.rows)[0]

    def weights(self):
        out = np.empty(len(self.table))
        self.made().weights(self.table, out)
        return out


class Descending(Visits):
    def __init__(self, name, loss, X, y):
        super().__init__(X, y, 2 if len(DESCENTS[name]) > 2 else 1)
        self.how, self.numbers = (LOSSES.index(loss), *DESCENTS[name]), {"rounds": 0, "owed": 0.0}

    def made(self):
        loss, rate, power, *pull = self.how
        rounds, owed = self.numbers.values()
        return descent.Descent(self.table, loss, rate, power, rounds, *pull, owed=owed)


class Averaging(Visits):
    def __init__(self, name, loss, X, y):
        super().__init__(X, y, 1)
        self.how, self.numbers = (LOSSES.index(loss), *PULLS[name]), {"rounds": 0}

    def made(self):
        return averaging.Averaging(self.table, *self.how, **self.numbers)


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


class Smoothing(Visits):
    def __init__(self, name, loss, X, y):
        self.lam, projection, *self.when, columns = SMOOTHS[name]
        super().__init__(X, y, columns)
        self.projection, self.numbers = int(projection == "l2"), {"shrinking": 0.0}

    def made(self):
        how = (R, self.lam, self.projection, 1e-12, *self.when)
        return smooth.Smooth(self.table, *how, **self.numbers)

    def weights(self):
        out = np.empty(FEATURES)
        self.made().means(self.table, out)
        return out


class Budgeting(Visits):
    """Slots are not in the order of ids: the features from 5 on are hashed, last id first."""

    DIRECT = 5

    def __init__(self, name, loss, X, y):
        super().__init__(X, y, 2)
        ranking, self.room = BUDGETS[name]
        self.ranking = list(sparse_oracles.WORTH).index(ranking)
        self.keys = np.arange(FEATURES - 1, self.DIRECT - 1, -1, dtype=np.int32)
        self.slots = np.argsort(np.concatenate([np.arange(self.DIRECT), self.keys]))
        indptr, indices, values = learners.stored(X)
        self.rows = Csr(indptr, self.slots[indices].astype(np.int32), values, SCALE)
        self.kept, self.numbers = np.empty(0, dtype=np.int32), {"count": 0}

    def made(self):
        self.heap = np.zeros(self.room, dtype=np.int32)
        self.heap[: len(self.kept)] = self.kept
        how = (self.ranking, R, 1e-12, self.heap, len(self.kept))
        place = np.zeros(len(self.table), dtype=np.int32)
        return budget.Budget(self.table, *how, self.DIRECT, self.keys, place)

    def learn(self, order):
        super().learn(order)
        # in which order they are given must not matter
        self.kept = np.sort(self.heap[: self.numbers["count"]])[::-1].copy()

    def scores(self):
        made = Diagonal(self.table, rules.arow(R), 0, 1e-12)
        return learners.scores(made, self.rows)[0]

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
    """No step keeps as much as a byte; other threads of the process may allocate a little."""
    X, y, order = problem(8)
    many = np.tile(order, 500)
    peaks = []
    for visits in (order, many):
        run = kind(name, loss, X, y)
        tracemalloc.start()
        run.learn(visits)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + len(many)


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
    learners.learn(Diagonal(arow, rules.arow(R), 0, 1e-12), run.rows, y, order=order)
    np.testing.assert_allclose(run.table[:, :2], arow, rtol=0, atol=1e-12)


def test_a_budget_for_all_is_arow():
    X, y, order = problem(8)
    run, arow = Budgeting("weight-99", "", X, y), np.zeros((FEATURES, 2))
    run.learn(order)
    learners.learn(Diagonal(arow, rules.arow(R), 0, 1e-12), run.rows, y, order=order)
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
    lazy.how = (0, *DESCENTS["falling"])
    lazy.learn(order)
    plain.learn(order)
    np.testing.assert_array_equal(lazy.weights(), plain.weights())


@pytest.mark.parametrize("value", [1e101, 1e200, 1e308])
@each_loss
def test_a_row_too_long_to_learn_is_scored_and_left_out(loss, value):
    X, y = np.array([[1.0, 0.0], [0.0, value], [1.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    for run in (Descending("constant", loss, X, y), Averaging("plain", loss, X, y)):
        run.table = run.table[:2].copy()
        run.learn(np.array([0, 1]))
        assert run.table[0, 0] != 0
        assert run.table[1, 0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"loss": 2},
        {"rate": 0.0},
        {"power": -1.0},
        {"gravity": -1.0},
        {"every": 0},
        {"theta": 0.0},
    ],
)
def test_a_descent_that_makes_no_sense_is_refused(wrong):
    good = {"loss": 0, "rate": 1.0, "power": 0.0, "rounds": 0}
    with pytest.raises(ValueError, match=r"loss is 0|must be positive"):
        descent.Descent(np.zeros((2, 2)), **good | wrong)
