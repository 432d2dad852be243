"""The compact copy of stabilized truncated descent: features of rows that are visited again."""

import numpy as np
import pytest
from stabilized import N, P, algorithm, known, path_tables, problem, rows_of

from cwtool.algorithms.stabilized_descent.compact_copy import CompactCopy
from cwtool.algorithms.stabilized_descent.stage_memory import Room
from cwtool.algorithms.stabilized_descent.stsgd_state import DAMP, GONE


def state_and_rows(seed):
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
def test_a_compact_copy_has_the_rows_of_features_that_are_left(jobs):
    state, rows, X = state_and_rows(12)
    compact_copy = CompactCopy(state)
    compact_copy.numbers(state, np.array([7], dtype=np.int32))
    starts, numbers, z = compact_copy.rows(state, rows, jobs, Room())
    Z = 0.5 * X / (1 + state.table[:P, DAMP] + (np.arange(P) == 4))
    Z[:, [3, 4]] = 0
    dense = np.zeros((N, len(compact_copy.own)))
    dense[np.repeat(np.arange(N), np.diff(starts)), numbers] = z
    assert compact_copy.own[0] == 7
    assert sorted(compact_copy.own) == [j for j in range(P) if j != 3]
    np.testing.assert_allclose(dense, Z[:, compact_copy.own], rtol=1e-15)
    for mine, theirs in zip(compact_copy.tables, [state.table, *path_tables(state)], strict=True):
        np.testing.assert_array_equal(mine, theirs[compact_copy.own])


def test_what_changed_in_a_compact_copy_is_put_back():
    state, rows, _ = state_and_rows(13)
    before = [table[:P].copy() for table in state.tables]
    compact_copy = CompactCopy(state)
    compact_copy.rows(state, rows, 1, Room())
    for table in compact_copy.tables:
        table += 1
    compact_copy.leave(np.array([5], dtype=np.int32))
    left = compact_copy.own[5]
    assert left not in compact_copy.own[compact_copy.rows(state, rows, 1, Room()).numbers]
    compact_copy.put_back(state)
    for k, (old, new) in enumerate(zip(before, state.tables, strict=True)):
        old[np.arange(P) != 3] += 1
        if k:
            old[left] = 0
        np.testing.assert_array_equal(new[:P], old)
