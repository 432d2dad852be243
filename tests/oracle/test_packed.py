"""Rows in few bytes and back: as the slow reader reads them, and nothing outside of the arrays."""

from itertools import pairwise
from struct import pack
from typing import Any, NamedTuple

import numpy as np
import pytest
import slow_rows

from cwtool_ext import packed

GUARD = 77  # stands around all that may be written to
LAST_ID = 2**31 - 2


class Frame(NamedTuple):
    data: bytes
    n_rows: int
    nnz: int


def encoded(lengths: list[int], gaps: Any, values: Any, labels: Any) -> Frame:
    """A frame without counts of rows of these lengths; `gaps` between the ids."""
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    indices = np.empty(indptr[-1], dtype=np.int32)
    for start, stop in pairwise(indptr):
        indices[start:stop] = np.cumsum(gaps[start:stop] + 1) - 1
    out = np.empty(packed.room(len(lengths), len(indices)), dtype=np.uint8)
    lines = np.arange(len(lengths), dtype=np.int32)
    size = packed.encode(indptr, indices, values, labels, lines, out)
    return Frame(out[:size].tobytes(), len(lengths), len(indices))


def guarded(size: int, dtype: Any) -> Any:
    """An array of this size, and behind it, in the same memory, 64 numbers that are GUARD."""
    return np.full(size + 64, GUARD, dtype=dtype)


def decoded(frame: Frame, stop: int | None = None, last: int = LAST_ID) -> list[Any] | None:
    """Lengths, labels, ids and values; None if the kernel refuses them."""
    stop = len(frame.data) if stop is None else stop
    data = np.frombuffer(frame.data[:stop] + bytes([255] * packed.PADDING), dtype=np.uint8)
    n_rows, nnz = frame.n_rows, frame.nnz
    sizes = n_rows + 1, nnz + packed.SPARE, nnz, n_rows, n_rows
    kinds = np.int64, np.int32, np.float64, np.float64, np.int32
    arrays = [guarded(size, kind) for size, kind in zip(sizes, kinds, strict=True)]
    views = [array[:size] for array, size in zip(arrays, sizes, strict=True)]
    end = packed.decode(data, 0, stop, n_rows, nnz, *views, last)
    for array, size in zip(arrays, sizes, strict=True):
        assert (array[size:] == GUARD).all(), "written outside"
    assert end <= stop
    if end != stop:  # -1, or changed rows that end before
        return None
    indptr, indices, values, labels, _ = views
    ids = indices[:nnz].tolist()
    return [np.diff(indptr).tolist(), labels.tolist(), ids, values.tolist()]


def expected(frame: Frame) -> list[Any]:
    counts = pack("<IIIIB", frame.n_rows, frame.nnz, frame.n_rows, 0, 0)
    rows = slow_rows.rows(counts + frame.data)["rows"]
    entries = [entry for row in rows for entry in row[3]]
    ids, values = [id_ for id_, _ in entries], [value for _, value in entries]
    return [[len(row[3]) for row in rows], [row[1] for row in rows], ids, values]


def random_frame(rng: np.random.Generator) -> Frame:
    """Rows of many lengths, gaps of all widths, and values of one of the forms."""
    n_rows = int(rng.choice([1, 3, 40, 300]))
    lengths = rng.choice([0, 1, 3, 4, 5, 8, 9, 16, 17, int(rng.integers(1, 90))], n_rows)
    nnz = int(lengths.sum())
    gaps = rng.choice([0, 1, 255, 256, 65535, 65536, 10**6], nnz, p=[0.5, 0.2, *[0.06] * 5])
    pool = rng.normal(size=int(rng.choice([1, 2, 200, 400])))
    if rng.random() < 0.3:
        pool = pool.astype(np.float32).astype(np.float64)
    other = pool[rng.integers(len(pool), size=nnz)]
    values = np.where(rng.random(nnz) < rng.choice([0, 0.01, 0.4, 1]), other, 1.0)
    return encoded(lengths.tolist(), gaps, values, rng.choice([-1.0, 1.0], n_rows))


@pytest.mark.parametrize("seed", range(40))
def test_the_slow_reader_reads_the_same(seed: int) -> None:
    frame = random_frame(np.random.default_rng(seed))
    assert decoded(frame) == expected(frame)


@pytest.mark.parametrize("seed", range(40, 50))
def test_what_is_cut_short_is_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = random_frame(rng)
    for stop in {*rng.integers(len(frame.data), size=60).tolist(), len(frame.data) - 1, 0}:
        assert decoded(frame, stop) is None


@pytest.mark.parametrize("seed", range(50, 60))
def test_changed_bytes_write_nothing_outside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = random_frame(rng)
    for _ in range(60):
        data = bytearray(frame.data)
        for at in rng.integers(len(data), size=int(rng.choice([1, 5, 100]))):
            data[at] = rng.choice([0, 255, rng.integers(256)])
        found = decoded(frame._replace(data=bytes(data)))
        if found is not None:
            lengths, _, ids, _ = found
            ends = np.cumsum(lengths)
            for row in np.split(np.array(ids, dtype=np.int64), ends[:-1]):
                assert (np.diff(row) > 0).all()
                assert row.min(initial=0) >= 0
                assert row.max(initial=0) <= LAST_ID


@pytest.mark.parametrize("before", range(9))
@pytest.mark.parametrize("beyond", [-20, -2, -1, 0])
def test_the_greatest_id(before: int, beyond: int) -> None:
    """Ids near 2^31, in any place of their row; `last` itself is allowed, and no more."""
    first = LAST_ID - before + beyond
    gaps = np.array([first, *[0] * before, 5])
    frame = encoded([1 + before, 1], gaps, np.ones(len(gaps)), np.ones(2))
    assert decoded(frame) == expected(frame)
    assert decoded(frame, last=first + before) is not None
    assert decoded(frame, last=first + before - 1) is None


@pytest.mark.parametrize("at", [0, 250, 255, 256, 257, 511, 512, 1200])
def test_places_of_values_outside_are_refused(at: int) -> None:
    """Each third value is not the usual one, so that the gaps are the last bytes, one byte each."""
    values = np.where(np.arange(4000) % 3 == 2, 0.25, 1.0)
    frame = encoded([4000], np.zeros(4000, dtype=np.int64), values, np.ones(1))
    assert decoded(frame) == expected(frame)
    gaps = len(frame.data) - 4000 // 3
    assert set(frame.data[gaps:]) == {2}
    changed = frame.data[: gaps + at] + bytes([255] * 20) + frame.data[gaps + at + 20 :]
    assert decoded(frame._replace(data=changed)) is None
