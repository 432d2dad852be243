"""Artificial data by name: a suite that uses these needs no files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.bench import covtype, synthetic
from cwtool.data.rows import Ints, Rows

Parts = tuple[Rows, Rows | None]  # training and test rows


def of_arrays(x: NDArray[Any], y: NDArray[Any]) -> Rows:
    """Rows from a dense matrix, without its zeros; y is positive for rows of class 1."""
    filled = x != 0
    return Rows(
        np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int64),
        np.nonzero(filled)[1].astype(np.int32),
        x[filled],
        classes(y),
    )


def classes(score: NDArray[Any]) -> Ints:
    """Class 1 where the score is positive, class 0 elsewhere."""
    return (score > 0).astype(np.int32)


def copied_bits(seed: int, rows: int, copies: int, flipped: float = 0.05) -> Parts:
    """Ten true bits, the label by a random plane, copies of the bits with some of them flipped
    (Ma et al. 2010, section 2)."""
    rng = np.random.default_rng(seed)
    bits = rng.choice([-1.0, 1.0], (rows, 10))
    score = bits @ rng.standard_normal(10)
    wrong = rng.random((rows, 10 * copies)) < flipped
    return of_arrays(np.tile(bits, copies) * np.where(wrong, -1.0, 1.0), score), None


def covtype_like(seed: int, rows: int) -> Parts:
    """54 columns of which 12 are filled; a linear model errs on about 26 % of the rows."""
    return covtype.made(rows, 2 * seed + 1), covtype.made(rows // 5, 2 * seed + 2)


def words(
    seed: int,
    rows: int,
    features: int = 20_000,
    length: int = 60,
    relevant: int = 100,
    positive: float = 0.0,
) -> Parts:
    """Bags of words: ids by Zipf's law, counts as values, a label by the relevant words. `positive`
    is the share of the positive rows; 0: those with a positive sum."""
    rng = np.random.default_rng(seed)
    weight = np.zeros(features)
    # neither the most frequent words nor those that hardly occur have a weight
    weight[20 + rng.permutation(min(features - 20, 10 * relevant))[:relevant]] = 1.0
    weight *= rng.normal(0, 1, features)

    def part(n: int) -> Rows:
        draws = 1 + rng.poisson(length, n)
        row = np.repeat(np.arange(n), draws)
        ids = np.minimum(features ** rng.random(row.size), features - 1).astype(np.int64)
        cell, count = np.unique(row * features + ids, return_counts=True)
        row, ids = np.divmod(cell, features)
        score = np.bincount(row, weight[ids] * count, minlength=n) + rng.normal(0, 0.5, n)
        y = classes(score - np.quantile(score, 1 - positive) if positive else score)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
        return Rows(indptr.astype(np.int64), ids.astype(np.int32), count.astype(np.float64), y)

    return part(rows), part(rows // 2)


def topics(
    seed: int,
    rows: int,
    classes: int = 10,
    features: int = 5_000,
    length: int = 60,
    favourites: int = 40,
    taste: float = 0.08,
) -> Parts:
    """Bags of words on several topics, each two thirds as frequent as the one before. A share
    `taste` of the words are favourites of the topic, the others are the same for all topics; both
    are drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    liked = rng.integers(0, features, (classes, favourites))
    share = (2 / 3) ** np.arange(classes)

    def part(n: int) -> Rows:
        y = rng.choice(classes, n, p=share / share.sum())
        row = np.repeat(np.arange(n), 1 + rng.poisson(length, n))
        common = (features ** rng.random(row.size)).astype(np.int64) - 1
        own = liked[y[row], (favourites ** rng.random(row.size)).astype(np.int64) - 1]
        ids = np.where(rng.random(row.size) < taste, own, common)
        cell, count = np.unique(row * features + ids, return_counts=True)
        row, ids = np.divmod(cell, features)
        counts = csr_array((count.astype(float), (row, ids)), (n, features))
        return Rows.from_csr(counts, y)

    return part(rows), part(rows // 2)


def clusters(
    seed: int,
    rows: int,
    classes: int = 10,
    columns: int = 16,
    centres: int = 3,
    spread: float = 0.5,
) -> Parts:
    """Dense columns and a constant; every class has several centres, so that planes separate the
    classes only in part."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(-1, 1, (classes, centres, columns))

    def part(n: int) -> Rows:
        y = rng.integers(0, classes, n)
        x = place[y, rng.integers(0, centres, n)] + spread * rng.standard_normal((n, columns))
        return Rows.from_csr(csr_array(np.column_stack([x, np.ones(n)])), y)

    return part(rows), part(rows // 2)


def hidden(
    seed: int, shape: str, rows: int, columns: int, informative: int = 2, test: int = 1000
) -> Parts:
    """XOR or double rings in a few columns among noise. The Bayes error is 15 %."""
    x, y = synthetic.hidden(shape, rows + test, columns, seed, informative=informative)
    return of_arrays(x[:rows], y[:rows]), of_arrays(x[rows:], y[rows:])


def nothing(seed: int) -> Parts:
    """No rows, for tasks that bring their own data."""
    return of_arrays(np.empty((0, 0)), np.empty(0)), None


MAKERS: dict[str, Callable[..., Parts]] = {
    "clusters": clusters,
    "copied-bits": copied_bits,
    "covtype-like": covtype_like,
    "hidden": hidden,
    "nothing": nothing,
    "topics": topics,
    "words": words,
}
