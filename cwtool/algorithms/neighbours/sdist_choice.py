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

from cwtool.algorithms.neighbours.column_scale import is_dense
from cwtool.algorithms.neighbours.sdist_fit import finder, folds, prepared, said
from cwtool.algorithms.neighbours.sdist_params import AT_FIRST, FEW_DENSE
from cwtool.algorithms.neighbours.sdist_space import blended, fitted_space
from cwtool.algorithms.neighbours.search import Near, nearest
from cwtool.data.rows import Ints, Longs
from cwtool.order import permutation
from cwtool.params import AUTO
from cwtool.run import Run, no_note

ENGINES = ("power", "stsgd")
ORDERS = (2, 1)
VOTES = (AT_FIRST, 5, 9, 15, 25)
CLASSES = 100  # of more classes, whose neighbours take much memory, the first of VOTES vote
PARTS = 3
STEPS = {"power": 100, "stsgd": 30}
LEARNED, JUDGED = 2000, 1000  # most rows that a metric is boosted on, and that are predicted
# By how many standard errors the errors must be fewer than those of the first choice. Order 1 needs
# fewer rows and steps, so that a comparison on part of them favours it.
CANDIDATE_BEYOND, VOTES_BEYOND = 2.0, 1.0
SOME = 4  # second seed of these rows, which makes them independent of other random choices

Wrong = NDArray[np.bool_]  # whether rows are predicted wrongly, by number of votes and row


class Bag(NamedTuple):
    """Rows by number, ascending: those in the bag, some of them that a metric is boosted on, and
    some of those out of the bag."""

    inside: Longs
    boosted: Longs
    outside: Longs


def chosen(rows: csr_array, kind: Ints, asked: Any, run: Run) -> tuple[Any, int]:
    """The parameters of the best candidate by rows out of the bag, and its number of votes."""
    dense = is_dense(rows)
    candidates = [p.resolved(dense, len(kind)) for p in options(rows, asked)]
    first = candidates[0]
    by_rows = asked.k == AUTO and dense and kind.max(initial=0) < CLASSES
    votes = VOTES if by_rows else (first.k,)
    if len(candidates) == len(votes) == 1 or len(kind) < 2 * PARTS:
        return first, first.k
    bags = dealt(kind, PARTS if first.runs > 1 else 1, run.seed)
    short = [replace(p, steps=min(p.steps, STEPS[p.engine])) for p in candidates]
    quiet, counts, wrong = replace(run, note=no_note), [], []
    found = [errors(rows, kind, bag, short, asked.w0, votes, quiet) for bag in bags]
    for by_bag in zip(*found, strict=True):
        by_votes = np.hstack(by_bag)
        best = clearly_best(by_votes, VOTES_BEYOND)
        counts.append(votes[best])
        wrong.append(by_votes[best])
    told = [
        f"{e.sum():,} of {p.engine}, order {p.order}, {count} votes"
        for e, p, count in zip(wrong, candidates, counts, strict=True)
    ]
    run.note(f"errors of {len(wrong[0]):,} rows out of the bag: {'; '.join(told)}")
    best = clearly_best(np.stack(wrong), CANDIDATE_BEYOND)
    return candidates[best], counts[best]


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
    """Samples of the rows (bags); each leaves out one of the first `parts` of PARTS parts."""
    part = folds(kind, PARTS, seed)
    mixed = permutation(len(kind), seed, SOME)

    def some(which: NDArray[np.bool_], most: int) -> Longs:
        return np.sort(mixed[which[mixed]][:most])

    return [
        Bag(np.flatnonzero(part != p), some(part != p, LEARNED), some(part == p, JUDGED))
        for p in range(parts)
    ]


def errors(
    rows: csr_array, kind: Ints, bag: Bag, candidates: list[Any], w0: Any, votes: tuple[int, ...],
    run: Run,
) -> list[Wrong]:  # fmt: skip
    """Whether the rows out of the bag are predicted wrongly by those in it, for each candidate."""
    learned, of = several(rows[bag.boosted], kind[bag.boosted])
    plain, boost = prepared(learned, of, candidates[0], run)
    inside, outside, wrong = rows[bag.inside], rows[bag.outside], []
    for p in candidates:
        boost = boost.having(p)
        terms = boost.run(p.steps, finder(boost)).terms
        space = fitted_space(plain, boost, terms)
        if w0 == AUTO and not space.dense:
            space = blended(space, learned)
        points = space.points(inside)
        near = nearest(space.points(outside), points, kind[bag.inside], max(votes), jobs=run.jobs)
        first = [Near(near.who[:, :, :k], near.distance[:, :, :k]) for k in votes]
        wrong.append(np.stack([said(one, p.predict) != kind[bag.outside] for one in first]))
    return wrong


def clearly_best(wrong: Wrong, beyond: float) -> int:
    """Which of several choices to take, by the errors of each in the same rows: the one with the
    fewest, if they are fewer than those of the first choice by more than `beyond` standard errors
    of the difference, and otherwise the first."""
    best = int(wrong.sum(axis=1).argmin())
    difference = wrong[0].astype(float) - wrong[best]
    spread = np.sqrt(((difference - difference.mean()) ** 2).sum())
    return best if difference.sum() > beyond * spread else 0


def several(rows: csr_array, kind: Ints) -> tuple[csr_array, Ints]:
    """The rows of classes with at least two rows, where there are more than two classes: a single
    row has none of its class to be near."""
    counts = np.bincount(kind, minlength=2)
    if len(counts) == 2 or counts.min() > 1:
        return rows, kind
    some = counts[kind] > 1
    return rows[some], np.unique(kind[some], return_inverse=True)[1].astype(np.int32)
