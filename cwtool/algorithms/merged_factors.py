"""The merge of factored covariances, Sigma^-1 = D + R R'.

Each part is first fitted to its own D and R. The mean is merged as with a diagonal covariance of
the precisions D_jj - 1 + |R_j|^2. D is the mean over the parts that moved a row. W = [R_1 .. R_S]
has zeros in the rows that a part did not move, times 1 / sqrt(c_j); rows that nobody moved have R_0
in place of R_1. Then R = W E_m, E_m the leading eigenvectors of W'D^-1 W, and D gains what R lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cwtool.algorithms.merged_columns import Moved, union
from cwtool.algorithms.merged_rules import DIAGONAL, DiagonalMerger
from cwtool.algorithms.merging import Merger, Part, Rule
from cwtool.data.rows import Floats, Ints
from cwtool.run import Run
from cwtool.state import State
from cwtool_ext.factored import leading_directions

RANGE = 1 << 14  # rows of W that are made at a time


class Rows(NamedTuple):
    """The features that took part in updates, ascending by id, with [mean, D - 1, R]."""

    ids: Ints
    values: Floats

    def at(self, ids: Ints) -> Floats:
        """The values of these features; 0 where there are none."""
        found = np.zeros((len(ids), self.values.shape[1]))
        at = np.searchsorted(self.ids, ids)
        known = np.flatnonzero(at < len(self.ids))
        known = known[self.ids[at[known]] == ids[known]]
        found[known] = self.values[at[known]]
        return found


class FactoredMerger(Merger):
    """Rows of two parts that are equal in bits to those of the base have not moved."""

    def __init__(self, algorithm: Any, base: Part, parts: Sequence[Part]) -> None:
        super().__init__(algorithm, base, parts)
        self.old, *self.rows = (self._fitted(part) for part in (base, *parts))
        self.ids = union([one.ids for one in (self.old, *self.rows)])
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
        values = np.delete(rows, 1, axis=1)  # without the chain of columns that are fitted
        k = part.unit
        if k != 1:
            values = values * np.array([k, 1 / k**2, *[1 / k] * (values.shape[1] - 2)])
        return Rows(ids[there], values)

    def put(self, state: State, rule: Rule, run: Run, only: Ints | None = None) -> None:
        ids = self.ids
        if only is None:
            every = [part.state.index.ids_and_slots()[0] for part in (self.base, *self.parts)]
            state.slots_of(union(every))
        else:
            ids = ids[np.isin(ids, only)]
            state.slots_of(only)
        n = len(ids)
        rows = np.zeros((1 + n, 3 + self.rank))
        for some, old, own, moved in self._ranges(ids):
            rows[1 + some.start : 1 + some.stop, 0] = self._means(old, own, moved, rule)
        if only is None:  # scores depend on the means alone
            D, rows[1:, 3:] = self._merged_precisions()
            rows[1:, 2] = D - 1
        state.lists["rows"].fill(rows)
        state.table[state.index.observe(ids), 0] = np.arange(1, 1 + n)
        state.arrays["counts"] = np.array([self.rank, self.rank, n, 0])
        covariance = self.algorithm.covariance
        learner = covariance.learner(state)
        learner.settle()
        covariance.keep(state, learner)

    def _ranges(self, every: Ints) -> Iterator[tuple[slice, Floats, list[Floats], list[Any]]]:
        """The rows of the base and of each part for these features, range by range, and which the
        part has moved."""
        for start in range(0, len(every), RANGE):
            some = slice(start, min(start + RANGE, len(every)))
            ids = every[some]
            old, own = self.old.at(ids), [rows.at(ids) for rows in self.rows]
            moved = []
            for rows, values in zip(self.rows, own, strict=True):
                at = np.searchsorted(rows.ids, ids)
                known = np.zeros(len(ids), dtype=bool)
                known[at < len(rows.ids)] = (
                    rows.ids[at[at < len(rows.ids)]] == ids[at < len(rows.ids)]
                )
                moved.append(known & (values.view(np.int64) != old.view(np.int64)).any(axis=1))
            yield some, old, own, moved

    def _means(self, old: Floats, own: list[Floats], moved: list[Any], rule: Rule) -> Floats:
        """The merged means of a range, by the precisions D - 1 + |R|^2."""

        def columns(values: Floats) -> Floats:
            return np.column_stack([values[:, 0], values[:, 1] + (values[:, 2:] ** 2).sum(axis=1)])

        parts = [
            Moved(np.flatnonzero(there), columns(values[there]))
            for values, there in zip(own, moved, strict=True)
        ]
        return self.means.rule(columns(old), parts, rule)[:, 0]

    def _merged_precisions(self) -> tuple[Floats, Floats]:
        """D and R of the merge; the sums over ranges have a fixed order."""
        width = self.rank * len(self.rows)
        gram, E = np.zeros((width, width)), np.empty((width, self.rank))
        for D, W in self._wide():
            gram += (W / D[:, None]).T @ W
        leading_directions(gram, self.rank, E)
        fitted = []
        for D, W in self._wide():
            R = W @ E
            lost = (W**2).sum(axis=1) - (R**2).sum(axis=1)
            fitted.append((D + np.maximum(lost, 0.0), R))
        if not fitted:
            return np.empty(0), np.empty((0, self.rank))
        return np.concatenate([D for D, _ in fitted]), np.concatenate([R for _, R in fitted])

    def _wide(self) -> Iterator[tuple[Floats, Floats]]:
        """The diagonal D and the rows of W, range by range."""
        for _, old, own, moved in self._ranges(self.ids):
            c = np.sum(moved, axis=0)
            total = sum(np.where(there, v[:, 1], 0.0) for v, there in zip(own, moved, strict=True))
            D = 1 + np.where(c > 0, total / np.maximum(c, 1), old[:, 1])
            root = np.sqrt(np.maximum(c, 1))[:, None]
            blocks = [
                np.where(there[:, None], v[:, 2:], 0.0) / root
                for v, there in zip(own, moved, strict=True)
            ]
            blocks[0] = np.where(c[:, None] > 0, blocks[0], old[:, 2:])
            yield D, np.concatenate(blocks, axis=1)


FACTORED = DIAGONAL._replace(kind=FactoredMerger)
