"""Exact metrics of scores against slow and obvious counting."""

import numpy as np
import pytest

from cwtool.metrics.ranking import Ranking, cells
from cwtool.metrics.threshold import OperatingPoint


@pytest.fixture(params=[False, True], ids=["rows", "weights"])
def rows(request: pytest.FixtureRequest) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(3)
    y = (random.random(400) < 0.3).astype(np.int32)
    score = np.round(y + random.normal(0, 1, 400), 1)  # with ties
    weight = random.integers(0, 4, 400).astype(float) if request.param else np.ones(400)
    return y, score, 1 / (1 + np.exp(-score)), weight


def test_against_counting(rows: tuple[np.ndarray, ...]) -> None:
    y, score, p, weight = rows
    ranking = Ranking()
    for part in (slice(0, 150), slice(150, 400)):
        ranking.add(y[part], score[part], p[part], weight[part])
    found = ranking.summary()
    up, down = (y == 1), (y == 0)
    pairs = weight[up][:, None] * weight[down]
    won = (score[up][:, None] > score[down]) + 0.5 * (score[up][:, None] == score[down])
    assert found["auc"] == pytest.approx((pairs * won).sum() / pairs.sum())
    brier = (weight * (p - y) ** 2).sum() / weight.sum()
    assert found["brier"] == pytest.approx(brier)
    total = before = 0.0
    best = dict.fromkeys(("0.001", "0.01"), 0.0)
    for t in np.unique(score)[::-1]:
        tp, fp = (weight[side & (score >= t)].sum() for side in (up, down))
        if tp + fp:
            total += (tp - before) * tp / (tp + fp)
        before = tp
        for rate in best:
            if fp <= float(rate) * weight[down].sum():
                best[rate] = tp / weight[up].sum()
    assert found["average_precision"] == pytest.approx(total / weight[up].sum())
    assert found["recall_at_fpr"] == pytest.approx(best)


@pytest.mark.parametrize("setting", ["fpr=0.05", "precision=0.7", "f1", "balanced"])
def test_exact_operating_points(rows: tuple[np.ndarray, ...], setting: str) -> None:
    y, score, _, weight = rows
    chosen = OperatingPoint(setting).exact(*cells(y == 1, score, weight))

    def loss(t: float) -> float:
        called = score >= t
        tp, fn = weight[(y == 1) & called].sum(), weight[(y == 1) & ~called].sum()
        fp, tn = weight[(y == 0) & called].sum(), weight[(y == 0) & ~called].sum()
        return {
            "fpr=0.05": -tp if fp <= 0.05 * (fp + tn) else np.inf,
            "precision=0.7": -tp if tp >= 0.7 * (tp + fp) else np.inf,
            "f1": -2 * tp / (2 * tp + fp + fn),
            "balanced": fn / (tp + fn) + fp / (fp + tn),
        }[setting]

    assert loss(chosen) == pytest.approx(min(loss(t) for t in np.unique(score)))


def test_a_point_that_no_score_reaches() -> None:
    """The negative row has the highest score: nothing is called."""
    at = cells(np.array([False, True]), np.array([2.0, 1.0]), np.ones(2))
    assert OperatingPoint("precision=0.9").exact(*at) > 2


def test_curves_end_at_all_rows(rows: tuple[np.ndarray, ...]) -> None:
    y, score, p, weight = rows
    ranking = Ranking()
    ranking.add(y, score, p, weight)
    (tp, fp), bins = ranking.curves()
    assert (tp[-1], fp[-1]) == (weight[y == 1].sum(), weight[y == 0].sum())
    assert sorted(tp) == tp
    assert [b for b, _ in bins] == sorted(b for b, _ in bins)
    here = ((p * 15).astype(int) == 7) & (weight > 0)
    assert (np.average(p[here], weights=weight[here]),) == pytest.approx(
        [b for b, _ in bins if 7 / 15 <= b < 8 / 15]
    )
