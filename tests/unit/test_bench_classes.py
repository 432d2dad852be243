"""Suites on several classes, with weights, thresholds and the programs of others."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.bench.cells import Cell, perform
from cwtool.bench.classes import metrics_of
from cwtool.bench.generators import clusters, topics, words
from cwtool.bench.others import PROGRAMS
from cwtool.bench.scaling import ranged
from cwtool.bench.sources import Source, resolve
from cwtool.data.rows import Rows

TOPICS = Source(make="topics", args={"rows": 400, "classes": 4, "features": 500})
RARE = Source(make="words", args={"rows": 600, "features": 300, "relevant": 20, "positive": 0.1})
DENSE = Source(make="clusters", args={"rows": 300, "classes": 4, "columns": 5, "centres": 1})
NEEDED = {
    "sklearn-svc": {"C": 1.0},
    "sklearn-sgd": {"alpha": 1e-3},
    "liblinear-1": {"C": 1.0},
    "liblinear-4": {"C": 1.0},
    "vw-oaa": {"loss_function": "hinge"},
}


def done(task: str, source: Source, algo: str, **more: Any) -> dict[str, Any]:
    outcome = perform(Cell(task, source, algo, **more))
    assert not outcome.failure, outcome.failure
    return outcome.result


def dense(rows: Rows, width: int) -> np.ndarray:
    out = np.zeros((rows.n_rows, width))
    out[np.repeat(rows.order, np.diff(rows.indptr)), rows.indices] = rows.values
    return out


def test_made_up_classes() -> None:
    train, test = topics(0, rows=600, classes=5, features=300)
    assert test is not None
    counts = np.bincount(train.y)
    assert len(counts) == 5
    assert counts[0] > 3 * counts[4]
    assert (train.n_rows, test.n_rows, int(train.indices.max()) < 300) == (600, 300, True)
    train, _ = clusters(0, rows=200, classes=6, columns=4)
    assert set(train.y) == set(range(6))
    np.testing.assert_array_equal(dense(train, 5)[:, 4], 1)
    train, test = words(0, rows=400, features=300, positive=0.05)
    assert test is not None
    assert [int(rows.y.sum()) for rows in (train, test)] == [20, 10]


def test_classes_of_files_are_numbered_by_label(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "train.svm").write_text("7 1:1\n-2 2:1\n3 1:2\n7 3:1\n")
    (folder / "test.svm").write_text("3 1:1\n9 1:1\n-2 1:1\n")
    source = resolve("made", {}, tmp_path)
    assert source is not None
    train, test = source.both()
    assert train.y.tolist() == [2, 0, 1, 2]
    assert test.y.tolist() == [1, -1, 0]  # 9 was never learned
    assert done("test", source, "arow")["error"] >= 1 / 3


def test_columns_by_their_range_in_training() -> None:
    x = np.array([[0.0, 5, 2], [4, 5, 0], [2, 5, 1], [6, 7, 4]])
    y = np.array([0, 1, 2, 1], dtype=np.int32)
    parts = [
        Rows(np.arange(0, 3 * len(a) + 1, 3), np.tile([0, 1, 2], len(a)).astype(np.int32),
             a.ravel(), b)
        for a, b in ((x[:3], y[:3]), (x[3:], y[3:]))
    ]  # fmt: skip
    train, test = ranged(parts[0], parts[1], constant=True)
    assert test is not None
    np.testing.assert_array_equal(dense(train, 4), [[-1, 0, 1, 1], [1, 0, -1, 1], [0, 0, 0, 1]])
    np.testing.assert_array_equal(dense(test, 4), [[2, 0, 3, 1]])
    assert test.y.tolist() == [1]


def test_two_ways_of_several_classes() -> None:
    found = {
        mode: done("test", TOPICS, "arow", params={"multiclass": mode}) for mode in ("ovr", "rival")
    }
    assert found["ovr"]["error"] != found["rival"]["error"]
    for result in found.values():
        assert result["error"] < 0.3
        assert 0 < result["macro_f1"] < 1
        assert result["nonzero"] <= result["features"]
    assert done("test", TOPICS, "arow")["error"] == found["rival"]["error"]
    online = done("online", TOPICS, "arow")
    assert online["mistakes"] == online["curve"]["mistakes"][-1] < 0.5 * online["rows"]
    judged = done("validation", TOPICS, "arow", options={"folds": 3})
    assert [len(judged[name]) for name in ("error", "macro_f1", "balanced_error")] == [3, 3, 3]


def test_rare_rows_by_weights_and_thresholds() -> None:
    plain = done("test", RARE, "arow")
    weighted = done("test", RARE, "arow", params={"class_weight": "balanced"})
    moved = done("test", RARE, "arow", params={"threshold": "balanced"})
    assert plain["auc"] == moved["auc"] != weighted["auc"]
    assert moved["balanced_error"] < plain["balanced_error"]


def test_metrics_of_predicted_classes() -> None:
    y, said = (np.array(x, dtype=np.int32) for x in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 0]))
    found = metrics_of(y, said, 2)
    assert found == pytest.approx({"error": 0.4, "f1": 0.5, "balanced_error": (1 / 3 + 1 / 2) / 2})
    several = metrics_of(np.array([0, 1, 2, -1], np.int32), np.array([0, 1, 1, 2], np.int32), 3)
    assert several["error"] == 0.5
    assert several["balanced_error"] == pytest.approx(1 / 3)


def test_row_weights(tmp_path: Path) -> None:
    """They count in our metrics, and are refused where other programs would not get them."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "train.svm").write_text("+1 1:1\n-1 2:1\n")
    (folder / "test.svm").write_text("+1:3 1:1\n+1 2:1\n-1 2:1\n")
    source = resolve("made", {}, tmp_path)
    assert source is not None
    assert done("test", source, "arow")["balanced_error"] == 1 / 8
    assert "row weights" in perform(Cell("test", source, "sklearn-svc")).failure


@pytest.mark.parametrize("algo", PROGRAMS)
def test_other_programs_learn(algo: str) -> None:
    """They know both several classes and two, and their answers are better than guesses."""
    if PROGRAMS[algo].absent:
        pytest.skip(PROGRAMS[algo].absent)
    found = done("test", DENSE, algo, params=NEEDED.get(algo, {}), options={"passes": 3})
    assert found.keys() == {"error", "macro_f1", "balanced_error", "seconds"}
    assert found["error"] < 0.3
    judged = done("validation", DENSE, algo, params=NEEDED.get(algo, {}), options={"folds": 2})
    assert len(judged["error"]) == 2
    two = done("test", RARE, algo, params=NEEDED.get(algo, {}))
    assert two.keys() == {"error", "f1", "balanced_error", "seconds"}
    assert two["error"] < 0.2
