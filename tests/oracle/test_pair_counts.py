"""Counts of pairs of columns against dense products, and what tells that rows can be counted."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from cwtool.algorithms.batch import gram as gram_of
from cwtool.data.rows import Rows, SlotRows
from cwtool_ext.csr import Csr
from cwtool_ext.gram import PairSums
from cwtool_ext.pair_counts import PairCounts

VALUE, SCALE = 0.3, 0.7


def made(n: int, p: int, share: float, *, weighted: bool = False) -> tuple[Any, SlotRows]:
    """Rows whose entries are all VALUE, one of them empty; their columns do not ascend."""
    rng = np.random.default_rng(p)
    x = rng.random((n, p)) < share * rng.uniform(0, 2, p)
    x[0] = False
    rows = Rows.from_csr(csr_array(VALUE * x), np.zeros(n))
    mixed = rng.permutation(p).astype(np.int32)
    shuffled = np.zeros((n, p))
    shuffled[:, mixed] = SCALE * VALUE * x
    h = rng.choice([0.5, 2.0], n) if weighted else None
    return shuffled, SlotRows(rows.indptr, mixed[rows.indices], rows.values, rows.y, h, SCALE)


@pytest.mark.parametrize(
    ("n", "p", "share"),
    [(40, 5, 0.5), (2000, 32, 0.4), (9000, 90, 0.2), (30_000, 600, 0.005), (3, 40, 0.0)],
)
def test_rows_of_one_value_are_counted(n: int, p: int, share: float) -> None:
    """With so few rows that all pairs are counted one by one, with more than a block of them, and
    with columns that are too rare for bits. A second time the counts begin at 0."""
    x, rows = made(n, p, share)
    signs = np.random.default_rng(1).integers(-1, 2, n).astype(np.int8)
    found, counts = np.tril(np.ones((p, p))), PairCounts(rows.csr, p)
    counts.add(signs, found)
    expected = np.tril((x.T * signs) @ x)
    np.testing.assert_allclose(found, np.tril(np.ones((p, p))) + expected, atol=1e-11)
    counts.add(np.abs(signs), found)
    expected += np.tril((x.T * np.abs(signs)) @ x)
    np.testing.assert_allclose(found, np.tril(np.ones((p, p))) + expected, atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_only_rows_without_weights_are_counted(weighted: bool) -> None:
    x, rows = made(300, 60, 0.05, weighted=weighted)
    products = gram_of.Products(rows, 60, 1)
    assert isinstance(products.pairs, PairSums if weighted else PairCounts)
    found = np.zeros((60, 60))
    products.add(found, np.ones(300, dtype=np.int8))
    h = 1.0 if rows.weight is None else rows.weight
    np.testing.assert_allclose(found, np.tril((x.T * h) @ x), atol=1e-12)


def test_a_matrix_or_signs_that_do_not_fit_are_refused() -> None:
    _, rows = made(10, 5, 0.5)
    counts, signs = PairCounts(rows.csr, 5), np.ones(10, dtype=np.int8)
    with pytest.raises(ValueError, match="no place for 5 columns"):
        counts.add(signs, np.zeros((5, 4)))
    with pytest.raises(ValueError, match="signs has 9 entries for 10 rows"):
        counts.add(signs[1:], np.zeros((5, 5)))
    with pytest.raises(ValueError, match="outside"):
        PairCounts(rows.csr, 4)


def test_rows_are_ordered_by_their_length() -> None:
    _, rows = made(200, 30, 0.3)
    order = np.empty(200, dtype=np.int64)
    rows.csr.by_length(order)
    np.testing.assert_array_equal(order, np.argsort(np.diff(rows.indptr), kind="stable"))
    with pytest.raises(ValueError, match="199 places for 200 rows"):
        rows.csr.by_length(order[1:])


def csr(values: list[float]) -> Csr:
    n = len(values)
    return Csr(np.array([0, n]), np.arange(n, dtype=np.int32), np.array(values, dtype=float))


def test_rows_know_whether_their_values_are_alike_and_the_greatest_size() -> None:
    many = [0.1] * 1500
    assert csr([]).alike() and csr([-2.0]).alike() and csr(many).alike()
    for place in (0, 700, 1499):
        other = [*many[:place], np.nextafter(0.1, 1), *many[place + 1 :]]
        assert not csr(other).alike()
        assert csr(other).largest() == np.nextafter(0.1, 1)
    assert not csr([0.0, -0.0]).alike()
    assert [csr(v).largest() for v in ([], [1.0, -3.0, 2.0], [0.5, 4.0])] == [0, 3, 4]
    assert np.isnan(csr([1.0, np.nan, 2.0]).largest())
