"""Columns of a batch whose rows are in shards: products with all columns are sums over the shards,
in their order; the columns that a learner chooses are gathered, and learned on one machine.

It has the methods of `Columns` and `Matrix` (batch/rows_by_column.py) that learners of columns use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np

from cwtool import memory
from cwtool.algorithms.batch.learner import weights
from cwtool.algorithms.batch.rows_by_column import Columns, Matrix, across, gram_of
from cwtool.algorithms.shards.steps import Arrays, Shard, Shards
from cwtool.data.rows import Floats, Ints, Longs
from cwtool.errors import UsageError
from cwtool.run import Run
from cwtool.state import FeatureIndex

ENTRY = 2 * 12 + 16  # bytes of a gathered entry, with a copy by row and one to work in

T = TypeVar("T")
R = TypeVar("R")
AnyColumns: TypeAlias = "Columns | ShardedColumns"
AnyMatrix: TypeAlias = "Matrix | ShardedMatrix"


class TooManyEntries(UsageError):
    """The chosen columns do not fit into the memory of this machine."""


class ShardedMatrix:
    """The rows of all shards by column. `sign` are numbers that rows are multiplied by."""

    def __init__(self, columns: ShardedColumns, sign: Floats | None = None) -> None:
        self.columns, self.sign = columns, sign

    def products(self, v: Floats) -> Floats:
        """The product of each column with v."""
        found: Floats = self.columns.sums(v if self.sign is None else v * self.sign)[0]
        return found

    def moments(self, v: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The product of each column with v, and of its squared values with u."""
        first, second = self.columns.sums(v if self.sign is None else v * self.sign, u)
        return first, second

    def take(self, some: Longs) -> Matrix:
        """A copy of the columns with these numbers."""
        found = self.columns.gathered(some)
        if self.sign is not None:
            found.value[:] *= self.sign[found.place]
        return found


class ShardedColumns:
    """The columns of all features of the shards and of some `others`, ascending by id."""

    def __init__(self, shards: Shards, index: FeatureIndex, others: Ints, run: Run) -> None:
        self.shards, self.max_memory = shards, run.max_memory
        slots = np.unique(np.concatenate([*shards.slots, others]))
        self.slots = slots[np.argsort(index.ids_of(slots), kind="stable")]
        column = np.zeros(index.n_slots, dtype=np.int64)
        column[self.slots] = np.arange(len(slots))
        self.at = [column[own] for own in shards.slots]  # the column of each column of a shard
        self.others: Longs = column[others]
        self.n_rows, self.weight = shards.rows.n_rows, shards.rows.weight
        self.x = ShardedMatrix(self)
        self.held = Matrix.empty(0, 0)  # the columns gathered so far
        self.place = np.full(len(slots), -1, dtype=np.int64)  # of each column among them

    def together(self, function: Callable[[T], R], items: Iterable[T], jobs: int) -> list[R]:
        """list(map(function, items)); the questions of several calls are asked at once."""
        return self.shards.together(function, items, 2 * (self.n_rows + len(self.slots)))

    def signed(self, y: Floats) -> ShardedMatrix:
        """The columns of the rows times these signs."""
        return ShardedMatrix(self, y)

    def _of_shard(self, v: Floats) -> list[Floats]:
        """The numbers of the rows of each shard."""
        return np.split(v, self.shards.ends[:-1])

    def sums(self, v: Floats, u: Floats | None = None) -> Floats:
        """X'v, and with u also the product of the squared values with u."""
        given: list[Arrays] = [{"v": part} for part in self._of_shard(v)]
        if u is not None:
            for own, part in zip(given, self._of_shard(u), strict=True):
                own["u"] = np.asarray(part, dtype=np.float64)
        return self.added(self.shards.ask(products, given), 1 + (u is not None))

    @cached_property
    def squares(self) -> Floats:
        """For each column j the sum over the rows i of h_i x_ij^2, with the row weights h."""
        h = np.ascontiguousarray(weights(self.shards.rows))
        given: list[Arrays] = [{"u": part} for part in self._of_shard(h)]
        found: Floats = self.added(self.shards.ask(products, given, alone=True), 1)[0]
        return found

    @cached_property
    def counts(self) -> Floats:
        """The number of entries of each column."""
        return self._lengths(np.ones(self.n_rows))

    @cached_property
    def present(self) -> Floats:
        """For each column the weight of the rows that have an entry in it."""
        return self._lengths(weights(self.shards.rows))

    def _lengths(self, h: Floats) -> Floats:
        """The sum over the entries of each column of the numbers h of their rows."""
        given: list[Arrays] = [{"h": part} for part in self._of_shard(h)]
        found: Floats = self.added(self.shards.ask(lengths, given, alone=True), 1)[0]
        return found

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(weights(self.shards.rows).sum())

    def added(self, parts: list[Arrays], n: int) -> Floats:
        """n sums for each column, of those that the shards have for theirs."""
        total = np.zeros((n, len(self.slots)))
        for part, at in zip(parts, self.at, strict=True):
            total[:, at] += part["sums"]
        return total

    def gram(self, some: Longs) -> Floats:
        """X'HX of the columns with these numbers, H the weights of the rows."""
        return gram_of(self.gathered(some), weights(self.shards.rows))

    def across(self, x: Matrix, chosen: Longs, some: Longs, h: Floats) -> tuple[Floats, Floats]:
        """Products of the columns `some` with the `chosen` ones, and with themselves. No column is
        gathered, and x, the rows over the chosen columns, is not needed."""
        given, common = self.pairs(chosen, some)
        for own, part in zip(given, self._of_shard(h), strict=True):
            own["h"] = part
        return total(self.shards.ask(across_columns, given, common), "across", "squares")

    def pairs(self, chosen: Longs, some: Longs) -> tuple[list[Arrays], Arrays]:
        """What the shards need for `across`: each on its own, and all."""
        given = [
            {**own, "some": other["columns"], "places": other["positions"]}
            for own, other in zip(self.positions(chosen), self.positions(some), strict=True)
        ]
        return given, {"shape": np.array([len(some), len(chosen)])}

    def positions(self, chosen: Longs) -> list[Arrays]:
        """For each shard those of its columns that are among the chosen, and their positions."""
        position = np.full(len(self.slots), -1, dtype=np.int32)
        position[chosen] = np.arange(len(chosen), dtype=np.int32)
        found = []
        for at in self.at:
            own = np.flatnonzero(position[at] >= 0).astype(np.int32)
            found.append({"columns": own, "positions": position[at[own]]})
        return found

    def gathered(self, some: Longs) -> Matrix:
        """A copy of the columns with these numbers, all rows of which come here."""
        new = some[self.place[some] < 0]
        if len(new):
            self._gather(np.unique(new))
        return self.held.take(self.place[some])

    def _gather(self, new: Longs) -> None:
        """Have columns here that were not."""
        self._check(int(self.counts[new].sum()))
        wanted = np.zeros(len(self.slots), dtype=np.bool_)
        wanted[new] = True
        own = [np.flatnonzero(wanted[at]).astype(np.int32) for at in self.at]
        parts = self.shards.ask(entries, [{"columns": some} for some in own], alone=True)
        starts = [0, *self.shards.ends[:-1]]
        row = np.concatenate([p["row"] + s for p, s in zip(parts, starts, strict=True)])
        column = np.concatenate([at[p["column"]] for p, at in zip(parts, self.at, strict=True)])
        value = np.concatenate([p["value"] for p in parts])
        found, held = compressed(np.searchsorted(new, column), row, value, len(new)), self.held
        self.place[new] = held.count + np.arange(len(new))
        self.held = Matrix(
            np.append(held.start, held.start[-1] + found.start[1:]),
            np.append(held.place, found.place),
            np.append(held.value, found.value),
        )

    def _check(self, more: int) -> None:
        """Refuse to have this number of entries here besides those that are."""
        needed, free = ENTRY * (len(self.held.value) + more), memory.allowed(self.max_memory)
        if needed > free:
            raise TooManyEntries(
                f"the columns that were chosen need {memory.words(needed)} on this machine, and "
                f"{memory.may_be_used(free)}",
                "choose fewer `features`, or raise `max_memory`",
            )


def compressed(line: Ints | Longs, place: Ints | Longs, value: Floats, lines: int) -> Matrix:
    """A matrix with these entries, each with its row and column, or its column and row."""
    order = np.lexsort((place, line))
    start = np.append(0, np.cumsum(np.bincount(line, minlength=lines)))
    return Matrix(start, place[order].astype(np.int32), value[order])


# -- steps of a shard -----------------------------------------------------------------------------


def products(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """X'v if there is v, and sum of u_i x_ij^2 if there is u, for each column."""
    found = []
    if "v" in given:
        found.append(shard.sums(given["v"]))
    if "u" in given:
        rows = shard.rows
        squared = replace(rows, values=(rows.scale * rows.values) ** 2, scale=1.0)
        found.append(shard.sums(given["u"], squared))
    return {"sums": np.array(found)}


def lengths(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The sum over the entries of each column of the numbers h of their rows."""
    h = np.repeat(given["h"], np.diff(shard.rows.indptr))
    return {"sums": np.bincount(shard.rows.indices, h, minlength=shard.columns)[None]}


def across_columns(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The products of the columns `some` with the chosen ones, with the weights h of the rows."""
    x = by_row(algorithm, shard, given)
    return across_of(algorithm, shard, x, given["h"], given)


def across_of(algorithm: Any, shard: Shard, x: Matrix, h: Floats, given: Arrays) -> Arrays:
    """The same, with the rows x over the chosen columns."""
    count, width = given["shape"].tolist()
    own = {"columns": given["some"], "positions": given["places"]}
    row, place, value = placed(algorithm, shard, own)
    columns = compressed(place, row, value, count)
    found, squares = across(columns, np.arange(count), x, h, width)
    return {"across": found, "squares": squares}


def total(parts: list[Arrays], first: str, second: str) -> tuple[Floats, Floats]:
    """The sums over the shards of two of their arrays."""
    one, two = (sum(part[name] for part in parts) for name in (first, second))
    return np.asarray(one), np.asarray(two)


def placed(algorithm: Any, shard: Shard, given: Arrays) -> tuple[Ints, Ints, Floats]:
    """The entries of some columns: their rows, positions and values."""
    position = np.zeros(shard.columns, dtype=np.int32)
    position[given["columns"]] = given["positions"]
    found = entries(algorithm, shard, given)
    return found["row"], position[found["column"]], found["value"]


def by_row(algorithm: Any, shard: Shard, given: Arrays) -> Matrix:
    """The rows over some columns, by position."""
    return compressed(*placed(algorithm, shard, given), shard.rows.n_rows)


def entries(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The entries of some columns: their rows, columns and values."""
    rows, wanted = shard.rows, np.zeros(shard.columns, dtype=np.bool_)
    wanted[given["columns"]] = True
    at = np.flatnonzero(wanted[rows.indices])
    row = np.repeat(np.arange(rows.n_rows, dtype=np.int32), np.diff(rows.indptr))
    return {
        "row": row[at],
        "column": rows.indices[at],
        "value": rows.scale * rows.values[at],
    }
