"""Learning and predicting the rows of dense arrays."""

import numpy as np

from cwtool.data.rows import Rows, SlotRows
from cwtool.run import Run


def slot_rows(x, y, state):
    """The rows by slot, without zeros; features that are new to the state get slots."""
    lists = [[(j, v) for j, v in enumerate(row) if v] for row in x.tolist()]
    rows = Rows.from_lists(lists, (np.asarray(y) > 0).astype(int).tolist())
    return SlotRows(rows.indptr, state.slots_of(rows.indices), rows.values, rows.y)


def taught(algorithm, x, y):
    """The state after these rows were learned in one batch."""
    state = algorithm.new_state()
    rows = slot_rows(x, y, state)
    algorithm.learn(state, rows, rows.order, Run())
    return state


def score_of(algorithm, state, x):
    rows = slot_rows(x, np.ones(len(x)), state)
    return algorithm.scores(state, rows, np.zeros(len(x)), Run()).score
