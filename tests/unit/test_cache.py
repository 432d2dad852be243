"""The cache of parsed rows: the same bits as from text, and never in the way."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cwtool.data import cache as caching
from cwtool.data.cache import Cache
from cwtool.data.parse import Reading
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.errors import DataError
from unit.test_rowfile import OPTIONS, TEXT, everything


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "a.svm"
    path.write_text(TEXT * 3000)
    return path


@pytest.fixture
def told() -> list[str]:
    """Warnings."""
    return []


@pytest.fixture
def cached(tmp_path: Path, told: list[str]) -> ReadOptions:
    return replace(OPTIONS, store=Cache(str(tmp_path / "cache"), told.append))


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("*"))


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, parsing text fails."""
    from cwtool_ext import libsvm

    def refuse() -> None:
        monkeypatch.setattr(libsvm, "count_lines", None)

    return refuse


def test_the_second_reading_parses_nothing_and_gives_the_same(
    text: Path, cached: ReadOptions, told: list[str], no_parser: Callable[[], None]
) -> None:
    expected = everything(text)
    assert everything(text, cached) == expected
    no_parser()
    for jobs in (1, 3):
        assert everything(text, replace(cached, jobs=jobs)) == expected
    assert told == []


def test_readings_share_an_entry_unless_they_change_what_is_parsed(
    text: Path, cached: ReadOptions, tmp_path: Path, no_parser: Callable[[], None]
) -> None:
    text.write_text(TEXT.replace("2147483647", "77"))
    readings = [Reading(normalize="l2", bias=True), Reading(hash_bits=3)]
    expected = [everything(text, replace(OPTIONS, reading=r)) for r in readings]
    everything(text, cached)
    everything(text, replace(cached, reading=Reading(zero_based=True)))
    assert len(entries(tmp_path)) == 2
    no_parser()
    for reading, found in zip(readings, expected, strict=True):
        assert everything(text, replace(cached, reading=reading)) == found


def test_progress_counts_the_bytes_of_the_text(text: Path, cached: ReadOptions) -> None:
    everything(text, cached)
    report = ReadReport()
    for _ in read_blocks([str(text)], cached, report):
        pass
    assert report.bytes == report.size == text.stat().st_size


def test_a_changed_file_is_told_and_read_anew(
    text: Path, cached: ReadOptions, told: list[str], tmp_path: Path
) -> None:
    everything(text, cached)
    text.write_text(TEXT * 2000)
    assert everything(text, cached) == everything(text)
    assert told == [f"{text} has changed since its rows were cached; it is parsed again"]
    assert everything(text, cached) == everything(text)
    assert len(told) == len(entries(tmp_path)) == 1


def test_a_file_that_changes_while_it_is_read_is_not_cached(
    text: Path, cached: ReadOptions, tmp_path: Path
) -> None:
    for k, _ in enumerate(read_blocks([str(text)], cached)):
        if k == 0:
            os.utime(text, ns=(0, 0))
    assert entries(tmp_path) == []


def test_a_damaged_entry_is_told(
    text: Path, cached: ReadOptions, told: list[str], tmp_path: Path
) -> None:
    everything(text, cached)
    (entry,) = entries(tmp_path)
    data = entry.read_bytes()
    entry.write_bytes(data[:-1])
    assert everything(text, cached) == everything(text)
    assert "damaged" in told[0]
    entry.write_bytes(data[:200] + b"?" + data[201:])
    with pytest.raises(DataError, match="checksum") as caught:
        everything(text, cached)
    assert "delete it" in str(caught.value.hint)


@pytest.mark.parametrize("stop", [0, 1])
def test_what_is_not_read_to_its_end_leaves_nothing(
    text: Path, cached: ReadOptions, tmp_path: Path, stop: int
) -> None:
    blocks = read_blocks([str(text)], cached)
    for _ in range(stop + 1):
        next(blocks)
    del blocks
    assert entries(tmp_path) == []


def test_a_file_with_bad_lines_is_not_cached(
    text: Path, cached: ReadOptions, tmp_path: Path
) -> None:
    text.write_text("1 1:1\n?\n-1 2:1\n")
    lenient = replace(cached, max_bad_lines=3)
    for _ in range(2):
        rows, counts, _ = everything(text, lenient)
        assert (len(rows), counts["bad_lines"]) == (2, 1)
    with pytest.raises(DataError):
        everything(text, cached)
    assert entries(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_told_once(
    text: Path, cached: ReadOptions, told: list[str], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file")
    assert everything(text, cached) == everything(text)
    assert len(told) == 1
    assert "cannot be cached" in told[0]


def test_a_disk_that_is_full_is_told_once(
    text: Path,
    cached: ReadOptions,
    told: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(self: object, kind: bytes, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.Writer, "frame", full)
    assert everything(text, cached) == everything(text)
    assert told == [
        f"{tmp_path / 'cache'}: the rows of {text} cannot be cached: No space left on device"
    ]
    assert entries(tmp_path) == []


@pytest.mark.parametrize(("first", "known"), [("1:2", False), ("3:0.5", True), ("-1", True)])
def test_rows_without_labels_are_told_as_in_text(
    text: Path, cached: ReadOptions, first: str, known: bool
) -> None:
    text.write_text(f"{first} 7:1\n")
    everything(text, cached)  # with labels, as in training
    asked = {"labelled": None, "labels": (3.0, -1.0)}
    for _ in range(2):
        rows, _, _ = everything(text, replace(cached, **asked))
        assert rows == everything(text, replace(OPTIONS, **asked))[0]
        assert (rows[0][1] != 0) is known


def test_two_at_once(text: Path, cached: ReadOptions, tmp_path: Path) -> None:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(2) as pool:
        folders = [str(tmp_path / "cache")] * 4
        found = list(pool.map(_read, [str(text)] * 4, folders))
    assert found == [everything(text)] * 4
    assert len(entries(tmp_path)) == 1


def _read(path: str, folder: str) -> object:
    return everything(path, replace(OPTIONS, store=Cache(folder, print)))


def test_pipes_and_files_of_rows_are_not_cached(
    text: Path, cached: ReadOptions, tmp_path: Path
) -> None:
    from unit.test_rowfile import rows_file

    assert everything(rows_file(text), cached) == everything(text)
    os.mkfifo(tmp_path / "pipe")
    assert cached.store is not None
    assert cached.store.entry(str(tmp_path / "pipe"), False) is None
    assert entries(tmp_path) == []
