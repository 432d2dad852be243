"""The merge of states that are columns only, feature by feature and class by class.

A part moved a feature if any of its columns differs in bits from the base; c parts moved it. c = 0
keeps the base, and c = 1 takes the columns of that part, bit for bit. Sums run over the parts that
changed the feature, in their order. Features are merged in ranges, which change no bit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.merging.base import Merger, Part, Rule
from cwtool.data.rows import Floats, Ints, Longs
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import State
from cwtool.threads import together
from cwtool_ext import slots as kernel

RANGE = 1 << 16  # features that are merged at a time

Flags = NDArray[np.bool_]


class Moved(NamedTuple):
    """What one part has changed: rows of the base, a row for each feature and place, and the
    columns of the part there."""

    rows: Longs
    columns: Floats


class Shared(NamedTuple):
    """What several parts have changed: rows of the base, which they are, by how many parts each was
    moved, and what each part moved of them."""

    rows: Longs
    base: Floats
    c: Floats
    moved: list[Moved]


@dataclass(frozen=True)
class Moves:
    """What all parts have changed in some features, and the rows of the base, in the units of the
    merge."""

    base: Floats
    moved: list[Moved]

    @cached_property
    def counts(self) -> Floats:
        """The number of parts that have changed each row of the table."""
        c = np.zeros(len(self.base))
        for part in self.moved:
            c[part.rows] += 1
        return c

    @cached_property
    def alone(self) -> Floats:
        """The rows of the base, and where a single part has changed them, of that part."""
        found: Floats = self.base.copy()
        for part in self.moved:
            alone = self.counts[part.rows] == 1
            found[part.rows[alone]] = part.columns[alone]
        return found

    @cached_property
    def shared(self) -> Shared:
        """The rows of the table that several parts have changed, with the values of each part."""
        several = np.flatnonzero(self.counts > 1)
        number = np.full(len(self.base), -1, dtype=np.int64)
        number[several] = np.arange(len(several))
        moved = []
        for part in self.moved:
            also = self.counts[part.rows] > 1
            moved.append(Moved(number[part.rows[also]], part.columns[also]))
        return Shared(several, self.base[several], self.counts[several], moved)


class Member(NamedTuple):
    """The features of a state among some, by their places there, with their slots in the state."""

    at: Longs
    slots: Ints


class ColumnsMerger(Merger):
    """The merge of columns; a family of algorithms says how those of one feature are merged."""

    def put(self, state: State, rule: Rule, run: Run, only: Ints | None = None) -> None:
        ids = union([ids for ids, _ in self.members]) if only is None else only
        slots = state.slots_of(ids)

        def put(start: int) -> None:
            some, to = ids[start : start + RANGE], slots[start : start + RANGE]
            known = None if only is None else self.tried.get(start)
            with np.errstate(over="ignore", invalid="ignore"):  # found when the model is packed
                found = known or self.moves(some, [_within(some, *own) for own in self.members])
                merged = self.merged(found, rule)
            if only is not None:
                self.tried[start] = found
            for c, column in enumerate(state.layout.columns):
                for k in range(merged.shape[2]):
                    state.column(column.name, k)[to] = merged[:, c, k]

        together(put, range(0, len(ids), RANGE), run.jobs)
        for number in state.numbers:
            state.numbers[number] = self.total(number)
        if "rounds" in state.arrays:
            state.arrays["rounds"] = self.rounds

    @cached_property
    def members(self) -> list[tuple[Ints, Ints]]:
        """The ids and slots of the features of the base, and of each part."""
        return [part.state.index.ids_and_slots() for part in (self.base, *self.parts)]

    @cached_property
    def tried(self) -> dict[int, Moves]:
        """Of the features that all rules are tried on, by the start of a range."""
        return {}

    def moves(self, ids: Ints, members: list[Member]) -> Moves:
        """By how much each part has changed the columns of these features. `members` has the
        features among them that the base knows, and then those that each part knows."""
        places, width = len(self.base.places), len(self.base.state.layout.columns)
        start = np.zeros((len(ids), width, places))
        start[members[0].at] = self.base.columns(members[0].slots)
        base = _by_place(start)
        moved = []
        for k, (part, member) in enumerate(zip(self.parts, members[1:], strict=True)):
            rows = (member.at[:, None] * places + np.arange(places)).ravel()
            there = _by_place(part.columns(member.slots))
            other = self.differs(there, base[rows], k)
            if min(part.places) < 0:
                other &= np.tile(np.array(part.places) >= 0, len(member.at))
            rows = rows[other]
            moved.append(Moved(rows, self.brought(there[other], base[rows], k)))
        return Moves(self.starting(base), moved)

    def merged(self, moves: Moves, rule: Rule) -> Floats:
        """The merged columns of the features: [feature, column, place]."""
        found = self.rule(moves, rule)
        merged: Floats = found.reshape(-1, len(self.base.places), found.shape[1]).swapaxes(1, 2)
        return merged

    def differs(self, there: Floats, base: Floats, part: int) -> Flags:
        """Which rows of this part differ from those of the base."""
        found: Flags = (there.view(np.int64) != base.view(np.int64)).any(axis=1)
        return found

    def brought(self, there: Floats, base: Floats, part: int) -> Floats:
        """Rows of this part in the units of the merge."""
        return self.converted(there, self.parts[part].unit)

    def starting(self, base: Floats) -> Floats:
        """Rows of the base in the units of the merge."""
        return self.converted(base, self.base.unit)

    @abstractmethod
    def converted(self, columns: Floats, unit: float) -> Floats:
        """The columns for rows that are divided by this number."""

    def rule(self, moves: Moves, rule: Rule) -> Floats:
        """The merged rows: those of the base where no part has changed them, and those of the part
        where a single one has."""
        found: Floats = moves.alone.copy()
        rows, base, c, moved = moves.shared
        if len(rows):
            found[rows] = self.step(base, c, moved, rule)
        return found

    @abstractmethod
    def step(self, base: Floats, c: Floats, moved: list[Moved], rule: Rule) -> Floats:
        """The merged rows of features that c > 1 parts have changed."""

    def total(self, name: str) -> int:
        """A count of the base and all that the parts have added to it."""
        before = int(self.base.state.numbers[name])
        return before + sum(int(part.state.numbers[name]) - before for part in self.parts)

    @property
    def rounds(self) -> Longs:
        """The same for the rounds of each place of several classes."""
        before = rounds_of(self.base)
        found: Longs = before + sum(rounds_of(part) - before for part in self.parts)
        return found


def union(ids: Sequence[Ints]) -> Ints:
    """The feature ids that are in at least one of these arrays, each once, in ascending order."""
    largest = max((int(part.max()) for part in ids if len(part)), default=-1)
    if 0 <= largest < 8 * sum(map(len, ids)):  # flags are faster than sorting
        there = np.zeros(largest + 1, dtype=np.bool_)
        for part in ids:
            there[part] = True
        return np.flatnonzero(there).astype(ids[0].dtype)
    every = np.concatenate(ids)
    every.sort()
    found: Ints = every[np.append(True, every[1:] != every[:-1])[: len(every)]]
    return found


def rounds_of(part: Part) -> Longs:
    """By place of the merge: the rounds of this state, 0 where it has none."""
    rounds, places = part.state.arrays["rounds"], np.array(part.places)
    known = (places >= 0) & (places < len(rounds))
    found = np.zeros(len(places), dtype=np.int64)
    found[known] = rounds[places[known]]
    return found


def _within(some: Ints, ids: Ints, slots: Ints) -> Member:
    """Those of the features, ascending by id, that are among `some`."""
    low, high = np.searchsorted(ids, some[0]), np.searchsorted(ids, some[-1], side="right")
    at = places_of(ids[low:high], some)
    there = at >= 0
    return Member(at[there], slots[low:high][there])


def places_of(ids: Ints, among: Ints) -> Longs:
    """The place of each id among others, or -1; both are ascending."""
    found = np.empty(len(ids), dtype=np.int64)
    kernel.positions(ids, among, found)
    return found


def _by_place(columns: Floats) -> Floats:
    """[feature, column, place] as a row for each feature and place."""
    found = columns.swapaxes(1, 2).reshape(-1, columns.shape[1])
    return np.ascontiguousarray(found)
