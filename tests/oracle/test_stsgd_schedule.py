"""When stages end and columns are fitted, and what a stage of stabilized truncated descent takes
from the one before."""

import numpy as np
import pytest

from cwtool import params
from cwtool.algorithms.stabilized_descent.gravity import burst_size, rejection_rate, smallest
from cwtool.algorithms.stabilized_descent.schedule import Schedule
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.algorithms.stabilized_descent.stsgd_state import NUMBERS


def schedule(**given):
    return Schedule(params.build(StsgdParams, given))


def numbers(**given):
    return {n.name: n.start for n in NUMBERS} | given


def test_rejection_falls_with_the_features_left():
    shares = np.linspace(0, 1, 21)
    for gamma in (-5.0, -1.0, 0.0, 1.0, 5.0):
        rates = [rejection_rate(d, 0.7, gamma) for d in shares]
        assert rates[0] == pytest.approx(0)
        assert rates[-1] == pytest.approx(0.7)
        assert (np.diff(rates) >= -1e-15).all()
        slower = [rejection_rate(d, 0.7, gamma - 0.5) for d in shares]
        assert (np.array(slower) >= np.array(rates) - 1e-15).all()
    sizes = [burst_size(40, 0.3, d) for d in shares[:0:-1]]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 1000, 20_000])
def test_smallest_is_that_of_a_sort(n):
    rng = np.random.default_rng(n)
    for values in (rng.random(n), rng.integers(3, size=n) / 2, np.sort(rng.random(n))):
        for rank in {1, (n + 1) // 2, max(1, n - 1), n}:
            assert smallest(values.copy(), rank) == np.sort(values)[rank - 1]


@pytest.mark.parametrize(
    ("burst", "rows", "fresh", "expected"),
    [
        ("auto", 0, True, 100),
        ("auto", 0, False, 20),
        ("auto", 12_345, True, 1234),
        ("auto", 300, False, 30),
        (7, 12_345, True, 7),
    ],
)
def test_a_burst_is_a_tenth_of_the_rows_unless_it_is_given(burst, rows, fresh, expected):
    now = numbers(rows=rows, rules=1)
    schedule(burst=burst).begin(now, np.empty(0), fresh)
    assert (now["burst"], now["stage"], now["base_gravity"]) == (expected, 1, 0.0)


def test_first_bursts_of_old_models_have_a_thousand_rows():
    now = numbers()
    schedule().begin(now, np.empty(0), fresh=True)
    assert now["burst"] == 1000


@pytest.mark.parametrize(("fresh", "expected"), [(True, 2), (False, 7)])
def test_the_first_pass_rejects_less_unless_a_share_is_given(fresh, expected):
    now = numbers(met=10)
    schedule().begin(now, np.arange(1.0, 12.0), fresh)
    assert now["base_gravity"] == expected


@pytest.mark.parametrize(
    ("rows", "expected"), [(0, 0.7), (50, 0.7), (100, 0.7), (400, 0.45), (10_000, 0.25)]
)
def test_later_passes_reject_less_with_fewer_features_than_rows(rows, expected):
    now = numbers(met=100, rows=rows)
    schedule().begin(now, np.arange(1.0, 101.0), fresh=False)
    assert now["base_gravity"] == pytest.approx(100 * expected, abs=1)
    given = numbers(met=100, rows=rows)
    schedule(rejection=0.6).begin(given, np.arange(1.0, 101.0), fresh=False)
    assert given["base_gravity"] == 60


@pytest.mark.parametrize(
    ("burst", "rows", "stage", "restarted", "due"),
    [("auto", 4999, 9, 0, True), ("auto", 5000, 9, 0, False), ("auto", 4999, 9, 1, False),
     (50, 4999, 2, 0, False), (50, 4999, 1, 0, True), (5000, 9000, 1, 0, True)],
)  # fmt: skip
def test_a_later_pass_begins_anew_after_few_rows(burst, rows, stage, restarted, due):
    now = numbers(rows=rows, stage=stage, restarted=restarted)
    assert schedule(burst=burst).restart_due(now) == due


def test_gravity_rejects_a_share_of_what_was_emitted():
    now = numbers(met=10, gone=0)
    schedule(burst=5, rejection=0.6).begin(now, np.arange(1.0, 11.0), fresh=False)
    assert now["base_gravity"] == 6


@pytest.mark.parametrize(
    ("intercept", "positive", "on"),
    [("auto", 0, 0), ("auto", 5, 1), ("auto", 10, 1), ("auto", 11, 0), ("auto", 95, 1),
     ("on", 50, 1), ("off", 5, 0)],
)  # fmt: skip
def test_an_intercept_is_for_unbalanced_classes(intercept, positive, on):
    now = numbers(rows=100, positive=positive)
    how = schedule(intercept=intercept)
    assert how.intercept_on(now) == on
    how.begin(now, np.empty(0), fresh=True)
    assert now["bias"] == pytest.approx(0.1 * on)


@pytest.mark.parametrize("rows_before", range(0, 40, 3))
def test_columns_are_fitted_between_bursts_once_rows_have_doubled(rows_before):
    """Rows of a first pass, walked as far as `until` says."""
    how, now = schedule(burst=4, bursts=5, scale="std"), numbers(burst=4, rows=rows_before)
    now["fitted"] = rows_before // 2
    for _ in range(30):
        if how.fit_due(now, 2):
            assert now["into"] % 4 == 0
            now["fitted"] = now["rows"]
        step = how.until(now)
        assert 0 < step <= how.left(now)
        missed = [
            k
            for k in range(1, step)
            if (now["into"] + k) % 4 == 0 and now["rows"] + k >= 2 * now["fitted"] + 1
        ]
        assert missed == []  # nowhere on the way could the columns have been fitted
        now["rows"] += step
        now["into"] = (now["into"] + step) % how.stage_rows(now)


@pytest.mark.parametrize(
    ("rules", "fitted", "factor"), [(1, 0, 2), (1, 4999, 2), (1, 5000, 4), (0, 5000, 2)]
)
def test_columns_that_many_rows_scaled_are_fitted_less_often(rules, fitted, factor):
    """At the end of the burst of 4 rows in which the rows have grown by the factor."""
    how = schedule(burst=4, bursts=10_000, scale="std")
    now = numbers(burst=4, rows=fitted, fitted=fitted, rules=rules)
    assert how.refit(now) == factor
    assert how.until(now) == max(4, -4 * (-(factor - 1) * fitted // 4))


def test_unscaled_columns_are_never_fitted():
    how, now = schedule(burst=4, scale="none"), numbers(burst=4, rows=100, into=1)
    assert (how.until(now), how.fit_due(now, 1)) == (19, False)
