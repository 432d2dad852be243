"""The rows of a slot by column, for learners that go over features."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.state import State


class Columns:
    """x is a SciPy CSC matrix over the features in the rows and some others, ascending by id, so
    that nothing depends on the slots they happen to have."""

    def __init__(self, block: Block, state: State, others: Ints) -> None:
        from scipy.sparse import csr_matrix

        found = np.zeros(state.features.n_slots, dtype=np.bool_)
        found[block.indices] = True
        found[others] = True
        slots = np.flatnonzero(found).astype(np.int32)
        self.slots = slots[np.argsort(state.features.ids_of(slots), kind="stable")]
        column = np.zeros(len(found), dtype=np.int32)
        column[self.slots] = np.arange(len(slots), dtype=np.int32)
        rows = block.values * block.scale, column[block.indices], block.indptr
        self.x = csr_matrix(rows, (block.n_rows, len(slots))).tocsc()
        self.others: Longs = column[others].astype(np.int64)

    @cached_property
    def squares(self) -> Floats:
        """|x_j|^2"""
        total: Floats = self.x.multiply(self.x).sum(axis=0).A1
        return total

    def gram(self, columns: Longs) -> Floats:
        some = self.x[:, columns]
        dense: Floats = (some.T @ some).toarray()
        return dense
