"""Operating points: --fpr, --precision and --top of predict, and those that a model keeps."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cwtool.model import file as modelfile

Run = Callable[..., str]


@pytest.fixture
def model(ok: Run, planted: Run) -> str:
    ok("train", planted("a.svm", 1, 2000), "-m", "m.cw")
    planted("b.svm", 2, 1000)
    return "m.cw"


def evaluated(ok: Run, *args: object) -> dict:
    return json.loads(ok("predict", "b.svm", "--evaluate", "--json", *args))


def rate(found: dict) -> float:
    c = found["confusion"]
    return c["fp"] / (c["fp"] + c["tn"])


def test_a_wanted_rate_of_false_positives(ok: Run, model: str) -> None:
    strict, loose = (evaluated(ok, "-m", model, "--fpr", p) for p in (0.01, 0.2))
    assert rate(strict) < 0.03
    assert 0.1 < rate(loose) < 0.3
    assert strict["recall"] < loose["recall"]
    exact = evaluated(ok, "-m", model, "--fpr", 0.01, "--validation", "b.svm")
    assert rate(exact) <= 0.01
    assert exact["recall"] == pytest.approx(exact["recall_at_fpr"]["0.01"])


def test_what_is_expected_is_told(cwtool: Callable, model: str) -> None:
    said = cwtool("predict", "b.svm", "-m", model, "--fpr", 0.01).err
    found = re.search(r"the threshold of fpr=0.01 is ([\d.]+); .* recall is about ([\d.]+)", said)
    assert found is not None
    kept = cwtool("train", "a.svm", "-m", "p.cw", "--operating-point", "fpr=0.01", "--json").out
    last = json.loads(kept.splitlines()[-1])
    assert float(found[1]) == pytest.approx(last["threshold"], rel=1e-5)
    assert float(found[2]) == pytest.approx(last["at_threshold"]["recall"], abs=1e-4)
    exact = cwtool("predict", "b.svm", "-m", model, "--fpr", 0.01, "--validation", "b.svm").err
    assert "is about" not in exact
    assert re.search(r"fpr=0.01 is [\d.]+; on the rows of b.svm the recall is 0.\d+ and", exact)
    assert "warning" not in exact


def test_a_threshold_on_learned_rows_is_doubted(cwtool: Callable, model: str) -> None:
    said = cwtool("predict", "b.svm", "-m", model, "--fpr", 0.01, "--validation", "a.svm").err
    assert "warning: the model has learned a.svm" in said


def test_a_wanted_precision(ok: Run, model: str) -> None:
    exact = evaluated(ok, "-m", model, "--precision", 0.97, "--validation", "b.svm")
    assert exact["precision"] >= 0.97
    about = evaluated(ok, "-m", model, "--precision", 0.97)
    assert abs(about["precision"] - 0.97) < 0.03


@pytest.mark.parametrize("stdin", [False, True])
def test_the_highest_scores(ok: Run, model: str, stdin: bool) -> None:
    given = ["-"] if stdin else ["b.svm"]
    text = Path("b.svm").read_bytes()
    args = ["-m", model, "--top", 25, "--output", "all"]
    _, *rows = ok("predict", *given, *args, stdin=text).splitlines()
    cells = [row.split("\t") for row in rows]
    called = sorted(float(c[1]) for c in cells if c[0] == "+1")
    assert called == sorted(float(c[1]) for c in cells)[-25:]


@pytest.mark.parametrize("command", ["train", "feed"])
def test_a_point_is_kept_in_the_model(ok: Run, model: str, command: str) -> None:
    ok(command, "a.svm", "-m", "p.cw", "--operating-point", "fpr=0.01")
    assert modelfile.load_header(Path("p.cw"))["threshold"]["setting"] == "fpr=0.01"
    assert rate(evaluated(ok, "-m", "p.cw")) == rate(evaluated(ok, "-m", model, "--fpr", 0.01))


@pytest.mark.parametrize(
    "args",
    [
        ["--fpr", 0.1, "--top", 3],
        ["--threshold", "fpr=2"],
        ["--threshold", "fpr=x"],
        ["--validation", "b.svm"],
        ["--top", 3, "--follow"],
    ],
)
def test_what_cannot_be(cwtool: Callable, model: str, args: list) -> None:
    assert cwtool("predict", "b.svm", "-m", model, *args).code == 2


def test_evaluation_in_words(ok: Run, model: str) -> None:
    said = ok("predict", "b.svm", "-m", model, "--evaluate")
    for word in ("at 0.1 % FPR", "at 1 % FPR", "Brier 0.", "precision at 100 "):
        assert word in said


def test_curves_are_drawn(ok: Run, cwtool: Callable, model: str) -> None:
    pytest.importorskip("matplotlib")
    ok("predict", "b.svm", "-m", model, "--evaluate", "--plot", "p.svg")
    text = Path("p.svg").read_text()
    assert text.count("<svg") == 1
    for args in (["--plot", "p.svg"], ["--evaluate", "--plot", "p.txt"]):
        assert cwtool("predict", "b.svm", "-m", model, *args).code == 2
