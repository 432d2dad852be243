"""Standardized columns against dense NumPy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from cwtool.data.columns import Columns, standardized


def sparse(n_rows: int, n_columns: int, density: float, seed: int) -> csr_array:
    rng = np.random.default_rng(seed)
    shape = n_rows, n_columns
    return csr_array(np.where(rng.random(shape) < density, rng.normal(size=shape), 0.0))


def applied(columns: Columns, matrix: csr_array) -> csr_array:
    """What the kernel makes of the rows."""
    n_rows, n_columns = matrix.shape
    matrix.sort_indices()
    indptr = matrix.indptr.astype(np.int64)
    room = matrix.nnz + n_rows * columns.filled
    indices, values = np.zeros(room, dtype=np.int32), np.zeros(room)
    indices[: matrix.nnz], values[: matrix.nnz] = matrix.indices, matrix.data
    nnz = standardized(columns, indptr, indices, values)
    assert indptr[-1] == nnz
    for start, stop in pairwise(indptr.tolist()):
        assert (np.diff(indices[start:stop]) > 0).all()
    return csr_array((values[:nnz], indices[:nnz], indptr), shape=(n_rows, n_columns))


@pytest.mark.parametrize("density", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_those_of_numpy(density: float, seed: int) -> None:
    matrix, rng = sparse(30, 12, density, seed), np.random.default_rng(seed)
    ids = np.sort(rng.permutation(12)[:7])
    mean, scale = np.where(rng.random(7) < 0.5, rng.normal(size=7), 0.0), rng.gamma(2, size=7)
    found = applied(
        Columns(tuple(ids.tolist()), tuple(mean.tolist()), tuple(scale.tolist())), matrix
    )
    dense = matrix.toarray()
    dense[:, ids] = (dense[:, ids] - mean) / scale
    np.testing.assert_array_equal(found.toarray(), dense)


def test_columns_of_many_rows_get_mean_0_and_deviation_1() -> None:
    rng = np.random.default_rng(3)
    dense = np.column_stack(
        [
            rng.normal(50, 4, 200),  # all rows have it
            np.where(rng.random(200) < 0.7, rng.normal(3, 1, 200), 0),  # most
            np.where(rng.random(200) < 0.3, rng.gamma(3, 40, 200), 0),  # some: it stays sparse
            np.where(rng.random(200) < 0.02, 7.0, 0),  # few: it stays as it is
            np.full(200, 3.0),  # a constant becomes 1
        ]
    )
    matrix = csr_array(dense)
    columns = Columns.measured(matrix.indptr, matrix.indices, matrix.data)
    assert columns.ids == (0, 1, 2, 4) and columns.filled == 2
    found = applied(columns, matrix).toarray()
    np.testing.assert_allclose(found[:, :2].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found[:, :2].std(axis=0), 1, rtol=1e-12)
    assert (found[:, 2] == 0).sum() == (dense[:, 2] == 0).sum()
    np.testing.assert_allclose((found[found[:, 2] != 0, 2] ** 2).mean(), 1, rtol=1e-12)
    np.testing.assert_array_equal(found[:, 3], dense[:, 3])
    np.testing.assert_allclose(found[:, 4], 1, rtol=1e-12)


def test_extreme_values_stay_finite() -> None:
    matrix = csr_array(np.array([[1e308, 1e-308], [-1e308, 1.0], [1.0, 1e-200]]))
    columns = Columns((0, 1), (1e308, 0.0), (1e-300, 1e-300))
    assert np.isfinite(applied(columns, matrix).data).all()
    measured = Columns.measured(matrix.indptr, matrix.indices, matrix.data)
    assert np.isfinite(applied(measured, matrix).data).all()


def test_no_rows_have_no_columns() -> None:
    empty = sparse(0, 5, 0.5, 0)
    assert Columns.measured(empty.indptr, empty.indices, empty.data) == Columns((), (), ())
