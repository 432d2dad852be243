"""The kernels against frozen vectors: scalar coefficients, and whole passes over a 60 x 10 set."""

import json
from pathlib import Path

import numpy as np
import pytest
from factors import EM, SPECTRAL, Factors

from cwtool_ext import diagonal, first_order, full, narow, rules, sop

HERE = Path(__file__).parent / "vectors" / "cw-family"
COEFFICIENTS = json.loads((HERE / "vectors_coef.json").read_text())
ALL = json.loads((HERE / "vectors_seq_names.json").read_text())
NAMES = [name for name in ALL if not name.startswith("fact_")]
FACTORED = [name for name in ALL if name.startswith("fact_")]
FITS = {"spec0": (SPECTRAL, 0), "em3": (EM, 3), "spec_em3": (SPECTRAL, 3)}
SEQUENCES = np.load(HERE / "vectors_seq.npz")
PHI = 1.2815515655446004
RULES = {
    "perceptron": rules.perceptron(),
    "pa": rules.pa(),
    "pa1": rules.pa1(0.1),
    "pa2": rules.pa2(0.1),
    "cw": rules.cw(PHI),
    "cwvar": rules.cw_var(PHI),
    "scw1": rules.scw1(PHI, 0.5),
    "scw2": rules.scw2(PHI, 0.5),
    "arow": rules.arow(0.5),
    "narow": rules.narow(2.0),
    "nherd": rules.nherd(1.0),
}
SMIN = 1e-12


@pytest.mark.parametrize("case", COEFFICIENTS, ids=lambda case: case["rule"])
def test_coefficients(case):
    make = getattr(rules, {"cwvar": "cw_var"}.get(case["rule"], case["rule"]))
    rule = make(**{name: case[name] for name in ("phi", "C", "r", "b") if name in case})
    found = rules.coefficients(rule, case["m"], case["v"])
    np.testing.assert_allclose(found, (case["alpha"], case["kappa"]), rtol=1e-12, atol=0)


def rows():
    X = SEQUENCES["X"]
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.int64)
    return indptr, np.nonzero(X)[1].astype(np.int32), X[X != 0]


def run(name):
    """(score, v, mu, S) of one pass, in the terms of the vectors file."""
    csr, y = rows(), SEQUENCES["y"].astype(float)
    score, v, order = np.zeros(60), np.zeros(60), np.arange(60)
    rule, _, kind = name.partition("_")
    if kind in ("", "avg"):
        table = np.zeros((10, 2 if kind else 1))
        first_order.learn(*csr, y, order, table, RULES[rule], 0, 1.0, score)
        return score, v, table[:, 0] - (table[:, 1] / 60 if kind else 0.0), None
    if kind == "full":
        table, sigma = np.zeros((10, 1)), np.eye(10)
        if rule == "sop":
            full.learn_sop(*csr, y, order, table, sigma, 10, 1.0, score)
            return score, v, np.linalg.solve(sigma, table[:, 0]), sigma
        shrink = 2.0 if rule == "narow" else 0.0
        full.learn(*csr, y, order, table, sigma, 10, RULES[rule], shrink, SMIN, 1.0, score, v)
        return score, v, table[:, 0], sigma
    table, projection = np.zeros((10, 2)), int(kind == "diag_l2")
    if rule == "sop":
        sop.learn(*csr, y, order, table, 1.0, score)
        return score, v, table[:, 0], 1.0 + table[:, 1]
    if rule == "narow":
        narow.learn(*csr, y, order, table, 2.0, projection, SMIN, 1.0, score, v)
        return score, v, table[:, 0] / (1.0 + table[:, 1]), 1.0 / (1.0 + table[:, 1])
    diagonal.learn(*csr, y, order, table, RULES[rule], projection, SMIN, 1.0, score, v)
    return score, v, table[:, 0], 1.0 / (1.0 + table[:, 1])


@pytest.mark.parametrize("name", NAMES)
def test_sequence(name):
    for part, found in zip(("score", "v", "mu", "S"), run(name), strict=True):
        if found is None:
            assert f"{name}/{part}" not in SEQUENCES
            continue
        target = SEQUENCES[f"{name}/{part}"]
        atol = 1e-10 * max(1.0, np.abs(target).max())
        np.testing.assert_allclose(found, target, rtol=0, atol=atol, err_msg=part)


def near(found, target, what=""):
    atol = 1e-10 * max(1.0, np.abs(target).max())
    np.testing.assert_allclose(found, target, rtol=0, atol=atol, err_msg=what)


@pytest.mark.parametrize("name", FACTORED)
def test_factored_sequence(name):
    _, rule, m, b, fit = name.split("_", 4)
    X = SEQUENCES["X"] + 0.0  # no -0.0
    factors = Factors(10, int(m[1:]), int(b[1:]), *FITS[fit])
    score, v = factors.learn(X, SEQUENCES["y"].astype(float), RULES[rule])
    D, W, mu = factors.dense()
    for part, found in {"score": score, "v": v, "mu": mu, "D": D, "WWt": W @ W.T}.items():
        near(found, SEQUENCES[f"{name}/{part}"], part)


def divergence(D, W, E, R):
    """KL(P, Q) of P = D + WW', Q = E + RR'."""
    P, Q = np.diag(D) + W @ W.T, np.diag(E) + R @ R.T
    ratio = np.linalg.solve(Q, P)
    return (np.trace(ratio) - len(D) - np.linalg.slogdet(ratio)[1]) / 2


def test_one_iteration_of_em():
    D, W = SEQUENCES["em/D0"], SEQUENCES["em/W"]
    E, R, _ = Factors.of(D, W, 3, EM, 1).fitted().dense()
    near(E, SEQUENCES["em/D1"])
    near(R, SEQUENCES["em/R1"])
    near(divergence(D, W, E, R), SEQUENCES["em/kl_after1"])


def test_spectral_fit():
    D, W = SEQUENCES["em/D0"], SEQUENCES["em/W"]
    E, R, _ = Factors.of(D, W, 3, SPECTRAL, 0).fitted().dense()
    near(E, SEQUENCES["spec/D"])
    near(R @ R.T, SEQUENCES["spec/RRt"])
    near(divergence(D, W, E, R), SEQUENCES["spec/kl"])
