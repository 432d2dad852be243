"""Every number of the real data is read to the bit as float() reads it."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from cwtool_ext import libsvm

DATA = Path(__file__).parents[3] / "shared" / "data"
FILES = sorted(p for p in DATA.glob("*/*") if p.name.endswith((".svm", ".svm.gz")))
MOST = 3_000_000

pytestmark = pytest.mark.skipif(not FILES, reason=f"no real data in {DATA}")


def head(path: Path) -> bytes:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        text = file.read(MOST)
    return text[: text.rindex(b"\n") + 1]


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_same_numbers_as_float(path: Path) -> None:
    text = head(path)
    rows, nnz = libsvm.capacity(len(text))
    labels, lines, indptr = np.empty(rows), np.empty(rows, np.int32), np.empty(rows + 1, np.int64)
    indices, values = np.empty(nnz, np.int32), np.empty(nnz)
    faults, report = np.empty((1, 3), np.int64), np.empty(6, np.int64)
    libsvm.parse(
        text + b"\n" * libsvm.PADDING, 0, len(text), 1,
        labels, indptr, indices, values, lines, faults, report,
    )  # fmt: skip
    n, m, _, greatest, _, bad = report.tolist()
    assert bad == 0

    split = [line.split() for line in text.splitlines()]
    pairs = [item.split(b":") for line in split for item in line[1:]]
    ids = np.array([int(i) for i, _ in pairs])
    expected = np.array([float(v) for _, v in pairs])
    kept = expected != 0.0
    assert np.array_equal(indices[:m], ids[kept] - 1)
    assert np.array_equal(values[:m].view(np.int64), expected[kept].view(np.int64))
    assert labels[:n].tolist() == [float(line[0]) for line in split]
    assert greatest == ids[kept].max() - 1
    sizes = [len(line) - 1 for line in split]
    ends = np.concatenate([[0], np.cumsum(kept)])[np.cumsum([0, *sizes])]
    assert np.array_equal(indptr[: n + 1], ends)
