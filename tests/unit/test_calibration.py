"""Slope and offset of probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from cwtool.data.rows import Rows
from cwtool.metrics.calibration import Calibration, Own, joint_fit
from cwtool.metrics.reliability import Reliability
from cwtool.metrics.sigmoid import Sigmoid, bent, probability
from cwtool.metrics.tally import UNIT, no_counts
from cwtool.model import Model
from cwtool.run import Run
from cwtool_ext import tally


def sample(seed: int, n: int, shift: float, gap: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """Classes, of which a tenth are 1, and scores that are too high by `shift`."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.1).astype(np.int32)
    return y, gap * (2 * y - 1) + random.normal(size=n) + shift


def slow(y: np.ndarray, z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The minimum of the negative log-likelihood with a quarter of a wrong row of each class."""
    typical = (weight * np.abs(z)).sum() / weight.sum()
    z = np.concatenate([z, [-typical, typical]]) / typical
    y = np.concatenate([y, [1, 0]])
    weight = np.concatenate([weight, [0.25, 0.25]])

    def loss(at: np.ndarray) -> float:
        return float(weight @ np.logaddexp(0, -(2 * y - 1) * (at[0] * z + at[1])))

    found = minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    return found.x / [typical, 1]


@given(
    st.integers(0, 10**6), st.integers(2, 60), st.floats(-3, 3), st.floats(0.2, 5), st.booleans()
)
def test_against_a_general_minimizer(
    seed: int, n: int, shift: float, gap: float, weighted: bool
) -> None:
    y, score = sample(seed, n, shift, gap)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 4.0], n) if weighted else np.ones(n)
    age = int(np.log2(n)) - np.log2(np.arange(1, n + 1)).astype(int)  # halvings since
    calibration = Calibration()
    calibration.add(y, score, np.zeros(n), weight)
    a, b = calibration.line()
    want = slow(y, score, weight * 0.5**age)
    if want[0] > 1e-6:  # otherwise the scores tell nothing
        assert (a, b) == pytest.approx(tuple(want), rel=0.02, abs=0.02)  # bins are 0.4 % wide
    else:
        assert a < 0.02


@given(st.integers(0, 10**6), st.integers(2, 400), st.floats(-1, 1), st.floats(0.2, 5))
def test_an_offset_must_be_significant(seed: int, n: int, shift: float, gap: float) -> None:
    """Twice the log-likelihood that it gains must be above 3.84. Otherwise a is the best for b = 0,
    as that of rows of which one half is turned round."""
    y, score = sample(seed, n, shift, gap)
    calibration, turned = Calibration(), Calibration()
    calibration.add(y, score, np.zeros(n), at_once=True)
    both = np.append(y, 1 - y), np.append(score, -score), np.zeros(2 * n), np.full(2 * n, 0.5)
    turned.add(*both, at_once=True)
    best, alone = calibration.line(), (turned.line()[0], 0.0)
    gained = 2 * (likelihood(best, y, score) - likelihood(alone, y, score))
    found = calibration.fit()[:2]
    if abs(gained - 3.84) > 0.1:  # bins are 0.4 % wide
        assert found == pytest.approx(best if gained > 3.84 else alone, rel=1e-9)
    assert found[1] == 0 or found == best


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 40), st.booleans())
def test_no_score_is_larger_than_the_own_one_of_its_rank(
    seed: int, n: int, m: int, weighted: bool
) -> None:
    """Against shares that are counted row by row."""
    random = np.random.default_rng(seed)
    z = random.choice([-4.0, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 8.0], n)
    number = random.choice([0.25, 1.0, 3.0], n)
    score = random.normal(size=m).round(random.integers(0, 3))
    weight = random.choice([0.5, 1.0, 2.0], m) if weighted else np.ones(m)
    order = np.argsort(np.abs(score), kind="stable")
    below = np.array([weight[order[:k]].sum() + weight[order[k]] / 2 for k in range(m)])
    found = Own(score, np.zeros(m), weight if weighted else None).limit(z, number)
    for k in range(n):
        less, equal = np.abs(z) < abs(z[k]), np.abs(z) == abs(z[k])
        rank = (number[less].sum() + number[equal].sum() / 2) / number.sum()
        most = np.interp(rank, below / weight.sum(), np.abs(score)[order])
        assert found[k] == pytest.approx(np.sign(z[k]) * min(abs(z[k]), most), abs=1e-12)


def test_scores_of_larger_models_on_the_way_do_not_flatten_the_slope() -> None:
    """The first 3,000 scores came from models that were 50 times as large as the last. The limit
    is by the ranks among all scores, so that the fit is not quite that of the last model."""
    y, z = sample(8, 4000, 0.0)
    size = np.where(np.arange(4000) < 3000, 50.0, 1.0)
    calibration, alone = Calibration(), Calibration()
    calibration.add(y, size * z, np.zeros(4000))
    alone.add(y, z, np.zeros(4000))
    own = Own(z[-1000:], np.zeros(1000), None)

    def loss(found: Sigmoid) -> float:
        t = found.a * bent(z[-1000:], found.k) + found.b
        return float(np.logaddexp(0, np.where(y[-1000:] == 1, -t, t)).mean())

    assert loss(calibration.fit()) > 3 * loss(alone.fit())
    assert loss(calibration.fit(own)) < 1.2 * loss(alone.fit())
    assert alone.fit(Own(2 * z, np.zeros(4000), None)) == alone.fit()


def likelihood(line: tuple[float, float], y: np.ndarray, score: np.ndarray) -> float:
    """The log-likelihood, with a quarter of a wrong row of each class."""
    z = line[0] * np.append(score, [-np.abs(score).mean(), np.abs(score).mean()]) + line[1]
    sign = 2 * np.append(y, [1, 0]) - 1
    return float(-np.append(np.ones(len(y)), [0.25, 0.25]) @ np.logaddexp(0, -sign * z))


@given(st.integers(0, 10**6), st.integers(2, 3000), st.floats(-3, 3), st.floats(0.05, 5))
def test_rounding_does_not_move_the_minimum(seed: int, n: int, shift: float, gap: float) -> None:
    """Counts in another order have sums that are rounded otherwise, as on another machine."""
    y, score = sample(seed, n, shift, gap)
    z = score / np.abs(score).mean()
    counts = np.append([y == 0, y == 1], [[0.5, 0], [0, 0.5]], axis=1)
    z = np.append(z, [1.0, -1.0])
    mixed = np.random.default_rng(seed).permutation(len(z))
    once, again = joint_fit(z, counts), joint_fit(z[mixed], counts[:, mixed])
    assert again == pytest.approx(once, rel=1e-12, abs=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("large", [1e100, 1e300])
@pytest.mark.parametrize("shifted", [False, True])
def test_scores_of_very_different_sizes_have_a_finite_fit(large: float, shifted: bool) -> None:
    z, n = np.array([large, 1e-3, -1e-3]), np.array([[1e-9, 1e6, 1.0], [1.0, 2.0, 1e6]])
    a, b = joint_fit(z, n, shifted=shifted)
    assert np.isfinite([a, b]).all()
    assert a > 0


def test_shifted_scores_get_good_probabilities() -> None:
    y, score = sample(1, 4000, 2.0)
    calibration, reliability = Calibration(), Reliability()
    calibration.add(y, score, np.zeros(len(y)))
    a, b, *_ = calibration.fit()
    reliability.add(y, probability(a, score, b))
    assert b < -3
    assert reliability.summary()["ece"] < 0.02


def test_scores_of_zero_have_the_odds_of_the_classes() -> None:
    calibration = Calibration()
    y = np.array([0, 1, 1, 1] * 200, dtype=np.int32)
    calibration.add(y, np.zeros(len(y)), np.zeros(len(y)))
    assert calibration.fit()[:2] == pytest.approx((1.0, np.log(3)), abs=0.01)


def test_margins_of_earlier_versions() -> None:
    """Without the classes the offset is 0 and the slope that of the margins; with them both are
    those of scores."""
    y, score = sample(3, 500, 0.7)
    now, margins, positive = Calibration(), no_counts(), no_counts()
    now.add(y, score, np.zeros(500), at_once=True)
    sign = np.where(y == 1, 1.0, -1.0)
    counted = np.full(500, UNIT)
    tally.add_fading(y, sign * score, 0, margins, counted, True)
    tally.add_fading(y, sign * score, 0, positive, counted * (y == 1), True)
    of_both = Calibration.of_margins(margins.sum(axis=0), positive.sum(axis=0), 500)
    np.testing.assert_array_equal(of_both.counts, now.counts)
    unknown = Calibration.of_margins(margins.sum(axis=0), None, 500)
    mirrored = Calibration()
    mirrored.add(np.append(y, 1 - y), np.append(score, -score), np.zeros(1000), at_once=True)
    a, b, *_ = unknown.fit()
    assert b == pytest.approx(0, abs=1e-9)
    assert a == pytest.approx(mirrored.fit()[0], rel=0.01)


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1], []])
def test_one_class_or_no_rows(y: list[int]) -> None:
    calibration = Calibration()
    classes = np.array(y, dtype=np.int32)
    calibration.add(classes, 2.0 * classes - 1, np.zeros(len(y)))
    a, b, *_ = calibration.fit()
    assert np.isfinite([a, b]).all()
    assert a > 0


def test_scores_without_meaning() -> None:
    calibration = Calibration()
    y = np.array([0, 1, 1, 1] * 80, dtype=np.int32)
    calibration.add(y, np.where(y == 1, -1.0, 1.0), np.zeros(320))
    a, b, *_ = calibration.fit()
    assert 0 < a < 1e-12
    assert probability(a, np.array([5.0]), b)[0] == pytest.approx(0.75, abs=0.02)


def learned(parts: list[Rows], **settings: str) -> Model:
    model = Model.new("arow", {}, **settings)
    for part in parts:
        model.learn(part, Run())
        model = model.copy()
    return model


def test_resuming_keeps_slope_and_offset() -> None:
    random = np.random.default_rng(2)
    y = (random.random(300) < 0.15).astype(int)
    x = random.normal(size=(300, 2)) + y[:, None]
    rows = Rows.from_lists([list(enumerate(row)) for row in x.tolist()], y.tolist())
    parts = [rows.slice(0, 70), rows.slice(70, 71), rows.slice(71, 300)]
    for setting in ("", "balanced"):
        once, later = (learned(p, class_weight=setting) for p in ([rows], parts))
        assert (once.slope, once.offset) == (later.slope, later.offset)
        assert once.offset < -0.5


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_variance_must_be_significant(noise: float) -> None:
    """Scores of a variance that says how much noise is in them are worth less. A variance that has
    nothing to do with them is not used, and probabilities are in the order of scores."""
    random = np.random.default_rng(5)
    y = (random.random(2000) < 0.5).astype(np.int32)
    variance = random.exponential(20.0, 2000)
    spread = np.sqrt(1 + noise * variance)
    score = (2.0 * y - 1 + random.normal(size=2000)) * spread
    calibration = Calibration()
    calibration.add(y, score, variance, at_once=True)
    assert calibration.fit().by_variance == (noise > 0)
    calibration.plain = no_counts()  # of an earlier version: it is used as it was
    assert calibration.fit().by_variance


def long_tailed(seed: int, n: int, k: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of very different sizes, and classes with the log-odds a asinh(k s) / k + 0.5."""
    random = np.random.default_rng(seed)
    score = random.normal(size=n) * np.exp(random.normal(size=n))
    p = probability(max(k, 2.0), bent(score, k), 0.5)
    return (random.random(n) < p).astype(np.int32), score


@pytest.mark.parametrize("k", [0.0, 2.0, 20.0])
def test_large_scores_may_count_less(k: float) -> None:
    """k is about that of the rows, and 0 where they have none; a and b are the best for it."""
    y, score = long_tailed(6, 4000, k)
    calibration = Calibration()
    calibration.add(y, score, np.zeros(4000), at_once=True)
    a, b, _, found = calibration.fit()
    assert k / 3 <= found <= 3 * k

    def loss(at: np.ndarray) -> float:
        t = at[0] * bent(score, found) + at[1]
        return float(np.logaddexp(0, np.where(y == 1, -t, t)).sum())

    best = minimize(loss, [1.0, 0.0])
    assert loss(np.array([a, b])) < best.fun + 0.05


def test_k_follows_the_unit_of_the_scores() -> None:
    y, score = long_tailed(7, 2000, 5.0)
    small, large = Calibration(), Calibration()
    small.add(y, score, np.zeros(2000))
    large.add(y, 1024 * score, np.zeros(2000))
    a, b, _, k = small.fit()
    assert k > 0
    assert large.fit() == pytest.approx((a / 1024, b, False, k / 1024), rel=1e-9)


@given(
    st.lists(st.floats(-1.7e308, 1.7e308), min_size=1, max_size=9),
    st.floats(1e-300, 1.7e308),
)
def test_bent_scores_are_finite_odd_and_in_order(scores: list[float], k: float) -> None:
    z = np.sort(np.array(scores))
    found = bent(z, k)
    assert np.isfinite(found).all() and (np.diff(found) >= 0).all()
    np.testing.assert_array_equal(bent(-z, k), -found)


def test_variances_of_0_are_not_counted_apart() -> None:
    y, score = sample(4, 100, 0.0)
    calibration = Calibration()
    calibration.add(y, score, np.zeros(100))
    assert calibration.plain is None
    assert not calibration.fit().by_variance


@pytest.mark.filterwarnings("error")
def test_the_slope_is_finite_if_all_scores_are_nearly_0() -> None:
    """As of a model whose weights are the smallest numbers that there are."""
    counted, random = Calibration(), np.random.default_rng(0)
    y = random.integers(0, 2, 100).astype(np.int32)
    counted.add(y, 2.0 * y - 1 + random.normal(size=100), np.zeros(100))
    found = counted.fit(Own(np.full(100, 5e-324), np.zeros(100), None))
    assert 1e300 < found.a < np.inf
    assert np.isfinite(found.k)
