"""Class weights: how they are written, and which weight a row is learned with."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.errors import UsageError
from cwtool.model.class_weight import ClassWeight

VECTORS = Path(__file__).parents[1] / "oracle" / "vectors" / "multiclass" / "balanced.json"
TWO = Labels(-1.0, 1.0)


def rows(y, weight=None) -> Rows:
    made = Rows.from_lists([[]] * len(y), y)
    return made if weight is None else replace(made, weight=np.array(weight, dtype=float))


def test_no_class_weights_hand_row_weights_on() -> None:
    none = ClassWeight()
    assert not none
    assert none.learning(rows([0, 1]), TWO) is None
    weighted = rows([0, 1], [2, 3])
    assert none.learning(weighted, TWO) is weighted.weight


@pytest.mark.parametrize(
    ("setting", "kept"),
    [
        ("balanced", "balanced"),
        ("", ""),
        ("+1=10", "1=10.0"),
        ("1=10,-1=0.5", "-1=0.5,1=10.0"),
        (" 2.5=1e3 ", "2.5=1000.0"),
    ],
)
def test_settings(setting: str, kept: str) -> None:
    assert ClassWeight(setting).setting == kept
    assert ClassWeight(kept).setting == kept
    again = ClassWeight.unpacked(ClassWeight(setting).packed())
    assert (again.setting, again.counts) == (kept, [])


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("even", "'even' is not LABEL=WEIGHT"),
        ("1=", "is not LABEL=WEIGHT"),
        ("1=2,", "'' is not LABEL=WEIGHT"),
        ("spam=2", "is not LABEL=WEIGHT"),
        ("1=0", "greater than 0"),
        ("1=-1", "greater than 0"),
        ("1=nan", "greater than 0"),
        ("1=inf", "greater than 0"),
        ("nan=1", "greater than 0"),
        ("1=2,+1=3", "the label [+]1 twice"),
    ],
)
def test_settings_that_are_refused(setting: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ClassWeight(setting)


def test_weights_by_label() -> None:
    found = ClassWeight("1=10").learning(rows([0, 1, 1], [2, 3, 0]), TWO)
    assert found is not None
    assert found.tolist() == [2, 30, 0]
    both = ClassWeight("-1=0.5,1=4").learning(rows([0, 1]), TWO)
    assert both is not None
    assert both.tolist() == [0.5, 4]


def test_a_label_that_the_data_do_not_have_is_refused() -> None:
    strange = ClassWeight("2=10")
    strange.learning(rows([1]), Labels(None, 1.0))  # the other label may still come
    with pytest.raises(UsageError, match=r"label 2; the labels of the data are -1 and \+1"):
        strange.learning(rows([1]), TWO)


def test_frozen_balanced_weights() -> None:
    vectors = json.loads(VECTORS.read_text())
    names = list(dict.fromkeys(vectors["labels"]))
    y = [names.index(label) for label in vectors["labels"]]
    found = ClassWeight("balanced").learning(rows(y), TWO)
    np.testing.assert_allclose(found, vectors["h"], rtol=1e-15)


def slow(y, weight) -> list[float]:
    """min((N + K) / (K (n + 1)), n + 1), row by row."""
    counts: dict[int, int] = {}
    found = []
    for c, h in zip(y, weight, strict=True):
        if h == 0:
            found.append(0.0)
            continue
        counts[c] = counts.get(c, 0) + 1
        total, k, n = sum(counts.values()), len(counts), counts[c]
        found.append(h * min((total + k) / (k * (n + 1)), n + 1))
    return found


labelled = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([1.0, 1.0, 0.0, 2.5])), min_size=1, max_size=60
)


@given(labelled, st.lists(st.integers(0, 60), max_size=3))
def test_balanced_weights_depend_on_the_rows_alone(drawn, cuts) -> None:
    """Not on blocks, and not on a stop between them."""
    y, weight = map(list, zip(*drawn, strict=True))
    ends = [0, *sorted(min(cut, len(y)) for cut in cuts), len(y)]
    balanced, found = ClassWeight("balanced"), []
    for a, b in itertools.pairwise(ends):
        part = balanced.learning(rows(y[a:b], weight[a:b]), TWO)
        assert part is not None
        found += part.tolist()
        balanced = ClassWeight.unpacked(json.loads(json.dumps(balanced.packed())))
    assert found == slow(y, weight)


def test_a_batch_has_the_weights_after_its_last_row() -> None:
    balanced = ClassWeight("balanced")
    first = balanced.learning(rows([0, 0, 0, 1]), TWO, at_once=True)
    np.testing.assert_array_equal(first, [6 / 8, 6 / 8, 6 / 8, 6 / 4])
    second = balanced.learning(rows([1, 0], [1, 2]), TWO, at_once=True)
    np.testing.assert_array_equal(second, [8 / 6, 2 * 8 / 10])


def test_balanced_weights_of_an_even_stream_tend_to_one() -> None:
    found = ClassWeight("balanced").learning(rows([0, 1] * 5000), TWO)
    assert found is not None
    np.testing.assert_allclose(found[-100:], 1, atol=1e-3)
