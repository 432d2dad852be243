"""Rows by column against dense matrices."""

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix

from cwtool.algorithms.batch.rows_by_column import Matrix, across, gram_of_rows
from cwtool_ext import inverted as kernel
from cwtool_ext import rows_and_columns
from cwtool_ext.csr import Csr


def sparse(seed: int, n: int = 40, d: int = 13) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)
    x[[3, n - 1]] = x[:, [0, 5]] = 0
    return x


def matrix(found: csr_matrix | csc_matrix) -> Matrix:
    return Matrix(found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data)


def same(one: Matrix, two: Matrix) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.arrays, two.arrays, strict=True))


def test_transpose_puts_slots_where_they_belong() -> None:
    x, column = sparse(1), np.random.default_rng(0).permutation(13).astype(np.int32)
    found = Matrix.empty(13, np.count_nonzero(x))
    kernel.transpose(Csr(*matrix(csr_matrix(x)).arrays, 2.0), column, *found.arrays)
    assert same(found, matrix(csc_matrix(2 * x[:, np.argsort(column)])))


def test_columns_that_occur_and_columns_times_numbers() -> None:
    x, v = sparse(5), np.random.default_rng(2).normal(size=40)
    columns, found = matrix(csc_matrix(x)), np.zeros(14, dtype=np.uint8)
    kernel.mark(matrix(csr_matrix(x)).csr, found)
    assert found.tolist() == [*x.any(axis=0).tolist(), 0]
    kernel.scale(columns.csr, v, columns.value)
    assert same(columns, matrix(csc_matrix(v[:, None] * x)))


def test_products_sums_squares_and_gram() -> None:
    x, rng = sparse(2), np.random.default_rng(1)
    columns, rows, v = matrix(csc_matrix(x)), matrix(csr_matrix(x)), rng.normal(size=40)
    squares, some = np.empty(13), np.array([7, 0, 2, 12])
    np.testing.assert_allclose(columns.products(v), x.T @ v, atol=1e-12)
    np.testing.assert_allclose(rows.sums(v, 13), x.T @ v, atol=1e-12)
    u = rng.random(40)
    first, second = columns.moments(v, u)
    np.testing.assert_allclose(first, x.T @ v, atol=1e-12)
    np.testing.assert_allclose(second, (x**2).T @ u, atol=1e-12)
    kernel.squares(columns.csr, squares)
    np.testing.assert_allclose(squares, (x**2).sum(axis=0), rtol=1e-12)
    gram, room = np.empty((4, 4)), np.zeros(40)
    for weight in (np.broadcast_to(1.0, 40), u):
        kernel.gram(columns.csr, some, weight, room, gram)
        expected = x[:, some].T @ (weight[:, None] * x[:, some])
        np.testing.assert_allclose(gram, expected, atol=1e-12)
    assert not room.any()
    assert same(columns.take(some), matrix(csc_matrix(x[:, some])))


def test_products_of_columns_with_those_of_rows() -> None:
    x, z, rng = sparse(6), sparse(7, d=6), np.random.default_rng(3)
    h, some = rng.random(40) * (rng.random(40) < 0.7), np.array([12, 1, 7])
    rows = matrix(csr_matrix(z))
    found, squares = across(matrix(csc_matrix(x)), some, rows, h, 6)
    np.testing.assert_allclose(found, x[:, some].T @ (h[:, None] * z), atol=1e-12)
    np.testing.assert_allclose(squares, (x[:, some] ** 2).T @ h, atol=1e-12)
    np.testing.assert_allclose(gram_of_rows(rows, h, 6), z.T @ (h[:, None] * z), atol=1e-12)
    assert across(matrix(csc_matrix(x)), some, Matrix.empty(40, 0), h, 0)[0].shape == (3, 0)


def test_rows_widened_step_by_step_are_the_rows_at_once() -> None:
    x = sparse(3)
    columns, chosen = matrix(csc_matrix(x)), np.array([4, 9, 0, 1, 11, 6])
    rows, also = Matrix.empty(40, 0), np.empty(0)
    for a, b in ((0, 2), (2, 3), (3, 6)):
        rows, also = rows.widened(also, columns, chosen[a:b], a)
        assert same(rows, matrix(csr_matrix(x[:, chosen[:b]])))
        assert np.array_equal(also, np.where(rows.place < a, rows.value, 0))
        also = rows.value.copy()


def test_what_does_not_fit_is_refused() -> None:
    columns, some = matrix(csc_matrix(sparse(4))), np.array([1, 13])
    start, index = np.zeros(3, dtype=np.int64), np.empty(0, dtype=np.int32)
    with pytest.raises(ValueError, match="column 13 lies outside"):
        kernel.take(columns.csr, some, start, index, np.empty(0))
    with pytest.raises(ValueError, match="outside"):
        kernel.gram(columns.csr, some[:1], np.ones(40), np.zeros(2), np.empty((1, 1)))
    with pytest.raises(ValueError, match="outside"):
        kernel.gram(columns.csr, some[:1], np.ones(2), np.zeros(40), np.empty((1, 1)))
    with pytest.raises(ValueError, match="outside"):
        columns.products(np.zeros(2))
    with pytest.raises(ValueError, match="outside"):
        columns.moments(np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="outside"):
        kernel.mark(columns.csr, np.zeros(2, dtype=np.uint8))
    with pytest.raises(ValueError, match="outside"):
        kernel.scale(columns.csr, np.zeros(2), columns.value)
    with pytest.raises(ValueError, match="not 3"):
        kernel.scale(columns.csr, np.zeros(40), np.zeros(3))
    with pytest.raises(ValueError, match="the scale must be 1"):
        kernel.products(Csr(*columns.arrays, 2.0), np.zeros(40), np.empty(13))
    with pytest.raises(ValueError, match="a column lies outside"):
        kernel.transpose(
            matrix(csr_matrix(sparse(4))).csr, np.full(13, 9, dtype=np.int32),
            np.zeros(5, dtype=np.int64), columns.place.copy(), columns.value.copy(),
        )  # fmt: skip


def test_products_that_do_not_fit_are_refused() -> None:
    x, rows, h = matrix(csc_matrix(sparse(4))), matrix(csr_matrix(sparse(4))), np.ones(40)
    across, squares, some = np.empty((2, 13)), np.empty(2), np.array([1, 2])
    for given in (
        (np.array([1, 13]), h, across, squares),
        (some, np.ones(39), across, squares),
        (some, h, np.empty((2, 12)), squares),
        (some, h, np.empty((3, 13)), squares),
        (some, h, across, np.empty(3)),
    ):
        with pytest.raises(ValueError, match=r"outside|39 entries|room"):
            rows_and_columns.pairs(x.csr, given[0], rows.csr, *given[1:])


def test_a_copy_is_checked_before_it_is_made() -> None:
    columns = matrix(csc_matrix(np.ones((5, 2))))
    start = np.array([0, 4_000_000, 5])
    with pytest.raises(ValueError, match="column 0 has 5 entries"):
        kernel.take(columns.csr, np.array([0, 1]), start, np.empty(5, dtype=np.int32), np.empty(5))
