"""The state of an algorithm: all that changes while it learns, made from its declared layout."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.ahead import ahead
from cwtool.data.rows import Floats, Ints
from cwtool.state import checking
from cwtool.state.checking import Checked
from cwtool.state.index import DIRECT, FeatureIndex
from cwtool.state.layout import Layout
from cwtool.state.tables import Table
from cwtool_ext import table_columns

ID = 4  # bytes
FEW = 1024  # features, which may lie anywhere in the tables


class State:
    """Tables of columns, numbers, arrays, squares and lists as the layout declares them.

    Each column may have several places side by side, one for each class: with `places` of them
    the table row of a feature is [a_0 .. a_{places-1} | b_0 .. b_{places-1} | ...].
    """

    def __init__(self, layout: Layout, index: FeatureIndex | None = None) -> None:
        self.layout = layout
        self.index = index or FeatureIndex(0 if layout.compact else DIRECT)
        self.places = 1
        self.ghosts = 0  # places that belong to no class, before that of class 0
        self.labels: Floats = np.empty(0)  # of several classes, by class number
        self._tables = [Table(self.index.room, len(group)) for group in layout.tables]
        self._column_places = {  # the number of its table and its place there, by name
            column.name: (t, k)
            for t, group in enumerate(layout.tables)
            for k, column in enumerate(group)
        }
        self.numbers: dict[str, int | float] = {n.name: n.start for n in layout.numbers}
        self.arrays: dict[str, NDArray[Any]] = {
            a.name: np.zeros(a.shape, dtype=a.dtype) for a in layout.arrays
        }
        self.squares: dict[str, Floats] = {}  # by pairs of slots
        self.lists = {name: Table(1, width) for name, width in layout.lists}
        self.scratch: dict[str, Any] = {}  # not saved: see Algorithm.finish

    @property
    def tables(self) -> list[Floats]:
        """The declared tables, a row a slot."""
        return [table.rows for table in self._tables]

    @property
    def table(self) -> Floats:
        """The first, and mostly the only, of the tables."""
        return self._tables[0].rows

    @property
    def n_tables(self) -> int:
        """The number of tables, each of which has pages of its own."""
        return len(self._tables)

    def bytes_for(self, features: int) -> int:
        """What tables and lists with so many features take, with the copy that is saved and its
        ids, and the arrays as they are."""
        row = self.row_bytes + 8 * sum(table.width for table in self.lists.values())
        return (2 * row + ID) * features + sum(array.nbytes for array in self.arrays.values())

    @property
    def held(self) -> int:
        """The bytes that the state takes now."""
        row = self.row_bytes + 8 * sum(table.width for table in self.lists.values())
        parts = (*self.arrays.values(), *self.squares.values())
        return row * self.index.count + sum(array.nbytes for array in parts)

    @property
    def scoring(self) -> list[State]:
        """The states that predict: of one against the rest those of the classes."""
        return [self]

    @property
    def row_bytes(self) -> int:
        """The bytes that the tables take for each feature."""
        return 8 * sum(table.width for table in self._tables)

    def reserve(self) -> None:
        """Grow the tables to a row for every slot of the index."""
        for table in self._tables:
            if self.index.count > FEW:
                table.use_huge_pages()
            if len(table.rows) < self.index.room:
                table.grow(self.index.room)

    def widen(self, places: int, spare: State | None = None) -> None:
        """Give every column this number of places side by side; new ones are zero. They are in the
        memory of the `spare` state, if there is one, which is of no use afterwards."""
        _, used = self.index.ids_and_slots()
        self.reserve()  # states that share the index may have met features that this one has not
        spares = spare.cleared() if spare is not None else []
        for table, group in zip(self._tables, self.layout.tables, strict=True):
            room = spares.pop() if spares else None
            table.widen(len(group), self.places, places, used, room)
        self.places = places

    def cleared(self) -> list[Table]:
        """The tables of this state, which gives them up, with zeros alone. That costs a fraction of
        new memory, which the system sets to zero page by page."""
        tables, self._tables, index = self._tables, [], self.index
        for table in tables:
            table_columns.clear(table.rows, index.seen, index.direct, index.n_keys)
        return tables

    def admit(self, labels: list[float]) -> None:
        """Make room for several classes with these labels; known ones come first. Room that was
        there grows by half at least, so that a class costs no copy of its own."""
        places = max(4, self.ghosts + len(labels))
        if self._tables and places > self.places:
            least = self.places + self.places // 2
            self.widen(-(-max(places, least) // 4) * 4)  # kernels take a multiple of four
        self.labels = np.array(labels)

    def column(self, name: str, place: int = 0) -> Floats:
        """A value for each slot: the declared column, at one place."""
        return self._places(name, place, place + 1)[:, 0]

    def _places(self, name: str, first: int, stop: int) -> Floats:
        """The declared column, at these places."""
        t, k = self._column_places[name]
        return self._tables[t].rows[:, k * self.places + first : k * self.places + stop]

    def shrink(self, name: str, factor: float) -> None:
        """Multiply a column by this number. Only the memory of features seen is looked at."""
        column, direct = self.column(name), self.index.direct
        if direct:
            blocks = column[:direct].reshape(-1, 64)  # a view, as `seen` has 64 slots a word
            blocks[np.flatnonzero(self.index.seen)] *= factor
        column[direct : self.index.n_slots] *= factor

    @property
    def _used_places(self) -> int:
        return min(self.places, max(1, self.ghosts + len(self.labels)))

    @property
    def _packed_columns(self) -> list[tuple[str, int]]:
        """The columns of a file, each by its name and a place."""
        return [(c.name, k) for c in self.layout.columns for k in range(self._used_places)]

    @property
    def _lines(self) -> list[tuple[str, int]]:
        """The columns in parts that one look into memory has, each by its name and first place."""
        firsts = range(0, self._used_places, table_columns.LINE)
        return [(column.name, first) for column in self.layout.columns for first in firsts]

    def _line(self, name: str, first: int) -> Floats:
        return self._places(name, first, min(first + table_columns.LINE, self._used_places))

    def _gathered(self, name: str, first: int, slots_: Ints) -> dict[str, NDArray[Any]]:
        """A part of a column, packed: its values at these slots, or those that are not zero with
        their places among these."""
        found = table_columns.gather(self._line(name, first), slots_)
        packed: dict[str, NDArray[Any]] = {}
        for place, (values, at) in enumerate(found, first):
            if at is not None:
                packed[f"{_key(name, place)}.at"] = at
            packed[_key(name, place)] = values
        return packed

    def slots_of(self, ids: Ints) -> Ints:
        """The slots of these ids; features that are new get one, and rows in the tables."""
        found: Ints = self.index.observe(ids).copy()
        self.reserve()
        return found

    def pack(
        self,
        without: Collection[str] = (),
        jobs: int = 1,
        order: tuple[Ints, Ints] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Ids, columns, squares, lists and arrays by the names they have in a file, `without` some
        of the squares and arrays, in `jobs` threads. Where it can, it shares memory. Columns that
        are mostly zero are packed as their nonzero values with their places among the ids. `order`
        is the saving order of the index, if it is known."""
        ids, places = order or self.index.saving_order()
        packed: dict[str, NDArray[Any]] = {"ids": ids}
        for found in ahead(lambda line: self._gathered(*line, places), self._lines, jobs):
            packed |= found
        for name, square in self.squares.items():
            if name not in without:
                packed[f"square.{name}"] = square[np.ix_(places, places)]
        for name, table in self.lists.items():
            packed[f"table.{name}"] = table.rows[: table.count]
        for name, array in self.arrays.items():
            if name not in without:
                packed[f"array.{name}"] = array
        return packed

    def checked(
        self, packed: Checked, numbers: Any, ids: Ints | None = None, *, trusted: bool = False
    ) -> Checked:
        """The arrays of a file that belong to this state, once they and the numbers have been
        checked against the layout; what does not fit it is raised as Damage. The numbers are taken
        over. `ids` are those of the features, if they have been checked. Nothing is checked of what
        is `trusted`, a state in memory that was checked when it was packed before."""
        if trusted:
            self.numbers |= numbers
            return packed
        self.numbers |= checking.check_numbers(self.layout, numbers)
        if ids is None:
            ids = checking.check_ids(packed, compact=self.index.direct == 0)
        found: Checked = {"ids": ids}
        declared = {column.name: column for column in self.layout.columns}
        for name, place in self._packed_columns:
            key = _key(name, place)
            found |= checking.check_column(packed, key, len(ids), declared[name])
        return found | checking.check_arrays(self.layout, self.numbers, packed, len(ids))

    def unpack(self, packed: Checked, numbers: Any = None, *, trusted: bool = False) -> set[str]:
        """Fill this new state with the arrays and numbers of a model file, after checking them
        unless they are `trusted`. Returns the names of the arrays that belong to the state."""
        found = self.checked(packed, {} if numbers is None else numbers, trusted=trusted)
        self.fill(found)
        return set(found)

    def fill(
        self, found: Checked, without: Collection[str] = (), places: Ints | None = None
    ) -> None:
        """Take over arrays that have been checked, `without` some of the squares and arrays.
        `places` are the slots of the features, if they have some."""
        if places is None:
            places = self.slots_of(found["ids"])
        else:
            self.reserve()
        for name, first in self._lines:
            columns = self._line(name, first)
            keys = [_key(name, first + k) for k in range(columns.shape[1])]
            values, at = [found[key] for key in keys], [found.get(f"{key}.at") for key in keys]
            table_columns.scatter(columns, places, values, at)
        for key, array in found.items():
            kind, _, name = key.partition(".")
            if kind == "square" and name not in without:
                self.squares[name] = array.copy()
            elif kind == "table":
                self.lists[name].fill(array)
            elif kind == "array" and name not in without:
                self.arrays[name] = array.copy()

    def pack_numbers(self) -> dict[str, Any]:
        """The numbers by name, ready for JSON."""
        return self.numbers

    def take_over(self, other: State, shared: Collection[str] = ()) -> None:
        """Become a copy of a state that has the same layout and the same index, which may have met
        features that the other state has no part for yet. Squares and arrays that are `shared` are
        referred to instead of copied."""
        self.numbers |= other.numbers
        slots = self.index.ids_and_slots()[1]
        self.reserve()
        for mine, theirs in zip(self.tables, other.tables, strict=True):
            known = slots[slots < len(theirs)]
            mine[known] = theirs[known]
        for name, table in other.lists.items():
            self.lists[name].fill(table.rows[: table.count])
        self.squares |= {k: a.copy() for k, a in other.squares.items() if k not in shared}
        self.arrays |= {k: a.copy() for k, a in other.arrays.items() if k not in shared}
        self.refer(other, shared)

    def refer(self, other: State, names: Collection[str]) -> None:
        """Have the same squares and arrays of these names as the other state, without a copy."""
        self.squares |= {name: a for name, a in other.squares.items() if name in names}
        self.arrays |= {name: a for name, a in other.arrays.items() if name in names}


def _key(name: str, place: int) -> str:
    """The name of a column in a file: feature.mean, feature.mean.1, feature.mean.2."""
    return f"feature.{name}.{place}" if place else f"feature.{name}"
