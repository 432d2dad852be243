"""Learners that remember their rows."""

import json
from collections.abc import Callable

import pytest

Run = Callable[..., str]


def test_too_many_rows(cwtool: Callable, planted: Run) -> None:
    rows = planted("a.svm", 1, 500)
    ended = cwtool("train", rows, "--algo", "knn", "--max-memory", "100kB", "-m", "m.cw")
    assert ended.code == 2
    assert "knn needs" in ended.err
    assert "500 rows of 30 features" in ended.err
    assert "--max-memory" in ended.err


def test_passes_make_no_sense(cwtool: Callable, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 50), "--algo", "knn", "--passes", "2", "-m", "m.cw")
    assert ended.code == 2


def test_one_file_or_many_slots_end_the_same(ok: Run, planted: Run) -> None:
    data = planted("a.svm", 1, 300)
    for rows in ("0", "70"):
        ok("train", data, "--algo", "knn", "--slot-rows", rows, "-m", f"{rows}.cw")
    said = [
        ok("predict", planted("b.svm", 2, 90), "-m", m, "--output", "score")
        for m in ("0.cw", "70.cw")
    ]
    assert said[0] == said[1]
    assert json.loads(ok("inspect", "70.cw", "--json"))["remembered_rows"] == 300


def test_probabilities_do_not_trust_a_row_to_itself(ok: Run, planted: Run) -> None:
    """A row that votes for itself would make 1-NN certain of everything."""
    ok("train", planted("a.svm", 1, 2000), "--algo", "knn", "--k", "1", "-m", "m.cw")
    found = ok("predict", planted("b.svm", 2, 1000), "-m", "m.cw", "--evaluate", "--json")
    assert json.loads(found)["ece"] < 0.1
    assert json.loads(found)["error"] == pytest.approx(0.25, abs=0.1)
