"""Training in memory is training; cross-validation sees training rows alone."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool import registry
from cwtool.bench.cells import Cell, perform
from cwtool.bench.fit import cross_validate, evaluate, fit, folds
from cwtool.bench.sources import Source
from cwtool.console import Console
from cwtool.data import Reading
from cwtool.errors import DataError
from cwtool.model import Model
from cwtool.train import Trainer, TrainOptions


@pytest.fixture
def source(tmp_path: Path, planted: Callable[..., str]) -> Source:
    planted("train.svm", 1, 200)
    planted("test.svm", 2, 80)
    return Source((str(tmp_path / "train.svm"),), (str(tmp_path / "test.svm"),))


@pytest.mark.parametrize("algo", registry.names())
def test_the_model_is_that_of_train(algo: str, source: Source) -> None:
    train, test = source.both()
    found, _ = fit(algo, {}, train, train.order)
    trainer = Trainer(Model.new(algo, {}, Reading()), TrainOptions(), Console(quiet=True))
    trainer.fit(list(source.train))
    for ours, theirs in zip(found.weights()[:2], trainer.model.weights()[:2], strict=True):
        assert np.array_equal(ours, theirs)
    assert evaluate(found, test)["error"] < 0.4


@pytest.mark.parametrize("algo", ["sgd", "tg"])
def test_more_passes_learn_more(algo: str, source: Source) -> None:
    train, _ = source.both()
    errors = [
        evaluate(fit(algo, {}, train, train.order, passes=n)[0], train)["error"] for n in (1, 10)
    ]
    assert errors[1] < errors[0]


@given(
    st.lists(st.booleans(), min_size=8, max_size=60).filter(lambda y: 3 <= sum(y) <= len(y) - 3),
    st.integers(2, 3),
    st.integers(0, 3),
)
def test_folds(labels: list[bool], n: int, seed: int) -> None:
    """Each row is checked once, and never by a model that has learned it; classes are even."""
    y = np.where(labels, 1.0, -1.0)
    parts = list(folds(y, n, seed))
    checked = np.concatenate([check for _, check in parts])
    assert sorted(checked.tolist()) == list(range(len(y)))
    for learned, check in parts:
        assert sorted([*learned.tolist(), *check.tolist()]) == list(range(len(y)))
        for side in (1, -1):
            assert abs((y[check] == side).sum() - (y == side).sum() / n) < 1
        assert (np.diff(learned) > 0).all()
    again = list(folds(y, n, seed))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(parts, again, strict=True))


def test_too_few_rows_for_the_folds() -> None:
    with pytest.raises(DataError, match="one class has 1"):
        list(folds(np.array([1.0, -1, -1, -1]), 2))


def test_validation_does_not_open_the_test_rows(source: Source, tmp_path: Path) -> None:
    """The same result, whatever is in the test file, and also if it is not there at all."""
    cell = Cell("validation", source, "arow", options={"folds": 3})
    before = perform(cell)[1]
    assert len(before.result["error"]) == 3
    alone = cross_validate("arow", {}, source.training(), 3)
    assert before.result == alone
    (tmp_path / "test.svm").write_text("this is no data\n")
    other = Source(source.train, source.test, rows=10**6)  # remembered by another name
    assert perform(Cell("validation", other, "arow", options={"folds": 3}))[1] == before
    assert "test.svm:1:1" in perform(Cell("test", other, "arow"))[1].failure


def test_a_part_of_the_rows_keeps_their_order(source: Source) -> None:
    rows = source.training()
    some = Source(source.train, rows=50).training()
    at = [np.flatnonzero(rows.lines == line)[0] for line in some.lines]
    assert len(at) == 50
    assert (np.diff(at) > 0).all()


def test_splits(source: Source) -> None:
    fixed = Source(source.train, split=0.3)
    train, test = fixed.both(0)
    assert (train.n_rows, test.n_rows) == (140, 60)
    assert not set(train.lines.tolist()) & set(test.lines.tolist())
    assert np.array_equal(fixed.both(1)[1].lines, test.lines)
    fresh = Source(source.train, split=0.3, fresh=True)
    assert not np.array_equal(fresh.both(1)[1].lines, test.lines)


def test_one_class_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("+1 1:1\n+1 2:1\n")
    with pytest.raises(DataError, match="two classes"):
        Source((str(tmp_path / "a.svm"),)).training()
