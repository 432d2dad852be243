"""What a model checks and looks up before it learns rows: weights, memory, slots of features."""

from __future__ import annotations

import mmap

import numpy as np

from cwtool import memory
from cwtool.algorithms.base import Algorithm
from cwtool.data.growing import HUGE_PAGE
from cwtool.data.rows import Rows, SlotRows, joined
from cwtool.errors import UsageError
from cwtool.model.scale import slotted
from cwtool.state import FeatureIndex, State
from cwtool.state.state import FEW

COPIES = 3  # of the rows that probabilities are fitted to: as kept, joined, and of a fold


def check_takes_weights(algorithm: Algorithm, what: str) -> None:
    """Refuse weights (`what`: row weights or class weights) that the algorithm does not take."""
    if algorithm.takes_weights:
        return
    instead = algorithm.weighted_instead
    hint = f"use {instead}, which does" if instead else None
    raise UsageError(f"{algorithm.name} does not take {what}", hint)


def check_memory(
    algorithm: Algorithm, state: State, max_memory: int, rows: Rows | None = None, kept: int = 0
) -> None:
    """Refuse features whose tables, and what learning the rows of a batch takes beside them, would
    take more than may be used; `max_memory` 0: no limit. `kept` are the bytes of rows that
    probabilities are fitted to, of which there are copies when this is done."""
    if not memory.limited(max_memory):
        return

    def bytes_for(features: int) -> int:
        beside = algorithm.bytes_beside(state, features, rows) + COPIES * kept
        return state.bytes_for(features) + _last_pages(state, features) + beside

    features, free = state.index.count, memory.allowed(max_memory)
    needed = bytes_for(features) + _gaps(state)
    if needed <= free:
        return
    fits = max((bits for bits in range(1, 31) if bytes_for(1 << bits) <= free), default=0)
    ways = [f"fold the feature ids with `hash_bits={fits}`"] if fits else []
    what = f"{features:,} features"
    if kept:
        what += " and the rows that its probabilities are fitted to"
    if rows is not None:
        ways, what = (
            [*ways, "use smaller batches with `batch_rows`"],
            f"{rows.n_rows:,} rows of {what}",
        )
    raise UsageError(
        f"{algorithm.name} needs {memory.words(needed)} for {what}, and {memory.may_be_used(free)}",
        ", ".join([*ways, "or raise `max_memory`"]) if ways else "raise `max_memory`",
    )


def check_scoring(
    algorithm: Algorithm, state: State, max_memory: int, jobs: int, more: int = 0
) -> int:
    """Refuse to predict in `jobs` threads if what the algorithm computes beside the state, and
    `more` bytes, would take more than may be used; `max_memory` 0: no limit. Returns the
    bytes that are left; 0: no limit."""
    if not memory.limited(max_memory):
        return 0

    def needed(jobs: int) -> int:
        beside = more + algorithm.bytes_to_score(state.scoring, jobs)
        return state.held + _gaps(state) + _last_pages(state, state.index.count) + beside

    fewer = [n for n in range(1, jobs) if needed(n) <= memory.allowed(max_memory)]
    memory.check(
        f"{algorithm.name} with {state.index.count:,} features",
        needed(jobs),
        max_memory,
        f"use `jobs={fewer[-1]}`" if fewer else "use a model of fewer rows or features",
        "to predict",
    )
    return max(1, memory.allowed(max_memory) - needed(jobs))


def bytes_of(state: State) -> int:
    """The bytes of a state with all features that its index has met and its matrices over pairs of
    features, and of the copy that is saved."""
    features = state.index.count
    squares = sum(a.nbytes for part in state.scoring for a in part.squares.values())
    tables = state.bytes_for(features) + _gaps(state) + _last_pages(state, features)
    return tables + 2 * squares


def _gaps(state: State) -> int:
    """What tables take between their features where these are: the rest of the page of each, or of
    all rows up to the last one."""
    features = state.index.count
    page = HUGE_PAGE if features > FEW else mmap.PAGESIZE
    pages = features * max(page * state.n_tables, state.row_bytes)
    return min(state.index.reach * state.row_bytes, pages) - features * state.row_bytes


def _last_pages(state: State, features: int) -> int:
    """What tables of so many features take behind the last one, where pages are huge."""
    return state.n_tables * HUGE_PAGE if features > FEW and state.index.direct else 0


def observed(index: FeatureIndex, rows: Rows) -> SlotRows:
    """The rows by slots; the index has met their features. Features that only rows of weight 0
    have stay unknown: such rows are without them."""
    if rows.weight is None or rows.weight.all():
        return slotted(rows, index.observe(rows.indices))
    learned, others = np.flatnonzero(rows.weight), np.flatnonzero(rows.weight == 0)
    first = rows.take(learned)
    first = slotted(first, index.observe(first.indices))
    rest, _, _ = index.lookup(rows.take(others), 1.0)
    mixed = joined([first, rest]).take(np.argsort(np.concatenate([learned, others])))
    return slotted(mixed, mixed.indices)
