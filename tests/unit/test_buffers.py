"""The memory of parsed blocks is used again, but never while anyone looks at it."""

from pathlib import Path
from typing import Any

import pytest

from cwtool.ahead import AHEAD
from cwtool.data import buffers, pipeline
from cwtool.data.buffers import Buffers, Pool
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.data.pipeline import ReadOptions, read_all, read_blocks
from unit.test_pipeline import CELL, SMALL, content, slow_rows, split_rows
from unit.test_rowfile import rows_file


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Buffers]:
    """All buffers that are made from now on."""
    all_of_them: list[Buffers] = []

    class Counted(Buffers):
        def __init__(self, n_rows: int, nnz: int) -> None:
            super().__init__(n_rows, nnz)
            all_of_them.append(self)

    monkeypatch.setattr(buffers, "Buffers", Counted)
    return all_of_them


FILES, BLOCKS = 20, 4  # files, and blocks of each


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    path = tmp_path / "a.svm"
    path.write_bytes(SMALL)
    assert (BLOCKS - 1) * CELL < len(SMALL) <= BLOCKS * CELL
    return [str(path)] * FILES


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("reading", [Reading(), Reading(normalize="l2", bias=True, hash_bits=4)])
def test_blocks_that_are_kept_stay_as_they_are(
    jobs: int, reading: Reading, paths: list[str], made: list[Buffers]
) -> None:
    how = ReadOptions(jobs=jobs, block_bytes=CELL, reading=reading)
    some = paths[:4]
    kept = list(read_blocks(some, how))
    assert len(made) == len(kept) == BLOCKS * len(some), "each block has its own memory"
    found = [content(block) for block in kept]
    assert found == [content(block) for block in read_blocks(some, how)]
    if reading == Reading():
        assert [row for rows in found for row in rows] == len(some) * slow_rows(paths[0], SMALL)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_a_stream_of_blocks_needs_few_buffers(
    jobs: int, paths: list[str], made: list[Buffers]
) -> None:
    rows = 0
    for block in read_blocks(paths, ReadOptions(jobs=jobs, block_bytes=CELL)):
        rows += block.n_rows
        del block
    assert rows == FILES * len(split_rows(SMALL))
    # what waits and what is worked on; buffers that turn out too small are replaced by larger ones
    assert len(made) <= (2 if jobs == 1 else 2 * (jobs + AHEAD + 2))


def test_every_way_of_keeping_a_block_keeps_its_memory(
    paths: list[str], made: list[Buffers]
) -> None:
    """A block, its rows, a slice of these, or a single array of them."""
    keepers: list[Any] = [
        lambda block: block,
        lambda block: Labels(-1.0, 1.0).encode(block),
        lambda block: Labels(-1.0, 1.0).encode(block).slice(5, 9),
        lambda block: block.values[3:],
        lambda block: block.indptr,
        lambda block: block.origin,
        lambda block: memoryview(block.values),
    ]
    kept, want = [], []
    for k, block in enumerate(read_blocks(paths, ReadOptions(block_bytes=CELL))):
        part = keepers[k % len(keepers)](block)
        kept.append(part)
        want.append(repr(arrays_in(part)))
        del block, part
    assert [repr(arrays_in(part)) for part in kept] == want
    assert len(made) >= len(kept)


def arrays_in(part: Any) -> list[Any]:
    """The numbers in all arrays of a part."""
    arrays = [part] if hasattr(part, "tolist") else vars(part).values()
    return [array.tolist() for array in arrays if hasattr(array, "tolist")]


def test_copies_let_the_memory_go(paths: list[str], made: list[Buffers]) -> None:
    parts = read_all(paths, Labels(), ReadOptions(block_bytes=CELL))
    assert len(parts) == FILES
    assert all(part.y.tolist() == parts[0].y.tolist() for part in parts)
    assert len(made) <= 3, "two blocks wait at most while the labels become known"


@pytest.mark.parametrize("algo", ["arow", "cw-fact"])
def test_training_needs_few_buffers(
    algo: str, ok: Any, paths: list[str], made: list[Buffers]
) -> None:
    ok("train", *paths[:5], "--again", "-m", "m.cw", "--algo", algo, "--block-size", CELL, "-j", 1)
    assert len(made) <= 4
    made.clear()
    ok("predict", *paths, "-m", "m.cw", "--evaluate", "--block-size", CELL, "-j", 1)
    assert len(made) <= 4


def test_a_pool_gives_only_what_is_large_enough_and_free() -> None:
    pool = Pool()
    first = pool.take(10, 100)
    assert first.holds(10, 100)
    view = first.values[:3]
    pool.lend(first)
    second = pool.take(10, 100)
    assert second is not first
    del view
    assert pool.take(10, 100) is first
    pool.lend(first)
    larger = pool.take(1000, 100)
    assert larger is not first
    assert larger.holds(1000, 100)


@pytest.mark.parametrize("jobs", [1, 2])
def test_reads_of_files_of_rows_use_the_memory_of_the_read_before(
    jobs: int, paths: list[str], made: list[Buffers], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "ROWS_POOL", Pool())
    path, options = str(rows_file(Path(paths[0]))), ReadOptions(jobs=jobs, block_bytes=CELL)
    first = [content(block) for block in read_blocks([path], options)]
    again, reads = len(made), 10
    for _ in range(reads):
        assert [content(block) for block in read_blocks([path], options)] == first
    # threads that are delayed may need further ones, but not as many as each read by itself
    assert len(made) - again < reads * again / 4


def test_a_pool_that_is_trimmed_keeps_free_buffers_first() -> None:
    pool = Pool()
    taken = [pool.take(10, 100) for _ in range(3)]
    view = taken[0].values[:3]
    for b in taken:
        pool.lend(b)
    pool.trim(taken[0].nbytes * 3 // 2)
    assert pool.take(10, 100) is taken[1]
    assert pool.take(10, 100) not in taken
    del view
