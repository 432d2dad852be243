"""Rows as LIBSVM text: what is written is read again as the same rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.data.pipeline import ReadOptions, read_all
from cwtool.data.rows import Rows
from cwtool.data.writer import features, line, lines, write_rows
from cwtool.errors import UsageError

ROWS = Rows.from_lists([[(0, 1.5), (4, -2.0)], [], [(9, 1e-7)]], [1, 0, 1])


def test_text() -> None:
    assert features([(1, 0.5), ("bias", 2.0)]) == "1:0.5 bias:2.0"
    assert line("+1", "1:1") == "+1 1:1\n"
    assert line("-1", "") == "-1\n"
    assert list(lines(ROWS)) == ["+1 1:1.5 5:-2.0\n", "-1\n", "+1 10:1e-07\n"]


def test_weights() -> None:
    weighted = replace(ROWS, weight=np.array([0.5, 1.0, 0.0]))
    assert list(lines(weighted)) == ["+1:0.5 1:1.5 5:-2.0\n", "-1\n", "+1:0.0 10:1e-07\n"]
    assert line("-1", "", 2.5) == "-1:2.5\n"


def test_labels_ids_and_numbers() -> None:
    names = [f"f{j}" for j in range(10)]
    found = list(lines(ROWS, ("no", "yes"), names, "{:.0f}".format))
    assert found == ["yes f0:2 f4:-2\n", "no\n", "yes f9:0\n"]


values = st.floats(allow_nan=False, allow_infinity=False).filter(bool)  # zeros are not read
weights = st.floats(min_value=0, allow_infinity=False) | st.just(1.0)
entries = st.dictionaries(st.integers(0, 2**31 - 3), values, max_size=5)


@given(st.lists(entries, min_size=1, max_size=8), st.data())
def test_rows_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list, data) -> None:
    y = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))]
    written = Rows.from_lists([[], [], *(sorted(row.items()) for row in rows)], y)
    if data.draw(st.booleans()):
        some = st.lists(weights, min_size=len(y), max_size=len(y))
        written = replace(written, weight=np.array([2.0, *data.draw(some)[1:]]))
    path = tmp_path_factory.mktemp("rows") / "a.svm"
    write_rows(path, written)
    (found,) = read_all([str(path)], Labels(), ReadOptions(Reading()))
    assert np.array_equal(found.indptr, written.indptr)
    assert np.array_equal(found.indices, written.indices)
    assert np.array_equal(found.values, written.values)
    assert np.array_equal(found.y, written.y)
    assert (found.weight is None) == (written.weight is None)
    assert found.weight is None or np.array_equal(found.weight, written.weight)


def test_a_source_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("old")
    with pytest.raises(UsageError, match="is read here"):
        write_rows(path, ROWS, sources=[path])
    assert path.read_text() == "old"
