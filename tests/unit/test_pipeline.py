"""The same rows, lines and digest, whatever the block size and the number of threads."""

import gzip
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cwtool.data.known import file_digests
from cwtool.data.parse import Block, Reading
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.errors import DataError

CELL = 1 << 16
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def content(block: Block) -> list[Any]:
    """Every row as (place, label, entries)."""
    cells = list(zip(block.indices.tolist(), block.values.tolist(), strict=True))
    ends, labels = block.indptr.tolist(), block.labels.tolist()
    return [
        (block.origin.place(k), label, cells[ends[k] : ends[k + 1]])
        for k, label in enumerate(labels)
    ]


def rows_in(paths: list[str], **options: Any) -> tuple[list[Any], ReadReport]:
    """Every row of the files, and the report."""
    report, rows = ReadReport(), []
    for block in read_blocks(paths, ReadOptions(**options), report):
        rows += content(block)
        del block  # its memory may be used again
    return rows, report


def slow_rows(path: str, text: bytes) -> list[Any]:
    """The same by splitting lines and words."""
    return [(f"{path}:{number}", label, cells) for number, label, cells in split_rows(text)]


@cache
def split_rows(text: bytes) -> list[Any]:
    rows = []
    for number, line in enumerate(text.split(b"\n"), 1):
        words = line.split(b"#")[0].split()
        if words:
            pairs = [w.split(b":") for w in words[1:] if not w.startswith(b"qid")]
            cells = [(int(j) - 1, float(x)) for j, x in pairs if float(x) != 0]
            rows.append((number, float(words[0]), cells))
    return rows


@cache
def make_text(seed: int, n_lines: int, width: int) -> bytes:
    """Rows, comments, blank lines and very long lines, mixed."""
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(n_lines):
        kind = random.integers(0, 12)
        if kind == 0:
            lines.append("")
        elif kind == 1:
            lines.append("# nothing here")
        else:
            ids = np.cumsum(random.integers(1, 9, random.integers(0, width)))
            values = random.integers(0, 99, len(ids)) / 8
            cells = " ".join(f"{j}:{x}" for j, x in zip(ids.tolist(), values.tolist(), strict=True))
            lines.append(f"{'+-'[random.integers(2)]}1 {cells}" + " # end" * int(kind == 2))
    return "\n".join(lines).encode() + b"\n" * int(random.integers(0, 2))


SMALL, WIDE = make_text(0, 6000, 12), make_text(1, 20, 9000)


@pytest.mark.parametrize(
    "text", [SMALL, WIDE, b"+1 1:1", b"\n\n+1 1:1\n\n"], ids=["many", "wide", "one", "blank"]
)
@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("block_bytes", [CELL, 2 * CELL, 1 << 21])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_any_blocks_any_jobs(
    text: bytes, jobs: int, block_bytes: int, packed: bool, tmp_path: Path
) -> None:
    path = str(tmp_path / "a.svm")
    Path(path).write_bytes(gzip.compress(text, 1) if packed else text)
    rows, report = rows_in([path], jobs=jobs, block_bytes=block_bytes)
    want = slow_rows(path, text)
    assert rows == want
    (file,) = report.files
    assert file.rows == len(want)
    assert file.nnz == sum(len(cells) for _, _, cells in want)
    assert file.digest == file_digests(path)[0]
    assert file.bytes == report.size == Path(path).stat().st_size


@given(
    extra=st.integers(-3, 3), blocks=st.integers(1, 3), jobs=st.integers(1, 3), final=st.booleans()
)
@relaxed
def test_lines_that_end_at_the_border_of_a_block(
    extra: int, blocks: int, jobs: int, final: bool, tmp_path: Path
) -> None:
    """A newline just before, at, and just behind the end of a block."""
    first = b"+1 1:1 #" + b"x" * (blocks * CELL + extra - 9) + b"\n"
    assert len(first) == blocks * CELL + extra
    text = first + b"-1 2:1\n+1 3:1" + b"\n" * final
    path = str(tmp_path / "a.svm")
    Path(path).write_bytes(text)
    assert rows_in([path], jobs=jobs, block_bytes=CELL)[0] == slow_rows(path, text)


@given(
    sizes=st.lists(st.sampled_from([0, 1, 50, 2500]), min_size=1, max_size=4),
    jobs=st.integers(1, 3),
)
@relaxed
def test_several_files_in_order(sizes: list[int], jobs: int, tmp_path: Path) -> None:
    paths, want = [], []
    for number, size in enumerate(sizes):
        text = make_text(number, size, 6)
        paths.append(str(tmp_path / f"{number}.svm"))
        Path(paths[-1]).write_bytes(text)
        want += slow_rows(paths[-1], text)
    rows, report = rows_in(paths, jobs=jobs, block_bytes=CELL)
    assert rows == want
    assert [f.name for f in report.files] == paths
    assert [f.digest for f in report.files] == [file_digests(p)[0] for p in paths]


def digest_of(path: Path, content: bytes, jobs: int) -> str:
    path.write_bytes(content)
    (file,) = rows_in([str(path)], jobs=jobs, block_bytes=CELL)[1].files
    assert file.digest == file_digests(str(path))[0]
    return file.digest


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_changed_byte_changes_the_digest(jobs: int, tmp_path: Path) -> None:
    """Even in a comment, which changes no row."""
    content = b"#" + b"c" * 3 * CELL + b"\n+1 1:1\n"
    plain = digest_of(tmp_path / "a.svm", content, jobs)
    assert digest_of(tmp_path / "b.svm", content, jobs) == plain, "a name does not matter"
    digests = {plain}
    places = [1, CELL - 1, CELL, CELL + 1, 2 * CELL, 3 * CELL]
    for at in places:
        changed = content[:at] + b"d" + content[at + 1 :]
        digests.add(digest_of(tmp_path / "a.svm", changed, jobs))
    assert len(digests) == 1 + len(places)


@pytest.mark.parametrize(
    "reading",
    [
        Reading(zero_based=True),
        Reading(normalize="l2"),
        Reading(bias=True),
        Reading(hash_bits=4),
        Reading(normalize="l2", bias=True, hash_bits=4),
    ],
    ids=["zero-based", "l2", "bias", "hashed", "all"],
)
def test_transforms_row_by_row(reading: Reading, tmp_path: Path) -> None:
    path = str(tmp_path / "a.svm")
    Path(path).write_bytes(SMALL)
    rows, _ = rows_in([path], reading=reading, jobs=2, block_bytes=CELL)
    values, wanted = [], []
    for (_, _, found), (_, _, cells) in zip(rows, slow_rows(path, SMALL), strict=True):
        want: dict[int, float] = {}
        for j, x in cells:
            index = j + 1 if reading.zero_based else j
            while reading.hash_bits and index >= 16:
                index = (index % 16) ^ (index // 16)
            want[index] = want.get(index, 0) + x
        if reading.normalize == "l2" and want:
            length = sum(x * x for x in want.values()) ** 0.5
            want = {j: x / length for j, x in want.items()}
        if reading.bias:
            want[2**31 - 1] = 1.0
        assert [j for j, _ in found] == sorted(want)
        values += [x for _, x in found]
        wanted += [want[j] for j in sorted(want)]
    np.testing.assert_allclose(values, wanted, rtol=1e-15, atol=0)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_first_error_is_told(jobs: int, tmp_path: Path) -> None:
    """Even when a later block is parsed earlier."""
    lines = SMALL.split(b"\n")
    lines[2000] = lines[5000] = b"+1 1:bad"
    path = str(tmp_path / "a.svm")
    Path(path).write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match=r"a\.svm:2001:6: value bad"):
        rows_in([path], jobs=jobs, block_bytes=CELL)
    rows, report = rows_in([path], jobs=jobs, block_bytes=CELL, max_bad_lines=2)
    assert report.bad_lines == 2
    assert report.files[0].first_bad.startswith(f"{path}:2001:6: ")
    want = [row for row in slow_rows(path, SMALL) if not row[0].endswith((":2001", ":5001"))]
    assert rows == want


def test_a_consumer_that_stops_early(tmp_path: Path) -> None:
    """Threads end with it, and files are closed."""
    path = str(tmp_path / "a.svm")
    Path(path).write_bytes(SMALL)
    blocks = read_blocks([path] * 20, ReadOptions(jobs=3, block_bytes=CELL))
    next(blocks)
    blocks.close()  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if thread.name.startswith(("cwtool-read", "cwtool-parse")):
            thread.join(timeout=60)
            assert not thread.is_alive()
