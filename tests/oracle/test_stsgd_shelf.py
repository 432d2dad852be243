"""The shelf of stabilized truncated descent: features of rows that are visited again."""

import numpy as np
import pytest
from stabilized import N, P, algorithm, known, path_tables, problem, rows_of

from cwtool.algorithms.shelf import Shelf
from cwtool.algorithms.stsgd_state import DAMP, GONE
from cwtool.algorithms.underway import Room


def shelved(seed):
    """Features of which number 3 is gone and 4 constant, and rows that hold them all."""
    X, y = problem(seed)
    rows = rows_of(X, y, scale=0.5)
    state = known(algorithm(), rows)
    rng = np.random.default_rng(seed)
    for table in state.tables:
        table[:P] = rng.random((P, table.shape[1])) + 0.5
    state.table[:P, GONE] = np.arange(P) == 3
    state.table[4, DAMP] = -1
    return state, rows, X


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_shelf_has_the_rows_of_features_that_are_left(jobs):
    state, rows, X = shelved(12)
    shelf = Shelf(state)
    shelf.numbers(state, np.array([7], dtype=np.int32))
    starts, numbers, z = shelf.rows(state, rows, jobs, Room())
    Z = 0.5 * X / (1 + state.table[:P, DAMP] + (np.arange(P) == 4))
    Z[:, [3, 4]] = 0
    dense = np.zeros((N, len(shelf.own)))
    dense[np.repeat(np.arange(N), np.diff(starts)), numbers] = z
    assert shelf.own[0] == 7
    assert sorted(shelf.own) == [j for j in range(P) if j != 3]
    np.testing.assert_allclose(dense, Z[:, shelf.own], rtol=1e-15)
    for mine, theirs in zip(shelf.tables, [state.table, *path_tables(state)], strict=True):
        np.testing.assert_array_equal(mine, theirs[shelf.own])


def test_what_changed_on_a_shelf_is_put_back():
    state, rows, _ = shelved(13)
    before = [table[:P].copy() for table in state.tables]
    shelf = Shelf(state)
    shelf.rows(state, rows, 1, Room())
    for table in shelf.tables:
        table += 1
    shelf.leave(np.array([5], dtype=np.int32))
    left = shelf.own[5]
    assert left not in shelf.own[shelf.rows(state, rows, 1, Room()).numbers]
    shelf.put_back(state)
    for k, (old, new) in enumerate(zip(before, state.tables, strict=True)):
        old[np.arange(P) != 3] += 1
        if k:
            old[left] = 0
        np.testing.assert_array_equal(new[:P], old)
