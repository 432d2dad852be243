"""What a stage of stabilized truncated gradient descent holds in memory until it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.stabilized_descent.burst_changes import NOTHING, Emitted, Pool
from cwtool.algorithms.stabilized_descent.compact_copy import CompactCopy
from cwtool.algorithms.stabilized_descent.stsgd_state import COUNT, NNZ
from cwtool.data.growing import spacious
from cwtool.data.rows import Floats, Ints
from cwtool.order import distinct
from cwtool.state import State
from cwtool.state.state import FEW
from cwtool.state.tables import Table


class Touched(NamedTuple):
    """Features that the burst under way informed, with their weights before it: of one path, or a
    column for each path."""

    slots: Ints
    began: Floats


class Room:
    """Memory by name that is used again and again: fresh memory would cost as much as learning."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def __call__(self, name: str, size: int, dtype: str = "f8") -> NDArray[Any]:
        """An array of this size, with any values."""
        if name not in self._arrays or size > len(self._arrays[name]):
            self._arrays[name] = spacious(size, dtype)
        return self._arrays[name][:size]

    def longer(self, name: str, start: NDArray[Any], size: int) -> NDArray[Any]:
        """An array of this size that begins with `start`, which may be there already."""
        found = self(name, size, start.dtype.str)
        if found.ctypes.data != start.ctypes.data:
            found[: len(start)] = start
        return found


class StageMemory:
    """What the stage under way emitted, and what was touched in its burst: of all paths together in
    `all_paths`, or path by path in `touched` while there is a compact copy. Then features go by
    their numbers in the compact copy instead of their slots."""

    def __init__(self, pool: Pool, all_paths: Touched) -> None:
        self.pool, self.all_paths = pool, all_paths
        self.touched: list[Touched] = []
        self.compact_copy: CompactCopy | None = None
        self.room = Room()
        self._known, self._places = Table(0, 1), Table(0, 1)
        self._slots: Ints = np.empty(0, dtype=np.int32)

    @classmethod
    def of(cls, state: State) -> StageMemory:
        """The work under way of a state; the first call reads it from the arrays of the state."""
        if "stage_memory" not in state.scratch:
            state.scratch["stage_memory"] = cls._restored(state)
        found: StageMemory = state.scratch["stage_memory"]
        return found

    @classmethod
    def _restored(cls, state: State) -> StageMemory:
        arrays = state.arrays
        ids, value = arrays["pool.id"], arrays["pool.value"]
        one = np.ones(len(ids), dtype=np.uint8)
        pool = Pool([])
        pool.add(Emitted(state.slots_of(ids), one, value, arrays["pool.kept"]))
        slots, cuts = state.slots_of(arrays["touched.id"]), np.cumsum(arrays["touched.count"])[:-1]
        parts = (np.split(a, cuts) for a in (slots, arrays["touched.began"]))
        joined = _joined([Touched(*part) for part in zip(*parts, strict=True)], state)
        found = cls(pool, joined)
        if state.numbers["met"]:
            _, slots = state.index.ids_and_slots()
            found.known_features(state)[slots] = state.table[slots, NNZ] > 0
        return found

    def save(self, state: State) -> None:
        """Put everything into the tables and arrays of the state, in an order that depends only on
        the ids."""
        self.close_compact_copy(state)
        slots, paths, value, kept = (
            np.concatenate(part) for part in zip(NOTHING, *self.pool.parts, strict=True)
        )
        ids = np.repeat(state.index.ids_of(slots), paths)
        _put(state, "pool", np.lexsort((kept, value, ids)), id=ids, value=value, kept=kept)
        touched = _apart(self.all_paths, state)
        slots, began = (np.concatenate(part) for part in zip(*touched, strict=True))
        counts = np.array([len(part.slots) for part in touched], dtype=np.int64)
        ids = state.index.ids_of(slots)
        by_path = np.lexsort((ids, np.repeat(np.arange(len(counts)), counts)))
        _put(state, "touched", by_path, id=ids, began=began)
        state.arrays["touched.count"] = counts

    def known_features(self, state: State) -> NDArray[np.uint8]:
        """1 for each slot if rows had nonzero values of its feature, else 0. The index may have met
        features of rows that are still to come."""
        return _entries(self._known, len(state.table), 8).view(np.uint8)

    def slots(self, state: State) -> Ints:
        """The slots of all features that the index has met, ascending by id."""
        if len(self._slots) != state.index.count:
            self._slots = state.index.ids_and_slots()[1]
        return self._slots

    def tables(self, state: State) -> list[Floats]:
        """The shared table, and those of all paths or those of each path in the compact copy."""
        return self.compact_copy.tables if self.compact_copy else state.tables

    def weights(self, state: State) -> list[Floats]:
        """The weights: of all paths, or those of each path in the compact copy."""
        if self.compact_copy is None:
            return [state.tables[1]]
        return [path[:, :COUNT] for path in self.compact_copy.tables[1:]]

    def places(self, state: State) -> Ints:
        """A number for each slot, all 0."""
        if state.index.count > FEW:
            self._places.use_huge_pages()
        return _entries(self._places, len(state.table), 2).view(np.int32)

    def open_compact_copy(self, state: State) -> CompactCopy:
        """The compact copy; what is under way goes by its numbers from now on."""
        if self.compact_copy is None:
            compact_copy = self.compact_copy = CompactCopy(state)
            self.touched = _apart(self.all_paths, state)
            self._renumber(lambda slots: compact_copy.numbers(state, slots))
        return self.compact_copy

    def close_compact_copy(self, state: State) -> None:
        """Put the compact copy back into the tables; what is under way goes by slots again."""
        if self.compact_copy is not None:
            compact_copy, self.compact_copy = self.compact_copy, None
            compact_copy.put_back(state)
            self._renumber(lambda numbers: compact_copy.own[numbers])
            self.all_paths = _joined(self.touched, state)

    def _renumber(self, new: Callable[[Ints], Ints]) -> None:
        self.pool.renumber(new)
        self.touched = [part._replace(slots=new(part.slots)) for part in self.touched]


def put_back(state: State) -> None:
    """Bring the tables of the state up to date, so that they can be read; a compact copy stays
    open."""
    stage_memory: StageMemory | None = state.scratch.get("stage_memory")
    if stage_memory is not None and stage_memory.compact_copy is not None:
        stage_memory.compact_copy.put_back(state)


def _apart(all_paths: Touched, state: State) -> list[Touched]:
    """What each path touched: the features with a count above 0."""
    slots, began = all_paths
    informed = state.tables[2][slots] > 0
    return [Touched(slots[mine], began[mine, m]) for m, mine in enumerate(informed.T)]


def _joined(parts: list[Touched], state: State) -> Touched:
    """What the paths touched, together. A path that did not touch a feature has the weight now."""
    slots = distinct(np.concatenate([part.slots for part in parts]))
    began = state.tables[1][slots]
    for m, part in enumerate(parts):
        began[np.searchsorted(slots, part.slots), m] = part.began
    return Touched(slots, began)


def _put(state: State, group: str, order: NDArray[Any], **arrays: NDArray[Any]) -> None:
    """Put arrays in this order into the state under the names group.name."""
    for name, array in arrays.items():
        state.arrays[f"{group}.{name}"] = array[order]


def _entries(table: Table, slots: int, each: int) -> Floats:
    """The numbers of a table of one column, which grows to one number for every `each` slots."""
    if each * len(table.rows) < slots:
        table.grow(-(-slots // each))
    return table.rows[:, 0]
