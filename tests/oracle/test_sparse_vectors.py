"""The sparse online kernels against frozen vectors: 300 rounds over a 60 x 40 set."""

import json
from pathlib import Path

import numpy as np
import pytest

from cwtool_ext import budget, descent, dual, smooth

HERE = Path(__file__).parent / "vectors" / "sparse-online"
INDEX = json.loads((HERE / "index.json").read_text())
DATA, EXPECTED = np.load(HERE / "data.npz"), np.load(HERE / "expected.npz")
LOSS = {"hinge": 0, "logistic": 1}
P = 40


def cases(*kinds):
    found = [case for case in INDEX["cases"] if case["kind"] in kinds]
    assert found
    return pytest.mark.parametrize("case", found, ids=lambda case: case["key"])


def rows(prep="U"):
    """indptr, indices, values of the scaled data, and y."""
    csr = [DATA[f"{prep}_{part}"] for part in ("indptr", "indices", "data")]
    kinds = (np.int64, np.int32, np.float64)
    return [a.astype(k) for a, k in zip(csr, kinds, strict=True)], DATA["y"].astype(float)


def agree(case, **found):
    """Within 1e-9, and with the same zeros."""
    for part, values in found.items():
        target = EXPECTED[f"{case['key']}.{part}"]
        np.testing.assert_allclose(values, target, rtol=0, atol=1e-9, err_msg=part)
        np.testing.assert_array_equal(np.asarray(values) != 0, target != 0, err_msg=part)


@cases("sgd", "tg", "fobos")
def test_descent(case):
    csr, y = rows()
    p, order = case["params"], DATA["rows"].astype(np.int64)
    theta = np.inf if p.get("theta") is None else p["theta"]
    pull = (p.get("g0", p.get("lam", 0.0)), p.get("K", 1), theta, p.get("scale_by_eta", True))
    how = descent.Descent(LOSS[p["loss"]], p["eta0"], p["power"], *pull)
    table, w = np.zeros((P, 2)), np.empty(P)
    owed = descent.learn(*csr, y, order, table, how, 0, 0.0, 1.0, np.zeros(len(y)))
    descent.weights(table, how, owed, w)
    agree(case, w=w)


@cases("rda")
def test_dual_averaging(case):
    csr, y = rows()
    p, order = case["params"], DATA["rows"].astype(np.int64)
    pull = (p["lam"], p["gamma"], p["rho"])
    table, w = np.zeros((P, 1)), np.empty(P)
    dual.learn(*csr, y, order, table, LOSS[p["loss"]], *pull, 0, 1.0, np.zeros(len(y)))
    dual.weights(table, *pull, len(order), w)
    agree(case, w=w)


@cases("cw_tg", "cw_da")
def test_smooth(case):
    csr, y = rows()
    p, order = case["params"], DATA["rows"].astype(np.int64)
    table, mu = np.zeros((P, 3 if case["kind"] == "cw_tg" else 2)), np.empty(P)
    C = smooth.learn(
        *csr, y, order, table, p["r"], p["lam"], int(p["diag"] == "exact"), 1e-12,
        p["shrink_always"], p.get("center") == "proximal", 0.0, 1.0, *np.zeros((2, len(y))),
    )  # fmt: skip
    smooth.means(table, C, mu)
    agree(case, mu=mu, sigma=1 / (1 + table[:, 1]))


@cases("budget")
def test_budget(case):
    csr, y = rows()
    p, order = case["params"], DATA["rows"].astype(np.int64)
    ranking = {"mahalanobis": 0, "sofs": 1, "abs": 2, "printed": 3}[p["kind"]]
    table, kept = np.zeros((P, 2)), np.zeros(p["B"], dtype=np.int32)
    count = budget.learn(
        *csr, y, order, table, ranking, p["r"], kept, 0, P, np.zeros(1, dtype=np.int32), 1e12, 1.0,
        *np.zeros((2, len(y))),
    )  # fmt: skip
    assert count == p["B"]
    assert set(kept.tolist()) == set(np.flatnonzero(table[:, 0]).tolist())
    agree(case, mu=table[:, 0], sigma=1 / (1 + table[:, 1]))
