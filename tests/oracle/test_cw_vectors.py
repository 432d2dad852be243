"""The learners against frozen vectors: scalar coefficients, and whole passes over a 60 x 10 set."""

import json
from pathlib import Path

import learners
import numpy as np
import pytest
from factors import EM, SPECTRAL, Factors
from learners import ETA, PHI

from cwtool_ext import rules

HERE = Path(__file__).parent / "vectors" / "cw-family"
COEFFICIENTS = [
    case
    for case in json.loads((HERE / "vectors_coef.json").read_text())
    if case["rule"] != "narow_libol"  # a variant of NAROW that cwtool does not have
]
ALL = json.loads((HERE / "vectors_seq_names.json").read_text())
NAMES = [name for name in ALL if not name.startswith("fact_")]
FACTORED = [name for name in ALL if name.startswith("fact_")]
FITS = {"spec0": (SPECTRAL, 0), "em3": (EM, 3), "spec_em3": (SPECTRAL, 3)}
SEQUENCES = np.load(HERE / "vectors_seq.npz")
RULES = {
    "perceptron": rules.perceptron(),
    "pa": rules.pa(),
    "pa1": rules.pa1(0.1),
    "pa2": rules.pa2(0.1),
    "cw": rules.cw(PHI, ETA),
    "cwvar": rules.cw_var(PHI, ETA),
    "scw1": rules.scw1(PHI, 0.5, ETA),
    "scw2": rules.scw2(PHI, 0.5, ETA),
    "arow": rules.arow(0.5),
    "nherd": rules.nherd(1.0),
}
X = SEQUENCES["X"] + 0.0  # no -0.0
Y = SEQUENCES["y"]


def near(found, target, what=""):
    atol = 1e-10 * max(1.0, np.abs(target).max())
    np.testing.assert_allclose(found, target, rtol=0, atol=atol, err_msg=what)


@pytest.mark.parametrize("name", sorted({case["rule"] for case in COEFFICIENTS}))
def test_coefficients(name):
    make = getattr(rules, {"cwvar": "cw_var"}.get(name, name))
    found, targets = [], []
    for case in (c for c in COEFFICIENTS if c["rule"] == name):
        given = {name: case[name] for name in ("phi", "C", "r", "b") if name in case}
        rule = make(**given, **({"eta": ETA} if "phi" in given else {}))
        for weight in ((), (1.0,)):
            found.append(rules.coefficients(rule, case["m"], case["v"], *weight))
            targets.append((case["alpha"], case["kappa"]))
    np.testing.assert_allclose(found, targets, rtol=1e-12, atol=0)


KINDS = {"": "mean", "avg": "averaged", "diag_kl": "kl", "diag_l2": "l2", "diag": "kl"}


def kind_of(name):
    """The name of a rule, and the kind of learner."""
    rule, _, covariance = name.partition("_")
    kind = KINDS.get(covariance, covariance)
    if rule == "sop":
        return rule, "sop_full" if kind == "full" else "sop"
    return rule, f"narow_{kind}" if rule == "narow" else kind


def run(name):
    """(score, v, mu, S) of one pass, in the terms of the vectors file."""
    rule, kind = kind_of(name)
    table, sigma = learners.fresh(kind, 10)
    made = learners.learner(kind, RULES.get(rule), table, sigma, b=2.0)
    score, v, _ = learners.learn(made, learners.csr(X), Y)
    first, second = table[:, 0], table[:, -1]
    found = {
        "mean": (first, None),
        "averaged": (first - second / 60, None),
        "sop": (first, 1 + second),
        "sop_full": (np.linalg.solve(sigma, first), sigma),
        "full": (first, sigma),
        "narow_full": (first, sigma),
        "narow_kl": (first / (1 + second), 1 / (1 + second)),
        "narow_l2": (first / (1 + second), 1 / (1 + second)),
    }
    return score, v, *found.get(kind, (first, 1 / (1 + second)))


@pytest.mark.parametrize("name", NAMES)
def test_sequence(name):
    for part, found in zip(("score", "v", "mu", "S"), run(name), strict=True):
        if found is None:
            assert f"{name}/{part}" not in SEQUENCES
        else:
            near(found, SEQUENCES[f"{name}/{part}"], part)


@pytest.mark.parametrize("name", FACTORED)
def test_factored_sequence(name):
    _, rule, m, b, fit = name.split("_", 4)
    factors = Factors(10, int(m[1:]), int(b[1:]), *FITS[fit])
    score, v = factors.learn(X, Y, RULES[rule])
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
    E, R, _ = Factors.of(D, W, 3, EM, 1).fit_of(RULES["cw"])
    near(E, SEQUENCES["em/D1"])
    near(R, SEQUENCES["em/R1"])
    near(divergence(D, W, E, R), SEQUENCES["em/kl_after1"])


def test_spectral_fit():
    D, W = SEQUENCES["em/D0"], SEQUENCES["em/W"]
    E, R, _ = Factors.of(D, W, 3, SPECTRAL, 0).fit_of(RULES["cw"])
    near(E, SEQUENCES["spec/D"])
    near(R @ R.T, SEQUENCES["spec/RRt"])
    near(divergence(D, W, E, R), SEQUENCES["spec/kl"])
