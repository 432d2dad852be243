"""What the weight of a row means in each rule."""

from statistics import NormalDist

import learners
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners import ETA, PHI
from scipy.special import ndtri

from cwtool_ext import rules

# the quantile of the rules with a probability


@pytest.mark.parametrize("eta", [0.55, 0.75, ETA, 0.99, 0.999999])
@pytest.mark.parametrize("h", [1.5, 2.0, 3.0, 10.0, 1e3, 1e6])
def test_phi_of_a_weight_is_a_quantile(eta, h):
    """cw at m = 0, v = 1 has alpha = phi / sqrt(1 + phi^2), so a rule tells its phi."""
    phi = NormalDist().inv_cdf(eta)
    alpha, _ = rules.coefficients(rules.cw(phi, eta), 0.0, 1.0, h)
    found = alpha / np.sqrt(1 - alpha**2)
    assert found == pytest.approx(-NormalDist().inv_cdf((1 - eta) / h), rel=1e-12)
    assert found == pytest.approx(-ndtri((1 - eta) / h), rel=1e-12)


@given(eta=st.floats(0.51, 0.999999), h=st.floats(1.5, 1e6))
def test_phi_of_any_weight_is_a_quantile(eta, h):
    """cw-var at m = 0 has kappa = 2 alpha phi, which tells phi without loss of digits."""
    alpha, kappa = rules.coefficients(rules.cw_var(NormalDist().inv_cdf(eta), eta), 0.0, 1.0, h)
    target = -NormalDist().inv_cdf((1 - eta) / h)
    assert kappa / (2 * alpha) == pytest.approx(target, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("make", [rules.cw, rules.cw_var])
def test_a_light_row_asks_for_less(make):
    """Below a weight of 1 it is phi sqrt h, which meets phi at 1."""
    for h in (1e-6, 0.25, 0.99):
        found = rules.coefficients(make(PHI, ETA), -0.3, 2.0, h)
        assert found == rules.coefficients(make(PHI * np.sqrt(h), ETA), -0.3, 2.0)
    steps = [rules.coefficients(make(PHI, ETA), -0.3, 2.0, h)[1] for h in (0.9, 1.0, 1.1)]
    assert steps == sorted(steps)


# what a weight means

RULED = {
    "perceptron": lambda t: rules.perceptron(),
    "pa1": lambda t: rules.pa1(0.3 / t),
    "pa2": lambda t: rules.pa2(0.3 / t),
    "arow": lambda t: rules.arow(0.5 * t),
    "nherd": lambda t: rules.nherd(0.7 / t),
}
margins = st.floats(-5, 3)
variances = st.floats(0.01, 20)


@pytest.mark.parametrize("name", ["pa1", "pa2", "arow", "nherd"])
@given(m=margins, v=variances, h=st.floats(0.01, 100), power=st.integers(-6, 6))
def test_weights_in_another_unit(name, m, v, h, power):
    """All weights times t are C / t, or r t."""
    t = 2.0**power
    found = rules.coefficients(RULED[name](t), m, v, h * t)
    assert found == pytest.approx(rules.coefficients(RULED[name](1), m, v, h), rel=1e-12)


@pytest.mark.parametrize("name", ["perceptron", "pa1"])
@given(m=margins, v=variances, h=st.integers(1, 12))
def test_a_whole_weight_is_so_many_rows(name, m, v, h):
    """Perceptron and PA-I: the steps of h equal rows one after the other."""
    rule, total = RULED[name](1), 0.0
    for _ in range(h):
        total += rules.coefficients(rule, m + total * v, v)[0]
    found, kappa = rules.coefficients(rule, m, v, float(h))
    assert found == pytest.approx(total, rel=1e-9, abs=1e-12)
    assert kappa == 0


@given(v=variances, m=margins, h=st.integers(1, 12))
def test_confidence_of_arow_after_a_weight_is_that_of_so_many_rows(v, m, h):
    _, one = rules.coefficients(rules.arow(0.5), m, v)
    _, all_of_them = rules.coefficients(rules.arow(0.5), m, v, float(h))
    assert all_of_them == pytest.approx(h * one, rel=1e-12)


@pytest.mark.parametrize("kind", ["narow_kl", "sop"])
def test_the_sum_of_rows_takes_a_row_as_often(kind):
    """One row learned with weight 3 adds what three rows would."""
    x = np.array([[0.25, -0.5, 0.125]])
    tables = []
    for weight in (1.0, 3.0):
        table, sigma = learners.fresh(kind, 3)
        made = learners.learner(kind, None, table, sigma, b=0.5)
        assert learners.learn(made, learners.csr(x), [-1.0], np.array([weight]))[2] == 1
        tables.append(table)
    np.testing.assert_array_equal(tables[1][:, 0], 3 * tables[0][:, 0])
    assert kind != "sop" or (tables[1][:, 1] == 3 * tables[0][:, 1]).all()
