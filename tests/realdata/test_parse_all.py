"""Every number of the real data is read to the bit as float() reads it."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from cwtool.data.pipeline import read_blocks

DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = sorted(p.name for p in DATA.glob("*") if p.is_dir()) or ["all"]
PAIR = re.compile(rb" (\d+):(\S+)")


class Memo(dict[bytes, float]):
    """float(), once for each way of writing a number."""

    def __missing__(self, text: bytes) -> float:
        self[text] = number = float(text)
        return number


@pytest.mark.parametrize("name", SETS)
def test_same_numbers_as_float(name: str, shared_data: Path) -> None:
    files = [p for p in (shared_data / name).iterdir() if p.name.endswith((".svm", ".svm.gz"))]
    assert files
    for path in files:
        compare(path)


def compare(path: Path) -> None:
    float_of = Memo()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for block in read_blocks([str(path)]):
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
        assert file.read() == b""
