"""Thresholds and ties from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cwtool.model import file

Run = Callable[..., Any]


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def essence(path: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """All of a model but its history."""
    header, arrays = file.load(Path(path))
    del header["history"]
    return header, {name: array.tobytes() for name, array in arrays.items()}


@pytest.fixture
def rare(planted: Run) -> Run:
    """Write a file with few rows of the class +1; its name."""

    def write(name: str, seed: int, n_rows: int) -> str:
        lines = Path(planted(name, seed, n_rows)).read_text().splitlines(keepends=True)
        kept = [line for k, line in enumerate(lines) if line[0] == "-" or k % 5 == 1]
        Path(name).write_text("".join(kept))
        return name

    return write


def confusion(labels: list[str], scores: list[float], threshold: float) -> dict[str, int]:
    cells = {"tp": 0, "fp": 0, "tn": 0, "fn": 0}
    for label, score in zip(labels, scores, strict=True):
        cells[("t" if (score >= threshold) == (label == "+1") else "f")
              + ("p" if score >= threshold else "n")] += 1  # fmt: skip
    return cells


@pytest.mark.parametrize("algo", ["arow", "pa1", "dcd", "sop"])
@pytest.mark.parametrize("point", ["f1", "balanced", "0.25"])
def test_labels_and_metrics_follow_the_threshold(ok: Run, rare: Run, algo: str, point: str) -> None:
    data, test = rare("a.svm", 1, 400), rare("t.svm", 2, 200)
    asked = ["--algo", algo, "--threshold", point, "--validation", test, "--json"]
    *_, checked, trained = events(ok("train", data, "-m", "m.cw", *asked))
    rows = events(ok("predict", test, "-m", "m.cw", "--output", "all", "--json", "-q"))
    truth = [line.split()[0] for line in Path(test).read_text().splitlines()]
    want = confusion(truth, [row["score"] for row in rows], trained["threshold"])
    (found,) = events(ok("predict", test, "-m", "m.cw", "--evaluate", "--json"))
    assert found["confusion"] == checked["confusion"] == want
    assert found["threshold"] == trained["threshold"] != 0
    assert [row["label"] == "+1" for row in rows] == [
        row["score"] >= trained["threshold"] for row in rows
    ]
    described = json.loads(ok("inspect", "m.cw", "--json"))
    assert (described["operating_point"], described["threshold"]) == (point, found["threshold"])
    assert f"threshold    {found['threshold']:.6g}" in ok("inspect", "m.cw")


def test_train_reports_both_and_judges_by_the_threshold(cwtool: Run, rare: Run) -> None:
    data = rare("a.svm", 1, 600)
    plain = events(cwtool("train", data, "-m", "p.cw", "--json").out)[-1]
    ended = cwtool("train", data, "-m", "m.cw", "--json", "--threshold", "f1")
    found = events(ended.out)[-1]
    assert found["f1"] == plain["f1"] < found["at_threshold"]["f1"]
    between = (found["f1"] + found["at_threshold"]["f1"]) / 2
    gate = ["--require", f"f1>={between}"]
    assert cwtool("train", data, "-m", "m.cw", "--threshold", "f1", *gate, "-q").code == 0
    assert cwtool("train", data, "-m", "m.cw", *gate, "-q").code == 5
    text = cwtool("train", data, "-m", "m.cw", "--threshold", "f1").out
    shown = f"at the threshold {found['threshold']:.6g} (f1)  error "
    assert shown in text
    assert f"F1 {found['at_threshold']['f1']:.4f}" in text


@pytest.mark.parametrize("algo", ["arow", "dcd"])
def test_resuming_keeps_finds_and_changes_thresholds(ok: Run, rare: Run, algo: str) -> None:
    first, second = rare("a.svm", 1, 200), rare("b.svm", 2, 150)
    point = ["--threshold", "f1"]
    ok("train", first, second, "-m", "once.cw", "--algo", algo, *point, "-q")
    ok("train", first, "-m", "day.cw", "--algo", algo, *point, "-q")
    before = essence("day.cw")[0]["threshold"]
    ok("train", second, "--resume", "day.cw", "-m", "day.cw", "-q")
    assert essence("day.cw") == essence("once.cw")
    assert essence("day.cw")[0]["threshold"] != before
    ok("train", first, "-m", "day.cw", "--algo", algo, "-q")
    assert "threshold" not in essence("day.cw")[0]
    ok("train", second, "--resume", "day.cw", "-m", "day.cw", *point, "-q")
    assert essence("day.cw") == essence("once.cw")


def test_predict_overrides(ok: Run, rare: Run) -> None:
    data, test = rare("a.svm", 1, 400), rare("t.svm", 2, 200)
    ok("train", data, "-m", "f.cw", "--threshold", "f1", "-q")
    ok("train", data, "-m", "b.cw", "--threshold", "balanced", "-q")
    ok("train", data, "-m", "m.cw", "-q")
    for point in ("f1", "balanced"):
        found = [
            events(ok("predict", test, "-m", f"{model}.cw", "--evaluate", "--json", *more))
            for model, more in [(point[0], []), ("m", ["--threshold", point])]
        ]
        for (one,) in found:
            del one["time"], one["model"]
        assert found[0] == found[1]
    (all_,) = events(ok("predict", test, "-m", "f.cw", "--evaluate", "--json", "--threshold", -99))
    assert all_["recall"] == 1
    assert all_["confusion"]["tn"] == 0
    assert "threshold -99" in ok("predict", test, "-m", "f.cw", "--evaluate", "--threshold", "-99")
    assert essence("f.cw")[0]["threshold"]["setting"] == "f1"


@pytest.mark.parametrize("command", [["train", "-m", "n.cw"], ["predict", "-m", "m.cw"]])
def test_a_threshold_that_cannot_be(cwtool: Run, rare: Run, command: list[str]) -> None:
    data = rare("a.svm", 1, 100)
    cwtool("train", data, "-m", "m.cw", "-q")
    ended = cwtool(*command, data, "--threshold", "best")
    assert ended.code == 2
    assert "it must be error, f1, balanced, fpr=RATE" in " ".join(ended.err.split())


@pytest.mark.parametrize(("more", "called"), [("-1", "-1"), ("+1", "+1"), ("", "+1")])
@pytest.mark.parametrize("algo", ["arow", "dcd"])
def test_rows_that_score_zero_are_of_the_more_frequent_class(
    ok: Run, folder: Path, algo: str, more: str, called: str
) -> None:
    """Empty rows and rows of unknown features alone; labels, metrics, validation, selection."""
    lines = ["-1 1:1 3:1", "+1 2:1 3:1"] * 6 + [f"{more} {1 + (more == '+1')}:1"] * bool(more)
    (folder / "a.svm").write_text("\n".join(lines) + "\n")
    (folder / "t.svm").write_text("-1\n-1 99:1\n+1 99:1 100:1\n-1 1:1\n+1 2:1\n")
    asked = ["--algo", algo, "--validation", "t.svm", "--json"]
    *_, checked, _ = events(ok("train", "a.svm", "-m", "m.cw", *asked))
    labels = ok("predict", "t.svm", "-m", "m.cw", "-q").split()
    assert labels == [called] * 3 + ["-1", "+1"]
    (found,) = events(ok("predict", "t.svm", "-m", "m.cw", "--evaluate", "--json"))
    assert found["error"] == checked["error"] == (0.2 if called == "-1" else 0.4)
    assert "threshold" not in found
    asked = ["--algo", algo, "--features", "2", "--test", "t.svm", "--json"]
    if algo == "arow":
        (chosen,) = events(ok("select-features", "a.svm", *asked))
        assert chosen["test_error"] == found["error"]
    old = ok("predict", "t.svm", "-m", "m.cw", "-q", "--threshold", "0").split()
    assert old == ["+1"] * 3 + ["-1", "+1"]


def test_a_rare_class_is_noted_once(cwtool: Run, rare: Run) -> None:
    data = rare("a.svm", 1, 600)
    lines = Path(data).read_text().splitlines(keepends=True)
    positive = [line for line in lines if line[0] == "+"]
    few = [line for line in lines if line[0] == "-"] + positive[:15]
    Path(data).write_text("".join(few))
    note = f"only {100 * 15 / len(few):.3g} % of the rows are of the class +1; with --threshold "
    for command in (["train"], ["predict", "--evaluate"]):
        ended = cwtool(*command, data, "-m", "m.cw", "--json")
        assert ended.err.count(note) == ended.err.count("training with --bias") == 1
        assert all("notice" not in event for event in events(ended.out))
    assert "of the class" not in cwtool("train", data, "-m", "m.cw", "--bias").err
    assert "of the class" not in cwtool("predict", data, "-m", "m.cw", "--evaluate").err
    assert "of the class" not in cwtool("train", data, "-m", "m.cw", "--threshold", "f1").err
    called = cwtool("predict", data, "-m", "m.cw", "--evaluate", "--threshold", "99").err
    assert "all rows are predicted as -1, and " in called
    assert "this is an effect of the threshold, which is 99.0" in called


def test_rows_that_score_zero_are_noted(cwtool: Run, rare: Run) -> None:
    data = rare("a.svm", 1, 400)
    rows = Path(data).read_text()
    Path(data).write_text(rows + "-1\n" * 30)
    n = rows.count("\n") + 30
    err = cwtool("train", data, "-m", "m.cw").err
    zero = float(err.split(" % of the rows score exactly 0; ")[0].splitlines()[-1])
    assert 100 * 30 / n <= zero < 100 * 35 / n
    assert "count them as predicted +1, but the trained model predicts -1; with --bias" in err
    assert "score exactly 0" not in cwtool("train", data, "-m", "m.cw", "--bias").err
    assert "score exactly 0" not in cwtool("train", data, "-m", "m.cw", "--threshold", "0").err
    assert "score exactly 0" not in cwtool("train", data, "-m", "m.cw", "-a", "dcd", "--bias").err
    Path("few.svm").write_text("-1 1:1\n-1 2:1\n+1 3:1\n")
    assert "score exactly 0" not in cwtool("train", "few.svm", "-m", "m.cw").err


@pytest.fixture
def three_classes(folder: Path) -> NDArray[np.int64]:
    """The classes of 600 rows, two of which are rare, that are written to a.svm."""
    random = np.random.default_rng(0)
    y = random.choice(3, size=600, p=[0.9, 0.05, 0.05])
    x = random.normal(size=(600, 3)) + 1.2 * np.eye(3)[y]
    lines = [f"{k} 1:{a:.4f} 2:{b:.4f} 3:{c:.4f}\n" for k, (a, b, c) in zip(y, x, strict=True)]
    (folder / "a.svm").write_text("".join(lines))
    return y


def test_several_classes_are_called_by_their_probabilities(
    cwtool: Run, ok: Run, three_classes: NDArray[np.int64]
) -> None:
    """With error, arg max_k a z_k + b_k, which has fewer errors without an intercept."""
    ok("train", "a.svm", "-m", "m.cw", "-q")
    plain = json.loads(ok("predict", "a.svm", "-m", "m.cw", "--evaluate", "--json"))
    called = ("predict", "a.svm", "-m", "m.cw", "--threshold", "error", "--json")
    assert json.loads(ok(*called, "--evaluate"))["error"] < plain["error"] - 0.05
    rows = [json.loads(line) for line in ok(*called, "--output", "all").splitlines()]
    p = np.array([[row[f"probability_{k}"] for k in range(3)] for row in rows])
    assert [int(row["label"]) for row in rows] == np.argmax(p, axis=1).tolist()
    ok("train", "a.svm", "-m", "e.cw", "--threshold", "error", "-q")
    ended = cwtool("export", "e.cw", "-o", "e.json", "--format", "json")
    assert (ended.code, "--threshold error of several" in ended.err) == (4, True)


def test_several_classes_are_called_by_their_shares(
    cwtool: Run, ok: Run, three_classes: NDArray[np.int64]
) -> None:
    """With balanced, arg max_k a z_k - ln((n_k + 1) / (N + K)); other thresholds are refused."""
    ok("train", "a.svm", "-m", "m.cw", "--bias", "-q")
    plain = json.loads(ok("predict", "a.svm", "-m", "m.cw", "--evaluate", "--json"))
    shifted = ("predict", "a.svm", "-m", "m.cw", "--threshold", "balanced", "--json")
    found = json.loads(ok(*shifted, "--evaluate"))
    assert found["balanced_error"] < plain["balanced_error"] - 0.05
    assert found["log_loss"] == plain["log_loss"], "probabilities stay"
    rows = [json.loads(line) for line in ok(*shifted, "--output", "all").splitlines()]
    counts = np.bincount(three_classes)
    shift = np.log((counts + 1) / (counts.sum() + 3))
    p = np.array([[row[f"probability_{k}"] for k in range(3)] for row in rows])
    assert [int(row["label"]) for row in rows] == np.argmax(np.log(p) - shift, axis=1).tolist()
    ok("train", "a.svm", "-m", "b.cw", "--bias", "--threshold", "balanced", "-q")
    kept = json.loads(ok("predict", "a.svm", "-m", "b.cw", "--evaluate", "--json"))
    assert kept["confusion"] == found["confusion"]
    for words in ("train -m c.cw", "train -m c.cw --again --resume m.cw", "feed -m m.cw"):
        ended = cwtool(*words.split(), "a.svm", "--threshold", "f1")
        assert ended.code == 2
        assert "--threshold f1 is for two classes" in ended.err
