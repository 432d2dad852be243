"""Sources of rows: parts, splits, and that cross-validation sees the training rows alone."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cwtool.bench.cells import Cell, perform
from cwtool.bench.sources import Source
from cwtool.data.rows import Rows
from cwtool.errors import DataError
from cwtool.model import Model
from cwtool.run import Run
from cwtool.validation import cross_validate


@pytest.fixture
def source(tmp_path: Path, planted: Callable[..., str]) -> Source:
    planted("train.svm", 1, 200)
    planted("test.svm", 2, 80)
    return Source((str(tmp_path / "train.svm"),), (str(tmp_path / "test.svm"),))


def test_validation_does_not_open_the_test_rows(source: Source, tmp_path: Path) -> None:
    """The same result, whatever is in the test file, and also if it is not there at all."""
    cell = Cell("validation", source, "arow", options={"folds": 3})
    before = perform(cell)
    assert len(before.result["error"]) == 3
    run = Run(calibrate=False)  # as bench does, which leaves probabilities out
    alone = cross_validate(lambda: Model.new("arow", {}), source.training(), 3, run)
    assert before.result == alone
    (tmp_path / "test.svm").write_text("this is no data\n")
    other = Source(source.train, source.test, rows=10**6)  # remembered by another name
    assert perform(Cell("validation", other, "arow", options={"folds": 3})) == before
    assert "test.svm:1:1" in perform(Cell("test", other, "arow")).failure


def numbers(some: Rows, among: Rows) -> list[int]:
    """The numbers of rows, all of which are different, among all rows."""
    known = {row(among, k): k for k in range(among.n_rows)}
    assert len(known) == among.n_rows
    return [known[row(some, k)] for k in range(some.n_rows)]


def row(rows: Rows, k: int) -> bytes:
    one = rows.slice(k, k + 1)
    return one.indices.tobytes() + one.values.tobytes()


def test_a_part_of_the_rows_keeps_their_order(source: Source) -> None:
    some = Source(source.train, rows=50).training()
    at = numbers(some, source.training())
    assert len(at) == 50
    assert (np.diff(at) > 0).all()


def test_splits(source: Source) -> None:
    rows = source.training()
    fixed = Source(source.train, split=0.3)
    train, test = fixed.both(0)
    assert (train.n_rows, test.n_rows) == (140, 60)
    assert not set(numbers(train, rows)) & set(numbers(test, rows))
    assert numbers(fixed.both(1)[1], rows) == numbers(test, rows)
    fresh = Source(source.train, split=0.3, fresh=True)
    assert numbers(fresh.both(1)[1], rows) != numbers(test, rows)


def test_no_test_rows(source: Source) -> None:
    with pytest.raises(DataError, match="has no test rows"):
        Source(source.train).both()
