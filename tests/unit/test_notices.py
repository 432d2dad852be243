"""What is told of predictions that pass over a class."""

import numpy as np
import pytest

from cwtool.data.labels import Labels
from cwtool.messages.notices import imbalance, noticed, worse_than_one_class
from cwtool.metrics.tally import Tally
from cwtool.model import Model

TWO, THREE = ("-1", "+1"), ("1", "2", "3")


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (
            [[90, 0], [10, 0]],
            "all rows are predicted as -1, and 10 % of them are of another class; ",
        ),
        (
            [[0, 10], [0, 90]],
            "all rows are predicted as +1, and 10 % of them are of another class; ",
        ),
        ([[60, 0], [39, 1]], "only 2.5 % of the rows of the class +1 are predicted as it; "),
        ([[90, 0], [0, 10]], "only 10 % of the rows are of the class +1; "),
        ([[5.0, 0.5], [0.5, 94.0]], "only 5.5 % of the rows are of the class -1; "),
    ],
)
def test_two_classes(matrix: list[list[float]], words: str) -> None:
    found = imbalance(np.array(matrix), TWO, bias=False, threshold="")
    assert found is not None
    assert found.startswith(words)
    assert "with `threshold=balanced` or `threshold=f1`" in found
    assert "training with `bias`" in found


@pytest.mark.parametrize(
    "matrix",
    [
        [[80, 2], [9, 9]],  # no class is rare, and none is passed over
        [[990, 1], [9, 0]],  # of 0.9 % of the rows little can be said
        [[17, 0], [2, 0]],  # there are few rows
        [[95, 0], [4, 1]],
    ],
)
def test_nothing_to_tell(matrix: list[list[int]]) -> None:
    assert imbalance(np.array(matrix), TWO, bias=matrix[1][0] in (4, 9), threshold="") is None


def test_remedies_that_were_taken_are_not_told_again() -> None:
    rare = np.array([[90, 1], [4, 5]])
    assert imbalance(rare, TWO, bias=False, threshold="") is not None
    assert imbalance(rare, TWO, bias=True, threshold="") is None
    assert imbalance(rare, TWO, bias=False, threshold="f1") is None
    missed = np.array([[90, 0], [10, 0]])
    with_bias = imbalance(missed, TWO, bias=True, threshold="")
    assert with_bias is not None
    assert "bias" not in with_bias
    assert imbalance(missed, TWO, bias=True, threshold="error") == with_bias
    with_threshold = imbalance(missed, TWO, bias=True, threshold="f1")
    assert with_threshold is not None
    assert with_threshold.endswith(
        "training with `class_weight=balanced` gives rows of rare classes a larger weight"
    )


@pytest.mark.parametrize("threshold", ["precision=0.99", "fpr=0.001", "1.5"])
def test_a_high_threshold_is_named_as_the_cause(threshold: str) -> None:
    found = imbalance(np.array([[90, 0], [10, 0]]), TWO, bias=False, threshold=threshold)
    assert found is not None
    assert found.endswith(f"; this is an effect of the threshold, which is {threshold}")


def test_several_classes() -> None:
    matrix = np.array([[50, 5, 0], [2, 90, 0], [2, 3, 0]])
    found = imbalance(matrix, THREE, bias=True, threshold="")
    assert found == (
        "none of the rows of the class 3 are predicted as it; with `threshold=balanced` rare "
        "classes are predicted more often"
    )
    matrix[2] = 90, 3, 0
    frequent = imbalance(matrix, THREE, bias=False, threshold="")
    assert frequent == (
        "none of the rows of the class 3 are predicted as it; more `passes` or another `algo` "
        "may separate it from other classes"
    )
    without_passes = imbalance(matrix, THREE, bias=False, threshold="", passes=False)
    assert without_passes == (
        "none of the rows of the class 3 are predicted as it; another `algo` may separate it "
        "from other classes"
    )
    matrix[2] = 0, 0, 5
    assert imbalance(matrix, THREE, bias=False, threshold="") is None


def test_rows_of_one_class_may_lack_labels() -> None:
    found = imbalance(np.array([[0, 0], [20.5, 9.0]]), TWO, bias=True, threshold="f1")
    assert found is not None
    assert found.startswith("all rows have the label +1; a line that begins with a feature")
    assert imbalance(np.array([[0, 0], [1, 9]]), TWO, bias=True, threshold="f1") is None


def test_predictions_that_are_worse_than_one_class() -> None:
    found = worse_than_one_class(np.array([[800, 60], [190, 10]]), TWO)
    assert found is not None
    assert found.startswith(
        "the error is 23.6 %, and that of predicting every row as -1 is only 18.9 %; try newer"
    )
    assert worse_than_one_class(np.array([[850, 20], [190, 10]]), TWO) is None  # perhaps by chance
    assert worse_than_one_class(np.array([[700, 160], [20, 180]]), TWO) is None  # better
    assert worse_than_one_class(np.array([[9, 9], [1, 0]]), TWO) is None  # few rows
    assert worse_than_one_class(np.array([[20, 20, 20], [9, 0, 0], [9, 0, 0]]), THREE) is not None


@pytest.mark.parametrize(("settings", "told"), [({}, True), ({"class_weight": "balanced"}, False)])
def test_a_higher_error_by_class_weights_is_not_told(settings: dict[str, str], told: bool) -> None:
    model = Model.new("arow", {}, **settings)
    model.labels = Labels.against_rest(1.0)
    tally = Tally()
    y = np.repeat(np.array([0, 1], dtype=np.int32), [800, 200])
    tally.add(y, np.where(np.arange(1000) % 3 == 0, 1.0, -1.0))
    assert (noticed(model, tally) is not None) == told
