"""Blocks of rows joined to batches."""

import numpy as np
import pytest

from cwtool.data.batches import batches
from cwtool.data.rows import Origin, Rows, joined


@pytest.mark.parametrize("n_rows", [0, 1, 7, 30, 1000])
def test_batches_never_reach_over_the_end_of_a_file(n_rows: int) -> None:
    x = np.random.default_rng(7).normal(size=(60, 4)).tolist()
    whole = Rows.from_lists([list(enumerate(row)) for row in x], [1] * 60)
    cuts = ((0, 11, 0), (11, 25, 0), (25, 26, 1), (26, 60, 1))  # first row, end, file
    blocks = [
        (whole.slice(a, b), Origin(f"{file}.svm", file, a, np.arange(b - a, dtype=np.int32)))
        for a, b, file in cuts
    ]
    found = list(batches(blocks, n_rows))
    sizes = [[rows.n_rows for rows, origin in found if origin.file == f] for f in (0, 1)]
    assert [sum(in_file) for in_file in sizes] == [25, 35]
    for in_file in sizes:
        assert all(n == n_rows for n in in_file[:-1]) if n_rows else len(in_file) == 1
    again = joined([rows for rows, _ in found])
    assert np.array_equal(again.values, whole.values)
    assert np.array_equal(again.indptr, whole.indptr)
