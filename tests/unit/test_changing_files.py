"""Files that become shorter or longer, or are replaced, while they are read, in every form."""

import gzip
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.errors import DataError

Run = Callable[..., str]
ROWS = 20_000
FORMS = ("a.svm", "a.svm.gz", "a.cwrows")


@pytest.fixture(params=FORMS)
def path(request: pytest.FixtureRequest, tmp_path: Path, ok: Run) -> Path:
    draw = random.Random(1)
    text = "".join(f"+1 1:{draw.random()} {draw.randint(2, 10**9)}:1\n" for _ in range(ROWS))
    name: str = request.param
    target = tmp_path / name
    if name.endswith(".gz"):
        target.write_bytes(gzip.compress(text.encode(), 1))
    else:
        (tmp_path / "a.svm").write_text(text)
        if name.endswith(".cwrows"):
            ok("convert", "a.svm", "-o", name)
    return target


def test_shorter(path: Path) -> None:
    """A file that becomes shorter while it is read is an error that names the file. A mapped file
    would end the process with a signal."""
    blocks = read_blocks([str(path)], ReadOptions(block_bytes=1 << 16, jobs=1))
    next(blocks)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(DataError, match=r"a\.(svm|svm\.gz|cwrows)\b.*(shorter|truncated|ends)"):
        list(blocks)


@pytest.mark.parametrize("jobs", [1, 2])
def test_replaced(path: Path, jobs: int) -> None:
    """What is read is the file that was opened."""
    blocks = read_blocks([str(path)], ReadOptions(block_bytes=1 << 16, jobs=jobs))
    rows = next(blocks).n_rows
    other = path.with_name("b")
    other.write_text("nonsense\n" * 500_000)
    other.replace(path)
    assert rows + sum(block.n_rows for block in blocks) == ROWS


def test_longer(path: Path) -> None:
    """Text is read as far as it went when it was opened. Forms that have an end of their own must
    not be followed by anything."""
    blocks = read_blocks([str(path)], ReadOptions(block_bytes=1 << 16, jobs=1))
    rows = next(blocks).n_rows
    with path.open("ab") as more:
        more.write(b"nonsense\n" * 10)
    if path.suffix == ".svm":
        assert rows + sum(block.n_rows for block in blocks) == ROWS
    else:
        with pytest.raises(DataError, match=r"a\.(svm\.gz|cwrows).*damaged"):
            list(blocks)


def test_shorter_by_url(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    path = tmp_path / "a.svm"
    path.write_text("+1 1:1\n" * 400_000)
    blocks = read_blocks([path.as_uri()], ReadOptions(block_bytes=1 << 16, jobs=1))
    next(blocks)
    os.truncate(path, 100)
    with pytest.raises(DataError, match=r"a\.svm became shorter while it was read"):
        list(blocks)
