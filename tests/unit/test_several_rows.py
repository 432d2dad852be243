"""Probabilities of several classes: fold models, offsets, and the sample of rows."""

import numpy as np
import pytest

from cwtool.algorithms.base import Scores
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.errors import ModelError
from cwtool.merging import merge
from cwtool.metrics.softmax import probability, standardized
from cwtool.metrics.softmax_fit import Scored, joint_fit
from cwtool.metrics.softmax_fit import slope as slope_of
from cwtool.metrics.threshold import OperatingPoint
from cwtool.model import Model, several_rows
from cwtool.model.crossfit import Fold, FoldScores, folds, held
from cwtool.run import Run

UNITS = np.array([1.0, 30.0, 0.2, 5.0])  # of columns


def units(seed: int, n: int, classes: int = 4) -> Rows:
    """Rows with columns of different units and means far from 0, so that scores are shifted."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 4))
    centres = np.random.default_rng(0).normal(size=(classes, 4)) * 1.3
    noise = -np.log(-np.log(random.random((n, classes))))
    y = (x @ centres.T + noise).argmax(axis=1)
    return Rows.from_lists([list(enumerate(row)) for row in ((x + 2) * UNITS).tolist()], y.tolist())


def untrained(algo: str, mode: str = "auto", labels: list[float] | None = None) -> Model:
    labels = [0.0, 1.0, 2.0, 3.0] if labels is None else labels
    return Model.new(algo, {}, labels=Labels(multiclass=mode, several=labels))


def learned(model: Model, *parts: Rows) -> Model:
    for rows in parts:
        model.learn(rows, Run())
    model.calibrate()
    return model


def loss(y: np.ndarray, p: np.ndarray) -> float:
    return float(-np.log(p[np.arange(len(y)), y]).mean())


@pytest.mark.parametrize("n", [1500, 8000])
@pytest.mark.parametrize("algo", ["perceptron", "sgd", "arow", "cw"])
def test_probabilities_are_nearly_the_best_of_their_form(algo: str, n: int) -> None:
    """Without offsets, or with the slope of the scores before learning, they would be much worse
    where each row changes the model a lot."""
    model, others = learned(untrained(algo), units(1, n)), units(2, 6000)
    score, variance, _ = model.scores(others)
    rows = Scored.of(standardized(score, variance), others.y, None)
    a, b = joint_fit(rows)
    best = loss(others.y, probability(a, score, variance, b))
    alone = loss(others.y, probability(slope_of(rows), score, variance))
    found = loss(others.y, model.probability(score, variance))
    assert found < 1.02 * best
    if algo in ("perceptron", "sgd"):
        before = loss(others.y, probability(model.calibration.fit().a, score, variance, b))
        assert alone > 1.05 * best and before > 1.15 * best


def test_a_model_that_was_saved_in_between_is_the_same() -> None:
    rows = units(3, 900)
    model, again = learned(untrained("arow"), rows), untrained("arow")
    for start in range(0, 900, 150):
        again.learn(rows.slice(start, start + 150), Run())
        again = Model.from_bytes(again.to_bytes())
    assert model.to_bytes() == again.to_bytes()
    assert len(again.offsets) == 4


def test_a_class_that_comes_later_has_no_offset_until_the_next_fit() -> None:
    few, all_ = units(4, 800, 3), units(5, 800)
    model = learned(untrained("arow", labels=[0.0, 1.0, 2.0]), few)
    assert len(model.offsets) == 3
    assert model.labels.several is not None
    model.labels.several.append(3.0)
    model.learn(all_, Run())
    p = model.probability(*model.scores(all_)[:2])
    assert p.shape == (800, 4) and np.allclose(p.sum(axis=1), 1)
    whole = learned(untrained("arow"), few, all_)
    assert learned(model).to_bytes() == whole.to_bytes()
    assert len(model.offsets) == 4


def test_classes_that_were_read_but_not_learned_change_nothing() -> None:
    rows = units(6, 700)
    model, ahead = untrained("arow"), untrained("arow")
    model.learn(rows, Run())
    ahead.learn(rows, Run())
    assert ahead.labels.several is not None
    ahead.labels.several.append(9.0)
    for one in (model, ahead):
        one.calibrate()
    assert model.slope == ahead.slope and model.offsets.tolist() == ahead.offsets.tolist()


def test_rows_keep_their_classes_in_a_merge() -> None:
    a, b = units(7, 600), units(8, 600)
    to = np.array([2, 0, 3, 1], dtype=np.int32)  # places of 0, 1, 2, 3 among 1, 3, 0, 2
    moved = Rows(b.indptr, b.indices, b.values, to[b.y])
    other = learned(untrained("arow", labels=[1.0, 3.0, 0.0, 2.0]), moved)
    both = merge([learned(untrained("arow"), a), other]).model
    assert both.sample.rows().y.tolist() == a.y.tolist() + b.y.tolist()
    assert len(learned(both).offsets) == 4


def test_many_classes_are_fitted_to_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model = learned(untrained("arow"), units(9, 2000))
    of_all = model.offsets
    monkeypatch.setattr(several_rows, "ROOM", 4 * 1000)
    model.calibrate()
    assert model.offsets.tolist() != of_all.tolist()
    np.testing.assert_allclose(model.offsets, of_all, rtol=0, atol=0.4)


def test_rows_of_weight_0_change_no_probability() -> None:
    rows, weight = units(4, 600), np.ones(600)
    weight[:5] = 0.0
    model = learned(untrained("arow"), rows.weighing(weight))
    other = learned(untrained("arow"), rows.slice(5, 600))
    assert model.slope == other.slope and model.offsets.tolist() == other.offsets.tolist()


def test_a_class_with_one_row_does_not_prevent_folds() -> None:
    y = np.array([0, 1] * 50 + [2], dtype=np.int32)
    assert len(folds(y, 0)) == 5
    assert folds(np.array([0, 0, 1, 2], dtype=np.int32), 0) == []


def test_offsets_of_a_file_are_checked() -> None:
    model = learned(untrained("arow"), units(1, 600))
    header, arrays = model.packed()
    header["calibration"]["offsets"].append(0.0)
    with pytest.raises(ModelError, match="more offsets"):
        model.copy((header, arrays))
    del header["calibration"]["offsets"]  # as in files of earlier versions
    old = model.copy((header, {k: v for k, v in arrays.items() if "sample" not in k}))
    assert len(old.offsets) == 0


def test_the_balanced_threshold_calls_by_probabilities() -> None:
    """The class with the largest p_k / (n_k + 1) is called."""
    rows = units(1, 900)
    model = learned(untrained("arow"), rows)
    model.operating_point = OperatingPoint("balanced")
    score, variance, _ = model.scores(rows)
    share = (np.bincount(rows.y) + 1) / (len(rows.y) + 4)
    want = (model.probability(score, variance) / share).argmax(axis=1)
    assert (model.calling(score, variance).argmax(axis=1) == want).all()


def test_a_fold_model_that_makes_no_mistake_is_matched_by_its_scores_themselves() -> None:
    """Where both models are right on all rows that both have learned, the held scores get the
    size and the shifts of those of the model."""
    rows = units(1, 400)
    random = np.random.default_rng(1)
    z = random.normal(size=(400, 4))
    z[np.arange(400), rows.y] += 20
    shift = np.array([3.0, -1.0, 0.0, -2.0])
    of_model = Scores(z, np.zeros(400))
    of_fold = Scores(0.5 * z + shift, np.zeros(400))
    learned_rows, rest = np.arange(300), np.arange(300, 400)
    fold = Fold(learned_rows, rest, learned_rows)
    scored = FoldScores(fold, of_fold.take(learned_rows), of_fold.take(rest))
    found = held([scored], of_model.take, rows.y, None).z
    same = found - z[300:]
    np.testing.assert_allclose(same - same.mean(axis=1, keepdims=True), 0, atol=1e-9)
