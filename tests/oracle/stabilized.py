"""Small problems for stabilized truncated descent, and runs in which each path has its orders."""

import numpy as np
import oracles

from cwtool import params
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.algorithms.stsgd import Stsgd
from cwtool.data.rows import SlotRows
from cwtool.run import Run

N, P, M = 50, 12, 3
RUN = Run()
SLOTS = np.arange(P, dtype=np.int32)
WEIGHT, COUNT = 0, 1  # columns of a path

VARIANTS = {
    "norm": {},
    "count": {"gravity_by": "count"},
    "weight": {"pull_on": "weight"},
    "gradients": {"informed_by": "gradients"},
    "logistic": {"loss": "logistic", "annealing": 2.0},
    "carried": {"least": 7},
    "growing": {"growth": 0.3},
}


def problem(seed, dense=False):
    """Sparse rows over columns of different scales, every column in some row; y is +1 or -1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * np.logspace(-1, 1, P)
    X *= (rng.random((N, P)) < 0.3) | (np.arange(N)[:, None] % P == np.arange(P)) | dense
    y = np.where(X @ rng.standard_normal(P) + rng.standard_normal(N) > 0, 1.0, -1.0)
    return X, y


def rows_of(X, y, scale=1.0, weight=None):
    return SlotRows(*oracles.csr(X), (y > 0).astype(np.int32), weight, scale)


def algorithm(**given):
    base = {"paths": M, "rate": 0.03, "burst": 4, "bursts": 3, "scale": "none", "intercept": "off"}
    return Stsgd(params.build(StsgdParams, {**base, **given}))


def fresh(algo, rows):
    """A new state with slots for the features of these rows."""
    state = algo.new_state()
    state.index.observe(rows.indices)
    state.reserve()
    return state


def known(algo, rows):
    """A new state that has met the features of these rows, though no path has learned a row."""
    state = fresh(algo, rows)
    state.numbers["met"] = state.index.count
    return state


def orders(seed, visits):
    """An order of this number of visits for each path."""
    rng = np.random.default_rng(seed)
    return [np.concatenate([rng.permutation(N) for _ in range(visits // N + 1)])[:visits]
            for _ in range(M)]  # fmt: skip


def learned(algo, X, y, paths, pieces=1, scale=None, run=RUN, weight=None):
    """The state after all visits, learned in so many pieces."""
    rows = rows_of(X, y, weight=weight)
    state = known(algo, rows)
    if scale is not None:
        state.table[:P, 0] = 1 / scale - 1
    for some in np.array_split(np.arange(len(paths[0])), pieces):
        algo.revisit(state, rows, [p[some] for p in paths], run)
    algo.finish(state)
    return state


def weights(algo, state):
    return algo.coefficients(state, SLOTS).weight


def path_tables(state):
    """The columns (weight, count) of each path."""
    _, weights, counts = state.tables
    paths = range(weights.shape[1])
    return [np.stack([weights[:P, m], counts[:P, m]], axis=1) for m in paths]


def same_tables(one, other):
    for mine, its in zip(one.tables, other.tables, strict=True):
        np.testing.assert_array_equal(mine[:P], its[:P])
