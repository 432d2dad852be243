"""Learners that keep all rows they were given and are fitted to all of them after each batch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cwtool import memory
from cwtool.algorithms.base import Scores
from cwtool.algorithms.batch.learner import BATCHES, BatchLearner
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.errors import Damage, UsageError
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import Array, Number, State

LARGEST = 1e50  # |value| of a row to be predicted, so that squares of products stay finite
NUMBERS = (BATCHES, Number("columns"))  # columns: the features that the remembered rows have
ROWS = (
    Array("rows.indptr", "<i8", (1,), sizes=("rows+1",), starts="entries"),
    Array("rows.indices", "<i4", sizes=("entries",), low=0, below="columns"),
    Array("rows.values", sizes=("entries",)),
    Array("y", sizes=("rows",)),
)


@dataclass(frozen=True)
class RememberedRowsParams:
    batch_rows: int = param(
        0,
        "Number of rows that are added together as one batch; 0 makes each file one batch. The "
        "model is fitted anew to all rows so far after each batch, so smaller batches cost more "
        "time; what is learned in the end is the same.",
        low=0,
        formerly=("slot_rows",),
        unasked_below=50,
    )


class RememberedRows(BatchLearner):
    """What it learns is a function of the parameters, the seed and the rows, which stay in
    state.arrays. The fit after two batches therefore does not depend on whether the run stopped
    between them. Its layout is compact and has NUMBERS and ROWS."""

    shared = ("rows.indptr", "rows.indices", "rows.values")

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, run: Run
    ) -> None:
        """One against the rest, all states refer to the same rows; the ghost is not fitted, because
        a class that takes it over is fitted anew to all rows."""
        first, *others = states
        self.remember(first, rows, rows.signs(classes[0]), run)
        for state, class_ in zip(others, classes[1:], strict=True):
            state.refer(first, self.shared)
            self._follow(state, rows.signs(class_))
        for state in others or [first]:
            kind = (state.arrays["y"] > 0).astype(np.int32)
            self.fit(state, self.rows(state), kind, run)

    def _follow(self, state: State, y: Floats) -> None:
        """Add the classes of rows that were added."""
        state.arrays["y"] = np.append(state.arrays["y"], y)
        state.numbers["columns"] = state.index.n_slots
        state.scratch.clear()

    def remember(self, state: State, rows: SlotRows, y: Floats, run: Run) -> None:
        """Add the rows, whose classes are y, to those of the state."""
        self._follow(state, y)
        a, new = state.arrays, sparse_rows(rows, state)
        a["rows.indptr"] = np.append(a["rows.indptr"], new.indptr[1:] + a["rows.indptr"][-1])
        # SciPy and files of cwtool 0.1 may have indices of 64 bits
        a["rows.indices"] = np.append(a["rows.indices"], new.indices).astype(np.int32)
        a["rows.values"] = np.append(a["rows.values"], new.data)
        known = self.rows(state)
        needed, free = self.bytes_needed(known, run), memory.allowed(run.max_memory)
        if needed > free:
            raise UsageError(
                f"{self.name} needs {memory.words(needed)} for {known.shape[0]:,} rows of "
                f"{known.shape[1]:,} features, and {memory.may_be_used(free)}",
                "give it fewer rows, fold the features with `hash_bits`, or raise `max_memory`",
            )

    def rows(self, state: State) -> csr_array:
        """All rows so far, with ascending indices and a column for each slot that was known when
        the last batch was learned."""
        a = state.arrays
        rows = a["rows.values"], a["rows.indices"], a["rows.indptr"]
        return csr_array(rows, shape=(len(a["y"]), int(state.numbers["columns"])))

    def bytes_needed(self, rows: csr_array, run: Run) -> float:
        """An upper estimate of the memory that fitting these rows takes."""
        return 64.0 * int(rows.nnz)

    @abstractmethod
    def fit(self, state: State, rows: csr_array, kind: Ints, run: Run) -> None:
        """Learn all rows anew; `kind` are their classes, 1 for the positive one. What must be saved
        goes to the table, arrays and numbers of the state. What can be computed again from these
        may go to scratch, which is empty now and after a model is loaded."""

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        out = Scores.zeros(rows.n_rows)
        if not self.untrained(state) and rows.n_rows:
            out.score[:] = self.predict(state, self.known(state, rows), run)
        return out

    def known(self, state: State, rows: SlotRows) -> csr_array:
        """Rows to be predicted, with the columns of the last fit."""
        found = sparse_rows(rows, state)[:, : int(state.numbers["columns"])]
        np.clip(found.data, -LARGEST, LARGEST, out=found.data)
        return found

    @abstractmethod
    def predict(self, state: State, rows: csr_array, run: Run) -> Floats:
        """The scores of rows that have the columns of the last fit."""

    def check(self, state: State) -> None:
        a, several = state.arrays, len(state.labels)
        indices, ends = a["rows.indices"], a["rows.indptr"]
        first = np.zeros(len(indices) + 1, dtype=np.bool_)
        first[ends] = True  # the first entry of each row, and one behind the last
        if not (first[1:-1] | (indices[1:] > indices[:-1])).all():
            raise Damage("the array array.rows.indices does not ascend within its rows")
        if state.numbers["columns"] > state.index.count:
            raise Damage("its number columns is greater than the number of its features")
        if (np.abs(a["rows.values"]) > LARGEST).any():
            raise Damage("the array array.rows.values has a value that cannot be")
        y = a["y"]
        good = (y % 1 == 0) & (y >= 0) & (y < several) if several else np.abs(y) == 1
        if not good.all():
            raise Damage("the array array.y has a class that cannot be")
        if (len(y) > 0) != (state.numbers["batches"] > 0):
            raise Damage("its number batches does not fit its rows")

    def details(self, state: State) -> dict[str, Any]:
        return {"remembered_rows": len(state.arrays["y"]), **super().details(state)}


def sparse_rows(rows: SlotRows, state: State) -> csr_array:
    """A copy of the rows as a matrix with ascending, unique indices."""
    copied = rows.values * rows.scale, rows.indices.copy(), rows.indptr.copy()
    matrix = csr_array(copied, shape=(rows.n_rows, state.index.n_slots))
    matrix.sum_duplicates()
    return matrix
