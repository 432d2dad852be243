"""Every learner of the CW family against its dense oracle, and against itself cut into blocks."""

from functools import partial

import learners
import numpy as np
import oracles
import pytest
from learners import ETA, PHI

from cwtool_ext import rules, visit
from cwtool_ext.csr import Csr
from cwtool_ext.diagonal import Diagonal

FIRST = {"perceptron": (), "pa": (), "pa1": (0.3,), "pa2": (0.7,)}
SECOND = {
    "cw": (PHI,),
    "cw_var": (PHI,),
    "scw1": (PHI, 0.5),
    "scw2": (PHI, 0.5),
    "arow": (0.7,),
    "nherd": (0.8,),
}
ROWS, FEATURES, SCALE, B = 70, 12, 0.6, 1.5


def rule_of(name):
    """The rule with its parameters here; those with phi are told eta too."""
    theta = (FIRST | SECOND)[name]
    return getattr(rules, name)(*theta, *[ETA] * (PHI in theta))


def problem(seed):
    """Sparse rows, two of them empty, and mostly learnable labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, FEATURES)) * (rng.random((ROWS, FEATURES)) < 0.4)
    X[[0, 31]] = 0.0
    y = np.where(X @ rng.standard_normal(FEATURES) + 0.1 * rng.standard_normal(ROWS) > 0, 1.0, -1.0)
    return X, y, rng.permutation(ROWS)[: ROWS - 10]


class Run:
    """A learner on one problem, made anew for every call: state, score and variance."""

    def __init__(self, kind, name, X, y, smin=1e-12):
        self.rows, self.y, self.rounds = learners.csr(X, SCALE), y, 0
        self.kind, self.rule, self.smin = kind, rule_of(name) if name else None, smin
        self.score, self.variance = self.out = np.full((2, len(y)), 7.0)
        self.table, self.sigma = learners.fresh(kind, FEATURES + 3)

    def made(self):
        how = (FEATURES, self.rounds, B, self.smin)
        return learners.learner(self.kind, self.rule, self.table, self.sigma, *how)

    def learn(self, order):
        made = self.made()
        *_, updates = learners.learn(made, self.rows, self.y, order=order, out=self.out)
        self.rounds = getattr(made, "rounds", 0)
        return updates

    def scores(self):
        return learners.scores(self.made(), self.rows)[0]

    @property
    def s(self):
        return 1 / (1 + self.table[:FEATURES, 1])


RULED = [(kind, name) for kind in learners.SECOND_ORDER for name in SECOND]
ALL = [
    *[(kind, name) for kind in learners.FIRST_ORDER for name in FIRST],
    *RULED,
    *[(kind, None) for kind in learners.ALONE],
]


def close(found, target):
    atol = 1e-10 * max(1.0, np.abs(target).max())
    np.testing.assert_allclose(found, target, rtol=0, atol=atol)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", learners.FIRST_ORDER)
@pytest.mark.parametrize("name", FIRST)
def test_first_order(kind, name, seed):
    X, y, order = problem(seed)
    run, rule = Run(kind, name, X, y), lambda m, v: oracles.RULES[name](m, v, *FIRST[name])
    run.learn(order)
    score, w = oracles.first_order(SCALE * X, y, order, rule, kind == "averaged")
    assert run.rounds == len(order)
    close(run.score[order], score[order])
    assert not run.variance[order].any()
    close(run.scores(), SCALE * X @ w)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("smin", [1e-12, 0.2])
@pytest.mark.parametrize(("kind", "name"), [*RULED, ("narow_full", None)])
def test_second_order(kind, name, smin, seed):
    X, y, order = problem(seed)
    theta = SECOND.get(name, (B,))
    run = Run(kind, name, X, y, smin)
    run.learn(order)
    score, variance, mu, sigma = oracles.second_order(
        SCALE * X,
        y,
        order,
        lambda m, v: oracles.RULES[name or "narow"](m, v, *theta),
        kind.removeprefix("narow_"),
        smin,
        0.0 if name else B,
    )
    close(run.score[order], score[order])
    close(run.variance[order], variance[order])
    close(run.table[:FEATURES, 0], mu)
    found = run.sigma[:FEATURES, :FEATURES] if kind.endswith("full") else np.diag(run.s)
    close(found, sigma)
    if name:
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
@pytest.mark.parametrize("kind", ["sop", "sop_full"])
def test_sop(kind, seed):
    X, y, order = problem(seed)
    run = Run(kind, None, X, y)
    run.learn(order)
    score, total, A = oracles.sop(SCALE * X, y, order, diagonal=kind == "sop")
    close(run.score[order], score[order])
    assert not run.variance[order].any()
    if kind == "sop":
        close(run.table[:FEATURES, 0], total)
        close(1 + run.table[:FEATURES, 1], np.diag(A))
    else:
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
    assert (np.delete(given.score, order) == 7.0).all(), "rows that are not visited have no score"
    backwards = Run(kind, name, X, y)
    backwards.learn(order[::-1].copy())
    assert not np.array_equal(backwards.table, given.table)


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_scores_are_those_of_learning(kind, name):
    X, y, order = problem(7)
    run = Run(kind, name, X, y)
    run.learn(order)
    table = run.table.copy()
    predicted = run.scores()
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
    "index 12 lies outside 0..11": lambda a: a | {"indices": with_last(a["indices"], FEATURES)},
    "index is negative": lambda a: a | {"indices": with_last(a["indices"], -1)},
    "y has 3": lambda a: a | {"y": np.ones(3, np.int32)},
    "weight has 2": lambda a: a | {"weight": np.ones(2)},
    "order names row 70": lambda a: a | {"order": np.array([70])},
    "order names row -1": lambda a: a | {"order": np.array([-1])},
    "2 columns": lambda a: a | {"table": np.zeros((FEATURES, 3))},
    "projection is 0": lambda a: a | {"projection": 2},
    "floor must lie": lambda a: a | {"smin": 0.0},
    "score has 4": lambda a: a | {"score": np.zeros(4)},
    "variance has 5": lambda a: a | {"variance": np.zeros(5)},
}


def visited(indptr, indices, values, y, weight, order, table, projection, smin, score, variance):
    made = Diagonal(table, rules.arow(1.0), projection, smin)
    return visit.learn(Csr(indptr, indices, values), y, weight, order, made, score, variance)


@pytest.mark.parametrize("sentence", BAD)
def test_bad_arguments_are_refused_with_a_sentence(sentence):
    X, y, order = problem(8)
    good = dict(zip(("indptr", "indices", "values"), oracles.csr(X), strict=True))
    good |= {"y": learners.classes(y), "weight": None, "order": order}
    good |= {"table": np.zeros((FEATURES, 2)), "projection": 0, "smin": 1e-12}
    good |= {"score": np.zeros(ROWS), "variance": np.zeros(ROWS)}
    visited(**good)
    with pytest.raises(ValueError, match=sentence):
        visited(**BAD[sentence](good))


@pytest.mark.parametrize(
    "make",
    [
        rules.arow,
        lambda C: rules.scw1(PHI, C, ETA),
        lambda phi: rules.cw(phi, ETA),
        partial(rules.cw, PHI),
    ],
)
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_rules_want_positive_parameters(make, value):
    with pytest.raises(ValueError, match="must be positive"):
        make(value)


def test_a_rule_comes_from_its_factory():
    with pytest.raises(TypeError, match="factory"):
        rules.Rule()
