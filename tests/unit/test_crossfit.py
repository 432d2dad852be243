"""Probabilities of batch learners, and after several passes, are fitted to scores of rows that
were not learned."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cwtool.algorithms.base import Scores
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.metrics.calibration import Calibration
from cwtool.metrics.reliability import Reliability
from cwtool.model import Model, crossfit
from cwtool.model.crossfit import FoldScores, folds, held
from cwtool.model.fold_models import FoldModels
from cwtool.run import Run
from cwtool.validation import fit

WIDE = 100  # features, most of them noise: rows that were learned have scores that are too good


def planted(seed: int, n: int) -> Rows:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, WIDE))
    y = (x[:, :5].sum(axis=1) + 1.5 * random.normal(size=n) > 1).astype(int)
    return Rows.from_csr(csr_array(x), y)


def losses(model: Model, rows: Rows) -> tuple[float, float]:
    """The log loss of the probabilities, and of the best sigmoid for these very rows."""
    score, variance, _ = model.scores(rows)
    model.calibrate()
    best = Calibration()
    best.add(rows.y, score, variance, at_once=True)
    found = []
    own = model.slope, model.offset, model.by_variance, model.bend
    for fitted in (own, best.fit()):
        model.slope, model.offset, model.by_variance, model.bend = fitted
        quality = Reliability()
        quality.add(rows.y, model.probability(score, variance))
        found.append(quality.summary()["log_loss"])
    return found[0], found[1]


LONG = [pytest.param(name, marks=pytest.mark.slow) for name in ("l1svm", "spar-dca")]


@pytest.mark.parametrize("name", ["dcd", "bcw", "sbcw", "fgm", *LONG])
def test_learners_of_batches(name: str) -> None:
    rows, test = planted(1, 200), planted(2, 2000)
    model, too_good = Model.new(name, {}), Model.new(name, {})
    model.learn(rows, Run())
    too_good.learn(rows, Run(calibrate=False))
    np.testing.assert_array_equal(model.weights().weight, too_good.weights().weight)
    found, best = losses(model, test)
    assert found < 1.05 * best
    assert found < losses(too_good, test)[0]


@pytest.mark.parametrize("name", ["sgd", "arow", "rda", "stsgd"])
def test_several_passes(name: str) -> None:
    rows, test = planted(3, 300), planted(4, 2000)
    model = fit(Model.new(name, {}), rows, Run(), passes=6)
    plain = fit(Model.new(name, {}), rows, Run(calibrate=False), passes=6)
    np.testing.assert_array_equal(model.weights().weight, plain.weights().weight)
    found, best = losses(model, test)
    assert found < 1.05 * best


def test_a_fold_model_of_stsgd_has_half_of_the_paths_unless_the_model_has_learned_before() -> None:
    rows, before = planted(7, 300), Model.new("stsgd", {})
    for paths in (4, 8):
        found = FoldModels(before.copy(), rows, Run()).parts
        assert {part.model.algorithm.params.paths for part in found} == {paths}
        before.learn(rows, Run())


def test_what_was_counted_before_a_run_of_several_passes_stays() -> None:
    first, second = planted(5, 300), planted(6, 100)
    model = Model.new("arow", {})
    model.learn(first, Run())
    known = model.calibration.counts.sum()
    fit(model, second, Run(), passes=3)
    assert model.calibration.rows == 400
    faded = known // 2  # at row 512 nothing, before it nothing but row 256
    assert model.calibration.counts.sum() > 100 * (1 << 20) + faded


@pytest.mark.parametrize("name", ["knn", "rff-markov"])
def test_learners_that_keep_rows_have_the_same_slope_in_one_file_and_two(name: str) -> None:
    given = {"iterations": 200, "chains": 2, "d_max": 5} if name == "rff-markov" else {}
    rows = planted(7, 120)
    one, two = Model.new(name, given), Model.new(name, given)
    one.learn(rows, Run())
    for part in (rows.slice(0, 50), rows.slice(50, 120)):
        two.learn(part, Run())
    for model in (one, two):
        model.calibrate()
    assert (one.slope, one.offset) == (two.slope, two.offset)


@pytest.mark.parametrize(("n", "count"), [(10, 5), (1000, 5), (1001, 5), (2000, 3), (6000, 1)])
def test_folds(n: int, count: int) -> None:
    y = (np.arange(n) % 5 == 0).astype(np.int32)
    found = folds(y, 0)
    assert len(found) == count
    for learned, rest, compared in found:
        assert (compared == learned[np.isin(learned, compared)]).all()
        assert not set(learned.tolist()) & set(rest.tolist())
        assert (np.diff(learned) > 0).all()
        assert abs(y[rest].mean() - 0.2) <= 1 / len(rest)
        assert len(learned) + len(rest) == n


def test_no_folds_where_a_class_has_one_row() -> None:
    assert folds(np.array([0, 0, 0, 1], dtype=np.int32), 0) == []
    assert folds(np.zeros(9, dtype=np.int32), 0) == []


def test_a_fold_model_learns_no_more_rows_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossfit, "MOST", 50)
    assert [len(fold.learned) for fold in folds(np.arange(100, dtype=np.int32) % 2, 0)] == [50] * 5


def test_a_fold_model_is_compared_on_no_more_rows_than_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crossfit, "COMPARED", 30)
    for fold in folds(np.arange(100, dtype=np.int32) % 2, 0):
        assert (len(fold.learned), len(fold.compared)) == (80, 30)
        assert set(fold.compared.tolist()) < set(fold.learned.tolist())


def test_scores_of_a_fold_model_are_put_in_the_place_of_those_of_the_model() -> None:
    """A fold model whose scores are 3 times as large and shifted by 2 says the same."""
    random = np.random.default_rng(8)
    y = (random.random(2000) < 0.4).astype(np.int32)
    score = 2.0 * y - 1 + random.normal(size=2000)
    (fold, *_) = folds(y, 0)
    fold_model, model = Scores(3 * score + 2, np.zeros(2000)), Scores(score, np.zeros(2000))
    scored = FoldScores(fold, fold_model.take(fold.compared), fold_model.take(fold.held))
    rows, found, z = held([scored], model.take, y, None)
    np.testing.assert_array_equal(rows, fold.held)
    np.testing.assert_array_equal(found, z)
    np.testing.assert_allclose(found, score[rows], atol=0.02)  # bins are 0.4 % wide


@pytest.mark.parametrize("who", ["fold model", "model"])
def test_a_fold_model_cannot_stand_in_where_learned_scores_tell_nothing(who: str) -> None:
    """If the scores of learned rows are in no order, either by the fold model or by the model, the
    scores of the model itself count."""
    random = np.random.default_rng(9)
    y = (random.random(2000) < 0.4).astype(np.int32)
    good = Scores(2.0 * y - 1 + random.normal(size=2000), np.zeros(2000))
    bad = Scores(random.normal(size=2000) - 2.0 * y, np.zeros(2000))
    fold_model, model = (bad, good) if who == "fold model" else (good, bad)
    (fold, *_) = folds(y, 0)
    scored = FoldScores(fold, fold_model.take(fold.compared), fold_model.take(fold.held))
    rows, found, _ = held([scored], model.take, y, None)
    np.testing.assert_array_equal(found, model.score[rows])


def test_fold_models_of_many_classes_count_nothing() -> None:
    """Tables of counts would take K^2 numbers for each of the fold models of K classes."""
    classes = [float(k) for k in range(40)]
    model = Model.new("arow", {"covariance": "full"}, labels=Labels(several=classes))
    y = np.arange(80) % 40
    rows = Rows.from_csr(csr_array(np.eye(80)[:, :5] + 1.0), y)
    model.learn(rows, Run())
    before = model.copy(model.packed(counted=False))
    assert (model.rows, before.rows) == (80, 0)
    assert (before.scores(rows).score == model.scores(rows).score).all()
    found = FoldModels(before, rows, Run())
    assert found.parts
    assert all(part.model.progress.counts.size == 1 for part in found.parts)
    assert model.state.ghost.squares["sigma"].shape == (16, 16)
    found.calibrate(model)
    assert model.calibration.rows
