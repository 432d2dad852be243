from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwtool.data.block import Block
from cwtool.data.labels import PEEK_ROWS, Labels, written
from cwtool.errors import DataError


def blocks_of(labels: list[float], cuts: list[int] | None = None) -> list[Block]:
    ends = sorted({0, len(labels), *(min(c, len(labels)) for c in cuts or [])})
    return [
        Block.from_rows([[] for _ in labels[a:b]], labels[a:b], first_line=a + 1)
        for a, b in pairwise(ends)
    ]


def settled(labels: list[float], cuts: list[int] | None = None) -> tuple[Labels, list[float]]:
    found = Labels()
    blocks = list(found.settle(blocks_of(labels, cuts)))
    return found, [y for block in blocks for y in block.y.tolist()]


@pytest.mark.parametrize(
    ("first", "second"), [(-1, 1), (1, -1), (0, 1), (1, 2), (2, 1), (0.5, 0.25), (-3, -2), (0, -1)]
)
def test_the_larger_label_is_positive(first: float, second: float) -> None:
    found, y = settled([first, first, second])
    assert (found.negative, found.positive) == (min(first, second), max(first, second))
    assert y == [1.0 if x == max(first, second) else -1.0 for x in (first, first, second)]


@given(
    head=st.integers(1, PEEK_ROWS + 50),
    pair=st.sampled_from([(1.0, 2.0), (2.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (1.0, -1.0)]),
    cuts=st.lists(st.integers(0, PEEK_ROWS + 60), max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_any_split_gives_the_same(head: int, pair: tuple[float, float], cuts: list[int]) -> None:
    labels = [pair[0]] * head + [pair[1]] * 10
    assert settled(labels, cuts) == settled(labels)


@pytest.mark.parametrize("label", [1.0, 2.0, 0.0, -1.0])
def test_one_class_alone(label: float) -> None:
    found, y = settled([label] * 3)
    assert not found.complete
    assert y == [1.0 if label > 0 else -1.0] * 3
    assert found.name(1 if label > 0 else -1) == written(label)


@pytest.mark.parametrize("cuts", [[], [1], [2], [1, 2, 3]])
def test_third_class_has_its_place(cuts: list[int]) -> None:
    with pytest.raises(
        DataError, match=r"<memory>:4: label 3 is a third class; so far there are -1 and \+1"
    ):
        settled([1, -1, 1, 3, 5], cuts)


def test_known_classes_stay() -> None:
    found = Labels(-1.0, 1.0)
    (block,) = found.settle(blocks_of([1.0, 1.0]))
    assert block.y.tolist() == [1.0, 1.0]
    with pytest.raises(DataError):
        list(found.settle(blocks_of([0.0])))


def test_names() -> None:
    assert [Labels(-1.0, 1.0).name(y) for y in (-1, 1)] == ["-1", "+1"]
    assert [Labels(0.0, 1.0).name(y) for y in (-1, 1)] == ["0", "1"]
    assert [Labels(0.5, 1e15).name(y) for y in (-1, 1)] == ["0.5", "1000000000000000"]
    assert Labels().name(1) == "?"


def test_encode_is_an_array_of_signs() -> None:
    (block,) = blocks_of([2.0, 1.0, 2.0])
    Labels(1.0, 2.0).encode(block)
    assert block.y.dtype == np.float64
    assert block.y.tolist() == [1, -1, 1]
