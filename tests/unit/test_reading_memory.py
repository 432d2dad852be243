"""What reading takes of a limit of memory, and the blocks that are chosen for it."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool import memory
from cwtool.ahead import AHEAD, WAITING
from cwtool.convert.rows_file import Kept
from cwtool.data.columns import Columns
from cwtool.data.cutting import ENTRY, LINE
from cwtool.data.measuring import MEASURED, measured
from cwtool.data.names import bytes_of_names, read_names
from cwtool.data.parse import Reading
from cwtool.data.pipeline import BLOCK_BYTES, ReadOptions, read_blocks
from cwtool.data.reading_memory import (
    BLOCK,
    SHARE,
    SMALLEST,
    USED,
    beside_reading,
    bytes_of_reading,
)
from cwtool.data.reading_sizes import COUNTED, source_of
from cwtool.data.rowfile import frames_of
from cwtool.data.sources import Peeked
from cwtool.errors import DataError, UsageError
from cwtool_ext.libsvm import whole_lines

MB = 1_000_000


@pytest.fixture(autouse=True)
def bounds() -> Iterator[None]:
    yield
    memory.forget_reading()


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
    found = beside_reading(ReadOptions(jobs=jobs, max_memory=limit), ["-"])
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
    assert beside_reading(options, ["-"]).block_bytes == 2 * SMALLEST


def test_a_limit_below_the_smallest_blocks_is_refused() -> None:
    least = bytes_of_reading(SMALLEST, 4)
    four = ReadOptions(jobs=4, max_memory=least + 5)
    assert beside_reading(four, ["-"]).max_memory == 5
    with pytest.raises(UsageError, match=r"with `jobs=4` needs .* MB, and 1 MB may") as told:
        beside_reading(replace(four, max_memory=MB), ["-"])
    assert told.value.hint == "use `jobs=1`, or raise `max_memory`"
    with pytest.raises(UsageError) as told:
        beside_reading(ReadOptions(max_memory=MB), ["-"])
    assert told.value.hint == "raise `max_memory`"


def test_without_a_limit_and_for_small_files_all_stays_as_it_is(folder: Path) -> None:
    assert beside_reading(ReadOptions(jobs=4), ["-"]) == ReadOptions(jobs=4)
    (folder / "a.svm").write_text("1 1:1\n" * 100)
    small = ReadOptions(jobs=4, max_memory=1000)
    found = beside_reading(small, ["a.svm"])
    assert found == replace(small, block_bytes=SMALLEST, strict=True)
    assert memory.BOUNDS.reading == 0


def size_of(path: str, reading: Reading | None = None) -> float:
    return source_of(path, ReadOptions(reading or Reading())).size


def test_the_size_of_text_is_known_of_plain_files_alone(folder: Path) -> None:
    """Lines that are short, or get entries, count as longer ones."""
    (folder / "a.svm").write_bytes(b"1 1:1 2:1 3:1 4:1 5:1 6:1\n" * 100)
    (folder / "a.svm.gz").write_bytes(gzip.compress(b"1 1:1\n" * 100))
    (folder / "short.svm").write_bytes(b"1\n" * 100)
    assert size_of("a.svm") == 2600
    assert size_of("short.svm") == LINE * 101
    assert size_of("a.svm", Reading(bias=True)) == (LINE + ENTRY) * 101
    (folder / "large.svm").write_bytes(b"1\n" * (COUNTED // 2 + 1))
    assert size_of("large.svm") == LINE * (COUNTED + 2) / 2
    assert all(size_of(other) == inf for other in ("-", "a.svm.gz", "none", "."))


def rows_file(folder: Path, text: str, block: int) -> str:
    (folder / "a.svm").write_text(text)
    with (folder / "a.cwrows").open("wb") as out:
        kept = Kept(out)
        for _ in read_blocks(["a.svm"], ReadOptions(block_bytes=block, store=kept)):
            pass
        kept.close()
    return "a.cwrows"


@pytest.mark.parametrize("block", [SMALLEST, BLOCK_BYTES, 4 * BLOCK_BYTES])
def test_the_largest_frame_of_a_file_of_rows_counts(block: int, folder: Path) -> None:
    """Entries of 4 or 5 bytes take almost as much memory as the text could."""
    row = "1" + "".join(f" {k}:1" for k in range(1, 51))
    path = rows_file(folder, f"{row}\n" * 40_000, block)
    source = source_of(path, ReadOptions())
    size = (folder / "a.svm").stat().st_size
    assert 0.7 * min(block, size) < source.frame <= min(block, size)
    assert 0.7 * size < source.size <= size
    found = beside_reading(ReadOptions(max_memory=1000 * MB), [path])
    assert found.block_bytes == max(BLOCK_BYTES, source.frame)
    assert found.max_memory == 1000 * MB - bytes_of_reading(found.block_bytes, 1, source.size, 1)
    assert sum(block.n_rows for block in read_blocks([path], found)) == 40_000
    smaller = replace(found, block_bytes=source.frame - 1)
    with pytest.raises(UsageError, match=rf"^a.cwrows: a frame .* {source.frame:,} bytes of text"):
        list(read_blocks([path], smaller))


class Pipe:
    """The bytes of a file, which can be read once."""

    regular, size = False, 0

    def __init__(self, path: str) -> None:
        self.read = Path(path).open("rb").read  # noqa: SIM115


def test_frames_of_a_pipe_are_refused_before_they_are_in_memory(folder: Path) -> None:
    path = rows_file(folder, "1 1:0.123456 2:0.345678\n" * 100_000, 2 * BLOCK_BYTES)
    tracemalloc.start()
    with pytest.raises(UsageError, match=r"^a pipe: a frame of this file of rows takes"):
        list(frames_of("p", Peeked(b"", Pipe(path)), "a pipe", most=SMALLEST))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < Path(path).stat().st_size / 2  # the objects of Python take some


ROWS_OF_TEXT = {
    "usual": "1 1:1 2:1 3:1 4:1 5:1 66:1",
    "one entry": "1 1:0.25",
    "longer": "1 1:0.123456789",
    "short": "1 1:1",
    "label": "1",
    "blank": "",
}


@pytest.mark.parametrize("row", ROWS_OF_TEXT.values(), ids=ROWS_OF_TEXT)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("jobs", [1, 2])
def test_reading_takes_no_more_than_that(
    row: str, pack: Callable[[bytes], bytes], jobs: int, folder: Path
) -> None:
    """tracemalloc measures the arrays while all blocks wait for a slow consumer. Some longer rows
    come first, by which the length of the others cannot be told."""
    first = ("1 " + " ".join(f"{k}:1" for k in range(1, 300)) + "\n") * 10
    text = first + f"{row}\n" * (4_000_000 // (len(row) + 1))
    (folder / "a.svm").write_bytes(pack(text.encode()))
    block = 4 * SMALLEST
    options = ReadOptions(block_bytes=block, jobs=jobs, strict=True)
    tracemalloc.start()
    for k, _ in enumerate(read_blocks(["a.svm"], options)):
        sleep(0.3 if k == 0 and jobs > 1 else 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= bytes_of_reading(block, jobs) - USED * block


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_blocks_have_no_more_bytes_rows_and_entries_than_counted(
    pack: Callable[[bytes], bytes], folder: Path
) -> None:
    """Whatever comes before short rows, and also if all rows get entries in some columns."""
    long = "1 " + " ".join(f"{k}:1" for k in range(1, 2000)) + "\n"
    text = (long + "1\n" * 10_000 + "\n" * 10_000 + long * 7 + "0 5:1\n" * 10_000) * 3 + "1"
    (folder / "a.svm").write_bytes(pack(text.encode()))
    filled = tuple(range(2000, 2100))
    columns = Columns(filled, (0.5,) * 100, (1.0,) * 100)
    for reading in (Reading(), Reading(normalize="columns", columns=columns, bias=True)):
        whole = ReadOptions(reading, block_bytes=1 << 20)
        options = replace(whole, block_bytes=SMALLEST, strict=True)
        found = list(read_blocks(["a.svm"], options))
        most = SMALLEST / (LINE + ENTRY * reading.added)
        assert max(block.n_rows for block in found) <= most
        taken = max(12 * len(block.values) + 36 * block.n_rows for block in found)
        assert taken <= (BLOCK - 1) * SMALLEST
        for part in ("indices", "values", "labels"):
            joined, other = (
                np.concatenate([getattr(block, part) for block in blocks])
                for blocks in (found, read_blocks(["a.svm"], whole))
            )
            assert (joined == other).all()
        lines = [block.origin.place(k) for block in found for k in range(block.n_rows)]
        assert lines[-1] == f"a.svm:{text.count(chr(10)) + 1}"
        assert len(set(lines)) == len(lines) == 3 * 20_008 + 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_longer_than_a_block_is_refused(
    pack: Callable[[bytes], bytes], folder: Path
) -> None:
    line = "1 " + " ".join(f"{k}:1" for k in range(1, 20_000))
    (folder / "a.svm").write_bytes(pack(f"0 1:1\n{line}\n0 1:1\n".encode()))
    options = ReadOptions(block_bytes=2 * SMALLEST, strict=True)
    told = r"^a\.svm:2: a line is longer than 131,072 bytes, which are read at a time"
    with pytest.raises(DataError, match=told) as failure:
        list(read_blocks(["a.svm"], options))
    assert "raise `max_memory`, and also `block_size`" in str(failure.value.hint)
    (block,) = read_blocks(["a.svm"], replace(options, block_bytes=4 * SMALLEST))
    assert block.n_rows == 3


def test_a_row_with_the_entries_that_it_gets_fits_into_a_block(folder: Path) -> None:
    (folder / "a.svm").write_bytes(b"1 1:1\n" * 100_000)
    columns = Columns(tuple(range(20_000)), (0.5,) * 20_000, (1.0,) * 20_000)
    reading = Reading(normalize="columns", columns=columns)
    found = beside_reading(ReadOptions(reading, max_memory=40 * MB), ["a.svm"])
    assert found.block_bytes == 3 * SMALLEST
    assert next(read_blocks(["a.svm"], found)).n_rows == 1
    with pytest.raises(UsageError, match=r"reading with `jobs=1` needs 11\.1 MB, and 9 MB may"):
        beside_reading(ReadOptions(reading, max_memory=9 * MB), ["a.svm"])


@given(
    lines=st.lists(st.integers(0, 5), max_size=12), start=st.integers(0, 20), most=st.integers(0, 9)
)
def test_whole_lines(lines: list[int], start: int, most: int) -> None:
    """Compared with lines that Python splits."""
    text = b"\n".join(b"x" * n for n in lines)
    start = min(start, len(text))
    for stop in range(start, len(text) + 1):
        whole = [line for line in text[start:stop].splitlines(keepends=True) if line[-1:] == b"\n"]
        assert whole_lines(text, start, stop, most) == start + len(b"".join(whole[:most]))


def test_whole_lines_of_a_text_that_is_shorter() -> None:
    with pytest.raises(ValueError, match=r"text\[1:4\] exceeds 3 bytes"):
        whole_lines(b"1\n2", 1, 4, 1)


@pytest.mark.parametrize("step", [0, 400])
def test_measuring_columns_takes_no_more_than_is_counted(step: int, folder: Path) -> None:
    """Rows have the same columns, or all of them others."""
    rows = (" ".join(f"{step * k + j}:0.{j}" for j in range(1, 400)) for k in range(1200))
    (folder / "a.svm").write_text("".join(f"1 {row}\n" for row in rows))
    tracemalloc.start()
    measured(Reading(normalize="columns"), ["a.svm"], 100 * MB)
    peak = tracemalloc.get_traced_memory()[1] - bytes_of_reading(6 * SMALLEST, 1)
    tracemalloc.stop()
    assert peak <= MEASURED * 399 * 1000
    told = r"measuring the columns of the first rows needs .* MB, and .* MB may be used, beside"
    with pytest.raises(UsageError, match=told):
        measured(Reading(normalize="columns"), ["a.svm"], 20 * MB)


def test_each_process_counts_reading_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.BOUNDS, "reading", 3 * MB)
    assert memory.beside_workers(10 * MB) == 10 * MB  # it was left out of this limit
    assert memory.beside_workers() == 0
    monkeypatch.setattr(memory.BOUNDS, "limit", 10 * MB)
    assert memory.beside_workers() == 7 * MB
    monkeypatch.setattr(memory.BOUNDS, "processes", 2)
    assert memory.beside_workers(10 * MB) == 4 * MB
    with pytest.raises(UsageError, match="reading in 2 processes needs 6 MB, and 5 MB may be used"):
        memory.beside_workers(5 * MB)


def test_in_shards_several_threads_take_no_more_than_one(folder: Path) -> None:
    (folder / "a.svm").write_bytes(b"1 1:1 2:1 3:1 4:1 5:1 6:1\n" * 1_000_000)
    for limit in (3 * MB, 200 * MB, 2000 * MB):
        one, *others = (
            beside_reading(ReadOptions(jobs=jobs, max_memory=limit), ["a.svm"], sharded=True)
            for jobs in (1, 2, 5)
        )
        taken = bytes_of_reading(one.block_bytes, 1)
        assert one.max_memory == (limit - taken) // 2
        for found in others:
            assert found.max_memory == one.max_memory
            assert bytes_of_reading(found.block_bytes, found.jobs) <= taken
        assert [found.jobs for found in others] == ([1, 1] if limit == 3 * MB else [2, 5])


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
