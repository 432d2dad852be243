"""The precision of bcw, X'HX of all batches: as a matrix over pairs of features, or by the rows
themselves as long as these are fewer than the features, and than MOST_ROWS."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from cwtool import memory
from cwtool.algorithms import metric, row_space
from cwtool.data.rows import Floats, Longs, SlotRows
from cwtool.errors import UsageError
from cwtool.run import Run
from cwtool.state import State
from cwtool_ext import dual

MOST_ROWS = 5000  # kept instead of pairs of features: time grows with the cube of their number
AT_ONCE = 256  # rows whose variances are computed together


@dataclass
class Precision:
    """X'HX over n features, of which `share` counts; `rows` and `weight` have no gram then."""

    n: int
    jobs: int
    gram: Floats | None
    rows: csr_matrix | None = None
    weight: Floats | None = None
    places: Longs | None = None  # of the rows that are visited, among all
    share: float = 1.0
    products: Floats | None = None  # of all rows with each other

    @classmethod
    def of(cls, state: State, rows: SlotRows, n: int, run: Run) -> Precision:
        """The precision with these new rows, which the state keeps in the form that fits."""
        before = row_space.count(state)
        if by_rows(state, rows.n_rows, n):
            _check(before + rows.n_rows, "rows", run)
            row_space.keep(state, rows, n)
            x, weight = row_space.kept(state, n)
            places = np.arange(before, x.shape[0])
            return cls(n, run.jobs, None, x, weight, places, products=row_space.products(x))
        found = cls.of_pairs(state, n, run)
        assert found.gram is not None
        metric.add_gram(rows, found.gram, n, run.jobs)
        return found

    @classmethod
    def of_pairs(cls, state: State, n: int, run: Run) -> Precision:
        """The precision of the batches so far over pairs of features, to which new rows are added;
        rows that the state has kept become a part of it."""
        gram = _grown(state, n, run)
        if row_space.count(state):
            metric.add_gram(_slot_rows(*row_space.kept(state, n)), gram, n, run.jobs)
            row_space.forget(state)
        return cls(n, run.jobs, gram)

    def metric(self, rows: SlotRows, c: float, passes: int, first: bool) -> metric.Metric:
        """I + c X'HX for visits of these rows, in the cheapest form."""
        c *= self.share
        if self.gram is None:
            assert self.rows is not None and self.places is not None
            return row_space.RowSpace(self.rows, self.weight, c, self.places, self.products)
        kind = metric.cheapest(rows, self.n, passes, first)
        return kind(self.gram, self.n, c, self.jobs)

    def part(self, some: Longs, share: float) -> Precision:
        """The same, for visits of some of the new rows, which are this share of all."""
        if self.gram is not None:
            return Precision(self.n, self.jobs, self.gram[: self.n, : self.n] * share)
        assert self.places is not None
        return replace(self, places=self.places[some], share=share)


def by_rows(state: State, new: int, n: int) -> bool:
    """Whether the state keeps its rows themselves, once there are so many new ones, of n features
    in all."""
    return "gram" not in state.squares and row_space.count(state) + new < min(n, MOST_ROWS)


def variances(state: State, rows: SlotRows, c: float) -> Floats:
    """x'P^-1 x of each row; a feature that no batch had has the variance 1."""
    gram = state.squares.get("gram")
    n = int(state.scratch.setdefault("known", len(gram) if gram is not None else _columns(state)))
    x = row_space.matrix(rows, max(state.index.n_slots, n))
    out = np.asarray(x[:, n:].multiply(x[:, n:]).sum(axis=1)).ravel()
    x = x[:, :n]
    if gram is None:
        if "metric" not in state.scratch:
            kept, weight = row_space.kept(state, n)
            state.scratch["metric"] = row_space.RowSpace(kept, weight, c, np.arange(0))
        inverse = state.scratch["metric"]
        parts = range(0, rows.n_rows, AT_ONCE)
        found = [inverse.variances(x[start : start + AT_ONCE]) for start in parts]
        whole: Floats = out + np.concatenate([np.empty(0), *found])
        return whole
    if "sigma" not in state.scratch:
        whitened = metric.Whitened(gram, n, c, 1)
        state.scratch["sigma"] = np.ascontiguousarray(whitened.solve(np.eye(n)))
    v = np.empty(rows.n_rows)
    dual.variances(_slot_rows(x, None).csr, state.scratch["sigma"], v)
    total: Floats = out + np.maximum(v, 0)
    return total


def _columns(state: State) -> int:
    """The number of features that the rows kept by the state have."""
    return 1 + int(state.arrays["rows.indices"].max(initial=-1))


def _slot_rows(x: csr_matrix, weight: Floats | None) -> SlotRows:
    x.sort_indices()
    indptr, indices = x.indptr.astype(np.int64), x.indices.astype(np.int32)
    return SlotRows(indptr, indices, x.data, np.zeros(x.shape[0], dtype=np.int32), weight)


def _grown(state: State, n: int, run: Run) -> Floats:
    """X'HX of all batches, with a row and a column for each of the n features seen."""
    gram = state.squares.get("gram")
    if gram is not None and n <= len(gram):
        return gram
    _check(n, "features", run)
    grown = np.zeros((n, n))
    if gram is not None:
        grown[: len(gram), : len(gram)] = gram
    state.squares["gram"] = grown
    return grown


def _check(n: int, what: str, run: Run) -> None:
    """Refuse a matrix over so many features or rows that does not fit into memory."""
    needed = 5 * 8 * n * n  # the matrix, its factor, its inverse, and copies to work in and to save
    free = memory.allowed(run.max_memory)
    if needed > free:
        raise UsageError(
            f"bcw over {n:,} {what} needs {memory.words(needed)} for its precision matrix, "
            f"and {memory.words(free)} may be used",
            "use `algo=sbcw`, `algo=cw-fact` or `algo=cw`, whose memory grows only linearly with "
            "the number of features, or fold the ids with `hash_bits`",
        )
