"""One against the rest: for each class a learner of two classes, to which all others are negative.

The ghost is one more learner, to which every row is negative. A class that first comes in some row
starts as a copy of the ghost before the row, because a learner that has seen no positive row is
the ghost. So the learner of a class is, to the bit, the one of two classes that has seen all rows
from the first on.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.ahead import ahead
from cwtool.algorithms.base import (
    Algorithm,
    Batch,
    Chosen,
    Coefficients,
    Linear,
    Ranks,
    Scores,
    Selects,
    each_class,
)
from cwtool.algorithms.batch.learner import BATCHES
from cwtool.algorithms.multiclass.base import Several, side_by_side
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.errors import Damage
from cwtool.run import Run
from cwtool.state import FeatureIndex, Layout, State
from cwtool.state.checking import Checked

NO_CLASS = -2  # the class of the ghost: no row has it


class States(State):
    """The state of no class, `ghost`, and one for each class that has had a row; all refer to one
    feature index."""

    def __init__(self, base: Algorithm, index: FeatureIndex) -> None:
        self.base = base
        self.ghost = base.new_state(index)
        self.parts: list[State | None] = []
        super().__init__(Layout((), compact=base.layout.compact), index)

    @property
    def known(self) -> list[State]:
        """The ghost and the states of all classes that have had a row."""
        return [self.ghost, *(part for part in self.parts if part is not None)]

    @property
    def known_classes(self) -> list[int]:
        """The numbers of the classes that have had a row."""
        return [k for k, part in enumerate(self.parts) if part is not None]

    def admit(self, labels: list[float]) -> None:
        super().admit(labels)
        self.parts += [None] * (len(labels) - len(self.parts))

    def bytes_for(self, features: int) -> int:
        """Bytes of the ghost and of each class; arrays that classes share count once."""
        own = [name for name in self.base.layout.squares if name not in self.base.shared]
        squares = 8 * features**2 * len(own)
        one = self.ghost.bytes_for(features) + squares
        shared = [a.nbytes for name, a in self.ghost.arrays.items() if name in self.base.shared]
        return one + len(self.parts) * (one - sum(shared))

    @property
    def held(self) -> int:
        """Bytes of the states; arrays that classes share count once."""
        own = self.base.shared
        shared = [*self.ghost.arrays.items(), *self.ghost.squares.items()]
        twice = (len(self.known) - 1) * sum(a.nbytes for name, a in shared if name in own)
        return sum(part.held for part in self.known) - twice

    @property
    def scoring(self) -> list[State]:
        return self.known[1:]

    @property
    def n_tables(self) -> int:
        return self.ghost.n_tables * (1 + len(self.parts))

    @property
    def row_bytes(self) -> int:
        return self.ghost.row_bytes * (1 + len(self.parts))

    def reserve(self) -> None:
        for part in self.known:
            part.reserve()

    def birth(self, class_: int) -> None:
        """The state of a class at its first row: a copy of the ghost."""
        self.base.finish(self.ghost)
        born = self.base.new_state(self.index)
        if self.ghost.numbers.get(BATCHES.name) == 0:  # it equals a new one but for what is shared
            born.reserve()
            born.refer(self.ghost, self.base.shared)
        else:
            born.take_over(self.ghost, self.base.shared)
        self.parts[class_] = born

    def pack(
        self,
        without: Collection[str] = (),
        jobs: int = 1,
        order: tuple[Ints, Ints] | None = None,
    ) -> dict[str, NDArray[Any]]:
        order = order or self.index.saving_order()
        packed = self.ghost.pack(without, jobs, order)
        own = {*self.base.shared, *without}
        parts = [(k, part) for k, part in enumerate(self.parts) if part is not None]
        for (k, _), found in zip(
            parts, ahead(lambda one: one[1].pack(own, 1, order), parts, jobs), strict=True
        ):
            del found["ids"]
            packed |= {f"class.{k}.{name}": array for name, array in found.items()}
        return packed

    def unpack(self, packed: Checked, numbers: Any = None, *, trusted: bool = False) -> set[str]:
        if not isinstance(numbers, dict) or "ghost" not in numbers:
            raise Damage("its numbers are not given by class")
        of_classes: dict[str, Checked] = {}
        for name, array in packed.items():
            kind, _, rest = name.partition(".")
            if kind == "class":
                class_, _, own = rest.partition(".")
                of_classes.setdefault(class_, {})[own] = array
        names = [str(k) for k in range(len(self.parts))]
        if {*of_classes, "ghost"} != set(numbers) or not set(of_classes) <= set(names):
            raise Damage("its classes, their numbers and their arrays do not fit each other")
        known = self.ghost.unpack(packed, numbers["ghost"], trusted=trusted)
        shared = {f"{kind}.{n}" for n in self.base.shared for kind in ("array", "square")} | {"ids"}
        common = {name: packed[name] for name in shared if name in known}
        ids: Ints = packed["ids"].astype(np.int32, copy=False)
        places = self.ghost.slots_of(ids)
        for class_, arrays in of_classes.items():
            part = self.parts[int(class_)] = self.base.new_state(self.index)
            found = part.checked({**arrays, **common}, numbers[class_], ids, trusted=trusted)
            part.fill(found, self.base.shared, places)
            part.refer(self.ghost, self.base.shared)
            known |= {f"class.{class_}.{name}" for name in set(found) - set(common)}
        return known

    def pack_numbers(self) -> dict[str, Any]:
        parts = {str(k): part.numbers for k, part in enumerate(self.parts) if part is not None}
        return {"ghost": self.ghost.numbers, **parts}


class OneVsRest(Several):
    """Independent learners, each on the rows with its own signs."""

    mode = "ovr"

    def new_state(self, index: FeatureIndex | None = None) -> States:
        return States(self.base, index or self.new_index())

    def learn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        assert isinstance(state, States)
        first = self._first_visits(state, rows, order)
        last = self._births(state, rows, order, first, run)
        orders = [order[last:], *(order[first.get(k, 0) :] for k in state.known_classes)]
        with_ghost = state.known, [NO_CLASS, *state.known_classes]
        scores = self.base.learn_classes(*with_ghost, rows, orders, run)
        found = self._placed(state, scores, orders, rows.n_rows)
        for class_, at in first.items():  # its first row, or batch, is predicted by others alone
            alone = order if isinstance(self.base, Batch) else order[at : at + 1]
            found[class_].score[alone] = -np.inf
        return side_by_side([found.get(k) for k in range(len(state.parts))], rows.n_rows)

    def relearn(self, state: State, rows: SlotRows, order: Longs, run: Run) -> Scores:
        assert isinstance(state, States)
        with_ghost = state.known, [NO_CLASS, *state.known_classes]
        orders = [order] * len(state.known)
        scores = each_class(self.base.relearn, *with_ghost, rows, orders, run)
        found = self._placed(state, scores, orders, rows.n_rows)
        return side_by_side([found.get(k) for k in range(len(state.parts))], rows.n_rows)

    def _first_visits(self, state: States, rows: SlotRows, order: Longs) -> dict[int, int]:
        """The places in the order from which new classes learn, the first one first: those of their
        first rows. A batch is learned at once, so all its classes come before it."""
        y = rows.y[order]
        if rows.weight is not None:
            y = np.where(rows.weight[order] > 0, y, -1)
        classes, places = np.unique(y, return_index=True)
        first = sorted(zip(places.tolist(), classes.tolist(), strict=True))
        new = {k: at for at, k in first if k >= 0 and state.parts[k] is None}
        return dict.fromkeys(new, 0) if isinstance(self.base, Batch) else new

    def _births(
        self, state: States, rows: SlotRows, order: Longs, first: dict[int, int], run: Run
    ) -> int:
        """The ghost learns up to the last one of these places, and at each of them a class starts
        as a copy of it. Returns the last place. All other learners can then learn their rows at
        once, however many classes come."""
        negative, done = rows.against(NO_CLASS), 0
        for class_, at in first.items():
            if at > done:
                self.base.learn(state.ghost, negative, order[done:at], run)
            state.birth(class_)
            done = at
        return done

    @staticmethod
    def _placed(
        state: States, scores: list[Scores], orders: list[Longs], n_rows: int
    ) -> dict[int, Scores]:
        """The scores of each class, which are the second to last of these; -infinity for rows that
        it did not visit."""
        found = {}
        for class_, part, order in zip(state.known_classes, scores[1:], orders[1:], strict=True):
            whole = found[class_] = Scores(np.full(n_rows, -np.inf), np.zeros(n_rows))
            whole.score[order], whole.variance[order] = part.score[order], part.variance[order]
        return found

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        assert isinstance(state, States)
        found = iter(self.base.score_classes(state.known[1:], rows, unknown, run))
        return side_by_side(
            [None if part is None else next(found) for part in state.parts], rows.n_rows
        )

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        assert isinstance(state, States)
        found = [self._coefficients(part, slots) for part in state.parts]
        variance = [part.variance for part in found if part.variance is not None]
        return Coefficients(
            np.stack([part.weight for part in found], axis=1),
            np.stack(variance, axis=1) if len(variance) == len(found) else None,
            np.array([part.intercept for part in found]),
        )

    def _coefficients(self, part: State | None, slots: Ints) -> Coefficients:
        """The coefficients of one class; zero for a class that has had no row."""
        if part is not None and isinstance(self.base, Linear):
            return self.base.coefficients(part, slots)
        if part is not None and isinstance(self.base, Ranks):
            return Coefficients(self.base.importance(part, slots))
        return Coefficients(np.zeros(len(slots)))

    def selection(self, state: State) -> Chosen:
        assert isinstance(state, States) and isinstance(self.base, Selects)
        return self.base.class_selection(state.known)

    def untrained(self, state: State) -> bool:
        assert isinstance(state, States)
        return isinstance(self.base, Batch) and all(map(self.base.untrained, state.known[1:]))

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        assert isinstance(state, States) and isinstance(self.base, Batch)
        base, parts = self.base, enumerate(state.parts)
        found = [None if s is None else base.fitted(s, rows.against(k), run) for k, s in parts]
        return side_by_side(found, rows.n_rows)

    def described(self, state: State, class_: int | None) -> State | None:
        assert isinstance(state, States)
        return None if class_ is None else state.parts[class_]

    def finish(self, state: State) -> None:
        assert isinstance(state, States)
        for part in state.known:
            self.base.finish(part)

    def check(self, state: State) -> None:
        assert isinstance(state, States)
        for part in state.known:
            if part.squares.keys() != state.ghost.squares.keys():
                raise Damage("a class has a matrix that another one does not have")
            self.base.check(part)
