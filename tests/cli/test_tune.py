"""cwtool tune"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.model import Model
from cwtool.validation import evaluate, fit, folds, read

Run = Callable[..., Any]


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def data(planted: Callable[..., str]) -> str:
    return planted("a.svm", 3, 300)


def test_the_best_is_trained_on_all_rows(ok: Run, data: str) -> None:
    command = ["tune", data, "-a", "arow", "--grid", "r=0.01,1,1000", "--cv", "4", "-m", "m.cw"]
    *points, winner, _, trained = objects(ok(*command, "--json", "-j", "1"))
    assert [p["params"] for p in points] == [{"r": 0.01}, {"r": 1.0}, {"r": 1000.0}]
    assert winner["params"] == min(points, key=lambda p: p["error"])["params"]
    assert (trained["event"], trained["rows"]) == ("train", 300)
    ok("train", data, "-a", "arow", "-r", winner["params"]["r"], "-m", "other.cw")
    one, two = (Model.load(Path(name)) for name in ("m.cw", "other.cw"))
    assert one.algorithm.params == two.algorithm.params
    assert np.array_equal(one.weights()[1], two.weights()[1])


def test_the_numbers_are_those_of_the_folds(ok: Run, data: str) -> None:
    (point, _) = objects(ok("tune", data, "-a", "cw", "--grid", "eta=0.8", "--json", "-j", "1"))
    rows = read([data], Labels(), ReadOptions())
    found = []
    for learned, checked in folds(rows.y, 5):
        model = fit(Model.new("cw", {"eta": 0.8}), rows.take(learned))
        found.append(evaluate(model, rows.take(checked)))
    for name in ("error", "auc", "f1"):
        values = [f[name] for f in found]
        assert point[name] == pytest.approx(np.mean(values))
        assert point[f"{name}_sd"] == pytest.approx(np.std(values, ddof=1))


def test_jobs_and_repetition_change_nothing(ok: Run, data: str) -> None:
    command = ["tune", data, "--grid", "r=0.1,1", "--grid", "projection=kl,l2", "--json"]
    one = ok(*command, "-j", "1")
    assert len(objects(one)) == 5
    assert ok(*command, "-j", "2") == one
    assert ok(*command, "-j", "1", "--seed", "1") != one


def test_of_equals_the_first_wins(ok: Run, data: str) -> None:
    """The floor does not matter here: all points are equal."""
    for values in ("1e-12,1e-13", "1e-13,1e-12"):
        *points, winner = objects(ok("tune", data, "--grid", f"variance_floor={values}", "--json"))
        assert points[0]["error"] == points[1]["error"]
        assert winner["params"] == {"variance_floor": float(values.split(",")[0])}


def test_metric(ok: Run, data: str) -> None:
    for metric in ("auc", "f1"):
        command = ["tune", data, "--grid", "r=0.001,0.1,10000", "--metric", metric, "--json"]
        *points, winner = objects(ok(*command))
        assert winner["params"] == max(points, key=lambda p: p[metric])["params"]


def test_text(ok: Run, data: str) -> None:
    shown = ok("tune", data, "--grid", "r=0.1,1", "-m", "m.cw", "--passes", "2").splitlines()
    assert shown[0].startswith("r 0.1  error ")
    assert shown[2].startswith("best error: arow with r ")
    assert shown[-1].startswith("wrote m.cw")


def test_other_options_hold_for_all_points(ok: Run, data: str) -> None:
    ok("tune", data, "-a", "scw1", "--eta", "0.7", "--grid", "C=0.5,1", "--bias", "-m", "m.cw")
    model = Model.load(Path("m.cw"))
    assert model.algorithm.params.eta == 0.7
    assert model.reading.bias


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--grid", "x=1,2"], 2, "arow has no parameter 'x'"),
        (["--grid", "r"], 2, "not of the form"),
        (["--grid", "r=,"], 2, "not of the form"),
        (["--grid", "r=1,-1"], 2, "-r is -1"),
        (["--grid", "r=one"], 2, "must be a number"),
        (["--grid", "r=1", "--grid", "r=2"], 2, "given twice"),
        (["--grid", "r=1,2", "-r", "3"], 2, "given both in --grid and by its own option"),
        (["--grid", "covariance=diag,dag"], 2, "one of diag, full, factored"),
        (["-a", "perceptron", "--grid", "average=yes"], 2, "true or false"),
        ([], 2, "--grid"),
        (["--grid", "r=1", "--cv", "1"], 2, "--cv"),
        (["--grid", "r=1,2", "--cv", "290"], 3, "one class has"),
        (["--grid", "r=1", "-m", "a.svm"], 4, "one of the data files"),
    ],
)
def test_mistakes(cwtool: Run, data: str, args: list[str], code: int, said: str) -> None:
    ended = cwtool("tune", data, *args)
    assert (ended.code, said in ended.err) == (code, True), ended.err


def test_stdin_is_refused(cwtool: Run) -> None:
    assert cwtool("tune", "-", "--grid", "r=1").code == 2


def test_bad_data(cwtool: Run, data: str) -> None:
    Path("bad.svm").write_text(Path(data).read_text() + "+1 1:x\n")
    ended = cwtool("tune", "bad.svm", "--grid", "r=0.1,1", "-m", "m.cw")
    assert (ended.code, "bad.svm:301:" in ended.err) == (3, True)
    assert not Path("m.cw").exists()
    skipped = ["--on-bad-line", "skip", "-m", "m.cw"]
    assert cwtool("tune", "bad.svm", "--grid", "r=0.1,1", *skipped).code == 0


def test_passes_that_make_no_sense_are_refused_before_the_work(cwtool: Run, planted: Run) -> None:
    rows = planted("a.svm", 1, 60)
    ended = cwtool("tune", rows, "--algo", "dcd", "--grid", "C=1,2", "--passes", "3", "-m", "m.cw")
    assert (ended.code, ended.out) == (2, "")
    assert "--passes is for learners of single rows" in ended.err


def test_what_does_not_fit_is_refused(cwtool: Run, ok: Run, data: str) -> None:
    command = ["tune", data, "-a", "arow", "--covariance", "full", "--grid", "r=1", "-j", "1"]
    ended = cwtool(*command, "--max-memory", "1kB")
    assert ended.code == 3
    assert "needs 7.2 kB of memory, and 1 kB may be used" in ended.err
    ok(*command, "--max-memory", "1MB")
