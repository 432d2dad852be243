"""Every kernel against its dense oracle, and against itself cut into blocks."""

from functools import partial

import numpy as np
import oracles
import pytest

from cwtool_ext import diagonal, first_order, full, narow, rules, sop

PHI = 1.2815515655446004
FIRST = {"perceptron": (), "pa": (), "pa1": (0.3,), "pa2": (0.7,)}
SECOND = {
    "cw": (PHI,),
    "cw_var": (PHI,),
    "scw1": (PHI, 0.5),
    "scw2": (PHI, 0.5),
    "arow": (0.7,),
    "narow_libol": (1.5,),
    "nherd": (0.8,),
}
ROWS, FEATURES, SCALE, B = 70, 12, 0.6, 1.5


def problem(seed):
    """Sparse rows, two of them empty, and mostly learnable labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, FEATURES)) * (rng.random((ROWS, FEATURES)) < 0.4)
    X[[0, 31]] = 0.0
    y = np.where(X @ rng.standard_normal(FEATURES) + 0.1 * rng.standard_normal(ROWS) > 0, 1.0, -1.0)
    return X, y, rng.permutation(ROWS)[: ROWS - 10]


class Run:
    """A kernel on one problem: state, score and variance, learnt in any number of calls."""

    def __init__(self, kind, name, X, y, smin=1e-12):
        self.data, self.y, self.rounds = oracles.csr(X), y, 0
        self.score, self.variance = np.full(len(y), 7.0), np.full(len(y), 7.0)
        rule = getattr(rules, name)(*(FIRST | SECOND | {"narow": (B,)})[name]) if name else None
        columns = {"mean": 1, "averaged": 2, "full": 1, "sop_full": 1}.get(kind, 2)
        self.table, self.sigma = np.zeros((FEATURES + 3, columns)), np.eye(FEATURES + 3)
        both, square = (self.score, self.variance), (self.table, self.sigma, FEATURES)
        kl_or_l2, shrink = int(kind.endswith("l2")), B if name == "narow" else 0.0
        if kind in ("mean", "averaged"):
            self.kernel = lambda *a: first_order.learn(
                *a, self.table, rule, self.rounds, SCALE, self.score
            )
            self.predict = lambda *a: first_order.scores(
                *a, self.table, self.rounds, SCALE, self.score
            )
        elif kind in ("kl", "l2"):
            self.kernel = lambda *a: diagonal.learn(
                *a, self.table, rule, kl_or_l2, smin, SCALE, *both
            )
            self.predict = lambda *a: diagonal.scores(*a, self.table, SCALE, *both)
        elif kind in ("narow_kl", "narow_l2"):
            self.kernel = lambda *a: narow.learn(*a, self.table, B, kl_or_l2, smin, SCALE, *both)
            self.predict = lambda *a: narow.scores(*a, self.table, B, SCALE, *both)
        elif kind == "sop":
            self.kernel = lambda *a: sop.learn(*a, self.table, SCALE, self.score)
            self.predict = lambda *a: sop.scores(*a, self.table, SCALE, self.score)
        elif kind == "full":
            self.kernel = lambda *a: full.learn(*a, *square, rule, shrink, smin, SCALE, *both)
            self.predict = lambda *a: full.scores(*a, *square, shrink, smin, SCALE, *both)
        elif kind == "sop_full":
            self.kernel = lambda *a: full.learn_sop(*a, *square, SCALE, self.score)
            self.predict = lambda *a: full.scores_sop(*a, *square, SCALE, self.score)

    def learn(self, order):
        updates = self.kernel(*self.data, self.y, order)
        self.rounds += len(order)
        return updates

    def scores(self):
        self.predict(*self.data)
        return self.score

    @property
    def s(self):
        return 1 / (1 + self.table[:FEATURES, 1])


SECOND_ORDER = [(kind, name) for kind in ("kl", "l2", "full") for name in SECOND]
ALL = (
    [(kind, name) for kind in ("mean", "averaged") for name in FIRST]
    + SECOND_ORDER
    + [("full", "narow"), ("narow_kl", None), ("narow_l2", None), ("sop", None), ("sop_full", None)]
)


def close(found, target):
    atol = 1e-10 * max(1.0, np.abs(target).max())
    np.testing.assert_allclose(found, target, rtol=0, atol=atol)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["mean", "averaged"])
@pytest.mark.parametrize("name", FIRST)
def test_first_order(kind, name, seed):
    X, y, order = problem(seed)
    run, rule = Run(kind, name, X, y), lambda m, v: oracles.RULES[name](m, v, *FIRST[name])
    run.learn(order)
    score, w = oracles.first_order(SCALE * X, y, order, rule, kind == "averaged")
    close(run.score[order], score[order])
    close(run.scores(), SCALE * X @ w)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("smin", [1e-12, 0.2])
@pytest.mark.parametrize(("kind", "name"), [*SECOND_ORDER, ("full", "narow")])
def test_second_order(kind, name, smin, seed):
    X, y, order = problem(seed)
    theta = SECOND.get(name, (B,))
    run = Run(kind, name, X, y, smin)
    run.learn(order)
    score, variance, mu, sigma = oracles.second_order(
        SCALE * X,
        y,
        order,
        lambda m, v: oracles.RULES[name](m, v, *theta),
        kind,
        smin,
        B if name == "narow" else 0.0,
    )
    close(run.score[order], score[order])
    close(run.variance[order], variance[order])
    close(run.table[:FEATURES, 0], mu)
    found = run.sigma[:FEATURES, :FEATURES] if kind == "full" else np.diag(run.s)
    close(found, sigma)
    if name != "narow":
        close(run.scores(), SCALE * X @ mu)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("smin", [1e-12, 0.2])
@pytest.mark.parametrize("covariance", ["kl", "l2"])
def test_narow(covariance, smin, seed):
    X, y, order = problem(seed)
    run = Run(f"narow_{covariance}", None, X, y, smin)
    run.learn(order)
    target = oracles.narow_diagonal(SCALE * X, y, order, B, covariance, smin)
    close(run.score[order], target[0][order])
    close(run.variance[order], target[1][order])
    close(run.table[:FEATURES, 0], target[2])
    close(run.s, np.diag(target[3]))


@pytest.mark.parametrize("seed", range(3))
def test_sop(seed):
    X, y, order = problem(seed)
    run = Run("sop", None, X, y)
    run.learn(order)
    score, total, A = oracles.sop(SCALE * X, y, order, diagonal=True)
    close(run.score[order], score[order])
    close(run.table[:FEATURES, 0], total)
    close(1 + run.table[:FEATURES, 1], np.diag(A))

    run = Run("sop_full", None, X, y)
    run.learn(order)
    score, total, A = oracles.sop(SCALE * X, y, order, diagonal=False)
    close(run.score[order], score[order])
    close(run.sigma[:FEATURES, :FEATURES], np.linalg.inv(A))
    close(run.table[:FEATURES, 0], np.linalg.solve(A, total))


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_blocks_change_no_bit(kind, name):
    X, y, order = problem(5)
    whole, parts = Run(kind, name, X, y), Run(kind, name, X, y)
    updates = whole.learn(order)
    assert updates == sum(parts.learn(piece) for piece in np.split(order, [1, 2, 19, 40]))
    assert 5 < updates <= len(order)
    for array in ("table", "sigma", "score", "variance"):
        np.testing.assert_array_equal(getattr(whole, array), getattr(parts, array))


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_order_is_the_order_of_the_rows(kind, name):
    X, y, order = problem(6)
    given, natural = Run(kind, name, X, y), Run(kind, name, X[order], y[order])
    given.learn(order)
    natural.learn(np.arange(len(order)))
    np.testing.assert_array_equal(given.table, natural.table)
    np.testing.assert_array_equal(given.score[order], natural.score)
    skipped = np.setdiff1d(np.arange(ROWS), order)
    assert (given.score[skipped] == 7.0).all()
    backwards = Run(kind, name, X, y)
    backwards.learn(order[::-1].copy())
    assert not np.array_equal(backwards.table, given.table)


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_scores_are_those_of_learning(kind, name):
    X, y, order = problem(7)
    run = Run(kind, name, X, y)
    run.learn(order)
    table = run.table.copy()
    predicted = run.scores().copy()
    np.testing.assert_array_equal(run.table, table)
    for i in range(ROWS):
        again = Run(kind, name, X, y)
        again.learn(order)
        again.learn(np.array([i]))
        assert again.score[i] == predicted[i]


def with_last(indices, value):
    return np.append(indices[:-1], np.int32(value))


BAD = {
    "indptr must run": lambda a: a | {"indptr": a["indptr"][:-1].copy()},
    "do not match": lambda a: a | {"values": a["values"][:-1].copy()},
    "must not decrease": lambda a: a | {"indptr": np.r_[0, a["indptr"][-1], a["indptr"][2:]]},
    "index lies outside 0..11": lambda a: a | {"indices": with_last(a["indices"], FEATURES)},
    "index lies outside 0..1": lambda a: a | {"indices": with_last(a["indices"], -1)},
    "y has 3": lambda a: a | {"y": np.ones(3)},
    "order names row 70": lambda a: a | {"order": np.array([70])},
    "order names row -1": lambda a: a | {"order": np.array([-1])},
    "2 columns": lambda a: a | {"table": np.zeros((FEATURES, 3))},
    "projection is 0": lambda a: a | {"projection": 2},
    "smin must lie": lambda a: a | {"smin": 0.0},
    "score has 4": lambda a: a | {"score": np.zeros(4)},
    "variance has 5": lambda a: a | {"variance": np.zeros(5)},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_arguments_are_refused_with_a_sentence(sentence):
    X, y, order = problem(8)
    good = dict(zip(("indptr", "indices", "values"), oracles.csr(X), strict=True))
    good |= {"y": y, "order": order, "table": np.zeros((FEATURES, 2)), "rule": rules.arow(1.0)}
    good |= {"projection": 0, "smin": 1e-12, "scale": 1.0}
    good |= {"score": np.zeros(ROWS), "variance": np.zeros(ROWS)}
    diagonal.learn(**good)
    with pytest.raises(ValueError, match=sentence):
        diagonal.learn(**BAD[sentence](good))


@pytest.mark.parametrize("make", [rules.arow, partial(rules.scw1, PHI), rules.cw])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_rules_want_positive_parameters(make, value):
    with pytest.raises(ValueError, match="must be positive"):
        make(value)


def test_a_rule_comes_from_its_factory():
    with pytest.raises(TypeError, match="factory"):
        rules.Rule()
