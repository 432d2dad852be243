"""Metrics of several classes against counting by hand."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.errors import Damage, DataError
from cwtool.metrics.confusion import Confusion, predicted
from cwtool.metrics.tally import UNIT
from cwtool_ext import tally

VECTORS = Path(__file__).parents[1] / "oracle" / "vectors" / "multiclass"
LABELS = [3.0, 1.0, 2.0, 7.0]  # by class number: 3 was born first


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Classes, some of them never learned, and scores with ties, classes that are not born and
    rows where no class is born."""
    random = np.random.default_rng(seed)
    y = random.integers(-1, 4, size=n).astype(np.int32)
    score = random.integers(-2, 3, size=(n, 4)) / 2
    score[np.arange(n), np.maximum(y, 0)] += 0.5
    score[: n // 8, 3] = -np.inf
    score[: n // 20] = -np.inf
    return y, score


def by_hand(labels: list[float], row: np.ndarray) -> int:
    """The class of the highest score, the smallest label first; -1: none."""
    scored = [(-s, label, k) for k, (s, label) in enumerate(zip(row, labels, strict=True))]
    best = min(scored)
    return -1 if best[0] == np.inf else best[2]


def test_ties_go_to_the_smallest_label() -> None:
    _, score = sample(300)
    found = predicted(LABELS, score)
    assert found.tolist() == [by_hand(LABELS, row) for row in score]
    assert found.dtype == np.int32
    assert -1 in found
    ascending = sorted(LABELS)
    assert predicted(ascending, score).tolist() == [by_hand(ascending, row) for row in score]
    assert predicted([], np.empty((2, 0))).tolist() == [-1, -1]
    assert predicted(LABELS, score[:, :2]).tolist() == predicted(LABELS[:2], score[:, :2]).tolist()


def test_frozen_metrics() -> None:
    case = json.loads((VECTORS / "metrics.json").read_text())
    labels = [1.0, 2.0, 3.0, 7.0]
    counts = np.pad(np.array(case["confusion"], dtype=np.int64), ((1, 0), (1, 0)))
    found = Confusion(labels, counts).summary()
    for name in ("error", "macro_f1", "weighted_f1", "balanced_error"):
        assert found[name] == pytest.approx(case[name], rel=1e-12)
    assert 1 - found["error"] == pytest.approx(case["micro_f1"])
    for name in ("f1", "recall", "precision"):
        assert [one[name] for one in found["per_class"]] == pytest.approx(case[name], rel=1e-12)
    assert [one["support"] for one in found["per_class"]] == [16, 13, 23, 7]
    assert found["confusion"] == case["confusion"]
    assert found["classes"] == ["1", "2", "3", "7"]


def test_the_matrix_is_in_label_order_with_other_rows_beside_it() -> None:
    y, score = sample(400)
    tally = Confusion(LABELS)
    tally.add(y, score)
    found = tally.summary()
    guess = np.array([by_hand(LABELS, row) for row in score])
    order = [1, 2, 0, 3]  # class numbers of 1, 2, 3, 7
    count = [[int(((y == a) & (guess == p)).sum()) for p in order] for a in order]
    assert found["confusion"] == count
    assert found["other"] == [int(((y == -1) & (guess == p)).sum()) for p in order]
    none = [int(((y == a) & (guess == -1)).sum()) for a in [*order, -1]]
    assert found["unpredicted"] == none
    assert found["rows"] == 400 == np.sum(count) + sum(found["other"]) + sum(none)
    assert found["error"] == tally.error == pytest.approx(np.mean((y != guess) | (y == -1)))
    third = found["per_class"][2]
    assert third["label"] == "3"
    assert third["precision"] == pytest.approx(np.mean(y[guess == 0] == 0))
    assert third["recall"] == pytest.approx(np.mean(guess[y == 0] == 0))
    assert tally.auc is None
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_classes_without_rows() -> None:
    tally = Confusion([1.0, 2.0, 3.0, 4.0])
    score = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]])
    tally.add(np.array([0, 0, 1], dtype=np.int32), score)
    found = tally.summary()
    # F1: 1/2 (tp 1, fp 1, fn 1), 0, 0, none; recall: 1/2, 0
    assert found["macro_f1"] == pytest.approx(1 / 6)
    assert found["weighted_f1"] == pytest.approx(1 / 3)
    assert found["balanced_error"] == pytest.approx(0.75)
    assert found["per_class"][3] == {
        "label": "4", "precision": None, "recall": None, "f1": 0.0, "support": 0,
    }  # fmt: skip
    assert "other" not in found
    assert "unpredicted" not in found
    empty = Confusion([]).summary()
    assert (empty["rows"], empty["error"], empty["macro_f1"]) == (0, None, None)
    assert empty["classes"] == empty["confusion"] == []


def test_labels_may_grow() -> None:
    y, score = sample(200)
    y = np.abs(y)
    labels = LABELS[:1]
    tally, whole = Confusion(labels), Confusion(LABELS)
    early = y == 0
    alone = np.where(np.arange(4) == 0, score, -np.inf)
    tally.add(y[early], score[early][:, :1])
    labels += LABELS[1:]
    assert len(tally.summary()["confusion"]) == 4
    tally.add(y[~early], score[~early])
    whole.add(y[early], alone[early])
    whole.add(y[~early], score[~early])
    assert tally.summary() == whole.summary()


@given(seed=st.integers(0, 20), cuts=st.lists(st.integers(0, 120), max_size=3))
def test_any_split_and_any_sum_gives_the_same(seed: int, cuts: list[int]) -> None:
    y, score = sample(120, seed)
    heavy = 0.3 + np.random.default_rng(seed).choice([0.0, 0.7, 1.5], size=120)
    weight = np.where(np.arange(120) < 40, 1.0, heavy)
    weight[::7] = 0
    whole, parts, sum_ = (Confusion(LABELS) for _ in range(3))
    whole.add(y, score, weight)
    for a, b in itertools.pairwise([0, *sorted(cuts), 120]):
        own = None if (weight[a:b] == 1).all() else weight[a:b]
        parts.add(y[a:b], score[a:b], own)
        part = Confusion(LABELS)
        part.add(y[a:b], score[a:b], own)
        sum_ += part
    assert parts.summary() == sum_.summary() == whole.summary()
    assert (whole - part + part).summary() == whole.summary()
    assert whole.rows == np.count_nonzero(weight)
    copy = Confusion.unpack(LABELS, {k: a.copy() for k, a in whole.pack().items()})
    assert copy.summary() == whole.summary()


@pytest.mark.parametrize("relabel", [lambda v: 10 * v - 3, lambda v: v**3])
def test_an_increasing_map_of_labels_changes_nothing(relabel) -> None:
    y, score = sample(200)
    one, two = Confusion(LABELS), Confusion([relabel(v) for v in LABELS])
    one.add(y, score)
    two.add(y, score)
    own = ("classes", "per_class")
    first, second = one.summary(), two.summary()
    assert {k: v for k, v in first.items() if k not in own} == {
        k: v for k, v in second.items() if k not in own
    }


def test_whole_weights_count_as_so_many_rows() -> None:
    y, score = sample(300)
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0, 5.0], size=300)
    found, repeated = Confusion(LABELS), Confusion(LABELS)
    often = np.repeat(np.arange(300), weight.astype(int))
    found.add(y, score, weight)
    repeated.add(y[often], score[often])
    a, b = found.summary(), repeated.summary()
    assert a["weight"] == b["rows"] == weight.sum()
    assert a["rows"] == np.count_nonzero(weight)
    for name in ("confusion", "other", "unpredicted"):
        assert a[f"weighted_{name}"] == b[name]
        assert a[name] != b[name]
    for name in ("error", "macro_f1", "weighted_f1", "balanced_error"):
        assert a[name] == pytest.approx(b[name])
    ones = Confusion(LABELS)
    ones.add(y, score, np.ones(300))
    assert "weight" not in ones.summary()


def test_too_much_weight_is_refused() -> None:
    found = Confusion([1.0])
    found.add(np.zeros(1, dtype=np.int32), np.ones((1, 1)), np.array([2.0**20]))
    found.counts <<= 22
    found.weighted <<= 22
    y, score, weight = np.zeros(1, dtype=np.int32), np.ones((1, 1)), np.array([2.0**20])
    found.weighted += found.weighted - 1
    with pytest.raises(DataError, match="add up to more than"):
        found.add(y, score, weight)


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_scores_beyond_numbers_are_highest_as_for_numpy(special: float) -> None:
    random = np.random.default_rng(1)
    score = random.integers(0, 3, size=(400, 4)).astype(float)
    score[random.random(score.shape) < 0.2] = special
    order = np.argsort(LABELS)
    assert predicted(LABELS, score).tolist() == order[score[:, order].argmax(axis=1)].tolist()


def test_the_order_of_classes_must_name_them() -> None:
    score, out = np.zeros((2, 3)), np.empty(2, dtype=np.int32)
    for order in ([0, 1], [0, 1, 3], [-1, 0, 1]):
        with pytest.raises(ValueError, match="class"):
            tally.highest(score, np.array(order), out)
    with pytest.raises(ValueError, match="row"):
        tally.highest(score, np.arange(3), out[:1])


@pytest.mark.parametrize("classes", [3, 1022, 1023, 1024, 1300])
def test_classes_without_rows_are_packed(classes: int) -> None:
    """A model file may have many classes before anything was counted."""
    made = Confusion([float(k) for k in range(classes)])
    found = Confusion.unpack(made.labels, made.pack())
    assert found.rows == 0 and found.labels == made.labels
    if classes == 1300:
        few = {"confusion": np.zeros((324, 324), dtype=np.int64)}
        with pytest.raises(Damage, match="does not fit the labels"):
            Confusion.unpack(made.labels, few)


def test_counts_are_moved_to_other_labels() -> None:
    made = Confusion([7.0, 2.0], np.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3) * UNIT)
    moved = made.moved([2.0, 5.0, 7.0])
    assert moved.counts.tolist() == [[0, 2, 0, 1], [6, 8, 0, 7], [0, 0, 0, 0], [3, 5, 0, 4]]
    assert (moved.weighted == UNIT * moved.counts).all()
