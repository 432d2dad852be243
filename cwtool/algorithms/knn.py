"""k nearest neighbours in scaled columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.algorithms.base import Scores, each_choice
from cwtool.algorithms.batch.learner import LEAST, learnable, usable, weights
from cwtool.algorithms.batch.remembered_rows import (
    NUMBERS,
    ROWS,
    RememberedRows,
    RememberedRowsParams,
)
from cwtool.algorithms.merging.base import Merging
from cwtool.algorithms.merging.merged_rows import REMEMBERED
from cwtool.algorithms.neighbours.column_scale import (
    SCALES,
    as_dense,
    best_scale,
    deviations,
    divided,
    divisors,
    is_dense,
)
from cwtool.algorithms.neighbours.search import DISTANCE_BYTES, Near, Points, nearest, shares, vote
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.params import AUTO, param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import Array, Column, Layout, State


@dataclass(frozen=True)
class KnnParams(RememberedRowsParams):
    k: int = param(
        3,
        "Number of nearest neighbours that vote. Larger values smooth the decision; raise it for "
        "noisy labels.",
        low=1,
        high=1024,
    )
    scale: str = param(
        AUTO,
        "Scale of the columns before distances are measured. std divides each column by its own "
        "standard deviation; global divides all columns by one number, which keeps their "
        "proportions; auto takes the one with the lower leave-one-out error of 3 neighbours.",
        choices=SCALES,
    )


SPARSE_COPIES = 64  # bytes of an entry of sparse points
SEARCHED_COPIES = 32  # bytes of a value of dense points while they are made ready to be searched
DENSE_COPIES = 40  # bytes of a value of dense points: as they are, centred, and in single precision
VOTE = 64  # bytes of a neighbour of a row, or of a row and class
# what is predicted at once: rows, numbers of dense points, and neighbours of all classes
ROWS_AT_ONCE, NUMBERS_AT_ONCE, VOTES_AT_ONCE = 1024, 1 << 18, 1 << 18


class Extent(NamedTuple):
    """The sizes of the remembered rows as points of the space, for estimates of memory."""

    n: int
    width: int  # of dense points; 0: they are sparse
    nnz: int  # of the rows or, if there are more, of sparse points

    def bytes(self, at_once: int) -> int:
        """Those of the points: sparse ones become dense, and these are then made ready to be
        searched; and of so many rows that are predicted at once."""
        sparse, numbers = SPARSE_COPIES * self.nnz, self.n * self.width
        rows = DENSE_COPIES * at_once * self.width
        return max(sparse + 8 * numbers, SEARCHED_COPIES * numbers) + rows

    def distances(self, at_once: int) -> int:
        """The bytes of the distances of a thread that looks at so many rows."""
        most = min(DISTANCE_BYTES, 4 * self.n * at_once)
        return (2 if self.width else 4) * most  # sparse ones, then dense


def _kinds(state: State) -> int:
    """The number of classes that neighbours are counted by."""
    return max(2, 1 + int(state.arrays["y"].max(initial=0)))


class Neighbours(RememberedRows):
    """Predicts by the nearest of the rows it remembers, seen as points in some space."""

    def bytes_needed(self, rows: csr_array, run: Run) -> float:
        n, p = rows.shape
        size = Extent(n, p if is_dense(rows) else 0, rows.nnz)
        points = SPARSE_COPIES * size.nnz + DENSE_COPIES * n * size.width
        return float(points + run.jobs * size.distances(n) + VOTE * n * self.most_votes)

    def bytes_to_score(self, states: Sequence[State], jobs: int) -> int:
        """The points of each state, and what the search of one of them needs."""
        found = [self.extent(state) for state in states if not self.untrained(state)]
        rows = max((self.at_once(state) for state in states), default=0)
        votes = max((_kinds(state) * self.voters(state) for state in states), default=0)
        search = max((size.distances(rows) for size in found), default=0)
        return sum(size.bytes(rows) for size in found) + jobs * search + VOTE * votes * rows

    def extent(self, state: State) -> Extent:
        """The size of the points of all remembered rows."""
        rows = self.rows(state)
        return Extent(rows.shape[0], rows.shape[1] if is_dense(rows) else 0, rows.nnz)

    def at_once(self, state: State) -> int:
        """How many rows are predicted at once, so that memory does not depend on their number."""
        numbers = NUMBERS_AT_ONCE // max(1, self.extent(state).width)
        votes = VOTES_AT_ONCE // max(1, _kinds(state) * self.voters(state))
        return max(1, min(ROWS_AT_ONCE, numbers, votes))

    @abstractmethod
    def points(self, state: State, rows: csr_array) -> Any:
        """The rows as points of the space: a dense array or a CSR matrix."""

    def remembered(self, state: State) -> Any:
        """The points of all remembered rows."""
        if "points" not in state.scratch:
            state.scratch["points"] = self.points(state, self.rows(state))
        return state.scratch["points"]

    def predict(self, state: State, rows: csr_array, run: Run, *, loo: bool = False) -> Floats:
        """The scores of the rows. With `loo` these are the remembered rows, and none is its own
        neighbour."""
        kind = state.arrays["y"] > 0
        if loo:
            return self.score(self.near_others(state, kind, run))
        return np.concatenate([self.score(near) for near in self.near(state, rows, kind, run)])

    def near(self, state: State, rows: csr_array, kind: NDArray[Any], run: Run) -> Iterator[Near]:
        """The neighbours of the rows, some rows at a time, among those remembered, whose classes
        are `kind`."""
        if "searched" not in state.scratch:
            state.scratch["searched"] = Points(self.remembered(state))
        points, step = state.scratch["searched"], self.at_once(state)
        for start in range(0, rows.shape[0], step):
            here = self.points(state, rows[start : start + step])
            yield self._nearest(state, here, points, kind, run)

    def near_others(self, state: State, kind: NDArray[Any], run: Run) -> Near:
        """The neighbours of all remembered rows among the others; their classes are `kind`."""
        points = self.remembered(state)
        return self._nearest(state, points, points, kind, run, loo=True)

    def _nearest(
        self, state: State, rows: Any, points: Any, kind: NDArray[Any], run: Run, *,
        loo: bool = False,
    ) -> Near:  # fmt: skip
        weight, k = self.row_weights(state), self.voters(state)
        return nearest(rows, points, kind, k, loo=loo, jobs=run.jobs, weight=weight)

    def voters(self, state: State) -> int:
        """The number of nearest training rows whose classes are counted to predict a row: `k`."""
        return int(self.params.k)

    @property
    def most_votes(self) -> int:
        """The largest number of neighbours that may be searched for."""
        return int(self.params.k)

    def row_weights(self, state: State) -> Floats | None:
        """The weights of the remembered rows; None if all are 1."""
        return None

    def score(self, near: Near) -> Floats:
        """The scores of rows with these neighbours."""
        return vote(near)

    def recalled(self, state: State, run: Run) -> tuple[Ints, Scores] | None:
        """The classes of all rows, and their scores, each predicted by the other rows alone."""
        if self.untrained(state) or self.row_weights(state) is not None:
            return None
        score = self.predict(state, self.rows(state), run, loo=True)
        return (state.arrays["y"] > 0).astype(np.int32), Scores(score, np.zeros(len(score)))

    def fitted(self, state: State, rows: SlotRows, run: Run) -> Scores:
        """Scores of the rows of the first batch, each predicted by the other rows alone."""
        out = super().fitted(state, rows, run)
        if not self.untrained(state):
            learned = usable(rows)
            out.score[learned] = self.predict(state, self.rows(state), run, loo=True)
        return out


class Voter(Neighbours):
    """Predicts by the same neighbours for all classes: of several, `y` has the class numbers."""

    def learn_votes(self, state: State, rows: SlotRows, run: Run) -> None:
        """Learn a batch of several classes."""
        rows = learnable(rows)
        if rows.n_rows:
            self.remember(state, rows, rows.y.astype(np.float64), run)
            self.fit(state, self.rows(state), state.arrays["y"].astype(np.int32), run)
            state.numbers["batches"] += 1

    def votes(self, state: State, rows: SlotRows, run: Run) -> Floats:
        """Scores with one column per class; -inf for classes without a row."""
        kind = state.arrays["y"].astype(np.int32)
        near = self.near(state, self.known(state, rows), kind, run)
        none = np.empty((0, _kinds(state)))
        return np.concatenate([none, *(self.class_scores(one) for one in near)])

    def own_votes(self, state: State, rows: SlotRows, run: Run) -> Floats:
        """Scores of the rows of the first batch, each predicted by the other rows alone."""
        found, kind = self.votes(state, rows, run), state.arrays["y"].astype(np.int32)
        learned = usable(rows)
        found[learned] = self.class_scores(self.near_others(state, kind, run))
        return found

    def class_scores(self, near: Near) -> Floats:
        """The scores of several classes of rows with these neighbours."""
        return shares(near)


class KNN(Voter):
    name = "knn"
    summary = "k nearest neighbours"
    Params = KnnParams
    variants = each_choice(KnnParams, "scale", k=25)  # a plane wants more neighbours than 3
    takes_weights = True
    # weight: of each remembered row; empty if all are 1
    layout = Layout(
        ((Column("divisor", low=0),),),
        NUMBERS,
        (*ROWS, Array("weight", sizes=("rows?",), low=LEAST, later=True)),
        compact=True,
    )

    def remember(self, state: State, rows: SlotRows, y: Floats, run: Run) -> None:
        before, a = self.row_weights(state), state.arrays
        if before is not None or rows.weight is not None:
            before = np.ones(len(a["y"])) if before is None else before
            a["weight"] = np.append(before, weights(rows))
        super().remember(state, rows, y, run)

    def row_weights(self, state: State) -> Floats | None:
        weight: Floats = state.arrays["weight"]
        return weight if len(weight) else None

    def fit(self, state: State, rows: csr_array, kind: Ints, run: Run) -> None:
        weight = self.row_weights(state)
        _, sd = deviations(rows, weight)
        by = divisors(sd, best_scale(rows, kind, sd, self.params.scale, run, weight))
        state.column("divisor")[: len(by)] = by

    @property
    def merging(self) -> Merging:
        return REMEMBERED

    def points(self, state: State, rows: csr_array) -> Any:
        by = state.column("divisor")[: rows.shape[1]]
        return as_dense(divided(rows, by), is_dense(self.rows(state)))


ALGORITHMS = {"knn": KNN}
