"""What must hold for the CW family whatever the data."""

import learners
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from learners import ETA, FIRST_ORDER, SECOND_ORDER, SMIN, fresh

from cwtool_ext import rules
from cwtool_ext.csr import Csr
from cwtool_ext.full import Full

seeds = st.integers(0, 2**32 - 1)
phis = st.floats(0.1, 3.0)
positive = st.floats(0.05, 20.0)
RULES = {
    "cw": rules.cw(1.3, ETA),
    "cw_var": rules.cw_var(1.3, ETA),
    "scw1": rules.scw1(1.3, 0.5, ETA),
    "scw2": rules.scw2(1.3, 0.5, ETA),
    "arow": rules.arow(0.5),
    "nherd": rules.nherd(1.0),
}
FIRST = {
    "perceptron": rules.perceptron(),
    "pa": rules.pa(),
    "pa1": rules.pa1(0.5),
    "pa2": rules.pa2(0.5),
}
KERNELS = [
    *[(kind, name) for kind in SECOND_ORDER for name in RULES],
    *[(kind, name) for kind in FIRST_ORDER for name in FIRST],
    *[(kind, "") for kind in learners.ALONE],
]


def csr(X, scale=1.0):
    """Every entry is stored, zeros too."""
    rows, columns = X.shape
    indptr = np.arange(0, rows * columns + 1, columns, dtype=np.int64)
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    return Csr(indptr, indices, X.ravel().astype(float), scale)


def learn(kind, name, data, y, table, sigma, smin=SMIN, weight=None):
    """One pass in row order: (score, variance, updates)."""
    rule = (RULES | FIRST).get(name)
    made = learners.learner(kind, rule, table, sigma, b=2.0, smin=smin)
    return learners.learn(made, data, y, weight)


def random_rows(seed, rows=12, features=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features)) * (rng.random((rows, features)) < 0.7)
    return X * 10 ** rng.uniform(-2, 2), rng.choice([-1.0, 1.0], rows)


class OneStep:
    """A full-covariance learner at a random (mu, Sigma <= I), before and after one row."""

    def __init__(self, seed, rule, shrink=0.0):
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
        sigma = Q @ np.diag(rng.uniform(0.05, 1.0, 4)) @ Q.T
        sigma = (sigma + sigma.T) / 2
        mu, x = rng.standard_normal((4, 1)), rng.standard_normal(4)
        self.m, self.v = (mu.T @ x).item(), x @ sigma @ x
        self.alpha, self.kappa = rules.coefficients(rule, self.m, self.v)
        made = Full(mu, sigma, 4, rule, shrink, SMIN)
        *_, self.updates = learners.learn(made, csr(x[None]), np.ones(1))
        self.m_new, self.u = (mu.T @ x).item(), x @ sigma @ x


def near(a, b):
    assert a == pytest.approx(b, rel=1e-9, abs=1e-9)


# 1: what each objective says of the margin m_new and the variance u after an update


@given(seeds, phis)
def test_cw_meets_its_constraint(seed, phi):
    step = OneStep(seed, rules.cw(phi, ETA))
    assert (step.updates == 1) == (step.m < phi * np.sqrt(step.v))
    if step.updates:
        near(step.m_new, phi * np.sqrt(step.u))


@given(seeds, phis)
def test_cw_var_meets_its_constraint(seed, phi):
    step = OneStep(seed, rules.cw_var(phi, ETA))
    assert (step.updates == 1) == (step.m < phi * step.v)
    if step.updates:
        near(step.m_new, phi * step.u)


@given(seeds, phis, positive)
def test_scw1_has_no_loss_or_the_longest_step(seed, phi, C):
    step = OneStep(seed, rules.scw1(phi, C, ETA))
    if step.updates and step.alpha < C:
        near(step.m_new, phi * np.sqrt(step.u))
    elif step.updates:
        assert step.alpha == C
        assert step.m_new <= phi * np.sqrt(step.u) + 1e-9


@given(seeds, phis, positive)
def test_scw2_pays_its_slack(seed, phi, C):
    step = OneStep(seed, rules.scw2(phi, C, ETA))
    if step.updates:
        near(phi * np.sqrt(step.u) - step.m_new, step.alpha / (2 * C))


@given(seeds, positive)
def test_arow_margin_and_variance(seed, r):
    step = OneStep(seed, rules.arow(r))
    assert (step.updates == 1) == (step.m < 1)
    if step.updates:
        near(step.m_new, (step.m * r + step.v) / (step.v + r))
        near(step.u, step.v * r / (step.v + r))


@given(seeds, positive)
def test_narow_variance_becomes_one_over_b(seed, b):
    step = OneStep(seed, rules.narow(b), shrink=b)
    assert (step.updates == 1) == (step.m / max(1, b * step.v) < 1)
    if step.updates:
        near(step.u, 1 / b if b * step.v > 1 else step.v)


# 2: confidence only grows


@pytest.mark.parametrize(("kind", "name"), [k for k in KERNELS if k[0] not in ("mean", "averaged")])
@given(seed=seeds)
def test_confidence_grows_and_sigma_stays_positive(kind, name, seed):
    X, y = random_rows(seed)
    table, sigma = fresh(kind, X.shape[1])
    for i in range(len(y)):
        before = table.copy(), np.diag(sigma).copy()
        learn(kind, name, csr(X[i : i + 1]), y[i : i + 1], table, sigma, smin=1e-6)
        if table.shape[1] == 2:
            assert (table[:, 1] >= before[0][:, 1]).all()
        assert (np.diag(sigma) <= before[1]).all()
        np.testing.assert_array_equal(sigma, sigma.T)
        assert np.linalg.eigvalsh(sigma).min() > 0


# 3: one feature a row leaves nothing to project


@pytest.mark.parametrize("name", RULES)
@given(seed=seeds)
def test_one_hot_rows_need_no_projection(name, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 2.0, 15) * rng.choice([-1, 1], 15)
    data = Csr(np.arange(16), rng.integers(0, 3, 15).astype(np.int32), x)
    y = np.where(rng.random(15) < 0.8, np.sign(x), -np.sign(x))
    found = {}
    for kind in ("kl", "l2", "full"):
        table, sigma = fresh(kind, 3)
        score, variance, _ = learn(kind, name, data, y, table, sigma, smin=1e-6)
        s = np.diag(sigma) if kind == "full" else 1 / (1 + table[:, 1])
        found[kind] = np.concatenate([score, variance, table[:, 0], s])
    np.testing.assert_allclose(found["l2"], found["kl"], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found["full"], found["kl"], rtol=1e-7, atol=1e-9)


# 7: soft with an infinite C is hard


@given(st.floats(-10, 10), st.floats(1e-6, 1e6), phis)
def test_scw_with_infinite_c_is_cw(m, v, phi):
    target = rules.coefficients(rules.cw(phi, ETA), m, v)
    for soft in (rules.scw1, rules.scw2):
        found = rules.coefficients(soft(phi, np.inf, ETA), m, v)
        np.testing.assert_allclose(found, target, rtol=1e-10)


# 8: units do not matter when the prior follows them


@pytest.mark.parametrize(("kind", "name"), KERNELS)
@given(seed=seeds, power=st.integers(-8, 8))
def test_scale_is_part_of_the_value(kind, name, seed, power):
    X, y = random_rows(seed)
    state, twin = fresh(kind, X.shape[1]), fresh(kind, X.shape[1])
    first = learn(kind, name, csr(X), y, *state)
    second = learn(kind, name, csr(X * 2.0**power, 2.0**-power), y, *twin)
    for a, b in zip((*state, *first), (*twin, *second), strict=True):
        np.testing.assert_array_equal(a, b)


# 9: AROW is ridge regression on its updates


@given(seeds, positive)
def test_arow_natural_parameters(seed, r):
    X, y = random_rows(seed)
    X /= max(1.0, np.abs(X).max())
    table, sigma = fresh("full", X.shape[1])
    made = Full(table, sigma, X.shape[1], rules.arow(r), 0.0, SMIN)
    score, variance, _ = learners.learn(made, csr(X), y)
    used = (y * score < 1) & (variance > 0)
    target = (y[used] / r) @ X[used]
    np.testing.assert_allclose(np.linalg.solve(sigma, table[:, 0]), target, rtol=1e-8, atol=1e-8)


# 10: the classes are symmetric (SOP breaks the tie at 0)


@pytest.mark.parametrize(("kind", "name"), [k for k in KERNELS if not k[0].startswith("sop")])
@given(seed=seeds)
def test_flipping_the_labels_flips_the_mean(kind, name, seed):
    X, y = random_rows(seed)
    state, twin = fresh(kind, X.shape[1]), fresh(kind, X.shape[1])
    score, _, updates = learn(kind, name, csr(X), y, *state)
    opposite, _, as_many = learn(kind, name, csr(X), -y, *twin)
    np.testing.assert_array_equal(opposite, -score)
    np.testing.assert_array_equal(twin[0][:, 0], -state[0][:, 0])
    np.testing.assert_array_equal(twin[1], state[1])
    assert updates == as_many


# guards, boundaries, extremes


@pytest.mark.parametrize("kind", ["kl", "l2", "full"])
@given(seed=seeds, smin=st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_variance_never_falls_below_its_floor(kind, seed, smin):
    X, _ = random_rows(seed, rows=1, features=4)
    xx = (X**2).sum()
    assume(xx > 0)
    y = np.tile([1.0, -1.0, -1.0], 20)  # contradictory: plain CW collapses quadratically
    table, sigma = fresh(kind, 4)
    _, variance, updates = learn(kind, "cw", csr(np.repeat(X, 60, 0)), y, table, sigma, smin=smin)
    assert updates > 10
    assert np.isfinite(table).all()
    assert (variance >= smin * xx * (1 - 1e-6)).all()
    if kind != "full":
        assert (1 / (1 + table[:, 1]) >= smin * (1 - 1e-12)).all()
    if kind != "l2":  # L2 forgets more slowly than 60 rows
        assert variance.min() < 2 * smin * xx


@pytest.mark.parametrize(("kind", "name"), KERNELS)
@given(seed=seeds)
def test_empty_row_changes_nothing(kind, name, seed):
    X, y = random_rows(seed)
    table, sigma = fresh(kind, X.shape[1])
    learn(kind, name, csr(X), y, table, sigma)
    before = table.copy(), sigma.copy()
    nothing = Csr(np.zeros(3, np.int64), np.zeros(0, np.int32), np.zeros(0))
    score, variance, updates = learn(kind, name, nothing, [1, -1], table, sigma)
    assert updates == 0
    assert not score.any()
    assert not variance.any()
    np.testing.assert_array_equal(table, before[0])
    np.testing.assert_array_equal(sigma, before[1])


extremes = st.sampled_from(
    [0.0, 1.0, -3.0, 1e-160, 1e-200, -1e-200, 5e-324, 1e60, 1e99, 1e120, 1e200, -1e200, 1e308]
)


@pytest.mark.parametrize(("kind", "name"), KERNELS)
@given(
    X=st.lists(st.lists(extremes, min_size=3, max_size=3), min_size=8, max_size=8),
    y=st.lists(st.sampled_from([-1.0, 1.0]), min_size=8, max_size=8),
    scale=st.sampled_from([1.0, 1e-3, 1e5]),
)
def test_extreme_values_never_reach_the_state(kind, name, X, y, scale):
    table, sigma = fresh(kind, 3)
    learn(kind, name, csr(np.array(X), scale), y, table, sigma)
    assert np.isfinite(table).all()
    assert np.isfinite(sigma).all()


@pytest.mark.parametrize(("kind", "name"), KERNELS)
@pytest.mark.parametrize("value", [1e200, 1e-200])
def test_a_row_beyond_the_numbers_is_skipped_and_the_next_is_learnt(kind, name, value):
    table, sigma = fresh(kind, 2)
    X = np.array([[value, value], [2.0, 1.0]])
    _, _, updates = learn(kind, name, csr(X), [-1, -1], table, sigma)
    assert updates == 1
    assert (table[:, 0] < 0).all()


@given(st.floats(1e-6, 1e6), phis, st.floats(1e-13, 1e-4))
def test_near_the_boundary_no_digit_is_lost(v, phi, gap):
    """At m = phi sqrt v (1 - gap): alpha = gap phi/(psi sqrt v) (1 + O(gap)), psi = 1 + phi^2/2."""
    edge = phi * np.sqrt(v)
    m = edge * (1 - gap)
    assume(m < edge)
    expected = (edge - m) / v / (1 + phi**2 / 2)
    soft = [make(phi, np.inf, ETA) for make in (rules.scw1, rules.scw2)]
    for rule in (rules.cw(phi, ETA), *soft):
        alpha, kappa = rules.coefficients(rule, m, v)
        assert alpha == pytest.approx(expected, rel=2 * gap + 1e-2 * 1e-13 / gap + 1e-12)
        assert kappa == pytest.approx(alpha * phi / np.sqrt(v), rel=10 * gap + 1e-12)
        assert rules.coefficients(rule, edge * (1 + 1e-15), v) == (0.0, 0.0)


@given(st.sampled_from(sorted(RULES)), st.floats(allow_nan=True), st.floats(allow_nan=True))
def test_coefficients_are_finite_numbers(name, m, v):
    alpha, kappa = rules.coefficients(RULES[name], m, v)
    assert np.isfinite(alpha)
    assert np.isfinite(kappa)
    assert kappa >= 0
    if not v > 0:
        assert (alpha, kappa) == (0.0, 0.0)
