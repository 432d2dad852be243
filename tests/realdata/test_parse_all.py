"""Every number of the real data is read to the bit as float() reads it."""

import gzip
import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from cwtool.data.pipeline import ReadOptions, read_blocks

DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = sorted(p.name for p in DATA.glob("*") if p.is_dir()) or ["all"]
PAIR = re.compile(rb" (\d+):(\S+)")


class Memo(dict[bytes, float]):
    """float(), once for each way of writing a number."""

    def __missing__(self, text: bytes) -> float:
        self[text] = number = float(text)
        return number


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SETS)
def test_same_numbers_as_float(name: str, blocks: int | None, shared_data: Path) -> None:
    """The first block of every file; `make test-all` compares all of them."""
    files = [p for p in (shared_data / name).iterdir() if p.name.endswith((".svm", ".svm.gz"))]
    assert files
    for path in files:
        compare(path, blocks)


def compare(path: Path, blocks: int | None) -> None:
    float_of, options = Memo(), ReadOptions(block_bytes=1 << 18)
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for block in islice(read_blocks([str(path)], options), blocks):
            lines = [file.readline() for _ in range(block.n_rows)]
            pairs = PAIR.findall(b"".join(lines))
            ids = np.array([i for i, _ in pairs], dtype="S10").astype(np.int64)
            expected = np.array([float_of[x] for _, x in pairs])
            sizes = np.array([line.count(b":") for line in lines])
            kept = expected != 0
            assert np.array_equal(block.indices, ids[kept] - 1)
            assert np.array_equal(block.values.view(np.int64), expected[kept].view(np.int64))
            assert block.labels.tolist() == [float(line.split(None, 1)[0]) for line in lines]
            ends = np.concatenate([[0], np.cumsum(kept)])[np.cumsum([0, *sizes])]
            assert np.array_equal(block.indptr, ends)
        assert blocks or file.read() == b""
