"""The sparse online kernels against frozen vectors: 300 rounds over a 60 x 40 set."""

import json
from pathlib import Path

import learners
import numpy as np
import pytest

from cwtool import params
from cwtool.algorithms.stabilized_descent.gravity import base_gravity, burst_size, rejection_rate
from cwtool.algorithms.stabilized_descent.stage_memory import StageMemory
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.algorithms.stabilized_descent.stsgd_state import GONE
from cwtool.algorithms.stsgd import Stsgd
from cwtool.data.rows import SlotRows
from cwtool.run import Run
from cwtool_ext import prepared
from cwtool_ext.averaging import Averaging
from cwtool_ext.budget import Budget
from cwtool_ext.csr import Csr
from cwtool_ext.descent import Descent
from cwtool_ext.smooth import Smooth

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


def taught(learner):
    """The learner after the rounds of the vectors."""
    csr, y = rows()
    learners.learn(learner, Csr(*csr), y, order=DATA["rows"].astype(np.int64))
    return learner


@cases("sgd", "tg", "fobos")
def test_descent(case):
    p = case["params"]
    theta = np.inf if p.get("theta") is None else p["theta"]
    pull = (p.get("g0", p.get("lam", 0.0)), p.get("K", 1), theta, p.get("scale_by_eta", True))
    table, w = np.zeros((P, 2)), np.empty(P)
    taught(Descent(table, LOSS[p["loss"]], p["eta0"], p["power"], 0, *pull)).weights(table, w)
    agree(case, w=w)


@cases("rda")
def test_dual_averaging(case):
    p = case["params"]
    table, w = np.zeros((P, 1)), np.empty(P)
    learner = Averaging(table, LOSS[p["loss"]], p["lam"], p["gamma"], p["rho"], 0)
    taught(learner).weights(table, w)
    agree(case, w=w)


@cases("cw_tg", "cw_da")
def test_smooth(case):
    p = case["params"]
    table, mu = np.zeros((P, 3 if case["kind"] == "cw_tg" else 2)), np.empty(P)
    when = (p["shrink_always"], p.get("center") == "proximal")
    learner = Smooth(table, p["r"], p["lam"], int(p["diag"] == "exact"), 1e-12, *when, 0.0)
    taught(learner).means(table, mu)
    agree(case, mu=mu, sigma=1 / (1 + table[:, 1]))


@cases("budget")
def test_budget(case):
    p = case["params"]
    ranking = {"mahalanobis": 0, "sofs": 1, "abs": 2, "printed": 3}[p["kind"]]
    table, kept = np.zeros((P, 2)), np.zeros(p["B"], dtype=np.int32)
    no_keys = np.zeros(1, dtype=np.int32)
    place = np.zeros(P, dtype=np.int32)
    learner = taught(Budget(table, ranking, p["r"], 1e-12, kept, 0, P, no_keys, place))
    assert learner.count == p["B"]
    assert set(kept.tolist()) == set(np.flatnonzero(table[:, 0]).tolist())
    agree(case, mu=table[:, 0], sigma=1 / (1 + table[:, 1]))


def stabilized(p):
    """For a frozen stsgd case: the algorithm with its parameters, the rows, and an untrained state
    whose feature index has all features of the rows."""
    csr, y = rows(p["prep"])
    given = {
        "loss": p["loss"], "paths": p["M"], "rate": p["eta"], "burst": p["K"], "bursts": p["n_K"],
        "gravity_by": "count" if p["counter"] == "count" else "norm", "rejection": p["beta0"],
        "annealing": p["gamma"], "stability": p["pi0"], "least": p["delta"], "scale": "none",
        "growth": "auto" if p["alpha"] is None else p["alpha"],
        "intercept": "on" if p["bias_frac"] else "off",
        "informed_by": "rows" if p["informative"] == "x" else "gradients",
        "pull_on": "change" if p["gravity_on"] == "delta" else "weight",
    }  # fmt: skip
    algorithm = Stsgd(params.build(StsgdParams, given))
    state, data = algorithm.new_state(), SlotRows(*csr, (y > 0).astype(np.int32))
    state.index.observe(data.indices)
    state.reserve()
    room = len(data.indices)
    _, state.numbers["met"] = prepared.meet(
        data.csr, data.order, np.ones(60), np.inf, state.table, np.empty(61, dtype=np.int64),
        np.empty(room, dtype=np.int32), np.empty(room), np.zeros((61, 2)),
        StageMemory.of(state).known_features(state),
    )  # fmt: skip
    state.numbers |= {"rows": 60, "seen": 60.0, "positive": int((y > 0).sum())}
    return algorithm, state, data


@cases("stsgd")
def test_stabilized(case):
    p = case["params"]
    algorithm, state, data = stabilized(p)
    assert state.index.count == 39
    found, pos = {key: [] for key in ("beta", "g0", "K", "d", "n_omega")}, 0
    algorithm.begin(state, np.empty(0), fresh=False)
    share = 1.0
    while pos < p["passes"] * data.n_rows and not state.numbers["empty"]:
        size = int(state.numbers["burst"]) * p["n_K"]
        found["beta"].append(rejection_rate(share, p["beta0"], p["gamma"]))
        found["g0"].append(state.numbers["base_gravity"])
        found["K"].append(state.numbers["burst"])
        orders = [path[pos : pos + size].astype(np.int64) for path in DATA["path_rows"][: p["M"]]]
        kept = state.arrays["intercept"].copy()
        algorithm.revisit(state, data, orders, Run())
        algorithm.finish(state)
        pos += size
        share = 1 - state.numbers["gone"] / 39
        found["d"].append(share)
        found["n_omega"].append(39 - state.numbers["gone"])
        if p["bias_frac"]:
            assert not np.array_equal(kept, state.arrays["intercept"])
    assert state.numbers["empty"] == (case["key"] == "st_Rw_logistic")
    slots = np.arange(P, dtype=np.int32)
    w, _, b = algorithm.coefficients(state, slots)
    W = state.tables[1][:P].T
    omega = (state.table[:P, GONE] == 0) & np.isin(slots, data.indices)
    agree(case, w=w, W=W, b=b, omega=omega, **found)


def test_scalars_of_a_stage():
    for d, beta0, gamma, value in INDEX["scalars"]["phi"]:
        assert rejection_rate(d, beta0, gamma) == pytest.approx(value, abs=1e-12)
    for size, alpha, d, value in INDEX["scalars"]["burst_size"]:
        assert burst_size(size, "auto" if alpha is None else alpha, d) == value
    for case in INDEX["scalars"]["base_gravity"]:
        if case["ties"] == "order":
            assert base_gravity(np.array(case["v"]), case["beta"]) == case["g0"]
