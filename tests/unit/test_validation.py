"""Training in memory gives the model of `train`; cross-validation checks each row once."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool import registry
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Rows
from cwtool.errors import DataError
from cwtool.messages.console import Console
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.run import Run
from cwtool.train.options import TrainOptions
from cwtool.train.trainer import Trainer
from cwtool.validation import best, cross_validate, evaluate, fit, folds, points, read


@pytest.fixture
def path(planted: Callable[..., str]) -> str:
    return planted("train.svm", 1, 200)


@pytest.fixture
def rows(path: str) -> Rows:
    return read([path], Labels(), ReadOptions())


def trained_by_train(algo: str, path: str, passes: int = 1) -> Model:
    trainer = Trainer(
        Model.new(algo, QUICK.get(algo, {})), TrainOptions(passes=passes), Console(quiet=True)
    )
    trainer.fit([path])
    return trainer.model


QUICK = {"rff-markov": {"iterations": 3000, "chains": 2}}


LONG = [pytest.param(name, marks=pytest.mark.slow) for name in ("l1svm", "spar-dca")]


@pytest.mark.parametrize(
    "algo", [*(n for n in registry.names() if n not in ("l1svm", "spar-dca")), *LONG]
)
def test_the_model_is_that_of_train(
    algo: str, path: str, rows: Rows, planted: Callable[..., str]
) -> None:
    found = fit(Model.new(algo, QUICK.get(algo, {})), rows)
    ours, theirs = found.weights(), trained_by_train(algo, path).weights()
    assert np.array_equal(ours.ids, theirs.ids)
    assert np.array_equal(ours.weight, theirs.weight)
    assert ours.intercept == theirs.intercept
    test = read([planted("test.svm", 2, 80)], Labels(), ReadOptions())
    assert evaluate(found, test)["error"] < 0.4


@pytest.mark.parametrize("algo", ["arow", "sgd", "stsgd"])
def test_further_passes_are_in_random_orders(algo: str, rows: Rows) -> None:
    run = Run(seed=3)
    by_hand = Model.new(algo, {})
    by_hand.learn(rows, run)
    for pass_ in (2, 3):
        by_hand.relearn(rows, permutation(rows.n_rows, 3, pass_), run)
    found = fit(Model.new(algo, {}), rows, run, passes=3)
    assert np.array_equal(found.weights().weight, by_hand.weights().weight)


@pytest.mark.parametrize("algo", ["sgd", "tg"])
def test_more_passes_learn_more(algo: str, rows: Rows) -> None:
    errors = [evaluate(fit(Model.new(algo, {}), rows, passes=n), rows)["error"] for n in (1, 10)]
    assert errors[1] < errors[0]


def test_batches_are_learned_once(rows: Rows) -> None:
    once, again = (fit(Model.new("dcd", {"batch_rows": 60}), rows, passes=n) for n in (1, 5))
    assert once.state.numbers["batches"] == again.state.numbers["batches"] == 4
    assert np.array_equal(once.weights().weight, again.weights().weight)


@given(
    st.lists(st.booleans(), min_size=8, max_size=60).filter(lambda y: 3 <= sum(y) <= len(y) - 3),
    st.integers(2, 3),
    st.integers(0, 3),
)
def test_folds(labels: list[bool], n: int, seed: int) -> None:
    """Each row is checked once, and never by a model that has learned it; classes are even."""
    y = np.array(labels, dtype=np.int32)
    parts = list(folds(y, n, seed))
    checked = np.concatenate([check for _, check in parts])
    assert sorted(checked.tolist()) == list(range(len(y)))
    for learned, check in parts:
        assert sorted([*learned.tolist(), *check.tolist()]) == list(range(len(y)))
        for side in (0, 1):
            assert abs((y[check] == side).sum() - (y == side).sum() / n) < 1
        assert (np.diff(learned) > 0).all()
    again = list(folds(y, n, seed))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(parts, again, strict=True))


def test_folds_of_several_classes_have_equal_shares() -> None:
    """A class may have fewer rows than there are folds."""
    y = np.repeat(np.arange(4, dtype=np.int32), [40, 1, 23, 9])
    checked = [part for _, part in folds(y, 5, 3)]
    assert sorted(np.concatenate(checked).tolist()) == list(range(len(y)))
    for k in range(4):
        counts = [int((y[part] == k).sum()) for part in checked]
        assert max(counts) - min(counts) <= 1


def test_too_few_rows_for_the_folds() -> None:
    with pytest.raises(DataError, match="one class has 1"):
        list(folds(np.array([1, 0, 0, 0], dtype=np.int32), 2))


@pytest.mark.parametrize("shuffled", [False, True])
def test_cross_validation(rows: Rows, shuffled: bool) -> None:
    run = Run(seed=1)
    found = cross_validate(lambda: Model.new("cw", {}), rows, 3, run, shuffled=shuffled)
    errors = []
    for learned, checked in folds(rows.y, 3, 1):
        order = learned[permutation(len(learned), 1, 0)] if shuffled else learned
        model = fit(Model.new("cw", {}), rows.take(order), run)
        errors.append(evaluate(model, rows.take(checked))["error"])
    assert found["error"] == errors
    assert found.keys() == {"error", "auc", "f1", "balanced_error", "log_loss"}


def test_points_of_a_grid() -> None:
    assert points({}) == [{}]
    assert points({"a": [1, 2], "b": ["x", "y"]}) == [
        {"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"},
    ]  # fmt: skip


def test_the_best_point() -> None:
    judged = [({"k": 1}, [0.2, 0.4]), ({"k": 2}, [0.3, 0.1]), ({"k": 3}, [0.1, 0.3])]
    candidates = [(point, {"error": values, "auc": values}) for point, values in judged]
    assert best(candidates) == {"k": 2}  # the first of two equal ones
    assert best(candidates, "auc") == {"k": 1}
    assert best([({"k": 1}, {"error": [0.1, None]}), ({"k": 2}, {"error": [0.9, 0.9]})]) == {"k": 2}
    assert best([({"k": 1}, {"error": [None]}), ({"k": 2}, {})]) is None


def test_one_class_is_refused(folder: Path) -> None:
    Path("a.svm").write_text("+1 1:1\n+1 2:1\n")
    with pytest.raises(DataError, match=r"a\.svm: all rows have one label; two classes are needed"):
        read(["a.svm"], Labels(), ReadOptions())
