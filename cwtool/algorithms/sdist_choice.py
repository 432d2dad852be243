"""What sdist chooses by rows out of the bag: its engine, the order of its products, and how many of
the nearest rows vote.

The rows are dealt into PARTS parts with equal shares of each class. A candidate boosts one metric,
in few steps, on the rows of the bag, which are all parts but one, and each row out of the bag is
predicted by those of the bag. Each part is out of the bag once, or only the first of many rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.algorithms.column_scale import is_dense
from cwtool.algorithms.neighbours import Near, nearest
from cwtool.algorithms.sdist_fit import finder, folds, prepared, said
from cwtool.algorithms.sdist_params import AT_FIRST, FEW_DENSE
from cwtool.algorithms.sdist_space import blended, fitted_space
from cwtool.data.rows import Ints, Longs
from cwtool.order import permutation
from cwtool.params import AUTO
from cwtool.run import Run, no_note

ENGINES = ("power", "stsgd")
ORDERS = (1, 2)
VOTES = (AT_FIRST, 5, 9, 15, 25)
CLASSES = 100  # of more classes, whose neighbours take much memory, the first of VOTES vote
PARTS = 3
STEPS = {"power": 100, "stsgd": 30}
LEARNED, JUDGED = 2000, 1000  # most rows that a metric is boosted on, and that are predicted
SOME = 4  # second seed of these rows, which makes them independent of other random choices

Wrong = NDArray[np.bool_]  # whether rows are predicted wrongly, by number of votes and row


class Bag(NamedTuple):
    """Rows by number, ascending: those in the bag, some of them that a metric is boosted on, and
    some of those out of the bag."""

    inside: Longs
    boosted: Longs
    outside: Longs


def chosen(rows: csr_array, kind: Ints, asked: Any, run: Run) -> tuple[Any, int]:
    """The parameters of the candidate with the fewest errors out of the bag, and its number of
    votes. Of equally good candidates the first counts, which is the simplest."""
    dense = is_dense(rows)
    candidates = [p.resolved(dense, len(kind)) for p in options(rows, asked)]
    first = candidates[0]
    by_rows = asked.k == AUTO and dense and kind.max(initial=0) < CLASSES
    votes = VOTES if by_rows else (first.k,)
    if len(candidates) == len(votes) == 1 or len(kind) < 2 * PARTS:
        return first, first.k
    bags = dealt(kind, PARTS if first.runs > 1 else 1, run.seed)
    quiet, best, told = replace(run, note=no_note), [], []
    for p in candidates:
        tried = replace(p, steps=min(p.steps, STEPS[p.engine]))
        wrong = [errors(rows, kind, bag, tried, asked.w0, votes, quiet) for bag in bags]
        best.append(fewest(np.hstack(wrong), votes))
        told.append(f"{best[-1][0]:,} of {p.engine}, order {p.order}, {best[-1][1]} votes")
    judged = sum(len(bag.outside) for bag in bags)
    run.note(f"errors of {judged:,} rows out of the bag: {'; '.join(told)}")
    found = min(range(len(best)), key=lambda number: best[number][0])
    return candidates[found], best[found][1]


def options(rows: csr_array, asked: Any) -> list[Any]:
    """The candidates: of sparse rows both engines, of many dense rows both orders. With few dense
    rows the mean of several metrics is used, and one metric of fewer rows does not tell which
    order is better for that; order 2 is, nearly always."""
    if asked.engine == AUTO and not is_dense(rows):
        engines = ENGINES[:1] if asked.direction_share else ENGINES
        return [replace(asked, engine=engine) for engine in engines]
    if asked.order == AUTO and is_dense(rows) and rows.shape[0] > FEW_DENSE:
        return [replace(asked, order=order) for order in ORDERS]
    return [asked]


def dealt(kind: Ints, parts: int, seed: int) -> list[Bag]:
    """The bags that leave out each of the first `parts` of PARTS parts."""
    part = folds(kind, PARTS, seed)
    mixed = permutation(len(kind), seed, SOME)

    def some(which: NDArray[np.bool_], most: int) -> Longs:
        return np.sort(mixed[which[mixed]][:most])

    return [
        Bag(np.flatnonzero(part != p), some(part != p, LEARNED), some(part == p, JUDGED))
        for p in range(parts)
    ]


def errors(
    rows: csr_array, kind: Ints, bag: Bag, params: Any, w0: Any, votes: tuple[int, ...], run: Run
) -> Wrong:
    """Whether the rows out of the bag are predicted wrongly by those in it."""
    learned, of = several(rows[bag.boosted], kind[bag.boosted])
    space, boost = prepared(learned, of, params, run)
    path = boost.run(params.steps, finder(boost))
    space = fitted_space(space, boost, path.terms)
    if w0 == AUTO and not space.dense:
        space = blended(space, learned)
    inside, outside = space.points(rows[bag.inside]), space.points(rows[bag.outside])
    near = nearest(outside, inside, kind[bag.inside], max(votes), jobs=run.jobs)
    first = [Near(near.who[:, :, :k], near.distance[:, :, :k]) for k in votes]
    return np.stack([said(one, params.predict) != kind[bag.outside] for one in first])


def fewest(wrong: Wrong, votes: tuple[int, ...]) -> tuple[int, int]:
    """The number of errors and the votes: those of the fewest errors, if they are fewer than with
    the first number of votes by more than the standard error of the difference."""
    total = wrong.sum(axis=1)
    best = int(total.argmin())
    difference = wrong[0].astype(float) - wrong[best]
    spread = np.sqrt(((difference - difference.mean()) ** 2).sum())
    if not difference.sum() > spread:
        best = 0
    return int(total[best]), votes[best]


def several(rows: csr_array, kind: Ints) -> tuple[csr_array, Ints]:
    """The rows of classes with at least two rows, where there are more than two classes: a single
    row has none of its class to be near."""
    counts = np.bincount(kind, minlength=2)
    if len(counts) == 2 or counts.min() > 1:
        return rows, kind
    some = counts[kind] > 1
    return rows[some], np.unique(kind[some], return_inverse=True)[1].astype(np.int32)
