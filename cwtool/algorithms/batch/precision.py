"""The precision of bcw, X'HX over rows of all batches: as a matrix over pairs of features, or by
the rows themselves as long as these are few (`by_rows`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cwtool import memory
from cwtool.algorithms.batch import metric, row_space
from cwtool.algorithms.batch.gram import add_gram
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool.errors import UsageError
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import State
from cwtool_ext import dual

# rows kept instead of pairs of features, at most: time grows with the cube of their number
FEW_ROWS, MOST_ROWS = 5_000, 20_000
ENTRY = 110  # bytes of an entry of rows that are kept: as read, joined, kept, by columns, to save
COLUMNS = 36  # bytes of an entry of rows by columns, and of the rows themselves as they are taken
AT_ONCE = 256  # rows whose variances are computed together
ALL, CURVED = "gram", "curvature"  # matrices of a state: over all rows, or those of curved loss


@dataclass
class Precision:
    """X'HX over n features: the matrix `gram`, or the rows X with their weights."""

    n: int
    jobs: int
    gram: Floats | None
    rows: SlotRows | None = None
    places: Longs | None = None  # of the rows that are visited, among all

    @classmethod
    def of(cls, state: State, rows: SlotRows, n: int, run: Run) -> Precision:
        """The precision with these new rows, which the state keeps in the form that fits."""
        before = row_space.count(state)
        if by_rows(state, rows.n_rows, n):
            entries = row_space.entries(state) + rows.nnz
            check_room(before + rows.n_rows, "rows", run, entries=entries)
            row_space.keep(state, rows)
            x = row_space.kept(state)
            return cls(n, run.jobs, None, x, np.arange(before, x.n_rows))
        found = cls.of_pairs(state, n, run)
        assert found.gram is not None
        add_gram(rows, found.gram, n, run.jobs)
        return found

    @classmethod
    def of_pairs(cls, state: State, n: int, run: Run) -> Precision:
        """The precision of the batches so far over pairs of features, to which new rows are added;
        rows that the state has kept become a part of it."""
        check_room(n, "features", run, entries=row_space.entries(state))
        gram = grown(state, ALL, n)
        if row_space.count(state):
            add_gram(row_space.kept(state), gram, n, run.jobs)
            row_space.forget(state)
        return cls(n, run.jobs, gram)

    def metric(self, rows: SlotRows, c: float, passes: int, first: bool) -> metric.Metric:
        """I + c X'HX for visits of these rows, in the cheapest form."""
        if self.gram is None:
            assert self.rows is not None and self.places is not None
            return row_space.RowSpace(self.rows, self.n, c, self.places)
        kind = metric.cheapest(rows, self.n, passes, first)
        return kind(self.gram, self.n, c, self.jobs)


def by_rows(state: State, new: int, n: int) -> bool:
    """Whether the state keeps its rows themselves, once there are so many new ones, of n features
    in all, and no pairs of features. The rows must be fewer than the features and than FEW_ROWS;
    or fewer than half of the features, which makes their matrix a quarter as large, and than
    MOST_ROWS."""
    most = min(max(n // 2, FEW_ROWS), MOST_ROWS)
    return not state.squares and row_space.count(state) + new < min(n, most)


def bytes_of_variances(states: Sequence[State], square: str, jobs: int) -> int:
    """Upper bound of the bytes that `variances` needs in `jobs` threads. Over pairs of features:
    P^-1, its sum over the states, the factor of P, and copies of these. By rows: of each state K
    and a factor; two matrices while the last one is made; and in each thread a copy of a factor,
    with five matrices of AT_ONCE rows."""
    grams = [state.squares[square] for state in states if square in state.squares]
    if grams:
        return 6 * grams[0].nbytes
    counts = [_visited(state, square) for state in states]
    n, entries = max(counts), sum(row_space.entries(state) for state in states)
    held = sum(16 * count**2 for count in counts) + COLUMNS * entries
    features = 8 * len(states) * _columns(states[0])
    return held + features + 8 * n * ((2 + jobs) * n + 5 * jobs * AT_ONCE)


def _visited(state: State, square: str) -> int:
    """How many of the rows that the state keeps its precision consists of."""
    if square == ALL:
        return row_space.count(state)
    return int(np.count_nonzero(state.arrays[row_space.CURVED.name]))


def variances(states: Sequence[State], rows: SlotRows, c: float, square: str) -> Floats:
    """The mean over the states of x'P^-1 x, for each row; a feature that no batch had has the
    variance 1. `square` names what P consists of."""
    first = states[0]
    grams = [state.squares[square] for state in states if square in state.squares]
    n = int(first.scratch.setdefault("known", len(grams[0]) if grams else _columns(first)))
    if grams:
        key = f"sigma of {len(states)}"
        if key not in first.scratch:
            sigma = np.zeros((n, n))
            for gram in grams:
                sigma += metric.Whitened(gram, n, c, 1).solve(np.eye(n))
            first.scratch[key] = sigma / len(grams)
        if rows.indices.max(initial=-1) < n:
            return _by_sigma(rows, first.scratch[key])
    x, found = _split(row_space.scaled(rows), n)
    if grams:
        found += _by_sigma(x, first.scratch[key])
    else:
        found += np.array([_by_kept(state, x, n, c, square) for state in states]).mean(axis=0)
    return found


def _split(x: SlotRows, n: int) -> tuple[SlotRows, Floats]:
    """The rows over the first n features, and the sum of the squared values of each row in all
    others."""
    known = x.indices < n
    row = np.repeat(x.order, np.diff(x.indptr))
    squares = np.bincount(row[~known], x.values[~known] ** 2, x.n_rows).astype(np.float64)
    indptr = np.append(0, np.cumsum(known))[x.indptr]
    inside = replace(x, indptr=indptr, indices=x.indices[known], values=x.values[known])
    return inside, squares


def _by_sigma(rows: SlotRows, sigma: Floats) -> Floats:
    """x'P^-1 x of each row, by P^-1; not below 0, whatever the rounding."""
    v = np.empty(rows.n_rows)
    dual.variances(rows.csr, sigma, v, by_feature=True)
    return np.maximum(v, 0)


def _by_kept(state: State, x: SlotRows, n: int, c: float, square: str) -> Floats:
    """x'P^-1 x of each row over n features, by the rows that the state keeps."""
    if "metric" not in state.scratch:
        rows = row_space.kept(state) if square == ALL else row_space.curved(state)
        state.scratch["metric"] = row_space.RowSpace(rows, n, c, np.arange(0))
    inverse = state.scratch["metric"]
    parts = (x.slice(a, min(a + AT_ONCE, x.n_rows)) for a in range(0, x.n_rows, AT_ONCE))
    return np.concatenate([np.empty(0), *map(inverse.variances, parts)])


def _columns(state: State) -> int:
    """The number of features that the rows kept by the state have."""
    return 1 + int(state.arrays["rows.indices"].max(initial=-1))


def grown(state: State, square: str, n: int) -> Floats:
    """This matrix of the state, with a row and a column for each of the n features seen."""
    gram = state.squares.get(square)
    if gram is not None and n <= len(gram):
        return gram
    larger = np.zeros((n, n))
    if gram is not None:
        larger[: len(gram), : len(gram)] = gram
    state.squares[square] = larger
    return larger


def check_room(n: int, what: str, run: Run, more: int = 0, entries: int = 0) -> None:
    """Refuse matrices over so many features or rows that do not fit into memory; `more` is the
    number of those that are kept beside the first, and `entries` are those of rows that are
    kept."""
    # a matrix, its factor, its inverse, copies to work in, to change and to save, and the memory of
    # two smaller ones of batches before, into which larger ones do not fit
    needed = (8 + more) * 8 * n * n + ENTRY * entries
    free = memory.allowed_for(needed, run.max_memory)
    if needed > free:
        raise UsageError(
            f"bcw over {n:,} {what} needs {memory.words(needed)} for "
            f"{_beside(what, entries)}its precision matrix, "
            f"and {memory.may_be_used(free)}",
            "use `algo=sbcw`, `algo=cw-fact` or `algo=cw`, whose memory grows only linearly with "
            "the number of features, or fold the ids with `hash_bits`",
        )


def _beside(what: str, entries: int) -> str:
    """What of rows there is beside the matrix, in a message."""
    if not entries:
        return ""
    return "these and " if what == "rows" else "the rows that were kept before and "
