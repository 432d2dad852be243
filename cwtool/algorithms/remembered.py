"""Learners that keep all rows they were given, and are fitted to all of them after each slot."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cwtool import memory
from cwtool.algorithms.base import Scores
from cwtool.algorithms.slotted import Slotted
from cwtool.data.block import Block, Floats
from cwtool.errors import UsageError
from cwtool.params import param
from cwtool.state import State

LARGEST = 1e50  # |value| of a row to be predicted, so that squares of products stay finite


@dataclass(frozen=True)
class RememberedParams:
    slot_rows: int = param(
        0, "rows after which it is fitted anew, to all rows so far; 0: a whole file", low=0
    )


class Remembered(Slotted):
    """What it learns is a function of parameters, seed and rows; rows stay in state.arrays, and
    so what is fitted after A and B does not depend on where a run stopped and went on."""

    compact = True
    measure = ""

    def new_state(self) -> State:
        state = super().new_state()
        state.arrays |= {
            "rows.indptr": np.zeros(1, dtype=np.int64),
            "rows.indices": np.empty(0, dtype=np.int32),
            "rows.values": np.empty(0),
            "y": np.empty(0),
        }
        return state

    def learn_slot(self, block: Block, state: State, v: Floats) -> None:
        a, new = state.arrays, sparse_rows(block, state)
        state.numbers["columns"] = state.features.n_slots
        a["rows.indptr"] = np.append(a["rows.indptr"], new.indptr[1:] + a["rows.indptr"][-1])
        a["rows.indices"] = np.append(a["rows.indices"], new.indices)
        a["rows.values"] = np.append(a["rows.values"], new.data)
        a["y"] = np.append(a["y"], block.y)
        rows = self.rows(state)
        needed, free = self.bytes_needed(rows), memory.allowed(self.max_memory)
        if needed > free:
            raise UsageError(
                f"{self.name} needs {memory.words(needed)} for {rows.shape[0]:,} rows of "
                f"{rows.shape[1]:,} features, and {memory.words(free)} may be used",
                "give it fewer rows, fold the features with --hash-bits, or raise --max-memory",
            )
        state.scratch.clear()
        self.fit(rows, a["y"], state)

    def rows(self, state: State) -> csr_array:
        """All rows so far, a column a slot, indices ascending; without slots that came later."""
        a = state.arrays
        rows = a["rows.values"], a["rows.indices"], a["rows.indptr"]
        return csr_array(rows, shape=(len(a["y"]), int(state.numbers["columns"])))

    def bytes_needed(self, rows: csr_array) -> float:
        """What fitting these rows will take at most."""
        return 64.0 * int(rows.nnz)

    @abstractmethod
    def fit(self, rows: csr_array, y: Floats, state: State) -> None:
        """Learn all rows anew: what is saved to the table, arrays or numbers, the rest, which
        can be made again from these, to scratch, which is empty now and after a model is read."""

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = Scores.zeros(block.n_rows)
        if not self.untrained(state) and block.n_rows:
            rows = sparse_rows(block, state)[:, : int(state.numbers["columns"])]
            np.clip(rows.data, -LARGEST, LARGEST, out=rows.data)
            out.score[:] = self.predict(rows, state)
        return out

    @abstractmethod
    def predict(self, rows: csr_array, state: State) -> Floats:
        """The scores of rows with the columns of `fit`."""

    def details(self, state: State) -> dict[str, Any]:
        return {"remembered_rows": len(state.arrays["y"]), **super().details(state)}


def sparse_rows(block: Block, state: State) -> csr_array:
    """A copy with ascending indices, each once."""
    rows = block.values * block.scale, block.indices.copy(), block.indptr.copy()
    matrix = csr_array(rows, shape=(block.n_rows, state.features.n_slots))
    matrix.sum_duplicates()
    return matrix
