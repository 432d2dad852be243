"""What stabilized truncated gradient descent keeps in its state."""

from __future__ import annotations

from functools import cache

import numpy as np

from cwtool.errors import Damage
from cwtool.state import Array, Layout, Number, State
from cwtool.state.layout import MOST, columns

SHARED = (
    "damp",  # 1 / (1 + damp) is the scale of the column; -1 if it is constant
    "gone",  # 1 if the feature was removed
    "bursts",  # that informed the feature since it was last judged
    "kept",  # of these, bursts after which its weight was not zero
    "nnz",  # number of its nonzero values, their mean, and the sum of their squared distances
    "mean",  # from the mean
    "M2",
    "before",  # mean weight at the end of the stage before, if `tol` is used
)
DAMP, GONE, KEPT, NNZ, BEFORE = map(SHARED.index, ("damp", "gone", "kept", "nnz", "before"))
COUNT = 1  # column of a path in the compact copy: see cwtool_ext/stages.pxd

NUMBERS = (
    Number("visits"),  # rows visited in all passes
    Number("rows"),  # rows met in first passes
    Number("positive"),  # of these, rows of class 1
    Number("seen", 0.0),  # rows in the column statistics, which have no very long rows
    Number("norms", 0.0),  # sum of the squared norms of these rows, columns scaled
    Number("stage"),  # number of the stage under way; 0 before the first
    Number("burst"),  # rows of a burst in this stage; 0 before the first
    Number("into"),  # rows of this stage that were visited
    Number("base_gravity", 0.0),  # g0
    Number("fitted"),  # rows met when the scale of the columns was last fitted
    Number("unit", 1.0),  # tau^2 at the last fit of columns with a floor: z = x tau / max(std, tau)
    # rows of a larger squared norm are left out of statistics; 0 if rows have a row scale
    Number("longest", 0.0),
    Number("norm", 1.0),  # mean squared norm of scaled rows over the features left, for intercepts
    Number("bias", 0.0),  # 0 in a stage without an intercept
    Number("restarted"),  # 1 if what the first pass learned was forgotten before later passes
    Number("empty"),  # 1 if learning has stopped because no feature would be left
    Number("calm"),  # stages in a row that changed the mean weights by less than `tol`
    Number("met"),  # features met
    Number("gone"),  # features removed
    Number("rules", high=1),  # of the first burst and the rate: 0 of models of cwtool 0.1, else 1
)


@cache  # states of many classes ask for it
def layout(paths: int) -> Layout:
    """The shared columns in one table, the weights of all paths in another, and their counts in a
    third one, which takes no memory where no burst is under way. The arrays pool.* and touched.*
    hold what is under way when a model is saved; touched.count is empty if nothing is."""
    return Layout(
        tables=(
            columns(*SHARED),
            columns(*(f"weight.{m}" for m in range(paths))),
            columns(*(f"count.{m}" for m in range(paths))),
        ),
        numbers=NUMBERS,
        arrays=(
            Array("intercept", shape=(paths,)),
            # a feature that a burst of this stage informed,
            Array("pool.id", "<i4", sizes=("pool",), low=0),
            Array("pool.value", sizes=("pool",)),  # the change of its weight relative to q,
            Array("pool.kept", "|u1", sizes=("pool",), below=2),  # and whether it was kept
            # features that the burst under way informed, by path
            Array("touched.count", "<i8", low=0, below=1 << 31),
            Array("touched.id", "<i4", sizes=("touched",), low=0),  # these features,
            Array("touched.began", sizes=("touched",)),  # and their weights before the burst
        ),
    )


def check(state: State) -> None:
    """Raise Damage if what is under way does not fit the features, the paths or the stage."""
    a, numbers, ids = state.arrays, state.numbers, state.index.ids_and_slots()[0]
    for name in ("pool.id", "touched.id"):
        at = np.searchsorted(ids, a[name])  # ids are ascending
        if len(at) and not (at.max() < len(ids) and (ids[at] == a[name]).all()):
            raise Damage(f"the array array.{name} has a feature that is not there")
    count, paths = a["touched.count"], state.tables[1].shape[1]
    if len(count) not in (0, paths) or int(count.sum()) != len(a["touched.id"]):
        raise Damage("the array array.touched.count does not fit array.touched.id")
    if len(count) == 0 and len(a["pool.id"]):
        raise Damage("the array array.pool.id has features of no stage")
    if numbers["stage"] and not (numbers["burst"] and numbers["into"] < MOST):
        raise Damage("its number burst is 0 within a stage")
    if numbers["gone"] > numbers["met"] or numbers["positive"] > numbers["rows"]:
        raise Damage("its numbers of features or of rows do not fit each other")


def restart(state: State) -> None:
    """Forget what paths learned and which features were removed, but not the statistics of rows and
    columns."""
    _, slots = state.index.ids_and_slots()
    state.table[slots, GONE : KEPT + 1] = 0
    for table in state.tables[1:]:
        table[slots] = 0
    for array in state.layout.arrays:
        state.arrays[array.name] = np.zeros(array.shape, dtype=array.dtype)
    state.scratch.clear()
    state.numbers |= {"stage": 0, "gone": 0, "calm": 0, "empty": 0, "restarted": 1}
