"""What a stage of stabilized truncated gradient descent holds in memory until it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.shelf import Shelf
from cwtool.data.rows import Floats, Ints
from cwtool.state import State


class Emitted(NamedTuple):
    """What the bursts of a path emitted, one entry for each feature that a burst informed: the
    change of its weight relative to q, and whether the weight was nonzero after the burst."""

    slots: Ints
    values: Floats
    kept: NDArray[np.uint8]


class Touched(NamedTuple):
    """Features that the burst under way of a path informed, with their weights before it."""

    slots: Ints
    began: Floats


NOTHING = Emitted(np.empty(0, dtype=np.int32), np.empty(0), np.empty(0, dtype=np.uint8))


class Underway:
    """What the stage under way emitted, and what each path touched in its burst. While there is a
    shelf, features go by their numbers on it instead of their slots."""

    def __init__(self, pool: list[Emitted], touched: list[Touched]) -> None:
        self.pool, self.touched = pool, touched
        self.shelf: Shelf | None = None

    @classmethod
    def of(cls, state: State) -> Underway:
        """That of a state; the first time it comes from the arrays of the state."""
        if "underway" not in state.scratch:
            state.scratch["underway"] = cls._restored(state)
        found: Underway = state.scratch["underway"]
        return found

    @classmethod
    def _restored(cls, state: State) -> Underway:
        arrays = state.arrays
        if len(arrays["touched.count"]) == 0:
            return cls([], [Touched(NOTHING.slots, NOTHING.values)] * (len(state.tables) - 1))
        slots = state.slots_of(arrays["pool.id"])
        pool = [Emitted(slots, arrays["pool.value"], arrays["pool.kept"])]
        slots = state.slots_of(arrays["touched.id"])
        cuts = np.cumsum(arrays["touched.count"])[:-1]
        parts = (np.split(a, cuts) for a in (slots, arrays["touched.began"]))
        return cls(pool, [Touched(*part) for part in zip(*parts, strict=True)])

    def save(self, state: State) -> None:
        """Put everything into the tables and arrays of the state, in an order that depends only on
        the ids."""
        self.close_shelf(state)
        slots, *others = (np.concatenate(part) for part in zip(NOTHING, *self.pool, strict=True))
        ids = state.index.ids_of(slots)
        value, kept = others
        _put(state, "pool", np.lexsort((kept, value, ids)), id=ids, value=value, kept=kept)
        slots, began = (np.concatenate(part) for part in zip(*self.touched, strict=True))
        counts = np.array([len(part.slots) for part in self.touched], dtype=np.int64)
        ids = state.index.ids_of(slots)
        by_path = np.lexsort((ids, np.repeat(np.arange(len(counts)), counts)))
        _put(state, "touched", by_path, id=ids, began=began)
        state.arrays["touched.count"] = counts

    def tables(self, state: State) -> list[Floats]:
        """The shared table and those of the paths: of features on the shelf, or of all."""
        return self.shelf.tables if self.shelf else state.tables

    def open_shelf(self, state: State) -> Shelf:
        """The shelf; what is under way goes by its numbers from now on."""
        if self.shelf is None:
            shelf = self.shelf = Shelf(state)
            self._renumber(lambda slots: shelf.numbers(state, slots))
        return self.shelf

    def close_shelf(self, state: State) -> None:
        """Put the shelf back into the tables; what is under way goes by slots again."""
        if self.shelf is not None:
            shelf, self.shelf = self.shelf, None
            shelf.put_back(state)
            self._renumber(lambda numbers: shelf.own[numbers])

    def _renumber(self, new: Callable[[Ints], Ints]) -> None:
        self.pool = [part._replace(slots=new(part.slots)) for part in self.pool]
        self.touched = [part._replace(slots=new(part.slots)) for part in self.touched]


def put_back(state: State) -> None:
    """Bring the tables of the state up to date, so that they can be read; a shelf stays open."""
    underway: Underway | None = state.scratch.get("underway")
    if underway is not None and underway.shelf is not None:
        underway.shelf.put_back(state)


def _put(state: State, group: str, order: NDArray[Any], **arrays: NDArray[Any]) -> None:
    """Put arrays in this order into the state under the names group.name."""
    for name, array in arrays.items():
        state.arrays[f"{group}.{name}"] = array[order]
