"""Probabilities of several classes against frozen vectors and slow, obvious NumPy."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.metrics import softmax
from cwtool.metrics.confusion import predicted
from cwtool.metrics.softmax import Ring, SoftmaxReliability, probability
from cwtool.metrics.softmax_fit import LARGEST, Scored, Softmax, fit, joint_fit
from cwtool.metrics.softmax_fit import slope as slope_of

VECTORS = Path(__file__).parents[1] / "oracle" / "vectors" / "multiclass"
CASE = json.loads((VECTORS / "probability.json").read_text())
Z, Y = np.array(CASE["z"]), np.array(CASE["y"], dtype=np.int32)
LABELS = [2.0, 1.0, 9.0, 5.0]


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes, scores that mostly say so, and variances; class 3 is born half-way."""
    random = np.random.default_rng(seed)
    y = random.integers(-1, 4, size=n).astype(np.int32)
    score = random.normal(size=(n, 4))
    score[np.arange(n), np.maximum(y, 0)] += 1
    score[: n // 2, 3] = -np.inf
    return y, score, random.random(n)


def slope(z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    return slope_of(Scored.of(z, y, weight))


def loss(a: float, z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """What the slope minimizes, term by term."""
    total, gaps = 0.0, []
    for row, own, h in zip(z, y, weight, strict=True):
        born = row[row > -np.inf]
        total += h * (np.log(np.exp(a * (born - born.max())).sum()) + a * (born.max() - row[own]))
        best = np.sort(born)[::-1]
        gaps.append(best[0] - best[1])
    gap = np.average(gaps, weights=weight)
    return total + np.log1p(np.exp(-a * gap)) + a * gap


def test_frozen_probabilities() -> None:
    a = slope(Z, Y, np.ones(len(Y)))
    assert a == pytest.approx(CASE["a"], rel=1e-9)
    p = probability(a, Z, np.zeros(len(Y)))
    np.testing.assert_allclose(p, CASE["p"], rtol=0, atol=1e-9)
    quality = SoftmaxReliability([1.0, 2.0, 3.0, 7.0])
    quality.add(Y, p)
    assert quality.summary() == {
        "log_loss": pytest.approx(CASE["log_loss"], abs=1e-8),
        "ece": pytest.approx(CASE["ece"], abs=1e-8),
        "new_class_rows": 0,
    }


def test_the_slope_is_the_minimum() -> None:
    y, z, _ = sample(200)
    own = (y >= 0) & (z[np.arange(200), y] > -np.inf)
    y, z = y[own], z[own]
    weight = np.random.default_rng(3).choice([0.5, 1.0, 4.0], size=len(y))
    a = slope(z, y, weight)
    least = loss(a, z, y, weight)
    for other in (0.5 * a, 0.999 * a, 1.001 * a, 2 * a):
        assert loss(other, z, y, weight) > least


def shifted(n: int, seed: int) -> Scored:
    """Rows with scores that are shifted by class; class 3 is born half-way."""
    y, z, _ = sample(n, seed)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 4.0], size=n)
    return Scored.of(z + np.array([0.0, 3.0, -1.0, 0.5]), y, weight)


def test_slope_and_offsets_are_the_minimum() -> None:
    """Of the loss with |b|^2 / 2: no step from them in any direction has less."""
    rows = shifted(300, 2)

    def loss_at(a: float, b: np.ndarray) -> float:
        p = probability(a, rows.z, np.zeros(len(rows.y)), b)
        own = p[np.arange(len(rows.y)), rows.y]
        return float(-rows.h @ np.log(own) + np.log1p(np.exp(a * rows.gap)) + b @ b / 2)

    a, b = joint_fit(rows)
    least, random = loss_at(a, b), np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        for step in random.normal(size=(20, 5)):
            assert loss_at(a * np.exp(size * step[0]), b + size * step[1:]) > least
    given = fit(shifted(800, 2), 0.5)
    assert given.a == 0.5 and len(given.b) == 4


def test_offsets_must_gain_more_than_their_number_and_need_rows() -> None:
    assert len(fit(shifted(900, 1)).b) == 4
    assert len(fit(shifted(300, 1)).b) == 0
    y, z, _ = sample(900, 1)
    random = np.random.default_rng(3)
    p = probability(1.0, np.where(z > -np.inf, z, -9.0), np.zeros(900))
    y = np.array([random.choice(4, p=row) for row in p], dtype=np.int32)
    assert len(fit(Scored.of(z, y, None)).b) == 0  # classes are as likely as scores say


def test_offsets_are_added_to_scores_and_missing_ones_are_zero() -> None:
    _, score, variance = sample(40)
    score[:, 3] = np.where(np.arange(40) % 2, 1.0, -np.inf)
    p = probability(0.7, score, variance, np.array([0.5, -40.0]))
    z = 0.7 * score / np.sqrt(1 + variance)[:, None] + [0.5, -40.0, 0.0, 0.0]
    np.testing.assert_allclose(p, np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e307])
@pytest.mark.parametrize("right", [True, False])
def test_the_slope_is_always_finite_and_positive(scale: float, right: bool) -> None:
    z = scale * np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -np.inf], [1.0, 1.0, 1.0]])
    y = np.array([0, 1, 2] if right else [1, 0, 2], dtype=np.int32)
    a = slope(z, y, np.ones(3))
    assert 0 < a < np.inf
    p = probability(a, z, np.zeros(3))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_the_slope_without_anything_to_learn_from() -> None:
    none, one = np.empty((0, 0)), np.array([[2.0, -np.inf]])
    assert slope(none, Y[:0], np.ones(0)) == 1
    assert slope(one, np.zeros(1, dtype=np.int32), np.ones(1)) == 1
    assert slope(np.zeros((3, 2)), np.zeros(3, dtype=np.int32), np.ones(3)) == 1
    assert Ring().fit().a == 1


def test_probabilities_sum_to_one_and_the_greatest_is_that_of_the_label() -> None:
    _, score, variance = sample(500)
    p = probability(0.7, score, variance)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    assert (predicted(LABELS, p) == predicted(LABELS, score)).all()
    assert (p[:250, 3] == 0).all()
    z = 0.7 * score / np.sqrt(1 + variance)[:, None]
    np.testing.assert_allclose(p, np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), rtol=1e-12)
    assert probability(1.0, np.full((2, 3), -np.inf), np.ones(2)).tolist() == [[0.0] * 3] * 2
    assert probability(1.0, np.empty((2, 0)), np.ones(2)).shape == (2, 0)


def alike(one: Softmax, other: Softmax) -> bool:
    return one.a == other.a and one.b.tolist() == other.b.tolist()


def test_the_ring_is_fitted_to_the_latest_rows() -> None:
    """Of those whose class was born; 1,024 at most."""
    for n in (1, 2, 3, 101, 4000):
        y, score, variance = sample(n, seed=n)
        ring = Ring()
        ring.add(y, score, variance)
        own = [i for i in range(n) if y[i] >= 0 and score[i, y[i]] > -np.inf]
        last = own[-1024:]
        z = score[last] / np.sqrt(1 + variance[last])[:, None]
        assert ring.rows == len(own)
        assert alike(ring.fit(), fit(Scored.of(z, y[last], None)))


def test_many_classes_leave_room_for_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "ROOM", 80)
    y, score, variance = sample(300)
    ring = Ring()
    ring.add(y, score, variance)
    assert ring.z.shape == (20, 4)
    narrow = Ring()
    narrow.add(y[:200], score[:200, :3], variance[:200])
    assert narrow.z.shape == (26, 3)
    narrow.add(y[200:], score[200:], variance[200:])
    assert narrow.z.shape == (20, 4)
    assert alike(narrow.fit(), ring.fit())


@given(
    seed=st.integers(0, 5),
    cuts=st.lists(st.integers(0, 3000), max_size=4),
    weighted=st.booleans(),
)
def test_the_ring_depends_on_no_split(seed: int, cuts: list[int], weighted: bool) -> None:
    """Nor on being written to a file between two parts."""
    y, score, variance = sample(3000, seed)
    weight = np.random.default_rng(seed).choice([0.0, 1.0, 2.5], size=3000) if weighted else None
    whole, parts = Ring(), Ring()
    whole.add(y, score, variance, weight)
    for a, b in itertools.pairwise([0, *sorted(cuts), 3000]):
        columns = 3 if b <= 1500 else 4
        own = None if weight is None else weight[a:b]
        parts.add(y[a:b], score[a:b, :columns], variance[a:b], own)
        parts = Ring.unpack(parts.rows, {k: v.copy() for k, v in parts.pack().items()}, 4)
    assert parts.rows == whole.rows
    for name, array in whole.pack().items():
        np.testing.assert_array_equal(parts.pack()[name], array)
    assert alike(parts.fit(), whole.fit())


@pytest.mark.filterwarnings("error")
def test_infinite_scores_with_infinite_variances_leave_a_ring_that_can_be_saved() -> None:
    y, score, variance = sample(20)
    score[3], variance[3] = [np.inf, 1.0, -1.0, 0.0], np.inf
    y[3] = 1
    score[4, y[4]], variance[4] = np.inf, np.inf
    ring = Ring()
    ring.add(y, score, variance)
    Ring.unpack(ring.rows, ring.pack(), 4)  # raises if a value cannot be


def test_rows_of_weight_zero_are_not_counted() -> None:
    y, score, variance = sample(400)
    weight = np.where(np.arange(400) % 3, 1.0, 0.0)
    there = weight > 0
    found, target = Ring(), Ring()
    found.add(y, score, variance, weight)
    target.add(y[there], score[there], variance[there])
    assert found.rows == target.rows and alike(found.fit(), target.fit())
    p = probability(1.0, score, variance)
    quality, few = SoftmaxReliability(LABELS), SoftmaxReliability(LABELS)
    quality.add(y, p, weight)
    few.add(y[there], p[there])
    assert quality.summary() == few.summary()


def test_reliability() -> None:
    y, score, variance = sample(900)
    score[:450, 3] = -9.0
    p = probability(1.3, score, variance)
    weight = np.random.default_rng(5).choice([1.0, 0.25, 3.0], size=900)
    for h in (np.ones(900), weight):
        found = SoftmaxReliability(LABELS)
        for part in (slice(0, 100), slice(100, 101), slice(101, 900)):
            found.add(y[part], p[part], h[part])
        known = y >= 0
        own, top, n = p[known, y[known]], p[known].max(axis=1), h[known]
        hit = p[known].argmax(axis=1) == y[known]
        bins = np.minimum((top * 15).astype(int), 14)
        gaps = [abs((n * (top - hit))[bins == b].sum()) for b in range(15)]
        assert found.summary() == {
            "log_loss": pytest.approx(-np.average(np.log(own), weights=n), abs=1e-5),
            "ece": pytest.approx(sum(gaps) / n.sum(), abs=1e-5),
            "new_class_rows": int((y < 0).sum()),
        }
        whole = SoftmaxReliability(LABELS)
        whole.add(y, p, h)
        assert whole.summary() == found.summary()


def test_reliability_of_certainties() -> None:
    found = SoftmaxReliability(LABELS[:2])
    assert found.summary() == {"log_loss": None, "ece": None, "new_class_rows": 0}
    p = probability(1.0, np.array([[1e4, 0.0], [1e4, 0.0], [1e4, -np.inf]]), np.zeros(3))
    assert (p[:2, 1] > 0).all()
    found.add(np.array([0, 1, 1], dtype=np.int32), p)
    assert found.summary() == {
        "log_loss": pytest.approx(-np.log(1e-15) / 2),
        "ece": 0.5,
        "new_class_rows": 1,  # of a class that was not born
    }


def test_a_score_that_has_overflowed_is_the_largest_number_that_is_kept() -> None:
    ring = Ring()
    score = np.array([[np.inf, 1.0, -np.inf], [np.nan, 2.0, 3.0]])
    ring.add(np.array([0, 1], dtype=np.int32), score, np.zeros(2))
    assert ring.z.tolist() == [[LARGEST, 1.0, -np.inf], [0.0, 2.0, 3.0]]
    assert all(np.isfinite(a[a > -np.inf]).all() for a in ring.pack().values())
