"""Blocks of rows joined to batches."""

from dataclasses import replace

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


@pytest.mark.parametrize("n_rows", [1, 7, 30])
def test_rows_of_weight_zero_change_no_batch(n_rows: int) -> None:
    random = np.random.default_rng(7)
    weight = random.choice([0.0, 0.0, 1.0, 2.5], 200)
    x = random.normal(size=(200, 2)).tolist()
    rows = Rows.from_lists([list(enumerate(row)) for row in x], [1] * 200)
    whole = replace(rows, weight=weight)
    only = whole.take(np.flatnonzero(weight))

    def learned(rows: Rows, cuts: list[int]) -> list[list[float]]:
        """The first values of the rows that have a weight, by batch."""
        ends = [*cuts, rows.n_rows]
        blocks = [
            (rows.slice(a, b), Origin("a.svm", 0, a, np.arange(b - a, dtype=np.int32)))
            for a, b in zip([0, *cuts], ends, strict=True)
        ]
        found = [part for part, _ in batches(blocks, n_rows)]
        assert sum(part.n_rows for part in found) == rows.n_rows
        kept = [part.values[::2][part.weight > 0].tolist() for part in found]
        return [batch for batch in kept if batch]

    want = learned(only, [])
    assert learned(whole, []) == learned(whole, [1, 50, 51, 130]) == want
    assert [len(batch) for batch in want[:-1]] == [n_rows] * (len(want) - 1)
