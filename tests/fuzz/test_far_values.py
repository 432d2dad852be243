"""Numbers and sizes of files of a stranger, and rows with values far apart, with which learning and
merging must end soon and without warnings of NumPy."""

import warnings
from typing import Any

import fuzzed_models as models
import numpy as np
import pytest

from cwtool.algorithms.base import Scores
from cwtool.algorithms.batch import newton
from cwtool.algorithms.neighbours.search import Near, said
from cwtool.algorithms.selection import l1_path
from cwtool.data.growing import zero_pages
from cwtool.data.rows import Rows
from cwtool.errors import ModelError
from cwtool.merging import merge
from cwtool.model import Model
from cwtool.model.arithmetic import computing
from cwtool.model.crossfit import Fold, FoldScores, held
from cwtool.model.opening import unasked_work
from cwtool.model.packing import pack, unpack
from cwtool.run import Run
from cwtool_ext import quadratic


@pytest.mark.parametrize("algo", ["l1svm", "spar-dca"])
@pytest.mark.parametrize(("low", "high"), [(-200, 40), (30, 32), (-20, 3), (4, 5)])
def test_a_path_of_C_ends_where_values_are_far_apart(
    algo: str, low: int, high: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Almost no solution converges; and C has hundreds of orders of magnitude to go, or values lose
    each other in sums."""
    draw = np.random.default_rng(3)
    pairs = [
        [(j, float(draw.choice([-1, 1]) * 10 ** draw.uniform(low, high))) for j in range(12)]
        for _ in range(40)
    ]
    rows = Rows.from_lists(pairs, draw.integers(2, size=40).tolist())
    solved: list[float] = []

    class Counting(Model.new(algo, {}).algorithm.Fit):  # type: ignore[misc]
        def solve(self, C: float, among: np.ndarray) -> None:
            solved.append(C)
            super().solve(C, among)
            self.early = len(solved)
            self.beside = 3 * len(solved) - self.passes

    model = Model.new(algo, {"max_batch_passes": 3, "prior": 1.0})
    monkeypatch.setattr(type(model.algorithm), "Fit", Counting)
    monkeypatch.setattr(l1_path, "PATIENCE", 15)
    told: list[str] = []
    model.learn(rows, Run(warn=told.append, calibrate=False))
    assert len(solved) == 5
    assert len(told) == 1
    assert "before `tol` was reached" in told[0]


def test_a_path_of_ordinary_rows_is_as_long_as_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = models.rows_of(1, 60, 2)[0]
    steps = []
    for patience in (5, 10**9):
        monkeypatch.setattr(l1_path, "PATIENCE", patience)
        model = Model.new("spar-dca", {"max_batch_passes": 1})
        notes: list[str] = []
        model.learn(rows, Run(note=notes.append))
        steps.append(notes)
    assert steps[0] == steps[1]
    assert int(steps[0][0].split()[-2]) > 5


def test_a_step_over_second_derivatives_counts_as_the_passes_that_take_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So a solution of which each Newton step needs all of its sweeps ends as others do."""
    rows, told = models.rows_of(1, 60, 2)[0], []
    real = quadratic.descent

    class Slow:
        """Sweeps that never reach their goal."""

        add_gram = quadratic.add_gram

        @staticmethod
        def descent(H: Any, price: float, goal: float, sweeps: int, *more: Any) -> int:
            real(H, price, goal, 1, *more)
            return sweeps

    monkeypatch.setattr(newton, "quadratic", Slow)
    model = Model.new("l1svm", {"features": 0, "C": 1.0, "tol": 1e-12})
    model.learn(rows, Run(warn=told.append, calibrate=False))
    assert "before `tol` was reached" in told[0]


def test_no_rows_have_no_neighbours() -> None:
    for classes in (2, 5):
        near = Near(np.empty((0, classes, 3), dtype=np.int64), np.empty((0, classes, 3)))
        assert said(near).tolist() == []


def test_classes_of_a_row_each_are_learned_by_sdist() -> None:
    rows = models.rows_of(1, 9, 9)[0]
    model = Model.new("sdist", {"steps": 3}, labels=models.trained("knn", {}, 9, 0).labels)
    model.settle()
    model.learn(rows, Run())
    assert model.scores(rows).score.shape == (9, 9)


def test_more_pages_than_there_is_memory_are_granted_until_they_are_written_to() -> None:
    """As the tables of thousands of classes need them."""
    pages = zero_pages(1 << 42)
    pages[1 << 41] = 1
    assert pages[1 << 41] == 1
    pages.close()


def test_pages_that_cannot_be_granted_are_too_much_memory() -> None:
    with pytest.raises(MemoryError, match="there is no room for"):
        zero_pages(1 << 60)


def test_fewer_counted_scores_than_those_of_the_base_do_not_continue_it() -> None:
    base = models.trained("arow", {}, 4, 0)
    part = base.copy()
    base.calibration.rows += 1 << 31
    with pytest.raises(ModelError, match="model 1 does not continue the base"):
        merge([part, part.copy()], base)


def test_a_merge_of_precisions_that_overflow_is_told_once() -> None:
    given = {"covariance": "factored", "rank": 2, "buffer": 4}
    one, other = (models.trained("arow", given, 2, extras) for extras in (0, 30))
    other.history[0]["files"][0]["digest"] = "cd" * 16
    one.state.arrays["entries"][:] *= 1e200
    with warnings.catch_warnings(), pytest.raises(ModelError, match="too large"):
        warnings.simplefilter("error")
        merge([one, other]).model.to_bytes()


def test_held_scores_that_overflow_are_told_without_a_warning() -> None:
    """Of models that learned part of the rows, in several passes."""
    model = models.trained("arow", {}, 2, 0)
    rows = models.rows_of(1, 60, 2)[0]
    scores = Scores(*model.scores(rows)[:2])
    some = np.arange(60)
    scored = FoldScores(Fold(some, some, some), scores, scores._replace(score=scores.score * 1e308))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = computing(lambda _: held([scored], lambda _: scores, rows.y, None))(model)
        model.count_held(rows.y, found, None)


@pytest.mark.parametrize(
    ("algo", "given", "name"),
    [
        ("knn", {"batch_rows": 1}, "batch_rows"),
        ("bcw", {"batch_rows": 49}, "batch_rows"),
        ("l1svm", {"batch_rows": 3}, "batch_rows"),
        ("l1svm", {"batch_rows": 50}, ""),
        ("l1svm", {"tol": 1e-6}, "tol"),
        ("l1svm", {"C": 1e5}, "C"),
        ("spar-dca", {"tol": 1e-3}, "tol"),
        ("spar-dca", {"l2": 0.01}, "l2"),
        ("spar-dca", {"max_batch_passes": 201}, "max_batch_passes"),
        ("spar-dca", {"prior": 2.0}, "prior"),
        ("spar-dca", {"prior": 1.0}, ""),
        ("dcd", {"batch_rows": 0}, ""),
        ("sdist", {"steps": 151}, "steps"),
        ("sdist", {"cv": 2}, "cv"),
        ("sdist", {"engine": "stsgd"}, "engine"),
        ("sdist", {"engine": "power"}, ""),
        ("fgm", {"features": 50_001}, "features"),
        ("rff-markov", {"chains": 5}, "chains"),
        ("rff-markov", {"iterations": 50_001}, "iterations"),
    ],
)
def test_settings_that_make_learning_long(algo: str, given: dict[str, int], name: str) -> None:
    model = Model.new(algo, given)
    assert unasked_work(model, []) == name
    assert unasked_work(model, given) == ""


@pytest.mark.parametrize("given", [{}, {"precision_divisor": 10.0}])
@pytest.mark.parametrize("labels", [2, 4])
def test_new_features_of_rows_that_are_too_long_to_learn_are_saved(
    given: dict[str, float], labels: int
) -> None:
    """bcw has a matrix over all features beside its weights."""
    model, rows = models.trained("bcw", given, labels, 0), models.rows_of(1, 60, labels)[0]
    far = Rows(rows.indptr, rows.indices + np.int32(12), 1e60 * rows.values, rows.y)
    model.learn(far, Run())
    again = unpack(*pack(model))
    assert again.index.count == 24
    assert np.allclose(again.scores(rows).variance, model.scores(rows).variance)
