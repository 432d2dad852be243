"""What an algorithm knows: one table row a feature, more tables, some arrays, some numbers.

The table is born zero and lives in fresh pages, so that room for features that never come costs
nothing. Saving, loading, growing and comparing states are written here, once, for all algorithms.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.block import Block, Floats, Ints
from cwtool_ext import slots

DIRECT = 1 << 22  # ids below are their own slot: at most 64 MiB of two-column table
LOAD = 0.8  # of the hash buckets


def zero_born(n_bytes: int) -> mmap.mmap:
    """Zero pages that cost nothing until they are written to; huge ones where the system can."""
    size = max(n_bytes, mmap.PAGESIZE)
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            pages.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a kernel without huge pages
            return pages
    return pages


class Table:
    """Rows of zero-born columns; room grows without a copy where the system can."""

    def __init__(self, n_rows: int, width: int) -> None:
        self.width = width
        self.count = 0  # rows in use, for those who count them here
        self._pages = zero_born(n_rows * width * 8)
        self.rows = self._view(n_rows)

    def _view(self, n_rows: int) -> Floats:
        return np.frombuffer(self._pages, count=n_rows * self.width).reshape(n_rows, self.width)

    def grow(self, n_rows: int) -> None:
        self.rows = np.empty((0, 0))  # pages that are looked at do not move
        size = n_rows * self.width * 8
        try:
            self._pages.resize(size)
        except (SystemError, OSError, ValueError, BufferError):
            # a system that cannot remap, or someone who still looks at the pages: copy
            kept, self._pages = self._pages, zero_born(size)
            self._pages[: len(kept)] = kept[:]
        self.rows = self._view(n_rows)

    def fill(self, rows: Floats) -> None:
        """Take over these rows."""
        self.reserve(len(rows))
        self.rows[: len(rows)] = rows
        self.count = len(rows)

    def reserve(self, n_rows: int) -> None:
        """Room for at least so many rows, and for some to come."""
        if n_rows > len(self.rows):
            self.grow(max(n_rows, len(self.rows) + len(self.rows) // 4))


class Features:
    """Feature ids, their slots, and the table of their columns; further groups of columns, which
    others use at the same time, have tables of their own."""

    def __init__(
        self, columns: tuple[str, ...], direct: int = DIRECT, *groups: tuple[str, ...]
    ) -> None:
        self.groups = (columns, *groups)
        self.direct = direct
        self.seen = np.zeros(direct // 64, dtype=np.uint64)
        self.n_direct = 0
        self.keys: Ints = np.zeros(16, dtype=np.int32)
        self.buckets: Ints = np.zeros(32, dtype=np.int32)
        self.n_keys = 0
        self._tables = [Table(direct + 16, len(group)) for group in self.groups]

    @property
    def tables(self) -> list[Floats]:
        return [table.rows for table in self._tables]

    @property
    def table(self) -> Floats:
        return self._tables[0].rows

    def column(self, name: str) -> Floats:
        """One value a slot."""
        for table, group in zip(self._tables, self.groups, strict=True):
            if name in group:
                return table.rows[:, group.index(name)]
        raise KeyError(name)

    @property
    def columns(self) -> tuple[str, ...]:
        return sum(self.groups, ())

    @property
    def count(self) -> int:
        """Distinct features seen."""
        return self.n_direct + self.n_keys

    @property
    def n_slots(self) -> int:
        """Slots in use, from 0: every slot that a block may hold is below."""
        return self.direct + self.n_keys

    def observe(self, block: Block) -> int:
        """Ids of the block to slots, in place; new features get theirs. Returns how many."""
        before = self.count
        self._observe(block.indices)
        return self.count - before

    def _observe(self, ids: Ints) -> None:
        while len(ids):
            done, fresh, self.n_keys = slots.observe(
                ids, self.direct, self.seen, self.keys, self.buckets, self.n_keys
            )
            self.n_direct += fresh
            ids = ids[done:]
            if len(ids):  # there is no room for the next new one
                self._reserve(self.n_keys + 1)

    def _reserve(self, n_keys: int) -> None:
        """Room for that many hashed ids."""
        if n_keys > len(self.keys):
            wanted = max(n_keys, len(self.keys) + len(self.keys) // 4)
            self.keys = np.concatenate(
                [self.keys, np.zeros(wanted - len(self.keys), dtype=np.int32)]
            )
            for table in self._tables:
                table.grow(self.direct + wanted)
        if len(self.keys) > LOAD * len(self.buckets):
            size = len(self.buckets)
            while len(self.keys) > LOAD * size:
                size *= 2
            self.buckets = np.empty(0, dtype=np.int32)  # let go of the old before the new
            self.buckets = np.zeros(size, dtype=np.int32)
            slots.rehash(self.keys, self.n_keys, self.buckets)

    def lookup(self, block: Block) -> tuple[Floats, int]:
        """Ids to slots, in place, dropping features never seen. Returns for each row the sum of
        squares that was dropped, and the number of entries dropped in all."""
        unknown = np.empty(block.n_rows)
        before = block.nnz
        left = slots.lookup(
            block.indptr,
            block.indices,
            block.values,
            self.direct,
            self.seen,
            self.keys,
            self.buckets,
            unknown,
        )
        block.indices, block.values = block.indices[:left], block.values[:left]
        with np.errstate(over="ignore"):
            return unknown * block.scale * block.scale, before - left

    def ids_and_slots(self) -> tuple[Ints, Ints]:
        """The ids seen, ascending, each with its slot."""
        small = np.empty(self.n_direct, dtype=np.int32)
        slots.members(self.seen, small)
        if not self.n_keys:
            return small, small
        keys = self.keys[: self.n_keys]
        by_id = np.argsort(keys, kind="stable").astype(np.int32)
        ids = np.concatenate([small, keys[by_id]])
        by_id += np.int32(self.direct)
        return ids, np.concatenate([small, by_id])

    def saving_order(self) -> tuple[Ints, Ints]:
        """Ids and slots as they are saved: ascending, but in the order of the slots where that
        order decides the last bits of sums over features."""
        if self.direct:
            return self.ids_and_slots()
        return self.keys[: self.n_keys].copy(), np.arange(self.n_keys, dtype=np.int32)

    def slots_of(self, ids: Ints) -> Ints:
        """The slots of these ids; new features get theirs."""
        places: Ints = ids.copy()
        self._observe(places)
        return places

    def ids_of(self, slots: Ints) -> Ints:
        """The ids that have these slots."""
        ids: Ints = slots.copy()
        hashed = slots >= self.direct
        ids[hashed] = self.keys[slots[hashed] - self.direct]
        return ids

    def restore(self, ids: Ints, columns: Mapping[str, Floats]) -> None:
        """Take over the ids and columns of a saved model."""
        places = self.slots_of(ids)
        for name in self.columns:
            self.column(name)[places] = columns[name]


def _column(packed: Mapping[str, NDArray[Any]], name: str) -> Floats:
    """A column as it was; a sparse one has the places of what is not zero beside it."""
    values: Floats = packed[name]
    if f"{name}.at" not in packed:
        return values
    column = np.zeros(len(packed["ids"]))
    column[packed[f"{name}.at"]] = values
    return column


@dataclass
class State:
    """All that changes while an algorithm learns."""

    features: Features
    numbers: dict[str, int | float] = field(default_factory=dict)
    squares: dict[str, Floats] = field(default_factory=dict)  # over the features, by slot
    tables: dict[str, Table] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  # kept as they are: no slots
    scratch: dict[str, Any] = field(default_factory=dict)  # not saved: see Algorithm.settle

    def pack(self) -> dict[str, NDArray[Any]]:
        """All of it but the numbers, by name; where it can, not a copy. Of columns that are mostly
        zero: the rest, and its places among the ids."""
        ids, places = self.features.saving_order()
        packed: dict[str, NDArray[Any]] = {"ids": ids}
        for name in self.features.columns:
            column = np.empty(len(ids))
            n = slots.gather(self.features.column(name), places, column)
            if 12 * n < 8 * len(ids):
                at = np.flatnonzero(column.view(np.int64)).astype(np.int32)  # by bits: -0.0 counts
                packed[f"feature.{name}.at"], column = at, column[at]
            packed[f"feature.{name}"] = column
        for name, square in self.squares.items():
            packed[f"square.{name}"] = square[np.ix_(places, places)]
        for name, table in self.tables.items():
            packed[f"table.{name}"] = table.rows[: table.count]
        for name, array in self.arrays.items():
            packed[f"array.{name}"] = array
        return packed

    def unpack(self, packed: Mapping[str, NDArray[Any]]) -> None:
        """Take over what was packed."""
        columns = {c: _column(packed, f"feature.{c}") for c in self.features.columns}
        self.features.restore(packed["ids"], columns)
        for key, array in packed.items():
            kind, _, name = key.partition(".")
            if kind == "square":
                self.squares[name] = array.copy()
            elif kind == "table":
                self.tables[name].fill(array)
            elif kind == "array":
                self.arrays[name] = array.copy()
