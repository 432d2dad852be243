"""The weight c of X'HX in the precision of a group of SBCW, where --precision-divisor is auto."""

import numpy as np
import pytest
from few_weights import learn, learned_batches
from group_cases import groups_of, mean_of, random_data, sbcw

from cwtool.algorithms.fgm import FGM

GIVEN = {"C": 50.0, "features": 6, "group_size": 2, "scale": "none"}


def sigma_of(state, members: list[list[int]], G, c: float) -> np.ndarray:
    """Sigma = (I + c G)^-1 of each group, one below the other."""
    return np.vstack([np.linalg.inv(np.eye(len(B)) + c * G[np.ix_(B, B)]) for B in members])


@pytest.mark.parametrize("n", [60, 600])
def test_it_adds_5_to_the_precision_of_a_feature_in_the_mean_at_most(n: int) -> None:
    x, y = random_data(1, n=n)
    added = 50 / 100 * (x**2).sum() / 12
    x *= np.sqrt((4.5 if n == 60 else 40.0) / added)
    c = 50 / 100 if n == 60 else 5 * 12 / (x**2).sum()
    auto = learned_batches(sbcw(**GIVEN), (x, y))
    given = learned_batches(sbcw(**GIVEN, precision_divisor=50 / c), (x, y))
    np.testing.assert_allclose(mean_of(auto, 12), mean_of(given, 12), rtol=1e-9)
    members = groups_of(sbcw(**GIVEN), auto)
    np.testing.assert_allclose(auto.arrays["sigma"], sigma_of(auto, members, x.T @ x, c), rtol=1e-9)


def test_rows_and_features_of_all_batches_count() -> None:
    """c in a second batch: earlier rows count with the mean squared length of this batch's rows."""
    x, y = random_data(2, n=500)
    x[:300, 9:] = 0
    algorithm = sbcw(**GIVEN)
    one = algorithm.new_state()
    learn(algorithm, one, (x[:300, :9], y[:300]))
    members = groups_of(algorithm, one)
    G, c = x[:300].T @ x[:300], 5 * 9 / (x[:300] ** 2).sum()
    np.testing.assert_allclose(one.arrays["sigma"], sigma_of(one, members, G, c), rtol=1e-9)
    one.slots_of(np.arange(12, dtype=np.int32))
    learn(algorithm, one, (x[300:], y[300:]))
    assert groups_of(algorithm, one) == members
    G, c = x.T @ x, 5 * 12 / (2.5 * (x[300:] ** 2).sum())
    np.testing.assert_allclose(one.arrays["sigma"], sigma_of(one, members, G, c), rtol=1e-9)


def test_it_is_in_units_of_the_precision_before_any_rows() -> None:
    """With `scale=columns`, multiplying all columns by 7 divides the weights by 7 and no more."""
    x, y = random_data(3, n=400)
    units = np.exp(np.random.default_rng(0).normal(0, 3, size=12))
    one, two = (
        learned_batches(sbcw(**GIVEN | {"scale": "columns"}), (x * u, y))
        for u in (units, 7 * units)
    )
    np.testing.assert_allclose(mean_of(one, 12), 7 * mean_of(two, 12), rtol=1e-7)
    other = sbcw(**GIVEN | {"scale": "columns"}, precision_divisor=100.0)
    assert not np.allclose(mean_of(learned_batches(other, (x * units, y)), 12), mean_of(one, 12))


def test_similar_columns_get_large_weights_of_opposite_sign() -> None:
    """y is the difference of two columns that both are mostly the same number."""
    rng = np.random.default_rng(4)
    common = 1 + rng.random(2000)
    x = np.column_stack([common, common + 0.1 * rng.normal(size=2000), rng.random((2000, 4))])
    x /= np.sqrt((x**2).sum() / len(x))
    y = np.where(x[:, 1] > x[:, 0], 1.0, -1.0)
    wrong = {
        divisor: np.mean(x @ mean_of(learned_batches(sbcw(**given), (x, y)), 6) * y <= 0)
        for divisor in ("auto", 100.0)
        for given in [{**GIVEN, "C": 100.0, "precision_divisor": divisor}]
    }
    assert wrong["auto"] < 0.5 * wrong[100.0]


def test_fgm_has_none() -> None:
    x, y = random_data(5, n=500)
    algorithm = FGM(FGM.Params(features=4, prior=1.0))
    state = learned_batches(algorithm, (x, y))
    sizes = state.arrays["sizes"].tolist()
    assert np.array_equal(state.arrays["sigma"].max(axis=1), np.ones(sum(sizes)))
