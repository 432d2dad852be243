"""Which rows train and which test. Random choices depend on the number of rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from cwtool.errors import DataError
from cwtool.order import permutation
from data_scripts.rows import Part, Parts, Reader, Row, Rows

SEED = 1


def mixed(rows: Sequence[Row]) -> Rows:
    """All rows in random order: publishers often sort by class."""
    return (rows[i] for i in permutation(len(rows), SEED).tolist())


def given(read: Reader) -> Parts:
    """The publisher's split: the first half of the files trains, the second tests."""

    def parts(paths: Sequence[Path]) -> Iterator[Part]:
        half = len(paths) // 2
        yield "train", read(*paths[:half])
        yield "test", read(*paths[half:])

    return parts


def random(read: Reader, train: float) -> Parts:
    """So many rows (or such a share of them) train, the others test; both in random order."""

    def parts(paths: Sequence[Path]) -> Iterator[Part]:
        rows = list(mixed(list(read(*paths))))
        cut = round(train * len(rows)) if train < 1 else int(train)
        yield "train", iter(rows[:cut])
        yield "test", iter(rows[cut:])

    return parts


def streamed(read: Reader, train: int, of: int) -> Parts:
    """As `random`, in the order of the file and never in memory: the file is read twice."""

    def parts(paths: Sequence[Path]) -> Iterator[Part]:
        yield "train", some(read(*paths), train, of)
        yield "test", some(read(*paths), train, of, others=True)

    return parts


def subsample(read: Reader, train: int, of: int) -> Parts:
    """The publisher's split with only so many of the training rows."""

    def parts(paths: Sequence[Path]) -> Iterator[Part]:
        yield "train", some(read(paths[0]), train, of)
        yield "test", read(paths[1])

    return parts


def some(rows: Rows, n: int, of: int, others: bool = False) -> Rows:
    """A random choice of n rows, or the others, in their order."""
    chosen = (permutation(of, SEED) < n) != others
    count = 0
    for row in rows:
        if count < of and chosen[count]:
            yield row
        count += 1
    if count != of:
        raise DataError(f"the raw file has {count:,} rows and not {of:,}", "fetch it again")
