"""Diagonal learners side by side are, to the bit, the learners that each would be alone."""

from functools import partial

import learners
import numpy as np
import oracles
import pytest
from oracle.test_cw_kernels import FEATURES, ROWS, SCALE, SECOND, close, problem, rule_of

from cwtool_ext import diagonal_learners, visit
from cwtool_ext.diagonal import Diagonal

FLOORS = np.array([1e-12, 0.3, 1e-12, 0.05, 1e-12, 0.2, 1e-12, 0.6])


def learned_alone(rows, y, weight, order, name, projection, floor):
    table, score, variance = np.zeros((FEATURES + 3, 2)), np.zeros(ROWS), np.zeros(ROWS)
    learner = Diagonal(table, rule_of(name), projection, floor)
    visit.learn(rows, y, weight, order, learner, score, variance)
    return table, score, variance


@pytest.mark.parametrize("projection", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 4, 5, 8])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("huge", [1.0, 1e150, 1e307])
def test_each_is_the_learner_that_it_would_be_alone(projection, n, weighted, huge):
    names = [*SECOND, *SECOND][:n]
    for seed in range(3):
        X, y, order = problem(seed)
        X[5:9] *= huge
        X[7, :6] = huge
        rows, y = learners.csr(X, SCALE), (y > 0).astype(np.int32)
        rng = np.random.default_rng(seed)
        weight = rng.integers(0, 3, ROWS) / 1.5 if weighted else None
        places = 4 if n <= 4 else 8
        table, out = np.zeros((FEATURES + 3, 2 * places)), np.zeros((2, n, ROWS))
        rules, floors = [rule_of(name) for name in names], FLOORS[:n]
        diagonal_learners.learn(rows, y, weight, order, table, rules, projection, floors, *out)
        for k, name in enumerate(names):
            alone, *target = learned_alone(rows, y, weight, order, name, projection, floors[k])
            assert out[:, k].tobytes() == np.array(target).tobytes()
            assert table[:, [k, places + k]].tobytes() == alone.tobytes()


def called(name, theta, m, v):
    return oracles.RULES[name](m, v, *theta)


@pytest.mark.parametrize(("projection", "covariance"), [(0, "kl"), (1, "l2")])
def test_each_is_its_dense_oracle(projection, covariance):
    X, y, order = problem(4)
    table, out = np.zeros((FEATURES, 16)), np.zeros((2, len(SECOND), ROWS))
    rules, floors = [rule_of(name) for name in SECOND], np.full(len(SECOND), 1e-12)
    rows, classes = learners.csr(X, SCALE), (y > 0).astype(np.int32)
    diagonal_learners.learn(rows, classes, None, order, table, rules, projection, floors, *out)
    for k, (name, theta) in enumerate(SECOND.items()):
        rule = partial(called, name, theta)
        *target, mu, sigma = oracles.second_order(SCALE * X, y, order, rule, covariance)
        for found, expected in zip(out[:, k], target, strict=True):
            close(found[order], expected[order])
        close(table[:, k], mu)
        close(1 / (1 + table[:, 8 + k]), np.diag(sigma))


def test_what_does_not_fit_is_refused():
    X, y, order = problem(0)
    rows, y, rules = learners.csr(X, SCALE), (y > 0).astype(np.int32), [rule_of("arow")] * 5
    good = [rows, y, None, order, np.zeros((FEATURES, 16)), rules, 0, np.full(5, 0.1)]
    for at, wrong in ((4, np.zeros((FEATURES, 8))), (4, np.zeros((3, 16))), (7, np.full(4, 0.1))):
        given = [*good]
        given[at] = wrong
        with pytest.raises(ValueError, match=r"fit|floor|outside|features"):
            diagonal_learners.learn(*given, *np.zeros((2, 5, ROWS)))
    for wrong in ((4, ROWS), (5, ROWS - 1)):
        for shapes in ((wrong, (5, ROWS)), ((5, ROWS), wrong)):
            with pytest.raises(ValueError, match=r"for each learner|entries for"):
                diagonal_learners.learn(*good, *map(np.zeros, shapes))
