"""Metrics against slow and obvious NumPy."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwtool.metrics import (
    Calibration,
    Reliability,
    Tally,
    bin_centers,
    dense,
    density_shares,
    kappa,
    probability,
    sparse,
    sparsity,
    stability,
)

Scores = tuple[np.ndarray, np.ndarray]


def sample(n: int, seed: int = 0, scale: float = 1.0) -> Scores:
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.3, 1.0, -1.0)
    return y, scale * (0.8 * y + random.normal(size=n))


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
    pairs = np.sign(score[y > 0][:, None] - score[y < 0][None, :])
    assert tally.auc == pytest.approx((pairs.mean() + 1) / 2, abs=1e-3)
    hits = (y > 0)[np.argsort(-score)]
    precision = np.cumsum(hits) / np.arange(1, 2001)
    assert tally.average_precision == pytest.approx(precision[hits].mean(), abs=2e-3)


@pytest.mark.parametrize(
    ("y", "score", "auc"),
    [
        ([1, -1], [2, 1], 1.0),
        ([1, -1], [1, 2], 0.0),
        ([1, -1], [1, 1], 0.5),
        ([1, -1], [0, -0.0], 0.5),
        ([1, -1, 1, -1], [1, 2, 3, 4], 0.25),
        ([1, 1], [1, 2], None),
        ([], [], None),
    ],
)
def test_auc_of_few_rows(y: list[float], score: list[float], auc: float | None) -> None:
    tally = Tally()
    tally.add(np.array(y, dtype=float), np.array(score, dtype=float))
    assert tally.auc == auc


def test_undefined_is_none() -> None:
    found = Tally().summary()
    assert {k for k, v in found.items() if v is None} == {
        "error", "auc", "precision", "recall", "f1", "average_precision", "base_rate",
    }  # fmt: skip


def test_score_zero_means_positive() -> None:
    tally = Tally()
    tally.add(np.array([1.0, -1.0]), np.zeros(2))
    assert tally.summary()["confusion"] == {"tp": 1, "fp": 1, "tn": 0, "fn": 0}


@given(cut=st.integers(0, 300), seed=st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_any_split_gives_the_same(cut: int, seed: int) -> None:
    y, score = sample(300, seed)
    variance = np.abs(score) / 2
    whole, parts, sum_ = Tally(), Tally(), Tally()
    whole.add(y, score)
    parts.add(y[:cut], score[:cut])
    sum_.add(y[cut:], score[cut:])
    parts += sum_
    assert (parts.scores == whole.scores).all()
    assert (parts.confusion == whole.confusion).all()
    one, two = Calibration(), Calibration()
    one.add(y, score, variance)
    two.add(y[:cut], score[:cut], variance[:cut])
    again = Calibration(dense(*sparse(two.margins).values()), two.rows)  # saved and loaded
    again.add(y[cut:], score[cut:], variance[cut:])
    assert (again.margins == one.margins).all()
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
    tally.add(np.array([1.0]), np.array([score]))
    assert tally.scores.sum() == 1
    assert tally.confusion.sum() == 1


def test_calibration_is_maximum_likelihood() -> None:
    """a of the latest rows, by a fine search over the same likelihood."""
    y, score = sample(4000, scale=3.0)
    variance = np.full(4000, 0.5)
    calibration = Calibration()
    calibration.add(y, score, variance)
    z = (y * score / np.sqrt(1 + variance))[2047 - 1024 :]  # since row 1024
    z = np.append(z, -np.abs(z).mean())
    grid = np.exp(np.linspace(np.log(0.01), np.log(10), 4001))
    best = grid[np.argmin([np.logaddexp(0, -a * z).sum() for a in grid])]
    assert calibration.fit() == pytest.approx(best, rel=0.01)


def test_calibration_forgets_the_beginning() -> None:
    y, score = sample(2000)
    wrong, right = Calibration(), Calibration()
    wrong.add(y[:500], -score[:500], np.zeros(500))
    right.add(y[:500], score[:500], np.zeros(500))
    for calibration in (wrong, right):
        calibration.add(y[500:], score[500:], np.zeros(1500))
    assert wrong.fit() == right.fit()


@pytest.mark.parametrize(
    "margins", [[], [0.0], [1.0] * 50, [-1.0] * 50, [1e-9] * 9, [1e9] * 9, [1e300, -1e300]], ids=str
)
def test_calibration_is_always_finite_and_positive(margins: list[float]) -> None:
    calibration = Calibration()
    n = len(margins)
    calibration.add(np.ones(n), np.array(margins), np.zeros(n))
    assert 0 < calibration.fit() < np.inf


def test_probability() -> None:
    score = np.array([0.0, 1.0, -1.0, 1e6, -1e6, np.inf])
    p = probability(2.0, score, np.array([0.0, 3.0, 3.0, 0.0, 0.0, 0.0]))
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
    found.add(np.array([1.0, -1.0]), np.array([1.0, 0.0]))
    assert found.summary() == {"log_loss": 0.0, "ece": 0.0}
    found.add(np.array([-1.0]), np.array([1.0]))
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


def test_sparsity() -> None:
    assert sparsity(support(3, 8), 10) == 0.8
    assert sparsity(support(), 10) == 1
    assert sparsity(support(), 0) is None


def test_shares_by_density() -> None:
    ids, nnz = support(4, 5, 6, 7, 8), np.array([1000, 100, 99, 1, 500])
    assert density_shares(support(5, 8), ids, nnz, 1000) == [
        {"density_up_to": 0.001, "features": 1, "selected": 0, "share": 0.0},
        {"density_up_to": 0.1, "features": 2, "selected": 1, "share": 0.5},
        {"density_up_to": 1.0, "features": 2, "selected": 1, "share": 0.5},
    ]
