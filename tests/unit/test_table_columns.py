"""Columns of the feature table that are taken out to be saved, and put back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool_ext import table_columns


@given(st.sets(st.integers(0, 639), max_size=80), st.integers(1, 3))
def test_columns_are_put_back_as_they_were_taken_out(ids: set[int], width: int) -> None:
    found = np.array(sorted(ids), dtype=np.int32)
    table = np.arange(640.0 * width).reshape(640, width)
    table[::2, -1] = -0.0  # not zero by its bits
    table[::3, -1] = 0.0
    for column, (values, at) in zip(
        table[found].T, table_columns.gather(table, found), strict=True
    ):
        there = column.view(np.int64) != 0
        assert (at is not None) == (12 * there.sum() < 8 * len(ids))
        if at is not None:
            assert at.tolist() == np.flatnonzero(there).tolist()
            column = column[there]
        assert values.tobytes() == column.tobytes()
    again = np.zeros_like(table)
    values, at = map(list, zip(*table_columns.gather(table, found), strict=True))
    table_columns.scatter(again, found, values, at)
    assert again[found].tobytes() == table[found].tobytes()
    assert not np.delete(again, found, axis=0).any()


@pytest.mark.parametrize("n", [0, 1, 256, 511, 512, 513, 2048, 5000])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 0.7, 1.0])
def test_gathered_values_of_many_places(n: int, share: float) -> None:
    rng = np.random.default_rng(n)
    table = np.where(rng.random((n + 9, 3)) < share, rng.normal(size=(n + 9, 3)), 0.0)
    # every fourth place, and all others: what part of the places shows, none of the others has
    table[:n:4, 1], table[:n:4, 2] = 1.0, 0.0
    places = np.arange(n, dtype=np.int32)
    for column, (values, at) in zip(table[:n].T, table_columns.gather(table, places), strict=True):
        there = np.flatnonzero(column)
        assert (at is not None) == (12 * len(there) < 8 * n)
        if at is not None:
            assert at.dtype == np.int32
            assert at.tolist() == there.tolist()
        assert values.tolist() == (column if at is None else column[there]).tolist()


@pytest.mark.parametrize("place", [-1, 4])
def test_places_outside_the_column_are_refused(place: int) -> None:
    with pytest.raises(ValueError, match="place"):
        table_columns.gather(np.zeros((4, 1)), np.array([place], dtype=np.int32))


@pytest.mark.parametrize("width", [0, 9])
def test_no_more_columns_are_gathered_than_fit_a_line(width: int) -> None:
    with pytest.raises(ValueError, match="gathered"):
        table_columns.gather(np.zeros((4, width)), np.zeros(1, dtype=np.int32))


@pytest.mark.parametrize(
    ("n_values", "at", "words"),
    [
        (2, None, "one place a value"),
        (2, [0], "one place a value"),
        (2, [1, 0], "ascending"),
        (2, [0, 0], "ascending"),
        (1, [3], "ascending"),
    ],
)
def test_values_are_scattered_to_places_of_their_own(
    n_values: int, at: list[int] | None, words: str
) -> None:
    places = None if at is None else np.array(at, dtype=np.int32)
    with pytest.raises(ValueError, match=words):
        table_columns.scatter(
            np.zeros((4, 1)), np.array([0, 2, 3], dtype=np.int32), [np.ones(n_values)], [places]
        )
    with pytest.raises(ValueError, match="arrays of its own"):
        table_columns.scatter(np.zeros((4, 2)), np.array([0], dtype=np.int32), [np.ones(1)], [None])
