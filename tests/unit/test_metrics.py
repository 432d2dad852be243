"""Metrics against slow and obvious NumPy."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.errors import DataError
from cwtool.metrics.calibration import Calibration, fadings
from cwtool.metrics.reliability import Reliability
from cwtool.metrics.sigmoid import probability, standardized
from cwtool.metrics.stability import density_shares, kappa, stability
from cwtool.metrics.tally import UNIT, Tally, bin_centers, dense, sparse

Scores = tuple[np.ndarray, np.ndarray]


def classes(*y: int) -> np.ndarray:
    return np.array(y, dtype=np.int32)


def sample(n: int, seed: int = 0, scale: float = 1.0) -> Scores:
    """Classes, of which 0.3 are 1, and scores that mostly say so."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.3).astype(np.int32)
    return y, scale * (0.8 * (2 * y - 1) + random.normal(size=n))


def test_counts_and_ratios() -> None:
    y, score = sample(2000)
    tally = Tally()
    tally.add(y, score)
    said = score >= 0
    found = tally.summary()
    assert found["rows"] == 2000
    assert found["error"] == np.mean(said != (y > 0))
    assert found["precision"] == np.sum(said & (y > 0)) / np.sum(said)
    assert found["recall"] == np.sum(said & (y > 0)) / np.sum(y > 0)
    assert found["f1"] == pytest.approx(
        2 / (1 / found["precision"] + 1 / found["recall"]), rel=1e-14
    )
    assert found["base_rate"] == np.mean(y > 0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_auc_and_average_precision(scale: float) -> None:
    y, score = sample(2000, scale=scale)
    tally = Tally()
    tally.add(y, score)
    pairs = np.sign(score[y > 0][:, None] - score[y == 0][None, :])
    assert tally.auc == pytest.approx((pairs.mean() + 1) / 2, abs=1e-3)
    hits = (y > 0)[np.argsort(-score)]
    precision = np.cumsum(hits) / np.arange(1, 2001)
    assert tally.average_precision == pytest.approx(precision[hits].mean(), abs=2e-3)


@pytest.mark.parametrize(
    ("y", "score", "auc"),
    [
        ([1, 0], [2, 1], 1.0),
        ([1, 0], [1, 2], 0.0),
        ([1, 0], [1, 1], 0.5),
        ([1, 0], [0, -0.0], 0.5),
        ([1, 0, 1, 0], [1, 2, 3, 4], 0.25),
        ([1, 1], [1, 2], None),
        ([], [], None),
    ],
)
def test_auc_of_few_rows(y: list[int], score: list[float], auc: float | None) -> None:
    tally = Tally()
    tally.add(classes(*y), np.array(score, dtype=float))
    assert tally.auc == auc


def test_undefined_is_none() -> None:
    found = Tally().summary()
    assert {k for k, v in found.items() if v is None} == {
        "error", "auc", "precision", "recall", "f1", "average_precision", "base_rate",
    }  # fmt: skip


def test_any_other_class_is_negative() -> None:
    tally = Tally()
    tally.add(classes(0, 2, -1), np.array([1.0, 1.0, -1.0]))
    assert tally.summary()["confusion"] == {"tp": 0, "fp": 2, "tn": 1, "fn": 0}


def test_score_zero_means_positive() -> None:
    tally = Tally()
    tally.add(classes(1, 0), np.zeros(2))
    assert tally.summary()["confusion"] == {"tp": 1, "fp": 1, "tn": 0, "fn": 0}


@given(cut=st.integers(0, 300), seed=st.integers(0, 5))
def test_any_split_gives_the_same(cut: int, seed: int) -> None:
    y, score = sample(300, seed)
    variance = np.abs(score) / 2
    whole, parts, sum_ = Tally(), Tally(), Tally()
    whole.add(y, score)
    parts.add(y[:cut], score[:cut])
    sum_.add(y[cut:], score[cut:])
    assert (whole - parts).summary() == sum_.summary()
    parts += sum_
    assert (parts.scores == whole.scores).all()
    assert (parts.confusion == whole.confusion).all()
    one, two = Calibration(), Calibration()
    one.add(y, score, variance)
    two.add(y[:cut], score[:cut], variance[:cut])
    again = Calibration(dense(*sparse(two.counts).values()), two.rows, two.plain)  # as loaded
    again.add(y[cut:], score[cut:], variance[cut:])
    assert (again.counts == one.counts).all()
    np.testing.assert_array_equal(again.plain, one.plain)
    assert again.fit() == one.fit()


def test_bins_are_narrow_and_in_order() -> None:
    centers = bin_centers()
    assert (np.diff(centers) > 0).all()
    assert (centers == -centers[::-1]).all()
    positive = centers[centers > 0]
    assert (positive[1:] / positive[:-1] < 1.004).all()


@pytest.mark.parametrize("score", [1e-300, 1e300, np.inf, -np.inf, -1e300, 5e-324])
def test_scores_beyond_the_bins_are_counted(score: float) -> None:
    tally = Tally()
    tally.add(classes(1), np.array([score]))
    assert tally.scores.sum() == 1
    assert tally.confusion.sum() == 1


def test_calibration_forgets_the_beginning() -> None:
    y, score = sample(20_000)
    wrong, right = Calibration(), Calibration()
    wrong.add(y[:2000], -score[:2000], np.zeros(2000))
    right.add(y[:2000], score[:2000], np.zeros(2000))
    for calibration in (wrong, right):
        calibration.add(y[2000:], score[2000:], np.zeros(18_000))
    assert wrong.fit() == pytest.approx(right.fit(), rel=1e-3)
    assert 20_000 / 8 < wrong.counts.sum() / UNIT < 20_000 / 4


def test_counts_are_halved_at_powers_of_two_and_between_them() -> None:
    calibration, halved, before = Calibration(), [], 0
    for t in range(1, 10_001):
        calibration.add(classes(1), np.ones(1), np.zeros(1))
        if calibration.counts.sum() != before + UNIT:
            halved.append(t)
        before = calibration.counts.sum()
    assert halved == [*(2**k for k in range(1, 12)), *range(4096, 8192, 512), 8192, 9216]
    assert fadings(1, 10_000) == len(halved)
    assert fadings(4096, 9215) == 8


def test_scores_at_once_count_alike() -> None:
    y, score = sample(900)
    calibration = Calibration()
    calibration.add(y[:100], score[:100], np.zeros(100))
    earlier = calibration.counts.sum() / UNIT
    calibration.add(y[100:], score[100:], np.zeros(800), at_once=True)
    faded = earlier / 2**3  # at rows 128, 256 and 512
    assert calibration.counts.sum() / UNIT == pytest.approx(800 + faded)


@pytest.mark.parametrize(
    "margins", [[], [0.0], [1.0] * 50, [-1.0] * 50, [1e-9] * 9, [1e9] * 9, [1e300, -1e300]], ids=str
)
def test_calibration_is_always_finite_and_positive(margins: list[float]) -> None:
    calibration = Calibration()
    n = len(margins)
    calibration.add(classes(*[1] * n), np.array(margins), np.zeros(n))
    a, b, *_ = calibration.fit()
    assert 0 < a < np.inf
    assert np.isfinite(b)


def test_probability() -> None:
    score = np.array([0.0, 1.0, -1.0, 1e6, -1e6, np.inf])
    p = probability(2.0, standardized(score, np.array([0.0, 3.0, 3.0, 0.0, 0.0, 0.0])))
    assert p == pytest.approx([0.5, 1 / (1 + np.exp(-1)), 1 / (1 + np.e), 1, 0, 1])


def test_reliability() -> None:
    y, score = sample(3000)
    p = 1 / (1 + np.exp(-score))
    found = Reliability()
    found.add(y[:1000], p[:1000])
    found.add(y[1000:], p[1000:])
    right = np.where(y > 0, p, 1 - p)
    bins = np.minimum((p * 15).astype(int), 14)
    gaps = [abs((p - (y > 0))[bins == b].sum()) / 3000 for b in range(15)]
    assert found.summary()["log_loss"] == pytest.approx(-np.log(right).mean(), abs=1e-9)
    assert found.summary()["ece"] == pytest.approx(sum(gaps), abs=1e-9)


@pytest.mark.parametrize("size", [1, 7, 999])
def test_reliability_does_not_depend_on_blocks(size: int) -> None:
    y, score = sample(3000)
    p = 1 / (1 + np.exp(-score))
    whole, parts = Reliability(), Reliability()
    whole.add(y, p)
    for k in range(0, len(y), size):
        parts.add(y[k : k + size], p[k : k + size])
    assert parts.summary() == whole.summary()


def test_reliability_of_certainties() -> None:
    found = Reliability()
    found.add(classes(1, 0), np.array([1.0, 0.0]))
    assert found.summary() == {"log_loss": 0.0, "ece": 0.0}
    found.add(classes(0), np.array([1.0]))
    assert np.isfinite(found.summary()["log_loss"])
    assert found.summary()["ece"] == pytest.approx(1 / 3)
    assert Reliability().summary() == {"log_loss": None, "ece": None}


def support(*ids: int) -> np.ndarray:
    return np.array(ids, dtype=np.int32)


def test_kappa_is_cohens() -> None:
    """Against the two-by-two table of its definition."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = rng.random(40) < 0.3, rng.random(40) < 0.4
        agree, chance = np.mean(a == b), np.mean(a) * np.mean(b) + np.mean(~a) * np.mean(~b)
        found = kappa(np.flatnonzero(a), np.flatnonzero(b), 40)
        assert found == pytest.approx((agree - chance) / (1 - chance))


def test_kappa_at_its_ends() -> None:
    assert kappa(support(1, 5), support(1, 5), 9) == 1
    assert kappa(support(), support(), 9) == 1
    assert kappa(support(0, 1), support(0, 1), 2) == 1
    assert kappa(support(0, 1), support(2, 3), 4) == -1
    assert kappa(support(0), support(1, 2, 3), 4) == pytest.approx(-0.6)
    assert kappa(support(), support(3), 9) == 0
    assert kappa(support(2**31 - 2), support(2**31 - 2), 2**31) == 1


def test_stability_is_the_mean_over_pairs() -> None:
    file = Path(__file__).parents[1] / "oracle" / "vectors" / "sparse-online" / "index.json"
    case = json.loads(file.read_text())["scalars"]["kappa"]
    supports = [support(*ids) for ids in case["supports"]]
    assert kappa(*supports[:2], case["p"]) == pytest.approx(case["pair01"], abs=1e-12)
    assert stability(supports, case["p"]) == pytest.approx(case["s_hat"], abs=1e-12)
    assert stability(supports[:1], case["p"]) is None


def test_shares_by_density() -> None:
    ids, nnz = support(4, 5, 6, 7, 8), np.array([1000, 100, 99, 1, 500])
    assert density_shares(support(5, 8), ids, nnz, 1000) == [
        {"density_up_to": 0.001, "features": 1, "selected": 0, "share": 0.0},
        {"density_up_to": 0.1, "features": 2, "selected": 1, "share": 0.5},
        {"density_up_to": 1.0, "features": 2, "selected": 1, "share": 0.5},
    ]


# row weights: whole weights are so many rows


def heavy(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + 100).choice([0.0, 1.0, 1.0, 2.0, 5.0], size=n)


def without_rows(found: dict) -> dict:
    own = ("rows", "weight", "confusion", "weighted_confusion")
    return {name: value for name, value in found.items() if name not in own}


def test_a_whole_weight_counts_as_so_many_rows() -> None:
    y, score = sample(500)
    weight = heavy(500)
    found, repeated = Tally(), Tally()
    found.add(y, score, weight)
    often = np.repeat(np.arange(500), weight.astype(int))
    repeated.add(y[often], score[often])
    assert without_rows(found.summary()) == pytest.approx(without_rows(repeated.summary()))
    assert found.summary()["weight"] == repeated.rows == weight.sum()
    assert found.summary()["weighted_confusion"] == repeated.summary()["confusion"]
    assert found.rows == np.count_nonzero(weight)
    reliability, target = Reliability(), Reliability()
    p = probability(1.0, standardized(score, np.ones(500)))
    reliability.add(y, p, weight)
    target.add(y[often], p[often])
    assert reliability.summary() == pytest.approx(target.summary(), rel=1e-5)


def test_weights_of_one_leave_no_trace() -> None:
    y, score = sample(100)
    plain, ones, found, same = Tally(), Tally(), Calibration(), Calibration()
    plain.add(y, score)
    ones.add(y, score, np.ones(100))
    assert ones.weighted is None
    assert ones.summary() == plain.summary()
    assert "weight" not in plain.summary()
    found.add(y, score, score**2)
    same.add(y, score, score**2, np.ones(100))
    assert same.fit() == found.fit()


def test_rows_of_weight_zero_are_not_counted() -> None:
    y, score = sample(200)
    weight = np.where(np.arange(200) % 3, 1.0, 0.0)
    there = weight > 0
    tally, few, found, target = Tally(), Tally(), Calibration(), Calibration()
    tally.add(y, score, weight)
    few.add(y[there], score[there])
    assert tally.summary() == few.summary()
    found.add(y, score, score**2, weight)
    target.add(y[there], score[there], score[there] ** 2)
    assert (found.rows, found.fit()) == (target.rows, target.fit())


@given(cuts=st.lists(st.integers(0, 300), max_size=3), seed=st.integers(0, 5))
def test_any_split_gives_the_same_with_weights(cuts: list[int], seed: int) -> None:
    """Also where the rows of a part have no weights because all of them are 1."""
    y, score = sample(300, seed)
    weight = np.where(np.arange(300) < 100, 1.0, 0.3 + heavy(300, seed) / 7)
    whole, parts, sum_ = Tally(), Tally(), Tally()
    slope, slopes = Calibration(), Calibration()
    quality, qualities = Reliability(), Reliability()
    p = probability(1.0, standardized(score, np.ones(300)))
    whole.add(y, score, weight)
    slope.add(y, score, score**2, weight)
    quality.add(y, p, weight)
    ends = [0, *sorted(cuts), 300]
    for a, b in itertools.pairwise(ends):
        own = None if (weight[a:b] == 1).all() else weight[a:b]
        parts.add(y[a:b], score[a:b], own)
        part = Tally()
        part.add(y[a:b], score[a:b], own)
        sum_ += part
        slopes.add(y[a:b], score[a:b], score[a:b] ** 2, own)
        qualities.add(y[a:b], p[a:b], own)
    assert parts.summary() == sum_.summary() == whole.summary()
    assert slopes.fit() == slope.fit()
    assert qualities.summary() == quality.summary()
    assert (whole - part + part).summary() == whole.summary()


def test_a_constant_weight_changes_no_ratio() -> None:
    y, score = sample(400)
    plain, found = Tally(), Tally()
    plain.add(y, score)
    found.add(y, score, np.full(400, 3.5))
    assert without_rows(found.summary()) == pytest.approx(without_rows(plain.summary()))
    assert found.summary()["weight"] == 1400


def test_a_huge_weight_counts_as_a_million() -> None:
    found = Tally()
    found.add(classes(1, 0), np.ones(2), np.array([1e300, 1.0]))
    assert found.summary()["weight"] == 2**20 + 1


def test_too_much_weight_is_refused() -> None:
    found = Tally()
    n = 1 << 22
    found.add(np.ones(n, dtype=np.int32), np.ones(n), np.full(n, 2.0**20))
    with pytest.raises(DataError, match="add up to more than"):
        found.add(np.ones(n, dtype=np.int32), np.ones(n), np.full(n, 2.0**20))
