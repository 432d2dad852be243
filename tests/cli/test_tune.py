"""cwtool tune"""

import json
import re
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


def test_a_parameter_may_have_the_name_of_an_option(ok: Run, data: str) -> None:
    """cv of sdist, which only --grid can give."""
    command = ["tune", data, "-a", "sdist", "--steps", "2", "--cv", "2", "--json"]
    (*points, winner) = objects(ok(*command, "--grid", "cv=0,2"))
    assert [p["params"] for p in points] == [{"cv": 0}, {"cv": 2}]
    assert winner["params"] in [p["params"] for p in points]


def test_text(ok: Run, data: str) -> None:
    shown = ok("tune", data, "--grid", "r=0.1,1", "-m", "m.cw", "--passes", "2").splitlines()
    assert shown[0].startswith("r 0.1     error ")
    assert re.search(r"  error [\d.]+ % ± [\d.]+ %  AUC about [\d.]+  F1 ", shown[0])
    assert shown[2].startswith("best error: arow with r ")
    assert shown[-1].startswith("wrote m.cw")


def test_the_metric_that_decides_has_its_standard_deviation(ok: Run, data: str) -> None:
    shown = ok("tune", data, "--grid", "r=0.1,1", "--metric", "auc").splitlines()
    assert re.search(r"  error [\d.]+ %  AUC about [\d.]+ ± [\d.]+  F1 ", shown[0])


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
    assert "--passes is for online learners" in ended.err


def test_what_does_not_fit_is_refused(cwtool: Run, ok: Run, data: str) -> None:
    command = ["tune", data, "-a", "arow", "--covariance", "full", "--grid", "r=1", "-j", "1"]
    ended = cwtool(*command, "--max-memory", "1kB")
    assert ended.code == 2
    assert "all rows are kept in memory; the first of them need 20 kB, and 1 kB may be" in ended.err
    ended = cwtool(*command, "--max-memory", "1.31MB")
    assert ended.code == 3
    assert "needs 14.4 kB of memory with the copy that is saved" in ended.err
    ok(*command, "--max-memory", "2MB")


def test_progressive_numbers_are_those_of_train(ok: Run, data: str, planted: Any) -> None:
    other = planted("b.svm", 4, 200)
    grid = ["--grid", "algo=arow,cw", "--grid", "r=0.1,10", "--grid", "eta=0.8"]
    *points, winner = objects(ok("tune", data, other, *grid, "--by", "progressive", "--json"))
    assert [p["params"] for p in points] == [
        {"algo": "arow", "r": 0.1}, {"algo": "arow", "r": 10.0}, {"algo": "cw", "eta": 0.8},
    ]  # fmt: skip
    assert winner["by"] == "progressive"
    assert winner["params"] == min(points, key=lambda p: p["error"])["params"]
    for point in points:
        given = [f"--{k}={v}" if len(k) > 1 else f"-{k}{v}" for k, v in point["params"].items()]
        trained = objects(ok("train", data, other, *given, "-m", "m.cw", "--json"))[-1]
        assert [point[k] for k in ("error", "auc", "f1")] == [
            trained[k] for k in ("error", "auc", "f1")
        ]


def test_progressive_without_rows(cwtool: Run, folder: Path) -> None:
    (folder / "none.svm").write_text("# nothing\n")
    ended = cwtool("tune", "none.svm", "--grid", "r=1,2", "--by", "progressive")
    assert ended.code == 3 and "none.svm: no rows" in ended.err


def test_progressive_trains_the_winner(ok: Run, data: str) -> None:
    grid = ["--grid", "algo=pa1,perceptron", "--by", "progressive", "-m", "m.cw", "--json"]
    winner = next(o for o in objects(ok("tune", data, *grid)) if o["event"] == "winner")
    assert Model.load(Path("m.cw")).algorithm.name == winner["algo"] == winner["params"]["algo"]


def test_folds_by_time(ok: Run, data: str) -> None:
    command = ["tune", data, "--grid", "r=0.1", "--by", "time", "--cv", "4", "--json"]
    point = objects(ok(*command))[0]
    rows = read([data], Labels(), ReadOptions())
    errors = []
    for k in range(1, 5):
        model = fit(Model.new("arow", {"r": 0.1}), rows.slice(0, 60 * k))
        errors.append(evaluate(model, rows.slice(60 * k, 60 * k + 60))["error"])
    assert point["error"] == pytest.approx(np.mean(errors))


def test_grids_of_passes_and_reading(ok: Run, data: str) -> None:
    grid = ["--grid", "passes=1,3", "--grid", "normalize=none,l2", "--grid", "bias=false,true"]
    *points, winner = objects(ok("tune", data, *grid, "--json", "-j", "1", "--cv", "3"))
    assert len(points) == 8
    for point in points:
        alone = [f"{k}={str(v).lower()}" for k, v in point["params"].items()]
        again = objects(
            ok(
                "tune",
                data,
                *(w for a in alone for w in ("--grid", a)),
                "--json",
                "-j1",
                "--cv",
                "3",
            )
        )
        assert again[0]["error"] == point["error"]
    assert winner["params"] in [p["params"] for p in points]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--grid", "passes=1,2"], "passes"),
        (["--grid", "bias=false,true"], "bias"),
        (["--grid", "algo=arow,dcd"], "batch learners"),
        (["--grid", "r=1", "--metric", "log-loss"], "log loss"),
    ],
)
def test_what_one_pass_cannot_judge(cwtool: Run, data: str, words: list[str], text: str) -> None:
    ended = cwtool("tune", data, "--by", "progressive", *words)
    assert ended.code == 2
    assert text in ended.err
