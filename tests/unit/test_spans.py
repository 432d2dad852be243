"""Parts of files: all lines once, with the digests and the places of the whole file."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cwtool.data.digest import hexdigest
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.spans import Span, line_end
from cwtool.errors import DataError

ROWS = 9000
CUTS = (0, 1, 5, 6, 7, 1000, 65535, 65536, 65537, 70001, 131072)


@pytest.fixture
def path(tmp_path: Path) -> str:
    text = "".join(f"{1 - 2 * (k % 2):+d} {k + 1}:{k}.5 99999:1\n" for k in range(ROWS))
    file = tmp_path / "a.svm"
    file.write_text("\n# a line without a row\n" + text.removesuffix("\n"))
    return str(file)


def read(spans: list[Span], block_bytes: int) -> tuple[list[float], ReadReport]:
    report = ReadReport()
    options = ReadOptions(block_bytes=block_bytes)
    values = [b.values.copy() for b in read_blocks(spans, options, report)]
    return np.concatenate(values).tolist(), report


@pytest.mark.parametrize("block_bytes", [1 << 16, 1 << 20])
def test_parts_have_all_lines_once_and_the_digest_of_the_file(path: str, block_bytes: int) -> None:
    size = Path(path).stat().st_size
    whole, report = read([Span(path)], block_bytes)
    edges = [*CUTS, size]
    spans = [Span(path, a, b) for a, b in pairwise(edges)]
    parts, found = read(spans, block_bytes)
    assert parts == whole
    assert hexdigest(b"".join(bytes(f.cells) for f in found.files)) == report.files[0].digest
    assert sum(f.lines for f in found.files) == report.files[0].lines
    assert sum(f.bytes for f in found.files) == size


def test_places_are_those_of_the_whole_file(path: str) -> None:
    lines = Path(path).read_text().split("\n")
    lines[7000] = "+1 3:x"
    Path(path).write_text("\n".join(lines))
    size = Path(path).stat().st_size
    with pytest.raises(DataError, match=r"a\.svm:7001:6: value x"):
        read([Span(path, 100_000, size)], 1 << 16)
    with pytest.raises(DataError, match=r"^day:7001:6: "):
        read([Span(path, 100_000, size, name="day")], 1 << 16)


def test_rows_know_their_lines(path: str) -> None:
    (block, *_) = read_blocks([Span(path, 100_000, 100_100)], ReadOptions())
    line = int(block.origin.place(0).rpartition(":")[2])
    assert Path(path).read_text().split("\n")[line - 1].split()[1] == (
        f"{block.indices[0] + 1}:{block.values[0]}"
    )


def test_the_end_of_a_line(path: str) -> None:
    data = Path(path).read_bytes()
    for line in (1, 2, 3, 5000, ROWS + 1):
        assert line_end(path, line) == len(b"".join(data.splitlines(keepends=True)[:line]))
    assert line_end(path, ROWS + 2) == line_end(path, 10**9) == len(data)


def test_a_file_that_became_shorter_is_told(path: str) -> None:
    with pytest.raises(DataError, match="shorter"):
        read([Span(path, 0, 10**9)], 1 << 16)
