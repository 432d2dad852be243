"""Which bytes each shard learns, and which it holds back, in whole numbers: nothing is read here.

The files are laid end to end. The head is learned in sequence; each round behind it is cut into
shards, and the end of each shard is its tail, which is left for the merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from cwtool.records import dataclass

GROWTH = 2.0  # each round ends this many times as far from the start as the round before
HEAD = 64 << 20  # bytes
TAIL_ROWS = 4000  # of all shards of a round
REPEATS = 0.75  # a last round shorter than a quarter of everything joins the round before


@dataclass(frozen=True)
class Cut:
    """A shard of a round: it learns the lines that begin in [start, tail), and holds back those
    that begin in [tail, stop)."""

    start: int
    tail: int
    stop: int


def ends_of(head: int, total: int, growth: float = GROWTH) -> list[int]:
    """Where the rounds end: at head growth, head growth^2, ... and at last at the total."""
    ends, end = [], head
    while end < total:
        end = max(end + 1, int(end * growth))
        ends.append(min(end, total))
    if len(ends) > 1 and ends[-2] > REPEATS * total:
        del ends[-2]
    return ends


def equal_ends(head: int, total: int, rounds: int) -> list[int]:
    """Where this number of rounds of equal length end."""
    ends = [head + (total - head) * k // rounds for k in range(1, rounds + 1)]
    return [end for before, end in zip([head, *ends], ends, strict=False) if end > before]


def cuts_of(start: int, stop: int, shards: int, tail_bytes: int) -> list[Cut]:
    """The shards of a round: cut_i = a + (e - a) i // S, and a tail of at most a quarter each."""
    edges = [start + (stop - start) * i // shards for i in range(shards + 1)]
    return [Cut(a, b - min(tail_bytes // shards, (b - a) // 4), b) for a, b in pairwise(edges)]


def pieces_of(sizes: Sequence[int], start: int, stop: int) -> list[tuple[int, int, int]]:
    """The part [start, stop) of files of these sizes, laid end to end: the number of each file and
    the bytes in it."""
    found, before = [], 0
    for k, size in enumerate(sizes):
        low, high = max(start - before, 0), min(stop - before, size)
        if low < high:
            found.append((k, low, high))
        before += size
    return found


def unit_ends(sizes: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The ends of rounds, each moved on to the end of a file: the first one not before it."""
    edges = list(accumulate(sizes))
    found = sorted({next(edge for edge in edges if edge >= end) for end in ends})
    if len(found) > 1 and found[-2] > REPEATS * found[-1]:
        del found[-2]
    return found


def units_of(sizes: Sequence[int], start: int, stop: int, shards: int) -> list[list[int]]:
    """The numbers of the whole files of each shard of the round [start, stop): those that begin in
    [cut_i, cut_{i+1})."""
    begins = [0, *accumulate(sizes)][:-1]
    edges = [start + (stop - start) * i // shards for i in range(shards + 1)]
    return [[k for k, begin in enumerate(begins) if a <= begin < b] for a, b in pairwise(edges)]
