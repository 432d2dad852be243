"""Metrics as text: one line for two classes and one for several, and the tables of classes."""

import numpy as np
import pytest

from cwtool.messages.metrics_text import aligned, evaluated, metrics_line
from cwtool.metrics.confusion import Confusion
from cwtool.metrics.softmax import SoftmaxReliability
from cwtool.metrics.tally import Tally
from cwtool.train.gate import Gate


def evaluation(y: list[int], said: list[int], labels: list[float], weight=None) -> dict:
    """What `predict` finds for rows of the classes y that were predicted as `said`."""
    score = np.zeros((len(y), len(labels)))
    for row, k in zip(score, said, strict=True):
        row[:] = 0.2 / (len(labels) - 1)
        row[k] = 0.8
        if k < 0:
            row[:] = -np.inf
    tally, quality = Confusion(labels), SoftmaxReliability(labels)
    classes = np.array(y, dtype=np.int32)
    tally.add(classes, score, weight)
    quality.add(classes, np.where(score > 0, score, 1 / len(labels)), weight)
    return tally.summary() | quality.summary()


def test_the_line_of_several_classes() -> None:
    found = evaluation([0, 0, 1, 2], [0, 1, 1, 2], [1.0, 2.0, 3.0])
    assert metrics_line(found) == "error 25.00 %  macro F1 0.7778  balanced error 16.67 %"
    two = Tally()
    two.add(np.array([1, 0], dtype=np.int32), np.array([1.0, -1.0]))
    assert metrics_line(two.summary()).startswith("error 0.00 %  AUC about 1.0000  precision")
    exact = two.summary() | {"auc_about": 1.0}
    assert metrics_line(exact).startswith("error 0.00 %  AUC 1.0000  precision")
    assert metrics_line(Confusion([]).summary()) == "error -  macro F1 -  balanced error -"


def test_tables_of_a_few_classes() -> None:
    found = evaluation([0] * 1200 + [0, 1, 2], [0] * 1200 + [1, 1, 2], [10.0, 2.0, 3.0])
    assert evaluated(found).splitlines() == [
        "error 0.08 %  macro F1 0.8888  balanced error 0.03 %  weighted F1 0.9993  "
        "log loss 0.2249  ECE 19.92 %",
        "1,203 rows, 3 classes",
        "",
        "class  precision  recall      F1   rows",
        "    2     0.5000  1.0000  0.6667      1",
        "    3     1.0000  1.0000  1.0000      1",
        "   10     1.0000  0.9992  0.9996  1,201",
        "",
        "actual classes in rows, predicted classes in columns",
        "    2  3     10",
        " 2  1  0      0",
        " 3  0  1      0",
        "10  1  0  1,200",
    ]


def test_a_class_without_rows_has_no_f1() -> None:
    found = evaluation([0, 1], [0, 1], [1.0, 2.0, 3.0])
    assert "    3          -       -       -     0" in evaluated(found).splitlines()


def test_rows_outside_the_matrix() -> None:
    found = evaluation([0, -1, 1, -1], [0, 0, -1, 1], [1.0, 2.0], np.array([1, 2, 0.5, 1]))
    lines = evaluated(found).splitlines()
    assert lines[1] == (
        "4 rows of the total weight 4.5, 2 classes; "
        "2 rows have labels that the model has not learned"
    )
    assert lines[3:6] == [
        "class  precision  recall      F1  weight",
        "    1     0.3333  1.0000  0.5000       1",
        "    2     0.0000  0.0000  0.0000     0.5",
    ]
    assert lines[-4:] == [
        "       1  2  none",
        "    1  1  0     0",
        "    2  0  0     1",
        "other  1  1     0",
    ]


def test_many_classes_are_shown_by_the_worst() -> None:
    """Class k is confused with the next one k times."""
    y = [k for k in range(30) for _ in range(40)]
    said = [(k + 1) % 30 if i < k else k for k in range(30) for i in range(40)]
    text = evaluated(evaluation(y, said, [float(k) for k in range(30)])).splitlines()
    at = text.index("classes with the lowest F1")
    assert text[at + 1].split() == ["class", "precision", "recall", "F1", "rows"]
    assert [line.split()[0] for line in text[at + 2 : at + 5]] == ["29", "28", "27"]
    at = text.index("most frequent confusions, actual class -> predicted class")
    assert text[at + 1 :] == [f"{k} -> {(k + 1) % 30}: {k} rows" for k in range(29, 19, -1)]
    perfect = evaluated(evaluation(y, y, [float(k) for k in range(30)]))
    assert "->" not in perfect
    once = evaluated(evaluation([*y, -1], [*y, 3], [float(k) for k in range(30)]))
    assert once.endswith("\nother -> 3: 1 row")


def test_columns_end_below_each_other() -> None:
    assert list(aligned([["", "ab"], ["xyz", "1"]])) == ["     ab", "xyz   1"]


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("macro_f1>0.7", True),
        ("macro_f1>0.8", False),
        ("weighted_f1>=0.75", True),
        ("balanced_error<=0.1", False),
        ("Balanced_Error<=0.2", True),
        ("auc>0", False),
    ],
)
def test_gates(text: str, passes: bool) -> None:
    found = evaluation([0, 0, 1, 2], [0, 1, 1, 2], [1.0, 2.0, 3.0])
    assert Gate.parse(text).passes(found) is passes
