"""Stabilized truncated descent that is cut, saved or begun anew goes on as if it had not been."""

import numpy as np
import pytest
from stabilized import (
    RUN,
    VARIANTS,
    algorithm,
    fresh,
    known,
    learned,
    orders,
    problem,
    rows_of,
    same_tables,
    weights,
)

from cwtool.algorithms import stsgd


@pytest.mark.parametrize("variant", VARIANTS)
def test_where_rows_are_cut_and_columns_compacted_changes_no_bit(variant):
    X, y = problem(15)
    algo = algorithm(rejection=0.5, stability=0.5, **VARIANTS[variant])
    paths = orders(15, 240)
    one, many = learned(algo, X, y, paths), learned(algo, X, y, paths, 240)
    assert one.numbers["gone"] > 0
    same_tables(one, many)


def test_a_compact_copy_may_be_emptied_at_any_time(monkeypatch):
    X, y = problem(14)
    algo, paths = algorithm(stability=0.5), orders(14, 300)
    whole = weights(algo, learned(algo, X, y, paths, 10))
    monkeypatch.setattr(stsgd, "ROOM", 0)
    np.testing.assert_array_equal(weights(algo, learned(algo, X, y, paths, 10)), whole)


def restored(algo, state):
    """The state after it was saved and loaded."""
    algo.finish(state)
    copy = algo.new_state()
    copy.unpack(state.pack())
    copy.numbers.update(state.numbers)
    return copy


@pytest.mark.parametrize("visits", [10, 12, 14])  # within a stage of 12, at its end, in the next
def test_a_saved_state_goes_on_exactly(visits):
    X, y = problem(19)
    algo, paths, rows = algorithm(stability=0.5, intercept="on"), orders(19, 60), rows_of(X, y)
    state = known(algo, rows)
    algo.revisit(state, rows, [p[:visits] for p in paths], RUN)
    state = restored(algo, state)
    algo.revisit(state, rows, [p[visits:] for p in paths], RUN)
    algo.finish(state)
    whole = learned(algo, X, y, paths)
    same_tables(state, whole)
    assert state.numbers["gone"] > 0
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(state.arrays[name], array, err_msg=name)


def test_a_first_stage_that_did_not_end_begins_anew_in_the_next_pass():
    X, y = problem(20)
    algo, rows = algorithm(burst=40, intercept="on"), rows_of(X, y)
    state = fresh(algo, rows)
    algo.learn(state, rows, rows.order, RUN)
    assert state.numbers["stage"] == 1
    algo.finish(state)
    assert len(state.arrays["touched.id"]) > 0
    algo.relearn(state, rows, rows.order[:0], RUN)
    assert all(not table.any() for table in state.tables[1:])
    assert not state.arrays["intercept"].any()
    assert all(len(a) == 0 for name, a in state.arrays.items() if name != "intercept")
    algo.revisit(state, rows, orders(20, 120), RUN)
    assert state.numbers["stage"] == 2
    assert weights(algo, state).any()


def test_advice_says_how_many_rows_a_stage_takes():
    X, y = problem(21)
    algo, rows = algorithm(burst=40), rows_of(X, y)
    state = fresh(algo, rows)
    algo.learn(state, rows, rows.order, RUN)
    assert "takes 120 rows, and there were 50" in algo.advice(state)
    assert "`passes=6`" in algo.advice(state)
    assert algorithm(burst=40, stability=0.0).advice(state) is None
    for _ in range(2):
        algo.learn(state, rows, rows.order, RUN)
    assert algo.advice(state) is None


def test_where_rows_are_cut_does_not_change_predictions_if_learning_stops():
    """Rows before the stop keep the scores that they had before they were learned."""
    X, y = problem(22)
    algo, rows = algorithm(burst=2, stability=0.0, tol=1e9), rows_of(X, y)
    one, many = fresh(algo, rows), fresh(algo, rows)
    whole = algo.learn(one, rows, rows.order, RUN).score
    assert 0 < one.numbers["rows"] < len(y)
    for i in rows.order:
        assert algo.learn(many, rows, rows.order[i : i + 1], RUN).score[i] == whole[i]
