"""The feature index: which features have been seen, and the slot of each.

Ids below `direct` are their own slots, so that most files need no look-up at all; larger ids are
hashed and get the slots direct, direct + 1, ... in the order in which they were first seen.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from cwtool.data.rows import Floats, Ints, Rows, SlotRows
from cwtool_ext import slots

DIRECT = 1 << 22  # ids below are their own slot: at most 64 MiB of two-column table
LOAD = 0.8  # of the hash buckets
MANY = 512  # hashed ids up to which the room for them doubles; above it grows by a quarter
SPARE = 64 << 20  # bytes of tables that may go unused


def direct_for(ids: Ints, row_bytes: int, spare: int = SPARE) -> int:
    """The number below which a feature id is its own row of the tables, so that it needs no hash.

    It is the largest power of two from 64 to DIRECT for which the rows up to the last smaller one
    of the ascending `ids` take at most `spare` bytes, `row_bytes` each, or half of them are
    used."""
    direct = DIRECT
    while direct > 64:
        used = int(np.searchsorted(ids, direct))
        rows = int(ids[used - 1]) + 1 if used else 0
        if rows * row_bytes <= spare or rows <= 2 * used:
            break
        direct //= 2
    return direct


class FeatureIndex:
    """Ids to slots. A model owns one; all states of the model refer to it."""

    def __init__(self, direct: int = DIRECT) -> None:
        self.direct = direct
        self.seen = np.zeros(direct // 64, dtype=np.uint64)
        self.n_direct = 0
        self.keys: Ints = np.zeros(16, dtype=np.int32)
        self.buckets: Ints = np.zeros(32, dtype=np.int32)
        self.n_keys = 0

    @property
    def count(self) -> int:
        """The number of distinct features seen."""
        return self.n_direct + self.n_keys

    @property
    def n_slots(self) -> int:
        """All slots that have been given out are below this number."""
        return self.direct + self.n_keys

    @property
    def reach(self) -> int:
        """The number of rows of a table up to the last one that is used, but for those between the
        last id that is its own slot and the first that is not."""
        words = np.flatnonzero(self.seen)
        if not len(words):
            return self.n_keys
        last = int(words[-1])
        return 64 * last + int(self.seen[last]).bit_length() + self.n_keys

    @property
    def room(self) -> int:
        """Tables need this number of rows before the next features arrive."""
        return self.direct + len(self.keys)

    def observe(self, ids: Ints) -> Ints:
        """The slots of these ids; features that are new get one. The result is `ids` itself as
        long as every id seen is its own slot."""
        mapped = self.n_keys > 0 or self.direct == 0
        found, done = np.empty(len(ids) if mapped else 0, dtype=np.int32), 0
        while done < len(ids):
            done, fresh, self.n_keys = slots.observe(
                ids, done, self.direct, self.seen, self.keys, self.buckets, self.n_keys, found
            )
            self.n_direct += fresh
            if done < len(ids) and not mapped:  # the first id that is not its own slot
                found, mapped = np.empty_like(ids), True
                found[:done] = ids[:done]
            elif done < len(ids):  # no room is left for the next new id
                self._reserve(self.n_keys + 1)
        return found if mapped else ids

    def known(self, ids: Ints) -> Ints:
        """The slots of ids that have all been seen before."""
        return ids if self.n_keys == 0 and self.direct else self.observe(ids)

    def _reserve(self, n_keys: int) -> None:
        """Make room for that many hashed ids."""
        if n_keys > len(self.keys):
            size = len(self.keys)
            wanted = max(n_keys, size + max(size // 4, min(size, MANY)))
            self.keys = np.concatenate(
                [self.keys, np.zeros(wanted - len(self.keys), dtype=np.int32)]
            )
        if len(self.keys) > LOAD * len(self.buckets):
            size = len(self.buckets)
            while len(self.keys) > LOAD * size:
                size *= 2
            self.buckets = np.empty(0, dtype=np.int32)  # let go of the old before the new
            self.buckets = np.zeros(size, dtype=np.int32)
            slots.rehash(self.keys, self.n_keys, self.buckets)

    def lookup(self, rows: Rows, scale: float) -> tuple[SlotRows, Floats, int]:
        """The rows by slots, without the entries of features never seen; for each row the sum of
        squares (scaled) of what was left out, and the number of entries left out in all."""
        indptr = np.empty_like(rows.indptr)
        found, values = np.empty_like(rows.indices), np.empty_like(rows.values)
        unknown = np.empty(rows.n_rows)
        left = slots.lookup(
            rows.indptr, rows.indices, rows.values, self.direct, self.seen, self.keys,
            self.buckets, indptr, found, values, unknown,
        )  # fmt: skip
        with np.errstate(over="ignore"):
            unknown = unknown * scale * scale
        kept = SlotRows(indptr, found[:left], values[:left], rows.y, rows.weight, scale)
        return kept, unknown, rows.nnz - left

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
        """Ids and slots as they are saved: ascending by id, but by slot where slots have no gaps,
        because there the order of the slots decides the last bits of sums over features."""
        if self.direct:
            return self.ids_and_slots()
        return self.keys[: self.n_keys].copy(), np.arange(self.n_keys, dtype=np.int32)

    def ids_of(self, slots: Ints) -> Ints:
        """The ids that have these slots."""
        ids: Ints = slots.copy()
        hashed = slots >= self.direct
        ids[hashed] = self.keys[slots[hashed] - self.direct]
        return ids


class SharedIndex(FeatureIndex):
    """An index for models that learn the same rows side by side: the first one to observe rows
    looks their ids up, and the others are given what it found."""

    def __init__(self, direct: int = DIRECT) -> None:
        super().__init__(direct)
        self.lock = Lock()
        self.latest: tuple[Ints, Ints] | None = None  # ids and their slots

    def observe(self, ids: Ints) -> Ints:
        with self.lock:
            if self.latest is None or self.latest[0] is not ids:
                self.latest = ids, super().observe(ids)
            return self.latest[1]

    def ids_and_slots(self) -> tuple[Ints, Ints]:
        with self.lock:
            return super().ids_and_slots()
