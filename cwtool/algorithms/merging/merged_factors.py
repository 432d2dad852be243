"""The merge of factored covariances, Sigma^-1 = D + R R'.

Each part is first fitted to its own D and R. The mean is merged as with a diagonal covariance of
the precisions D_jj - 1 + |R_j|^2. D is the mean over the parts that moved a row. W = [R_1 .. R_S]
has zeros in the rows that a part did not move, times 1 / sqrt(c_j); rows that no part moved have
R_0 in place of R_1. Then R = W E_m, E_m the leading eigenvectors of W'D^-1 W, and D gains what R
lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cwtool.algorithms.merging.base import Merger, Part, Rule
from cwtool.algorithms.merging.merged_columns import Flags, Moved, Moves, places_of, union
from cwtool.algorithms.merging.merged_rules import DIAGONAL, DiagonalMerger
from cwtool.data.rows import Floats, Ints, Longs
from cwtool.run import Run
from cwtool.state import State
from cwtool.threads import together
from cwtool_ext.factored import leading_directions

RANGE = 1 << 14  # rows of W that are made at a time


class Rows(NamedTuple):
    """The features that took part in updates, ascending by id, with [mean, D - 1, R]."""

    ids: Ints
    values: Floats

    def at(self, places: Longs) -> Floats:
        """The values at these places; 0 where a place is -1."""
        if not len(self.ids):
            return np.zeros((len(places), self.values.shape[1]))
        found: Floats = self.values[places]
        found[places < 0] = 0.0
        return found


class Range(NamedTuple):
    """Rows of the base and of each part for the same features, and which the part has moved."""

    old: Floats
    own: list[Floats]
    moved: list[Flags]


class FactoredMerger(Merger):
    """Rows of two parts that are equal in bits to those of the base have not moved."""

    def __init__(self, algorithm: Any, base: Part, parts: Sequence[Part]) -> None:
        super().__init__(algorithm, base, parts)
        self.old, *self.rows = (self._fitted(part) for part in (base, *parts))
        self.ids = union([one.ids for one in (self.old, *self.rows)])
        # where the features are among those of the base, and of each part
        self.places = [places_of(self.ids, one.ids) for one in (self.old, *self.rows)]
        self.rank = algorithm.params.rank
        self.means = DiagonalMerger(algorithm, base, parts)

    def _fitted(self, part: Part) -> Rows:
        """The rows of a state once its columns are fitted into D and R; the state stays."""
        covariance, copy = self.algorithm.covariance, self.algorithm.new_state(part.state.index)
        copy.take_over(part.state)
        learner = covariance.learner(copy)
        learner.compress()
        covariance.keep(copy, learner)
        ids, slots = copy.index.ids_and_slots()
        numbers = copy.table[slots, 0].astype(np.int64)
        there = numbers > 0
        rows = copy.lists["rows"].rows[numbers[there]]
        rows[:, 1] = rows[:, 0]  # in place of the chain of columns, which are fitted
        values = rows[:, 1:]
        k = part.unit
        if k != 1:
            values = values * np.array([k, 1 / k**2, *[1 / k] * (values.shape[1] - 2)])
        return Rows(ids[there], values)

    def put(self, state: State, rule: Rule, run: Run, only: Ints | None = None) -> None:
        if only is None:
            every = [part.state.index.ids_and_slots()[0] for part in (self.base, *self.parts)]
            state.slots_of(union(every))
            among = np.arange(len(self.ids))
        else:
            state.slots_of(only)
            among = places_of(only, self.ids)
            among = among[among >= 0]
        ids, n = self.ids[among], len(among)
        rows = np.zeros((1 + n, 3 + self.rank))

        def means(start: int) -> None:
            found = None if only is None else self.tried.get(start)
            found = found or self._moves(self._rows(among[start : start + RANGE]))
            if only is not None:
                self.tried[start] = found
            merged = self.means.rule(found, rule)[:, 0]
            rows[1 + start : 1 + start + len(merged), 0] = merged

        together(means, range(0, n, RANGE), run.jobs)
        if only is None:  # scores depend on the means alone
            self._put_precisions(rows[1:, 2:], run)
        state.lists["rows"].fill(rows)
        state.table[state.index.observe(ids), 0] = np.arange(1, 1 + n)
        state.arrays["counts"] = np.array([self.rank, self.rank, n, 0])
        covariance = self.algorithm.covariance
        learner = covariance.learner(state)
        learner.settle()
        covariance.keep(state, learner)

    def _rows(self, some: Longs) -> Range:
        """The rows of features that are given by their places in `ids`."""
        at = [places[some] for places in self.places]
        old, *own = (rows.at(here) for rows, here in zip((self.old, *self.rows), at, strict=True))
        moved = [
            (here >= 0) & (values.view(np.int64) != old.view(np.int64)).any(axis=1)
            for here, values in zip(at[1:], own, strict=True)
        ]
        return Range(old, own, moved)

    @cached_property
    def tried(self) -> dict[int, Moves]:
        """Of the features that all rules are tried on, by the start of a range."""
        return {}

    def _moves(self, rows: Range) -> Moves:
        """What the parts have moved: means with the precisions D - 1 + |R|^2, by which these are
        merged."""

        def columns(values: Floats) -> Floats:
            return np.column_stack([values[:, 0], values[:, 1] + (values[:, 2:] ** 2).sum(axis=1)])

        parts = [
            Moved(np.flatnonzero(there), columns(values[there]))
            for values, there in zip(rows.own, rows.moved, strict=True)
        ]
        return Moves(columns(rows.old), parts)

    def _put_precisions(self, out: Floats, run: Run) -> None:
        """Put D - 1 and R of the merge there; the sums over ranges have a fixed order."""
        width, starts = self.rank * len(self.rows), range(0, len(self.ids), RANGE)
        gram, E = np.zeros((width, width)), np.empty((width, self.rank))

        def gram_of(start: int) -> Floats:
            D, W = self._wide(start)
            found: Floats = (W / D[:, None]).T @ W
            return found

        def fit(start: int) -> None:
            D, W = self._wide(start)
            R, here = W @ E, slice(start, start + len(D))
            lost = (W**2).sum(axis=1) - (R**2).sum(axis=1)
            out[here, 0] = D + np.maximum(lost, 0.0) - 1
            out[here, 1:] = R

        for some in together(gram_of, starts, run.jobs):
            gram += some
        leading_directions(gram, self.rank, E)
        together(fit, starts, run.jobs)

    def _wide(self, start: int) -> tuple[Floats, Floats]:
        """The diagonal D and the rows of W of a range."""
        old, own, moved = self._rows(np.arange(start, min(start + RANGE, len(self.ids))))
        c = np.sum(moved, axis=0)
        total = sum(np.where(there, v[:, 1], 0.0) for v, there in zip(own, moved, strict=True))
        D = 1 + np.where(c > 0, total / np.maximum(c, 1), old[:, 1])
        root = np.sqrt(np.maximum(c, 1))[:, None]
        blocks = [
            np.where(there[:, None], v[:, 2:], 0.0) / root
            for v, there in zip(own, moved, strict=True)
        ]
        blocks[0] = np.where(c[:, None] > 0, blocks[0], old[:, 2:])
        return D, np.concatenate(blocks, axis=1)


FACTORED = DIAGONAL._replace(kind=FactoredMerger)
