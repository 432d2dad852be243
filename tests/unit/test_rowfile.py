"""Files of rows: the same rows, digests and places as their text, and refusals of damaged files."""

import gzip
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from struct import pack as bytes_of
from typing import Any

import numpy as np
import pytest
import slow_rows

from cwtool import read_libsvm
from cwtool.convert.row import Input
from cwtool.convert.rows_file import FromText, copied
from cwtool.data.known import file_digests
from cwtool.data.parse import Reading
from cwtool.data.pipeline import BLOCK_BYTES, ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.rowfile import FRAME, HEAD, LAST, Last, Writer, checksum
from cwtool.errors import DataError

TEXT = (
    "# a comment alone\n"
    "+1 1:1 2:1 5:0.25 # first\n"
    "\n"
    "-1:2.5 qid:3 2147483647:1e-300\n"
    "+1\n"
    "-1 3:0 4:-7 # zeros are left out\n"
)
OPTIONS = ReadOptions(block_bytes=1 << 16, comments=True)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file of several chunks."""
    path = tmp_path / "a.svm"
    path.write_text(TEXT * 3000)
    return path


def rows_file(text: Path, options: ReadOptions = OPTIONS) -> Path:
    path = text.with_suffix(".cwrows")
    with path.open("wb") as out:
        copied([str(text)], Input(options), out)
    return path


def everything(
    path: Path | str, options: ReadOptions = OPTIONS
) -> tuple[list[Any], dict[str, Any], Any]:
    """All rows with their places, what was counted, and the sample of the rows."""
    report = ReadReport()
    rows = []
    for block in read_blocks([str(path)], replace(options, sampled=True), report):
        weight = np.ones(block.n_rows) if block.weight is None else block.weight
        for i in range(block.n_rows):
            at = slice(block.indptr[i], block.indptr[i + 1])
            rows.append((
                block.origin.place(i).rpartition(":")[2], float(block.labels[i]), float(weight[i]),
                block.indices[at].tolist(), block.values[at].tobytes(),
                block.comments[i] if block.comments else None,
            ))  # fmt: skip
    (file,) = report.files
    counts = {
        name: getattr(file, name)
        for name in ("rows", "nnz", "lines", "qids", "bad_lines", "digest", "stored")
    }
    return rows, counts, file.sample.hashes.tolist()


@pytest.mark.parametrize(
    "reading",
    [
        Reading(),
        Reading(normalize="l2", bias=True),
        Reading(hash_bits=2),
        Reading(hash_bits=20, bias=True),
    ],
)
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_file_of_rows_is_read_as_its_text(text: Path, reading: Reading, jobs: int) -> None:
    options = ReadOptions(reading, block_bytes=1 << 16, jobs=jobs, comments=True)
    assert everything(rows_file(text), options) == everything(text, options)
    assert file_digests(str(rows_file(text))) == file_digests(str(text))


def test_ids_from_0_are_kept_as_they_were_read(text: Path) -> None:
    text.write_text("1 0:1 7:2\n")
    options = ReadOptions(Reading(zero_based=True))
    path = rows_file(text, options)
    assert everything(path, options) == everything(text, options)
    assert everything(path, ReadOptions()) == everything(text, options)


@pytest.mark.slow
def test_the_slow_reader_reads_the_same(text: Path) -> None:
    frames = slow_rows.frames(rows_file(text).read_bytes())
    assert {kind for kind, _ in frames[:-1]} == {b"ROWS"}
    assert len(frames) > 3
    parts = [slow_rows.rows(data) for kind, data in frames[:-1]]
    rows, counts, _ = everything(text)
    assert [label for part in parts for _, label, *_ in part["rows"]] == [r[1] for r in rows]
    assert [note for part in parts for *_, note in part["rows"]] == [r[-1] for r in rows]
    last = slow_rows.last(frames[-1][1])
    assert {name: last[name] for name in ("rows", "lines", "qids")} == {
        name: counts[name] for name in ("rows", "lines", "qids")
    }
    assert (last["first"], last["source"]) == (b"", [0, 0, 0])


def test_a_compressed_text_keeps_both_digests(text: Path) -> None:
    subprocess.run(["gzip", "-k", text], check=True)
    path = text.with_suffix(".svm.gz")
    assert everything(rows_file(path)) == everything(path)
    assert len(file_digests(str(rows_file(path)))) == 2


def test_a_pipe_may_carry_a_file_of_rows(text: Path) -> None:
    code = (
        "import sys; from cwtool.data.pipeline import *; "
        "print(sum(b.n_rows for b in read_blocks(['-'])))"
    )
    data = rows_file(text).read_bytes()
    found = subprocess.run(
        [sys.executable, "-c", code], input=data, capture_output=True, check=True
    )
    assert int(found.stdout) == 12000
    cut = subprocess.run([sys.executable, "-c", code], input=data[:-1], capture_output=True)
    assert b"it ends in the middle" in cut.stderr


@pytest.mark.slow
def test_text_that_is_written_becomes_the_same_file(tmp_path: Path) -> None:
    out, text = io.BytesIO(), tmp_path / "a.svm"
    text.write_text(TEXT * 40_000)  # more than one frame
    sink = FromText(out, BLOCK_BYTES)
    for line in text.read_bytes().splitlines(keepends=True):
        sink.write(line)
    sink.finish()
    (tmp_path / "written.cwrows").write_bytes(out.getvalue())
    assert len(slow_rows.frames(out.getvalue())) > 2
    assert everything(tmp_path / "written.cwrows") == everything(text)


def test_no_rows(tmp_path: Path) -> None:
    for content in ("", "# nothing\n"):
        text = tmp_path / "empty.svm"
        text.write_text(content)
        assert everything(rows_file(text)) == everything(text)


def refusal(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        everything(path)
    assert caught.value.hint
    return str(caught.value)


def test_every_truncation_and_every_changed_byte_is_told(tmp_path: Path) -> None:
    text = tmp_path / "a.svm"
    text.write_text(TEXT)
    path = rows_file(text)
    data = path.read_bytes()
    for size in range(12, len(data)):
        path.write_bytes(data[:size])
        assert "damaged" in refusal(path)
    for at in range(6, len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1 :])
        assert "damaged" in refusal(path) or "version" in refusal(path)
    path.write_bytes(data + b"\n")
    assert "something follows" in refusal(path)


def test_frames_that_are_missing_are_told(text: Path) -> None:
    path = rows_file(text)
    data = path.read_bytes()
    size = FRAME.size + FRAME.unpack_from(data, HEAD.size)[1]
    path.write_bytes(data[: HEAD.size] + data[HEAD.size + size :])
    assert "frames are missing" in refusal(path)


def test_a_later_version_is_told(text: Path) -> None:
    path = rows_file(text)
    path.write_bytes(HEAD.pack(b"\x89cwrows\n", 2) + path.read_bytes()[HEAD.size :])
    assert "has the version 2" in refusal(path)


@pytest.mark.parametrize(
    "last",
    [
        b"", bytes(59), bytes(61), b"x" * 3 + bytes_of("<I56x", 3),
        bytes_of("<III48x", 2**32 - 1, 2**32 - 1, 0), Last(b"", b"", 1, 0, 0).packed(),
    ],
)  # fmt: skip
def test_a_last_frame_that_is_none_is_told(tmp_path: Path, last: bytes) -> None:
    path = tmp_path / "a.cwrows"
    with path.open("wb") as out:
        Writer(out).frame(LAST, last)
    assert "damaged" in refusal(path)


def test_a_size_that_is_a_lie_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.cwrows"
    head = HEAD.pack(b"\x89cwrows\n", 1)
    path.write_bytes(head + FRAME.pack(b"ROWS", 2**62, bytes(8)))
    assert "ends in the middle" in refusal(path)
    counts = bytes_of("<IIIIB", 2**32 - 1, 2**32 - 1, 2**32 - 1, 0, 0)
    path.write_bytes(head + FRAME.pack(b"ROWS", 17, checksum(counts, 17)) + counts)
    assert "the counts of a frame are wrong" in refusal(path)


def test_a_file_of_rows_cannot_be_followed(text: Path) -> None:
    with pytest.raises(DataError, match="cannot be followed"):
        next(read_blocks([str(rows_file(text))], ReadOptions(follow=True)))


def test_a_file_of_rows_as_a_matrix(text: Path) -> None:
    X, y, weight = read_libsvm(rows_file(text), return_weight=True)
    expected, labels, weights = read_libsvm(text, return_weight=True)
    assert (y == labels).all()
    assert (weight == weights).all()
    assert X.shape == expected.shape
    for name in "indptr", "indices", "data":
        assert (getattr(X, name) == getattr(expected, name)).all()


def test_a_compressed_file_of_rows_is_told(text: Path) -> None:
    path = text.with_suffix(".gz")
    path.write_bytes(gzip.compress(rows_file(text).read_bytes()))
    assert "this is a file of rows that was compressed" in refusal(path)
