"""The scale of columns, as stabilized truncated descent fits it."""

import numpy as np
import pytest
import sparse_oracles
from stabilized import RUN, P, algorithm, fresh, problem, rows_of

from cwtool.algorithms.stabilized_descent import column_spread
from cwtool_ext import columns as kernels


def fitted(X, scale):
    """The state after all rows were met, and damp."""
    algo = algorithm(scale=scale, rate="auto")
    rows = rows_of(X, np.where(np.arange(len(X)) % 2, 1.0, -1.0))
    state = fresh(algo, rows)
    algo.learn(state, rows, rows.order, RUN)
    column_spread.fit(state, scale)
    return state, state.column("damp")[: X.shape[1]]


@pytest.mark.parametrize("scale", ["std", "floor", "balanced"])
def test_columns_are_scaled_by_their_spread(scale):
    X, _ = problem(12)
    X[:, 3] = 0.7  # constant: it is left out
    state, damp = fitted(X, scale)
    var, nnz = X.var(axis=0), (X != 0).sum(axis=0)
    if scale == "balanced":
        var = ((X**2).sum(axis=0) / nnz) ** 0.75 * (nnz / len(X)) ** 0.5
    assert damp[3] == -1
    alive = np.arange(P) != 3
    var[3] = 0.0
    by_std = np.argsort(var, kind="stable")
    tau2 = var[by_std[np.flatnonzero(np.cumsum(nnz[by_std]) >= 0.5 * nnz.sum())[0]]]
    square = tau2 / np.maximum(var[alive], tau2) if scale != "std" else 1 / var[alive]
    np.testing.assert_allclose(1 / (1 + damp[alive]) ** 2, square, rtol=1e-10)
    norms = (X[:, alive] ** 2 @ square).sum()
    assert state.numbers["norms"] == pytest.approx(norms, rel=1e-10)


def test_frozen_scales():
    data = np.load(sparse_oracles.VECTORS / "data.npz")
    X = np.zeros((60, 40))
    for i in range(60):
        some = slice(data["indptr"][i], data["indptr"][i + 1])
        X[i, data["indices"][some]] = data["data"][some]
    met = np.arange(40) != 6
    _, damp = fitted(X[:, met], "std")
    np.testing.assert_allclose(1 / (1 + damp), data["scale"][met], rtol=1e-10)
    _, damp = fitted(X[:, met], "floor")
    found = 1 / (1 + damp)
    np.testing.assert_allclose(
        found / found.max(), data["floor_scale"][met] / data["floor_scale"].max(), rtol=1e-10
    )


@pytest.mark.parametrize("seed", range(20))
def test_weighted_median(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, 30) / 4.0 if seed % 2 else rng.random(31)
    weights = rng.integers(0, 5, len(values)).astype(float) + (seed % 3 == 0)
    order = np.argsort(values, kind="stable")
    at = np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum())
    assert kernels.median(values.copy(), weights.copy()) == values[order[at]]
