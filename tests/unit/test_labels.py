"""Labels as class numbers, whatever the blocks that they come in."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.labels import PEEK_ROWS, Labels, written
from cwtool.data.parse import Block
from cwtool.data.rows import Origin
from cwtool.errors import DataError


def block_of(labels: list[float], first_line: int = 1) -> Block:
    """Rows without entries."""
    n = len(labels)
    origin = Origin("a.svm", 0, first_line, np.arange(n, dtype=np.int32))
    nothing = np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
    return Block(*nothing, np.array(labels, dtype=float), origin)


def blocks_of(labels: list[float], cuts: list[int] | None = None) -> list[Block]:
    ends = sorted({0, len(labels), *(min(c, len(labels)) for c in cuts or [])})
    return [block_of(labels[a:b], a + 1) for a, b in pairwise(ends)]


def settled(
    labels: list[float], cuts: list[int] | None = None, multiclass: str = "auto"
) -> tuple[Labels, list[int]]:
    """The labels found, and the class numbers of the rows."""
    found = Labels(multiclass=multiclass)
    parts = list(found.rows_of(blocks_of(labels, cuts)))
    assert all(rows.y.dtype == np.int32 for rows, _ in parts)
    return found, [y for rows, _ in parts for y in rows.y.tolist()]


@pytest.mark.parametrize(
    ("first", "second"), [(-1, 1), (1, -1), (0, 1), (1, 2), (2, 1), (0.5, 0.25), (-3, -2), (0, -1)]
)
def test_the_larger_label_is_positive(first: float, second: float) -> None:
    found, y = settled([first, first, second])
    assert (found.negative, found.positive) == (min(first, second), max(first, second))
    assert y == [int(x == max(first, second)) for x in (first, first, second)]


@given(
    head=st.integers(1, PEEK_ROWS + 50),
    pair=st.sampled_from([(1.0, 2.0), (2.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (1.0, -1.0)]),
    cuts=st.lists(st.integers(0, PEEK_ROWS + 60), max_size=5),
)
def test_any_split_gives_the_same(head: int, pair: tuple[float, float], cuts: list[int]) -> None:
    labels = [pair[0]] * head + [pair[1]] * 10
    assert settled(labels, cuts) == settled(labels)


@pytest.mark.parametrize("label", [1.0, 2.0, 0.0, -1.0])
def test_one_class_alone(label: float) -> None:
    found, y = settled([label] * 3)
    assert not found.complete
    assert y == [int(label > 0)] * 3
    assert found.name(int(label > 0)) == written(label)
    assert found.name(int(label <= 0)) == "?"


@pytest.mark.parametrize("cuts", [[], [1], [2], [1, 2, 3]])
def test_third_class_has_its_place(cuts: list[int]) -> None:
    with pytest.raises(DataError, match=r"a\.svm:4: label 3 is a third class beside -1 and \+1"):
        settled([1, -1, 1, 3, 5], cuts, "no")


@pytest.mark.parametrize("cuts", [[], [1], [2], [1, 2, 3]])
def test_three_labels_among_the_first_rows_are_several_classes(cuts: list[int]) -> None:
    found, y = settled([7, -1, 7, 3, 5, -1], cuts)
    assert found.several == [7, -1, 3, 5]  # in the order of their first rows
    assert y == [0, 1, 0, 2, 3, 1]
    assert found.names == ["7", "-1", "3", "5"]


def test_a_third_label_after_the_first_rows_is_an_error() -> None:
    with pytest.raises(DataError, match=r"a\.svm:1001: label 3 is a third class"):
        settled([1.0, 2.0] * (PEEK_ROWS // 2) + [3.0])
    found, _ = settled([1.0, 2.0] * (PEEK_ROWS // 2) + [3.0], multiclass="ovr")
    assert found.several == [1, 2, 3]


def test_new_labels_are_classes_only_where_they_are_learned() -> None:
    found = Labels(multiclass="rival", several=[])
    block = replace(block_of([1, 2, 3, 1]), weight=np.array([1.0, 0.0, 1.0, 1.0]))
    assert found.encode(block).y.tolist() == [0, -1, 1, 0]
    assert found.encode(block_of([3, 9, 2]), learning=False).y.tolist() == [1, -1, -1]
    assert found.several == [1, 3]
    assert found.encode(block_of([2, 1])).y.tolist() == [2, 0]


def test_rows_of_weight_0_decide_nothing() -> None:
    found = Labels()
    block = replace(block_of([9, 1, 2]), weight=np.array([0.0, 1.0, 1.0]))
    with pytest.raises(DataError, match="label 9 is a third class beside 1 and 2"):
        list(found.rows_of([block]))


@pytest.mark.parametrize("label", [2.0, -2.0])
def test_a_label_of_rows_with_and_without_weight_is_one_class(label: float) -> None:
    found = Labels()
    list(found.rows_of([replace(block_of([label, label]), weight=np.array([1.0, 0.0]))]))
    assert not found.complete
    against = Labels.against_rest(3.0)
    against.encode(replace(block_of([5, 5, 3]), weight=np.array([1.0, 0.0, 1.0])))
    assert against.names == ["5", "3"]


def test_one_label_against_all_others() -> None:
    found = Labels.against_rest(3.0)
    assert [r.y.tolist() for r, _ in found.rows_of(blocks_of([3, 5, 3]))] == [[1, 0, 1]]
    assert found.names == ["5", "3"]
    assert found.encode(block_of([4, 3])).y.tolist() == [0, 1]
    assert found.names == ["rest", "3"]


@pytest.mark.parametrize("n_rows", [12, 900])
def test_a_regression_target_is_refused(n_rows: int) -> None:
    numbers = [0.37 * k for k in range(n_rows)]
    with pytest.raises(DataError, match=r"a\.svm: the labels are .* looks like a regression"):
        settled(numbers)
    settled([0.5, 1.5, 2.5] * 5)  # three classes with such names


def test_known_classes_stay() -> None:
    found = Labels(-1.0, 1.0)
    ((rows, _),) = found.rows_of(blocks_of([1.0, 1.0]))
    assert rows.y.tolist() == [1, 1]
    with pytest.raises(DataError):
        list(found.rows_of(blocks_of([0.0])))


def test_names() -> None:
    assert [Labels(-1.0, 1.0).name(k) for k in (0, 1)] == ["-1", "+1"]
    assert [Labels(0.0, 1.0).name(k) for k in (0, 1)] == ["0", "1"]
    assert [Labels(0.5, 1e15).name(k) for k in (0, 1)] == ["0.5", "1000000000000000"]
    assert Labels().name(1) == "?"


def test_rows_share_the_arrays_of_their_block() -> None:
    (block,) = blocks_of([2.0, 1.0, 2.0])
    rows = Labels(1.0, 2.0).encode(block)
    assert rows.y.tolist() == [1, 0, 1]
    assert rows.indptr is block.indptr
    assert rows.indices is block.indices
    assert rows.values is block.values
    assert rows.weight is None
    assert block.labels.tolist() == [2, 1, 2]
