"""Samples of rows by their hashes against plain sets."""

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from cwtool.data import known
from cwtool.data.known import RowSample, file_digests
from cwtool.data.parse import row_hashes
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.sources import kept


def sample(hashes: list[int]) -> RowSample:
    found = RowSample()
    for start in range(0, len(hashes), 700):
        found.add(np.array(hashes[start : start + 700], dtype=np.uint64))
    return found


def test_a_sample_depends_on_the_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MOST", 100)
    draw = random.Random(1)
    rows = [draw.getrandbits(64) for _ in range(5000)]
    level = next(s for s in range(65) if len({h for h in rows if h < 2 ** (64 - s)}) <= 100)
    expected = sorted(h for h in set(rows) if h < 2 ** (64 - level))
    for order in (rows, rows[::-1], rows + rows):
        found = sample(order)
        assert found.level == level
        assert found.hashes.tolist() == expected
    parts = sample(rows[:1000])
    parts += sample(rows[1000:])
    assert parts.hashes.tolist() == expected
    assert abs(found.distinct / 5000 - 1) < 0.3


def test_the_share_of_known_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(2)
    rows = [draw.getrandbits(64) for _ in range(4000)]
    assert sample(rows[1000:3000]).share_in(sample(rows[:2000])) == 0.5, "exact while all are kept"
    assert sample(rows).share_in(RowSample()) == 0
    assert RowSample().share_in(sample(rows)) == 0
    monkeypatch.setattr(known, "MOST", 500)
    assert abs(sample(rows[1000:3000]).share_in(sample(rows[:2000])) - 0.5) < 0.1
    assert sample(rows[:300]).share_in(sample(rows)) == 1


def hashes_of(path: Path) -> list[int]:
    report = ReadReport()
    list(read_blocks([str(path)], ReadOptions(sampled=True), report))
    return report.files[0].sample.hashes.tolist()


def test_rows_above_the_level_are_passed_over_and_the_sample_is_the_same(tmp_path: Path) -> None:
    draw = random.Random(3)
    text = "".join(
        f"1 {' '.join(f'{j}:{draw.randint(1, 9)}' for j in range(1, draw.randint(2, 30)))}\n"
        for _ in range(3000)
    )
    (tmp_path / "a.svm").write_text(text)
    every = hashes_of(tmp_path / "a.svm")
    block = next(iter(read_blocks([str(tmp_path / "a.svm")])))
    for level in (1, 3, 7):
        expected = [h for h in every if h < 2 ** (64 - level)]
        assert sorted(set(row_hashes(block, level).tolist())) == expected
    assert len(every) == len(set(text.splitlines()))


def test_every_part_of_a_row_counts(tmp_path: Path) -> None:
    rows = ["+1 1:2 3:4", "-1 1:2 3:4", "+1:2 1:2 3:4", "+1 1:2 3:5", "+1 1:2 4:4", "+1 1:2", "+1"]
    dozen = " ".join(f"{j}:1" for j in range(1, 13))
    rows += [
        "+1 1:1 5:1 9:1",
        "+1 2:1 5:1 8:1",
        "+1 1:1 4:1 10:1",
        "+1 1:2 5:1 9:2",
        "+1 1:1 5:3 9:1",
    ]
    rows += [f"+1 {dozen}", f"+1 {dozen.replace('6:1', '6:3')}"]
    (tmp_path / "a.svm").write_text("\n".join(rows) + "\n")
    assert len(hashes_of(tmp_path / "a.svm")) == len(rows)
    (tmp_path / "b.svm").write_text("\r\n".join([f"{row}  # x" for row in rows * 2]))
    assert hashes_of(tmp_path / "b.svm") == hashes_of(tmp_path / "a.svm")


def test_digests_are_of_the_text_and_of_what_is_stored(tmp_path: Path) -> None:
    text = b"+1 1:2\n-1 3:4\n" * 20_000
    (tmp_path / "a.svm").write_bytes(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text, 1))
    (tmp_path / "b.gz").write_bytes(gzip.compress(text, 9))
    plain, fast, small = (file_digests(str(tmp_path / n)) for n in ("a.svm", "a.gz", "b.gz"))
    assert plain[0] == fast[0] == small[0]
    assert len({plain[0], fast[1], small[1]}) == 3
    report = ReadReport()
    list(read_blocks([str(tmp_path / "a.gz")], None, report))
    assert report.files[0].digests == fast


def test_what_can_be_read_once_is_kept(tmp_path: Path) -> None:
    import os

    read, write = os.pipe()
    os.write(write, b"+1 1:2\n-1 3:4\n")
    os.close(write)
    path = f"/dev/fd/{read}"
    assert file_digests(path) == ()
    with kept([path]):
        assert [b.n_rows for _ in range(2) for b in read_blocks([path])] == [2, 2]
        assert len(file_digests(path)) == 1
    os.close(read)
