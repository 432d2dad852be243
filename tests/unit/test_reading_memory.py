"""What reading takes of a limit of memory, and the blocks that are chosen for it."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator
from math import inf
from pathlib import Path
from time import sleep

import pytest

from cwtool import memory
from cwtool.ahead import AHEAD, WAITING
from cwtool.data.names import bytes_of_names, read_names
from cwtool.data.pipeline import BLOCK_BYTES, ReadOptions, read_blocks
from cwtool.data.reading_memory import (
    BLOCK,
    PACKED,
    SHARE,
    SMALLEST,
    USED,
    beside_reading,
    bytes_of_reading,
    text_size,
)
from cwtool.data.rowfile import ROWS_MAGIC
from cwtool.errors import UsageError

MB = 1_000_000


@pytest.fixture(autouse=True)
def bounds() -> Iterator[None]:
    yield
    memory.BOUNDS.reading = 0


def test_blocks_that_wait_count_if_there_are_several_threads() -> None:
    assert bytes_of_reading(1000, 1) == (2 * BLOCK + USED) * 1000
    assert bytes_of_reading(1000, 3) == ((3 + AHEAD + WAITING) * BLOCK + USED) * 1000
    assert bytes_of_reading(1000, 3, ahead=1) == ((3 + 1 + WAITING) * BLOCK + USED) * 1000


def test_a_small_file_takes_no_more_than_its_text() -> None:
    assert bytes_of_reading(1000, 3, 1500) == BLOCK * 1500 + USED * 1000
    assert bytes_of_reading(1000, 3, 400) == (BLOCK + USED) * 400


@pytest.mark.parametrize("jobs", [1, 2, 16])
@pytest.mark.parametrize("limit", [40 * MB, 100 * MB, 1000 * MB, 100_000 * MB])
def test_blocks_take_a_part_of_the_limit(limit: int, jobs: int) -> None:
    """And what they take is left out of what else may be used."""
    found = beside_reading(ReadOptions(max_memory=limit), ["-"], jobs)
    needed = bytes_of_reading(found.block_bytes, jobs)
    assert found.block_bytes % SMALLEST == 0
    assert SMALLEST <= found.block_bytes <= BLOCK_BYTES
    assert found.block_bytes == SMALLEST or needed <= limit / SHARE
    larger = bytes_of_reading(found.block_bytes + SMALLEST, jobs)
    assert found.block_bytes == BLOCK_BYTES or larger > limit / SHARE
    assert found.max_memory == limit - needed
    assert memory.BOUNDS.reading == needed


def test_blocks_are_no_larger_than_those_asked_for() -> None:
    options = ReadOptions(block_bytes=2 * SMALLEST, max_memory=10_000 * MB)
    assert beside_reading(options, ["-"], 1).block_bytes == 2 * SMALLEST


def test_a_limit_below_the_smallest_blocks_is_refused() -> None:
    least = bytes_of_reading(SMALLEST, 4)
    assert beside_reading(ReadOptions(max_memory=least + 5), ["-"], 4).max_memory == 5
    with pytest.raises(UsageError, match=r"with `jobs=4` needs .* MB, and 1 MB may") as told:
        beside_reading(ReadOptions(max_memory=MB), ["-"], 4)
    assert told.value.hint == "use `jobs=1`, or raise `max_memory`"
    with pytest.raises(UsageError) as told:
        beside_reading(ReadOptions(max_memory=MB), ["-"], 1)
    assert told.value.hint == "raise `max_memory`"


def test_without_a_limit_and_for_small_files_all_stays_as_it_is(folder: Path) -> None:
    assert beside_reading(ReadOptions(jobs=4), ["-"], 4) == ReadOptions(jobs=4)
    (folder / "a.svm").write_text("1 1:1\n" * 100)
    small = ReadOptions(jobs=4, max_memory=1000)
    assert beside_reading(small, ["a.svm"], 4) == small


def test_the_size_of_text_is_known_of_plain_files_alone(folder: Path) -> None:
    (folder / "a.svm").write_bytes(b"1 1:1\n" * 100)
    (folder / "a.svm.gz").write_bytes(gzip.compress(b"1 1:1\n" * 100))
    (folder / "a.cwrows").write_bytes(ROWS_MAGIC + bytes(92))
    assert text_size([]) == 0
    assert text_size(["a.svm", "a.svm"]) == 1200
    assert text_size(["a.cwrows"]) == PACKED * 100
    assert all(text_size(["a.svm", other]) == inf for other in ("-", "a.svm.gz", "none", "."))


def test_blocks_of_files_of_rows_are_as_they_were_written(folder: Path) -> None:
    (folder / "a.cwrows").write_bytes(ROWS_MAGIC + bytes(10 * MB))
    left = beside_reading(ReadOptions(max_memory=100 * MB), ["a.cwrows"], 1).max_memory
    assert left == 100 * MB - bytes_of_reading(BLOCK_BYTES, 1)


@pytest.mark.parametrize("row", ["1 1:1 2:1 3:1 4:1 5:1 66:1", "1 1:0.25", "1 1:0.123456789"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_reading_takes_no_more_than_that(row: str, jobs: int, folder: Path) -> None:
    """tracemalloc measures the arrays while all blocks wait for a slow consumer."""
    (folder / "a.svm").write_text(f"{row}\n" * (4_000_000 // len(row)))
    block = 4 * SMALLEST
    tracemalloc.start()
    for k, _ in enumerate(read_blocks(["a.svm"], ReadOptions(block_bytes=block, jobs=jobs))):
        sleep(0.3 if k == 0 and jobs > 1 else 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= bytes_of_reading(block, jobs) - USED * block


@pytest.mark.parametrize("name", ["w", "a word that is longer", "wört ☃ 😀"])
def test_names_take_no_more_than_is_counted(name: str, folder: Path) -> None:
    path = folder / "names.tsv"
    path.write_text("".join(f"{k}\t{name}{k}\n" for k in range(20_000)), encoding="utf-8")
    tracemalloc.start()
    assert len(read_names(path).by_id) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= bytes_of_names(path) <= 2 * peak


def test_no_names_take_nothing(folder: Path) -> None:
    assert bytes_of_names(None) == bytes_of_names(folder / "none.tsv") == 0
