"""Rows share what they can, copy what they must, and change nothing that they are given."""

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from cwtool.data.rows import BIAS, Origin, Rows, SlotRows, joined
from cwtool.select.results import occurrences
from cwtool_ext import rows as kernel

ARRAYS = ("indptr", "indices", "values", "y", "weight")
TYPES = ("int64", "int32", "float64", "int32", "float64")


def rows_of(n: int, seed: int = 0, *, weighted: bool = False) -> Rows:
    """Rows over 9 ids, some of them empty."""
    random = np.random.default_rng(seed)
    lists = [
        [(int(j), float(random.normal())) for j in np.flatnonzero(random.random(9) < 0.3)]
        for _ in range(n)
    ]
    made = Rows.from_lists(lists, random.integers(0, 2, n).tolist())
    weight = random.random(n) if weighted else None
    return Rows(made.indptr, made.indices, made.values, made.y, weight)


def content(rows: Rows) -> list[Any]:
    """Every row as (class, weight, entries); the arrays have the types of Rows."""
    for name, dtype in zip(ARRAYS, TYPES, strict=True):
        array = getattr(rows, name)
        assert array is None or array.dtype == dtype, name
    cells = list(zip(rows.indices.tolist(), rows.values.tolist(), strict=True))
    ends = rows.indptr.tolist()
    assert (ends[0], ends[-1], rows.nnz) == (0, len(cells), len(cells))
    weight = [1.0] * rows.n_rows if rows.weight is None else rows.weight.tolist()
    parts = zip(rows.y.tolist(), weight, ends[:-1], ends[1:], strict=True)
    return [(y, h, cells[a:b]) for y, h, a, b in parts]


def matrix_of(shape: tuple[int, int] = (6, 8)) -> Any:
    draw = np.random.default_rng(1)
    return csr_array(draw.random(shape) * (draw.random(shape) < 0.4))


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_arrays_of_the_right_types_are_shared(kind: Any) -> None:
    matrix, y, weight = kind(matrix_of()), np.ones(6, dtype=np.int32), np.ones(6)
    matrix.indptr = matrix.indptr.astype(np.int64)
    matrix.indices = matrix.indices.astype(np.int32)
    rows = Rows.from_csr(matrix, y, weight)
    for name, handed in zip(
        ARRAYS, (matrix.indptr, matrix.indices, matrix.data, y, weight), strict=True
    ):
        assert np.shares_memory(getattr(rows, name), handed), name


@pytest.mark.parametrize(
    ("part", "dtype"),
    [("indices", "int64"), ("indptr", "int32"), ("data", "float32"), ("data", "int64")],
)
def test_arrays_of_other_types_are_converted(part: str, dtype: str) -> None:
    matrix = matrix_of()
    matrix.data = 1 + np.rint(8 * matrix.data)
    setattr(matrix, part, getattr(matrix, part).astype(dtype))
    want, kept = matrix.toarray(), getattr(matrix, part).copy()
    rows = Rows.from_csr(matrix, [0, 1, 0, 1, 1, 0], [1, 2, 3, 4, 5, 6])
    found = content(rows)
    assert [y for y, _, _ in found] == [0, 1, 0, 1, 1, 0]
    assert [h for _, h, _ in found] == [1, 2, 3, 4, 5, 6]
    for (_, _, cells), row in zip(found, want, strict=True):
        assert cells == [(j, x) for j, x in enumerate(row.tolist()) if x]
    assert getattr(matrix, part).dtype == dtype
    np.testing.assert_array_equal(getattr(matrix, part), kept)


def test_arrays_with_gaps_are_copied() -> None:
    """Kernels take arrays whose numbers lie side by side; a column of a table is none."""
    table = np.zeros((6, 2), dtype=np.int32)
    weights = np.ones((6, 2))
    rows = Rows.from_csr(matrix_of(), table[:, 0], weights[:, 1])
    assert rows.y.flags.c_contiguous
    assert rows.weight is not None
    assert rows.weight.flags.c_contiguous


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_cannot_be_are_refused(weight: float) -> None:
    weights = np.ones(6)
    weights[2] = weight
    with pytest.raises(ValueError, match="row weights are finite numbers, 0 or greater"):
        Rows.from_csr(matrix_of(), np.zeros(6, dtype=np.int32), weights)


def test_weighing() -> None:
    """Other weights; rows that weigh 0 are left out."""
    rows = Rows.from_lists([[(0, 1.0)], [(1, 2.0)], []], [0, 1, 1])
    assert content(rows.weighing(np.array([2.0, 3.0, 1.0]))) == [
        (0, 2.0, [(0, 1.0)]), (1, 3.0, [(1, 2.0)]), (1, 1.0, []),
    ]  # fmt: skip
    assert content(rows.weighing(np.array([0.0, 3.0, 1.0]))) == [(1, 3.0, [(1, 2.0)]), (1, 1.0, [])]
    assert rows.weighing(None).weight is None


@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_unsorted_and_double_indices_are_put_in_order_in_a_copy(index_type: str) -> None:
    parts = (
        np.array([1.0, 2.0, 4.0, 8.0, 16.0]),
        np.array([3, 0, 3, 2, 1], dtype=index_type),
        np.array([0, 3, 3, 5], dtype=index_type),
    )
    given = [part.copy() for part in parts]
    matrix = csr_array(tuple(given), shape=(3, 4))
    rows = Rows.from_csr(matrix, [1, 0, 1])
    assert content(rows) == [
        (1, 1.0, [(0, 2.0), (3, 5.0)]),
        (0, 1.0, []),
        (1, 1.0, [(1, 16.0), (2, 8.0)]),
    ]
    for before, now in zip(parts, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        np.testing.assert_array_equal(now, before)
    for before, now in zip(parts, given, strict=True):
        np.testing.assert_array_equal(now, before)
    assert matrix.nnz == 5


def test_more_columns_than_there_are_ids_are_refused() -> None:
    wide = csr_array(([1.0], ([0], [BIAS])), shape=(1, BIAS + 1))
    with pytest.raises(ValueError, match=f"{BIAS + 1} columns; {BIAS} are possible"):
        Rows.from_csr(wide, [1])


weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


@weighted
@given(start=st.integers(0, 20), length=st.integers(0, 20), seed=st.integers(0, 9))
def test_a_slice_shares_its_entries(weighted: bool, start: int, length: int, seed: int) -> None:
    rows = rows_of(20, seed, weighted=weighted)
    stop = min(20, start + length)
    part = rows.slice(start, stop)
    assert content(part) == content(rows)[start:stop]
    assert part.indices.base is not None
    if part.nnz:
        assert np.shares_memory(part.values, rows.values)
        assert np.shares_memory(part.indices, rows.indices)


@weighted
@given(numbers=st.lists(st.integers(0, 19), max_size=30), seed=st.integers(0, 9))
def test_rows_are_taken_in_any_order(weighted: bool, numbers: list[int], seed: int) -> None:
    rows = rows_of(20, seed, weighted=weighted)
    before = content(rows)
    part = rows.take(np.array(numbers, dtype=np.int64))
    assert content(part) == [before[k] for k in numbers]
    for name in ARRAYS:
        if getattr(part, name) is not None:
            assert not np.shares_memory(getattr(part, name), getattr(rows, name)), name
    part.values[:] = 9
    part.y[:] = 9
    assert content(rows) == before


@given(
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=5),
    kinds=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_parts_are_joined(lengths: list[int], kinds: list[bool]) -> None:
    """Where one part has weights, the rows of the others count 1."""
    parts = [
        rows_of(n, seed, weighted=kind)
        for seed, (n, kind) in enumerate(zip(lengths, kinds, strict=False))
    ]
    whole = joined(parts)
    assert content(whole) == [row for part in parts for row in content(part)]
    assert (whole.weight is None) == (not any(kinds[: len(parts)]))
    assert len(parts) > 1 or whole is parts[0]


def test_rows_by_slot_keep_their_scale_and_kind() -> None:
    rows = rows_of(20, weighted=True)
    slots = SlotRows(*(getattr(rows, name) for name in ARRAYS), scale=0.5)
    for part in (slots.slice(3, 9), slots.take(np.array([5, 2]))):
        assert isinstance(part, SlotRows)
        assert part.scale == part.csr.scale == 0.5
        assert part.csr.count == part.n_rows
    assert slots.csr is slots.csr, "checked once"
    assert slots.csr.longest == int(np.diff(slots.indptr).max())
    with pytest.raises(FrozenInstanceError):
        slots.scale = 1.0  # type: ignore[misc]


def test_signs() -> None:
    rows = Rows.from_lists([[], [], []], [1, 0, 2])
    assert rows.signs().tolist() == [1, -1, -1]
    assert rows.signs(positive=2).tolist() == [-1, -1, 1]
    assert rows.order.tolist() == [0, 1, 2]


def test_an_origin_names_the_line() -> None:
    origin = Origin("a.svm", 0, 10, np.array([0, 3], dtype=np.int32))
    assert [origin.place(k) for k in (0, 1)] == ["a.svm:10", "a.svm:13"]


@pytest.mark.parametrize("top", [1, 50, 2**31 - 2])
def test_occurrences_are_those_of_a_sort(top: int) -> None:
    ids = np.random.default_rng(top).integers(0, top, 60).astype(np.int32)
    for indices in (ids, ids[:0]):
        rows = Rows(np.array([0, len(indices)]), indices, np.ones(len(indices)), np.zeros(1, "i4"))
        for found, target in zip(
            occurrences(rows), np.unique(indices, return_counts=True), strict=True
        ):
            assert found.dtype == target.dtype
            assert found.tolist() == target.tolist()


@pytest.mark.parametrize(("number", "start"), [(-1, 0), (3, 0), (0, -1), (0, 9)])
def test_rows_that_do_not_fit_are_not_copied(number: int, start: int) -> None:
    rows = Rows.from_lists([[(1, 1.0)], [(2, 2.0)], []], [0, 1, 0])
    to = np.zeros(2, dtype=np.int32), np.zeros(2)
    with pytest.raises(ValueError, match="row"):
        kernel.take(
            rows.indptr, rows.indices, rows.values, np.array([number]), np.array([start]), *to
        )
