"""Probabilities of online learners whose rows are few and therefore all kept."""

from dataclasses import replace

import numpy as np
import pytest

from cwtool import registry
from cwtool.algorithms.base import Scores
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.errors import CwtoolError
from cwtool.importing import Imported, imported
from cwtool.metrics.calibration import Calibration
from cwtool.model import Model, few_rows
from cwtool.model.crossfit import Fold, FoldScores, folds, held
from cwtool.model.few_rows import counted_by_folds
from cwtool.run import Run

# learn whole batches, which this is not for
SEVERAL_ROWS = ("bcw", "dcd", "sbcw", "fgm", "l1svm", "spar-dca", "knn", "sdist", "rff-markov")


def texts(seed: int, n: int, words: int = 400) -> Rows:
    """Rows of 30 words each, most of them rare; the weights of all words decide the class."""
    random, weight = np.random.default_rng(seed), np.random.default_rng(0).normal(size=words)
    often = np.arange(1, words + 1) ** -0.8
    ids = [
        np.sort(random.choice(words, 30, replace=False, p=often / often.sum())) for _ in range(n)
    ]
    y = [int(weight[some].sum() + random.normal() > 0) for some in ids]
    return Rows.from_lists([[(int(k), 1.0) for k in some] for some in ids], y)


def test_held_scores_are_those_of_models_without_the_rows() -> None:
    """Every row is held by one fold. A model that learns the rows of the other folds gives its
    score, but for a line that makes the scores of both models alike on rows that both know."""
    rows, run = texts(1, 300), Run()
    model = Model.new("arow", {"prior": 1.0})
    model.learn(rows, run)
    scored = few_rows.held_scores(model, model.algorithm, rows, model.scores(rows))
    assert scored is not None
    np.testing.assert_array_equal(np.sort(scored.rows), np.arange(300))
    for fold in folds(rows.y, run.seed):
        other = Model.new("arow", {"prior": 1.0})
        other.learn(rows.take(fold.learned), run)
        alone = other.scores(rows.take(fold.held)).score
        found = scored.score[np.isin(scored.rows, fold.held)]
        slope, offset = np.polyfit(alone, found, 1)
        assert 0.5 < slope < 2
        np.testing.assert_allclose(found, slope * alone + offset, rtol=0, atol=1e-9)


@pytest.mark.parametrize("times", [2.0**20, 2.0**-20])
def test_the_unit_of_the_values_does_not_matter(times: float) -> None:
    """The scores of a perceptron are in its square, which no histogram of scores may limit."""
    one, other = texts(1, 300), texts(2, 200)
    found = []
    for unit in (1.0, times):
        model = Model.new("perceptron", {})
        model.learn(replace(one, values=unit * one.values), Run())
        model.calibrate()
        scores = model.scores(replace(other, values=unit * other.values))
        found.append(model.probability(scores.score, scores.variance))
    assert found[0].std() > 0.1
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


@pytest.mark.parametrize("algo", ["arow", "cw", "sgd", "pa1", "perceptron", "stsgd", "cw-fact"])
def test_labels_that_were_learned_by_heart_are_not_believed(algo: str) -> None:
    """Labels are random and there are more columns than rows, so that a model can be right on the
    rows that it has learned but not on others. Probabilities of others must be near 1/2."""
    random = np.random.default_rng(9)
    lists = [[(k, float(v)) for k, v in enumerate(random.normal(size=300))] for _ in range(300)]
    model = Model.new(algo, {})
    model.learn(Rows.from_lists(lists[:100], random.integers(0, 2, 100).tolist()), Run())
    model.calibrate()
    score, variance, _ = model.scores(Rows.from_lists(lists[100:], [0] * 200))
    p = model.probability(score, variance)
    assert np.abs(p - 0.5).mean() < 0.15


def test_a_model_that_was_saved_in_between_is_the_same() -> None:
    rows = texts(3, 400)
    model, again = Model.new("arow", {}), Model.new("arow", {})
    model.learn(rows, Run())
    for start in range(0, 400, 100):
        again.learn(rows.slice(start, start + 100), Run())
        again = Model.from_bytes(again.to_bytes())
    assert model.to_bytes() == again.to_bytes()


def test_rows_of_weight_0_change_no_probability() -> None:
    rows, weight = texts(4, 300), np.ones(300)
    weight[:5] = 0.0
    model, other = Model.new("arow", {}), Model.new("arow", {})
    model.learn(rows.weighing(weight), Run())
    other.learn(rows.slice(5, 300), Run())
    model.calibrate()
    other.calibrate()
    assert (model.slope, model.offset) == (other.slope, other.offset)


def test_class_weights_do_not_shift_probabilities() -> None:
    rows, others = texts(5, 600), texts(6, 2000)
    model = Model.new("arow", {}, class_weight="1=5,0=1", labels=Labels(0.0, 1.0))
    model.learn(rows, Run())
    model.calibrate()
    score, variance, _ = model.scores(others)
    assert (score > 0).mean() > others.y.mean() + 0.05
    assert model.probability(score, variance).mean() == pytest.approx(others.y.mean(), abs=0.05)


def test_scores_that_tell_nothing_give_the_share_of_each_class() -> None:
    """Scores of thousands, and of fold models that tell nothing either."""
    random = np.random.default_rng(8)
    values = random.standard_cauchy((200, 3)) * 1000
    lists = [[(k, float(v)) for k, v in enumerate(row)] for row in values]
    model = Model.new("pa", {})
    model.learn(Rows.from_lists(lists, random.integers(0, 2, 200).tolist()), Run())
    model.calibrate()
    score, variance, _ = model.scores(Rows.from_lists(lists, [0] * 200))
    assert np.abs(score).max() > 100
    p = model.probability(score, variance)
    assert 0.3 < p.min() <= p.max() < 0.7


def by_folds(model: Model) -> Calibration | None:
    return counted_by_folds(model, model, model.scores(model.sample.rows()))


def test_models_whose_rows_are_not_all_kept_have_no_folds() -> None:
    one_class = Rows.from_lists([[(1, 1.0)]] * 20, [1] * 20)
    alone = Model.new("arow", {})
    alone.learn(one_class, Run())
    assert by_folds(alone) is None
    full = Model.new("arow", {"covariance": "full"})
    full.learn(texts(1, 50, 60), Run())
    assert by_folds(full) is None
    weights = Imported(
        [0.0, 1.0], np.array([1, 2], dtype=np.int32), np.array([[0.5], [-0.5]]), bias=False
    )
    started = imported(weights, "arow", {}, 1.0)
    started.learn(texts(1, 50), Run())
    assert by_folds(started) is None


@pytest.mark.parametrize("algo", [a for a in registry.names() if a not in SEVERAL_ROWS])
@pytest.mark.parametrize("size", [1e-300, 1e150, 1e308])
def test_extreme_values_are_fitted_or_left(algo: str, size: float) -> None:
    """A fold model may overflow where the model has not."""
    random = np.random.default_rng(3)
    lists = [[(k, float(v)) for k, v in enumerate(random.normal(size=3))] for _ in range(40)]
    lists[7][0] = (0, size)
    lists[30][1] = (1, -size)
    model = Model.new(algo, {})
    try:
        model.learn(Rows.from_lists(lists, random.integers(0, 2, 40).tolist()), Run())
    except CwtoolError:
        return  # such values are refused
    model.calibrate()
    assert np.isfinite([model.slope, model.offset, model.bend]).all()


def test_scores_of_fold_models_that_tell_nothing_are_not_lost() -> None:
    """Where scores say the opposite of the classes, the slopes are the smallest ones that there
    are, and a score times its slope is too small to change the offset that is added to it."""
    y = np.array([0, 0, 1] * 40, dtype=np.int32)
    opposite = Scores(1.0 - 2.0 * y + 0.1 * np.sin(np.arange(120)), np.zeros(120))
    fold = Fold(np.arange(90), np.arange(90, 120), np.arange(90))
    scored = FoldScores(fold, opposite.take(fold.compared), opposite.take(fold.held))
    found = held([scored], opposite.take, y, None)
    np.testing.assert_allclose(found.score, opposite.score[90:], rtol=1e-9)
