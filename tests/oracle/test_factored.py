"""The factored covariance against eqs. (8)-(12) written out, and what must hold for any data."""

import copy
from itertools import pairwise

import learners
import numpy as np
import oracles
import pytest
from factors import EM, SPECTRAL, Factors
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from learners import ETA, PHI

from cwtool_ext import rules, visit
from cwtool_ext.csr import Csr
from cwtool_ext.factored import Factored
from cwtool_ext.full import Full

RULES = {
    "cw": (PHI,),
    "cw_var": (PHI,),
    "scw1": (PHI, 0.5),
    "scw2": (PHI, 0.5),
    "arow": (0.7,),
}
FITS = {"spectral": (SPECTRAL, 0), "em": (EM, 3), "both": (SPECTRAL, 2)}
ROWS, FEATURES, SCALE = 60, 12, 0.6
seeds = st.integers(0, 2**32 - 1)


def rule(name):
    return getattr(rules, name)(*RULES[name], *[ETA] * (PHI in RULES[name]))


def problem(seed, rows=ROWS, features=FEATURES):
    """Sparse rows, one of them empty, mostly learnable; a feature that comes late."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features)) * (rng.random((rows, features)) < 0.4)
    X[[0, rows // 2]] = 0.0
    X[: rows // 2, -1] = 0.0
    y = np.where(X @ rng.standard_normal(features) + 0.1 * rng.standard_normal(rows) > 0, 1.0, -1.0)
    return X, y


def close(found, target):
    atol = 1e-10 * max(1.0, np.abs(target).max())
    np.testing.assert_allclose(found, target, rtol=0, atol=atol)


@pytest.mark.parametrize(("smin", "seed"), [(1e-10, 0), (0.2, 1)])
@pytest.mark.parametrize(("m", "b"), [(1, 1), (3, 3), (4, 2), (2, 7), (8, 3), (8, 17)])
@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("name", RULES)
def test_equations(name, fit, m, b, smin, seed):
    X, y = problem(seed)
    order = np.random.default_rng(seed).permutation(ROWS)[: ROWS - 5]
    factors = Factors(FEATURES, m, b, *FITS[fit], smin, SCALE)
    score, variance = factors.learn(X, y, rule(name), order)
    target = oracles.factored(
        SCALE * X, y, order, lambda *a: oracles.RULES[name](*a, *RULES[name]), m, b,
        "em" if fit == "em" else "spectral", FITS[fit][1], smin,
    )  # fmt: skip
    assert factors.counts[1] == m, "never compressed"
    D, W, mu = factors.dense()
    close(score[order], target[0][order])
    close(variance[order], target[1][order])
    close(mu, target[2])
    close(D, target[3])
    close(W @ W.T, target[4] @ target[4].T)
    sigma = np.linalg.inv(np.diag(D) + W @ W.T)
    score, variance = factors.scores(X, rule(name))
    close(score, SCALE * X @ mu)
    close(
        variance,
        np.maximum(np.einsum("ij,jk,ik->i", X, sigma, X), smin * X**2 @ (1 / D)) * SCALE**2,
    )


# 4: nothing is lost before the first fit


@pytest.mark.parametrize("name", RULES)
@given(seed=seeds)
@settings(max_examples=10)
def test_full_covariance_while_all_updates_are_kept(name, seed):
    X, y = problem(seed, 20)
    factors = Factors(FEATURES, 2, 18)
    found = factors.learn(X, y, rule(name))
    table, sigma = np.zeros((FEATURES, 1)), np.eye(FEATURES)
    made = Full(table, sigma, FEATURES, rule(name), 0.0, 1e-10)
    *target, updates = learners.learn(made, learners.csr(X), y)
    # a row along the one before lies on its margin: rounding decides whether it is an update
    assert abs(updates - factors.updates) <= 1 and updates > 5
    D, W, mu = factors.dense()
    for a, b in zip(
        (*found, mu, D, np.diag(D) + W @ W.T),
        (*target, table[:, 0], np.ones(FEATURES), np.linalg.inv(sigma)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7 * max(1, np.abs(b).max()))


# 5: what a fit leaves alone


def learned(seed, name="cw", fit="spectral", m=3, b=6):
    """A state with something in R and in the shift of the mean, unseen features, and no room for
    another column."""
    X, y = problem(seed, 40)
    X[:, -2:] = 0.0
    factors = Factors(FEATURES, m, b, *FITS[fit], 1e-6)
    for i in range(len(y)):
        factors.learn(X[i : i + 1], y[i : i + 1], rule(name))
        if factors.full and factors.counts[1] == m:
            return factors
    return None


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("name", RULES)
@given(seed=seeds)
@settings(max_examples=10)
def test_a_fit_keeps_the_mean(fit, name, seed):
    before = learned(seed, name, fit)
    assume(before is not None)
    after = before.fitted(rule(name))
    E, W, _ = after.dense()
    k = W.shape[1]
    close(after.U[:k, :k].T @ after.U[:k, :k], np.eye(k) + W.T @ (W / E[:, None]))
    (D, old, kept), (E, R, mean) = before.dense(), before.fit_of(rule(name))
    D, old, kept = D[:-1], old[:-1], kept[:-1]
    assert (E > 0).all()
    close(mean, kept)
    if fit == "spectral":
        close(E + (R**2).sum(axis=1), D + (old**2).sum(axis=1))
        assert (E >= D).all()
    unseen = before.table[:-1, 0] == 0
    assert unseen.any()
    assert (E[unseen] == 1).all()
    assert not R[unseen].any()
    np.testing.assert_array_equal(after.table[:-1], before.table[:-1])


# 6: EM goes down


def divergence(P, D, R):
    ratio = np.linalg.solve(np.diag(D) + R @ R.T, P)
    return (np.trace(ratio) - len(D) - np.linalg.slogdet(ratio)[1]) / 2


@pytest.mark.parametrize("fit", [SPECTRAL, EM])
@given(seed=seeds)
@settings(max_examples=10)
def test_em_never_goes_up(fit, seed):
    rng = np.random.default_rng(seed)
    D, W = rng.uniform(0.5, 3, 9), rng.standard_normal((9, 6))
    P = np.diag(D) + W @ W.T
    steps = [Factors.of(D, W, 2, fit, n).fit_of(rule("cw")) for n in range(1, 30, 4)]
    kl = [divergence(P, E, R) for E, R, _ in steps]
    assert all(b <= a + 1e-10 for a, b in pairwise(kl))
    assert kl[-1] < kl[0]
    assert all((E > 0).all() for E, _, _ in steps)


@given(seed=seeds)
@settings(max_examples=10)
def test_spectral_explains_the_most(seed):
    """Of all R = W Q with orthonormal Q, tr(R'D^-1 R) is greatest: the best R for this D. Rows of R
    whose squared length is less than a share of 1 / SMALL of D + diag(W W') are left out."""
    rng = np.random.default_rng(seed)
    D, W = rng.uniform(0.5, 3, 9), rng.standard_normal((9, 6))
    _, R, _ = Factors.of(D, W, 2).fit_of(rule("cw"))
    _, Q = np.linalg.eigh(W.T @ (W / D[:, None]))
    lengths = ((W @ Q[:, -2:]) ** 2).sum(axis=1)
    small = oracles.SMALL * lengths <= D + (W**2).sum(axis=1)
    assert R.any(axis=1).tolist() == (~small).tolist()
    explained = np.trace(R.T @ (R / D[:, None]))
    assert explained == pytest.approx((lengths / D)[~small].sum(), rel=1e-12)


# bits


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("name", RULES)
def test_blocks_change_no_bit(name, fit):
    X, y = problem(5)
    whole, parts = (Factors(FEATURES, 2, 4, *FITS[fit]) for _ in range(2))
    score, variance = whole.learn(X, y, rule(name))
    found = [parts.learn(X[c], y[c], rule(name)) for c in np.split(np.arange(ROWS), [1, 9, 33])]
    np.testing.assert_array_equal(np.concatenate([s for s, _ in found]), score)
    np.testing.assert_array_equal(np.concatenate([v for _, v in found]), variance)
    assert whole.counts.tolist() == parts.counts.tolist()
    n = whole.counts[3] + 1
    for a, b in zip(
        whole.state[:1] + whole.state[3:], parts.state[:1] + parts.state[3:], strict=True
    ):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(whole.links[:n], parts.links[:n])
    np.testing.assert_array_equal(whole.entries[:n], parts.entries[:n])


def test_scores_are_those_of_learning():
    X, y = problem(7)
    factors = Factors(FEATURES, 2, 4)
    factors.learn(X, y, rule("cw"))
    before = copy.deepcopy(factors.state)
    score, variance = factors.scores(X, rule("cw"))
    for a, b in zip(factors.state, before, strict=True):
        np.testing.assert_array_equal(a, b)
    for i in range(ROWS):
        again = copy.deepcopy(factors).learn(X[i : i + 1], y[i : i + 1], rule("cw"))
        assert (again[0][0], again[1][0]) == (score[i], variance[i])


# guards


@given(seed=seeds, smin=st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_variance_never_falls_below_its_floor(seed, smin):
    x = np.random.default_rng(seed).standard_normal((1, 4)) + 2
    y = np.tile([1.0, -1.0, -1.0], 20)  # contradictory: plain CW collapses quadratically
    factors = Factors(4, 2, 3, smin=smin)
    _, variance = factors.learn(np.repeat(x, 60, 0), y, rule("cw"))
    D, _, mu = factors.dense()
    assert factors.updates > 10
    assert np.isfinite(mu).all()
    assert (D > 0).all()
    assert (variance >= smin * (x**2 / D).sum() * (1 - 1e-6)).all()
    assert variance.min() < 10 * smin * (x**2).sum()


extremes = st.sampled_from(
    [0.0, 1.0, -3.0, 1e-160, 1e-200, -1e-200, 5e-324, 1e60, 1e99, 1e120, 1e200, -1e200, 1e308]
)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("name", RULES)
@given(
    X=st.lists(st.lists(extremes, min_size=3, max_size=3), min_size=9, max_size=9),
    y=st.lists(st.sampled_from([-1.0, 1.0]), min_size=9, max_size=9),
    scale=st.sampled_from([1.0, 1e-3, 1e5]),
)
@settings(max_examples=15)
def test_extreme_values_never_reach_the_state(name, fit, X, y, scale):
    factors = Factors(3, 1, 2, *FITS[fit], scale=scale)
    factors.learn(np.array(X), np.array(y), rule(name))
    assert all(np.isfinite(array).all() for array in factors.state)


@pytest.mark.parametrize("name", RULES)
@given(seed=seeds)
@settings(max_examples=10)
def test_flipping_the_labels_flips_the_mean(name, seed):
    X, y = problem(seed)
    one, other = Factors(FEATURES, 2, 4), Factors(FEATURES, 2, 4)
    score, variance = one.learn(X, y, rule(name))
    opposite, same = other.learn(X, -y, rule(name))
    np.testing.assert_array_equal(opposite, -score)
    np.testing.assert_array_equal(same, variance)


# arguments


BAD = {
    "1 column": {"table": np.zeros((FEATURES, 2))},
    "floor must lie": {"floor": 0.0},
    "rank 0": {"rows": np.zeros((9, 3))},
    "do not match": {"links": np.zeros((3, 2), np.int32)},
    "of columns": {"counts": np.zeros(3, np.int64)},
    "do not fit the arrays": {"counts": np.array([2, 1, 0, 0])},
    "no room is left": {"rows": np.zeros((3, 5))},
    "index 12 lies outside": {"last_index": FEATURES},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_arguments_are_refused_with_a_sentence(sentence):
    X, y = problem(8)
    f = Factors(FEATURES, 2, 4)

    def visited(last_index=0, **given):
        indptr, indices, values = oracles.csr(X)
        indices[-1] = max(indices[-1], last_index)
        parts = dict(zip(("rows", "links", "entries", "U", "e", "counts"), f.state, strict=True))
        parts = copy.deepcopy({"table": f.table, **parts, "floor": 1e-10} | given)
        made = Factored(**parts, rule=rule("cw"), method=0, iterations=0)
        out = np.zeros((2, ROWS))
        rows, order = Csr(indptr, indices, values), np.arange(ROWS)
        visit.learn(rows, learners.classes(y), None, order, made, *out)
        made.keep()

    visited()
    with pytest.raises(ValueError, match=sentence):
        visited(**BAD[sentence])
