"""Arrays and rows that come in parts are what they are when joined at once."""

import mmap
from typing import Any

import numpy as np
import pytest

from cwtool.data import growing as module
from cwtool.data.growing import LARGE, LEAST, Growing, Joining, spacious
from cwtool.data.rows import Rows, joined

PARTS = [np.arange(n) % 1009 for n in (0, 5, LEAST // 4, 1, LEAST, 3)]


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_parts_follow_one_another(dtype: Any) -> None:
    growing = Growing(dtype)
    for part in PARTS:
        growing.add(part.astype(dtype))
    assert growing.array.dtype == dtype
    assert np.array_equal(growing.array, np.concatenate(PARTS))


def test_an_array_that_someone_looks_at_is_copied() -> None:
    growing = Growing(np.int32)
    growing.add(np.array([1, 2, 3], dtype=np.int32))
    early = growing.array
    growing.add(np.ones(LEAST, dtype=np.int32))
    assert early.tolist() == [1, 2, 3]
    assert growing.array[:4].tolist() == [1, 2, 3, 1]


def test_a_system_that_cannot_move_memory(monkeypatch: Any) -> None:
    class Fixed(mmap.mmap):
        def resize(self, newsize: int) -> None:
            raise SystemError("mmap: resizing not available--no mremap()")

    monkeypatch.setattr(mmap, "mmap", Fixed)
    test_parts_follow_one_another(np.int32)


@pytest.mark.parametrize("weighted", [(), (1,), (0, 1, 2)])
def test_rows_are_joined_as_they_come(weighted: tuple[int, ...]) -> None:
    lists: list[Any] = [[[(1, 2.0)], [], [(0, 1.0), (7, 3.0)]], [[]], [[(3, 4.0)], [(2, 5.0)]]]
    parts = [Rows.from_lists(rows, [k % 2 for k in range(len(rows))]) for rows in lists]
    for k in weighted:
        rows = parts[k]
        weight = np.arange(1.0, rows.n_rows + 1)
        parts[k] = Rows(rows.indptr, rows.indices, rows.values, rows.y, weight)
    joining, want = Joining(), joined(parts)
    for part in parts:
        joining.add(part)
    for part in parts:  # the memory that they were read into is used again
        part.values[:], part.indices[:], part.indptr[:], part.y[:] = 9, 9, 9, 9
    found = joining.rows()
    for name in ("indptr", "indices", "values", "y", "weight"):
        mine, other = getattr(found, name), getattr(want, name)
        assert (mine is None) == (other is None) == (name == "weight" and not weighted)
        if mine is not None:
            assert mine.dtype == other.dtype
            assert mine.tolist() == other.tolist()


@pytest.mark.parametrize("size", [0, 5, LARGE // 8 - 1, LARGE // 8, LARGE])
def test_a_spacious_array_has_at_least_its_size(size: int) -> None:
    array = spacious(size, np.float64)
    assert len(array) >= size
    array[:] = 1
    assert array.sum() == len(array)


def test_an_array_without_room_to_spare(monkeypatch: Any) -> None:
    def full(n_bytes: int) -> mmap.mmap:
        raise MemoryError(f"there is no room for {n_bytes} bytes")

    monkeypatch.setattr(module, "zero_pages", full)
    assert len(spacious(LARGE, np.uint8)) == LARGE
