"""Which rows are looked at for the sizes of their columns."""

import numpy as np

from cwtool.data.rows import Rows
from cwtool.train.columns import FEWEST, ROWS, ColumnSizes


def block(n: int, value: float) -> Rows:
    return Rows.from_lists([[(0, value), (1, 1.0)]] * n, [1] * n)


def seen(sizes: ColumnSizes) -> list[float]:
    """The values of feature 0, and how many rows there are."""
    ids, sums, _ = sizes.sums()
    return [float(sums[ids == 0][0]), sizes.n_rows]


def test_the_first_rows_of_a_new_model() -> None:
    sizes = ColumnSizes()
    for n, value in ((200, 1.0), (200, 2.0), (500, 3.0)):
        sizes.add(block(n, value))
    assert seen(sizes) == [200 * 1.0 + 100 * 2.0, ROWS]


def test_the_last_rows_of_a_model_with_standardized_columns() -> None:
    """A short last block does not hide those before it."""
    sizes = ColumnSizes(last=True)
    for n, value in ((5000, 1.0), (500, 2.0), (90, 3.0), (20, 4.0), (0, 5.0)):
        sizes.add(block(n, value))
    assert sizes.n_rows >= FEWEST
    assert seen(sizes) == [90 * 3.0 + 20 * 4.0, 110]
    sizes.add(block(150, 6.0))
    assert seen(sizes) == [150 * 6.0, 150]


def test_values_are_those_of_the_rows() -> None:
    rows = Rows.from_lists([[(3, 2.0)], [(1, 5.0), (3, -1.0)]], [1, 0])
    sizes = ColumnSizes()
    sizes.add(rows)
    ids, sums, squares = sizes.sums()
    assert np.array_equal(ids, [1, 3])
    assert sums.tolist() == [5.0, 1.0]
    assert squares.tolist() == [25.0, 5.0]
