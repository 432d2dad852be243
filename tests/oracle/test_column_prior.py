"""Columns in different units: what the precision of a weight before any rows is, and that SBCW
learns the same in all units."""

import numpy as np
import pytest
from few_weights import learned_batches
from group_cases import groups_of, mean_of, random_data, sbcw
from taught import slot_rows

from cwtool.algorithms.batch.rows_by_column import Columns
from cwtool.algorithms.selection.column_prior import ASSUMED, LEAST, prior_of
from cwtool.run import Run

UNITS = np.exp(np.random.default_rng(3).normal(0, 3, size=12))
GIVEN = {"C": 3.0, "precision_divisor": 10.0, "features": 6, "group_size": 2}


def columns_of(x: np.ndarray, weight: np.ndarray | None = None) -> Columns:
    state = sbcw().new_state()
    rows = slot_rows(x, np.ones(len(x)), state)
    rows = rows if weight is None else rows.weighing(weight)
    return Columns(rows, state.index, np.empty(0, dtype=np.int32))


def expected(x: np.ndarray, h: np.ndarray) -> np.ndarray:
    """d by its definition, column by column."""
    n = h @ (x != 0)
    square = (h @ x**2) / n
    typical = np.exp((n * np.log(square)).sum() / n.sum())
    d = (n * square + ASSUMED * typical) / (n + ASSUMED)
    return d * (h @ (x**2 / d).sum(axis=1)) / h.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_square_of_the_values_that_are_not_0(weighted: bool) -> None:
    x, _ = random_data(1)
    x = x * UNITS
    h = np.random.default_rng(0).integers(1, 4, size=len(x)).astype(float)
    found = prior_of(columns_of(x, h if weighted else None), "columns")
    np.testing.assert_allclose(found, expected(x, h if weighted else np.ones(len(x))), rtol=1e-12)
    assert found is not None
    scaled = x / np.sqrt(found)
    mean = np.average((scaled**2).sum(axis=1), weights=h if weighted else None)
    assert mean == pytest.approx(1)


def test_tiny_values_have_a_prior_precision_above_0() -> None:
    x, _ = random_data(1)
    found = prior_of(columns_of(x * UNITS * 1e-148), "columns")
    assert found is not None
    assert (found >= LEAST).all()


def test_auto_tells_units_from_noise() -> None:
    x, _ = random_data(2)
    assert prior_of(columns_of(x), "auto") is None
    assert prior_of(columns_of(x != 0), "auto") is None
    assert prior_of(columns_of(x * UNITS), "auto") is not None
    assert prior_of(columns_of(x * UNITS), "none") is None
    assert prior_of(columns_of(np.zeros((5, 3))), "columns") is None


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("solver", ["mm", "exact"])
def test_it_is_learning_from_scaled_columns(loss: str, solver: str) -> None:
    """P = D + c X'X over x is P = I + c X'X over x / sqrt(D), also in a second batch."""
    x, y = random_data(4, n=100)
    given = {**GIVEN, "loss": loss, "solver": solver, "sigma": 0.1, "features": 12}
    whole, plain = sbcw(**given, scale="columns"), sbcw(**given, scale="none")
    root = np.sqrt(expected(x[:60] * UNITS, np.ones(60)))
    batches = [(x[:60], y[:60]), (x[60:], y[60:])]
    found = learned_batches(whole, *[(a * UNITS, b) for a, b in batches])
    other = learned_batches(plain, *[(a * UNITS / root, b) for a, b in batches])
    assert groups_of(whole, found) == groups_of(plain, other)
    np.testing.assert_allclose(mean_of(found, 12) * root, mean_of(other, 12), rtol=1e-7, atol=1e-12)
    one = whole.scores(found, slot_rows(x * UNITS, y, found), np.empty(0), Run())
    two = plain.scores(other, slot_rows(x * UNITS / root, y, other), np.empty(0), Run())
    np.testing.assert_allclose(one.variance, two.variance, rtol=1e-7)


def test_columns_of_one_unit_are_learned_as_in_the_paper() -> None:
    """`auto` keeps D = I from the first batch on, whatever the second one is like."""
    x, y = random_data(5, n=100)
    batches = (x[:60], y[:60]), (x[60:] * UNITS, y[60:])
    one, two = (
        learned_batches(sbcw(**{**GIVEN, "features": 9}, scale=scale), *batches)
        for scale in ("auto", "none")
    )
    assert np.array_equal(one.table, two.table)
    assert len(one.arrays["prior"]) == 0


def test_a_later_batch_of_one_unit_keeps_the_precision_of_the_first() -> None:
    x, y = random_data(6, n=100)
    algorithm = sbcw(**GIVEN, scale="auto")
    one = learned_batches(algorithm, (x[:60] * UNITS, y[:60]))
    two = learned_batches(algorithm, (x[:60] * UNITS, y[:60]), (x[60:], y[60:]))
    assert len(one.arrays["prior"]) == 6
    assert np.array_equal(two.arrays["prior"], one.arrays["prior"])
    gram, prior = algorithm.groups(two).gram[:2, :2], two.arrays["prior"][:2]
    wanted = np.linalg.inv(np.diag(prior) + 0.3 * gram)
    np.testing.assert_allclose(two.arrays["sigma"][:2, :2], wanted, rtol=1e-6)
