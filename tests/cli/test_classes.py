"""Models of several classes on the command line: what predict and inspect show and write."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]
LABELS = ["-1", "2", "5", "10"]


def classes_text(seed: int, n: int, labels: tuple[str, ...] = ("5", "-1", "10", "2")) -> str:
    """Rows with 6 features; the class is that of the largest of the first features, mostly."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 6)).round(3)
    y = (x[:, : len(labels)] + 0.2 * random.normal(size=(n, len(labels)))).argmax(axis=1)
    lines = [
        f"{labels[k]} " + " ".join(f"{j}:{v}" for j, v in enumerate(row, 1) if v)
        for k, row in zip(y, x.tolist(), strict=True)
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture(params=["rival", "ovr"])
def model(request: pytest.FixtureRequest, ok: Run) -> str:
    Path("a.svm").write_text(classes_text(1, 400))
    Path("b.svm").write_text(classes_text(2, 200))
    ok("train", "a.svm", "-m", "m.cw", "--multiclass", request.param)
    return "m.cw"


def table(text: str) -> tuple[list[str], np.ndarray]:
    head, *rows = text.splitlines()
    return head.split("\t"), np.array([[float(x) for x in row.split("\t")] for row in rows])


def actual(path: str = "b.svm") -> np.ndarray:
    return np.array([line.split()[0] for line in Path(path).read_text().splitlines()])


def split_rows(path: str = "b.svm") -> list[str]:
    """The text of a file in three parts."""
    lines = Path(path).read_text().splitlines(keepends=True)
    return ["".join(part) for part in (lines[:1], lines[1:120], lines[120:])]


def test_training_reports_several_classes(ok: Run) -> None:
    Path("a.svm").write_text(classes_text(1, 400))
    shown = ok("train", "a.svm", "-m", "m.cw", "--holdout", "0.2")
    assert "macro F1 0." in shown
    assert "balanced error" in shown
    assert "AUC" not in shown
    events = [json.loads(x) for x in ok("train", "a.svm", "-m", "m.cw", "--json").splitlines()]
    assert [e["event"] for e in events] == ["file", "train"]
    for e in events:
        assert e["classes"] == LABELS
        assert np.sum(e["confusion"]) + np.sum(e["unpredicted"]) == 400
    assert "macro F1 0." in ok("inspect", "m.cw")


def test_training_reports_labels_of_new_classes(cwtool: Run, model: str) -> None:
    assert "new labels" not in cwtool("train", "b.svm", "--resume", model, "-m", "n.cw").err
    Path("c.svm").write_text(classes_text(3, 50, ("7", "-1", "10", "8")))
    ended = cwtool("train", "c.svm", "--resume", model, "-m", "n.cw")
    first = Path("c.svm").read_text().split()
    new = sorted("78", key=first.index)
    assert f"new labels: {', '.join(new)}; the model has 6 classes now" in ended.err


def test_columns(ok: Run, model: str) -> None:
    """Scores and probabilities are in label order, and the label is that of the highest score."""
    heads, score = table(ok("predict", "b.svm", "-m", model, "--output", "score"))
    assert heads == LABELS
    heads, p = table(ok("predict", "b.svm", "-m", model, "--output", "probability"))
    assert heads == LABELS
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    label = ok("predict", "b.svm", "-m", model).splitlines()
    assert label == [LABELS[k] for k in score.argmax(axis=1)]
    assert np.mean(actual() == label) > 0.7
    all_ = ok("predict", "b.svm", "-m", model, "--output", "all").splitlines()
    heads = all_[0].split("\t")
    assert heads == [
        "label", *(f"score_{k}" for k in LABELS), "variance", *(f"probability_{k}" for k in LABELS),
        "file", "line",
    ]  # fmt: skip
    values = np.array([[float(v) for v in line.split("\t")[:-2]] for line in all_[1:]])
    np.testing.assert_array_equal(values[:, 1:5], score)
    np.testing.assert_array_equal(values[:, 6:], p)
    known = json.loads(ok("inspect", model, "--json"))
    b = [known.get("calibration_offsets", {}).get(label, 0.0) for label in LABELS]
    z = np.exp(known["calibration"] * score / np.sqrt(1 + values[:, 5])[:, None] + b)
    np.testing.assert_allclose(p, z / z.sum(axis=1, keepdims=True), rtol=1e-9)
    lines = ok("predict", "b.svm", "-m", model, "--output", "all", "--json").splitlines()
    first = json.loads(lines[0])
    assert list(first) == heads
    assert first["label"] == label[0]


def test_evaluate(ok: Run, model: str) -> None:
    label = np.array(ok("predict", "b.svm", "-m", model).splitlines())
    found = json.loads(ok("predict", "b.svm", "-m", model, "--evaluate", "--json"))
    y = actual()
    assert found["classes"] == LABELS
    assert found["error"] == pytest.approx(np.mean(y != label))
    count = [[int(((y == a) & (label == p)).sum()) for p in LABELS] for a in LABELS]
    assert found["confusion"] == count
    recall = [np.mean(label[y == k] == k) for k in LABELS]
    assert found["balanced_error"] == pytest.approx(1 - np.mean(recall))
    _, p = table(ok("predict", "b.svm", "-m", model, "--output", "probability"))
    own = p[np.arange(len(y)), [LABELS.index(k) for k in y]]
    assert found["log_loss"] == pytest.approx(-np.log(own).mean(), abs=1e-8)
    assert found["new_class_rows"] == 0
    assert "positive" not in found
    parts = (Path(name).write_text(part) for name, part in zip("xyz", split_rows(), strict=True))
    assert sum(parts) == len(Path("b.svm").read_text())
    apart = json.loads(ok("predict", *"xyz", "-m", model, "--evaluate", "--json"))
    for name in ("time", "file", "digest"):
        del apart[name], found[name]
    assert apart == found


def test_going_on_gives_what_one_run_gives(ok: Run, model: str) -> None:
    """The metrics and the slope of the probabilities, also with a class that comes later."""
    Path("c.svm").write_text("7 1:1 2:1\n" + classes_text(3, 100, ("5", "7", "2")))
    mode = json.loads(ok("inspect", model, "--json"))["multiclass"]
    ok("train", "a.svm", "c.svm", "-m", "whole.cw", "--multiclass", mode)
    ok("train", "c.svm", "-m", model, "--resume", model)
    whole, parts = (json.loads(ok("inspect", m, "--json")) for m in ("whole.cw", model))
    for name in ("labels", "calibration", "progressive", "top"):
        assert parts[name] == whole[name]
    assert whole["labels"] == ["-1", "2", "5", "7", "10"]


def test_evaluate_in_words(ok: Run, model: str) -> None:
    lines = ok("predict", "b.svm", "-m", model, "--evaluate").splitlines()
    assert lines[0].startswith("error ")
    assert "macro F1" in lines[0]
    assert lines[1] == "200 rows, 4 classes"
    assert lines[3].split() == ["class", "precision", "recall", "F1", "rows"]
    assert [line.split()[0] for line in lines[4:8]] == LABELS
    assert lines[10].split() == LABELS
    assert sum(int(n) for line in lines[11:] for n in line.split()[1:]) == 200


def test_a_label_that_was_never_learned(ok: Run, model: str) -> None:
    """It is an error, in a row of its own, and does not count for the probabilities."""
    Path("c.svm").write_text(Path("b.svm").read_text() + "77 1:1\n77 2:1\n")
    known = json.loads(ok("predict", "b.svm", "-m", model, "--evaluate", "--json"))
    found = json.loads(ok("predict", "c.svm", "-m", model, "--evaluate", "--json"))
    assert found["classes"] == LABELS
    assert found["confusion"] == known["confusion"]
    assert sum(found["other"]) == found["new_class_rows"] == 2
    assert found["error"] == pytest.approx((200 * known["error"] + 2) / 202)
    assert found["log_loss"] == known["log_loss"]
    shown = ok("predict", "c.svm", "-m", model, "--evaluate")
    assert "2 rows have labels that the model has not learned" in shown
    assert shown.splitlines()[-1].split()[0] == "other"


def test_rows_that_are_held_out_make_no_class(ok: Run) -> None:
    """A label that only rows held out have is not learned."""
    rows = classes_text(1, 300)
    for place in range(10):  # until the row is held out; `holdout` draws by row number
        lines = rows.splitlines(keepends=True)
        lines.insert(place, "77 1:1\n")
        Path("a.svm").write_text("".join(lines))
        ok("train", "a.svm", "-m", "m.cw", "--holdout", "0.5")
        found = json.loads(ok("predict", "a.svm", "-m", "m.cw", "--evaluate", "--json"))
        if found["new_class_rows"]:
            break
    assert found["new_class_rows"] == 1
    assert "77" not in ok("predict", "a.svm", "-m", "m.cw").split()
    heads, p = table(ok("predict", "a.svm", "-m", "m.cw", "--output", "probability"))
    assert (p[:, heads.index("77")] == 0).all() if "77" in heads else True
    for line in ok("predict", "a.svm", "-m", "m.cw", "--output", "score", "--json").splitlines():
        json.loads(line, parse_constant=lambda name: pytest.fail(name))
    ok("inspect", "m.cw")


def test_the_matrix_counts_rows_and_metrics_count_weights(ok: Run, model: str) -> None:
    lines = Path("b.svm").read_text().splitlines()
    heavy = [
        line.replace(" ", ":2.5 ", 1) if k % 2 else line.replace(" ", ":0 ", 1)
        for k, line in enumerate(lines)
    ]
    Path("w.svm").write_text("\n".join(heavy) + "\n")
    Path("odd.svm").write_text("\n".join(lines[1::2]) + "\n")
    found = json.loads(ok("predict", "w.svm", "-m", model, "--evaluate", "--json"))
    plain = json.loads(ok("predict", "odd.svm", "-m", model, "--evaluate", "--json"))
    assert (found["rows"], found["weight"]) == (200, 250)
    assert found["confusion"] == plain["confusion"]
    assert found["weighted_confusion"] == [[2.5 * n for n in row] for row in plain["confusion"]]
    for name in ("error", "macro_f1", "weighted_f1", "balanced_error", "log_loss", "ece"):
        assert found[name] == pytest.approx(plain[name], rel=1e-5)
    assert "of the total weight 250" in ok("predict", "w.svm", "-m", model, "--evaluate")


@pytest.mark.parametrize(
    ("gate", "code"),
    [("macro_f1>0.5", 0), ("macro-f1 > 0.999", 5), ("balanced_error<=0.5", 0), ("auc>0.5", 5)],
)
def test_gates(cwtool: Run, gate: str, code: int) -> None:
    Path("a.svm").write_text(classes_text(1, 400))
    for more in ((), ("--holdout", "0.3")):
        Path("m.cw").unlink(missing_ok=True)
        assert cwtool("train", "a.svm", "-m", "m.cw", "--require", gate, *more).code == code
        assert Path("m.cw").exists() == (code == 0)


@pytest.mark.parametrize("labels", [("5", "-1", "10"), ("-1", "+1")])
def test_gates_of_probabilities(cwtool: Run, ok: Run, labels: tuple[str, ...]) -> None:
    """They are measured on rows that are held out, as `predict --evaluate` does."""
    for name, seed in (("a.svm", 1), ("b.svm", 2)):
        Path(name).write_text(classes_text(seed, 400, labels))
    train = ("train", "a.svm", "-m", "m.cw")
    said = [json.loads(x) for x in ok(*train, "--validation", "b.svm", "--json").splitlines()]
    (checked,) = (e for e in said if e["event"] == "validation")
    found = json.loads(ok("predict", "b.svm", "-m", "m.cw", "--evaluate", "--json"))
    for name in ("log_loss", "ece"):
        assert checked[name] == found[name] > 0
        for bound, code in ((1.01, 0), (0.99, 5)):
            gate = f"{name}<{bound * found[name]!r}"
            assert cwtool(*train, "--validation", "b.svm", "--require", gate).code == code
    ended = cwtool(*train, "--require", "log_loss<1")
    assert ended.code == 2
    assert "needs --validation or --holdout" in ended.err


def test_inspect(ok: Run, model: str) -> None:
    found = json.loads(ok("inspect", model, "--json", "--top", "3"))
    assert found["labels"] == LABELS
    assert found["multiclass"] in ("rival", "ovr")
    assert found["progressive"]["classes"] == LABELS
    sums = [row["sum"] for row in found["top"]]
    assert sums == sorted(sums, reverse=True)
    for row in found["top"]:
        assert list(row["weight"]) == LABELS
        assert row["sum"] == pytest.approx(sum(map(abs, row["weight"].values())))
    shown = ok("inspect", model)
    assert "classes      -1, 2, 5, 10\n" in shown
    assert f"multiclass   {found['multiclass']}\n" in shown
    assert "softmax(" in shown
    assert "24 weights in 4 classes" in shown
    assert "sum of |weight|" in shown


def test_inspect_one_class(ok: Run, cwtool: Run, model: str) -> None:
    """Feature 1 speaks for class 5, whose plane it is."""
    for label in ("5", "5.0"):
        found = json.loads(ok("inspect", model, "--json", "--class", label, "--top", "2"))
        assert found["class"] == "5"
        assert found["top"][0]["feature"] == "1"
        assert found["top"][0]["weight"] > 0
        assert found["top"][0]["variance"] > 0
        assert len(found["top"]) == 2
    assert "class        5, whose weights are shown\n" in ok("inspect", model, "--class", "5")
    for strange in ("7", "many"):
        ended = cwtool("inspect", model, "--class", strange)
        assert ended.code == 2
        assert f"no class {strange}" in ended.err
        assert "-1, 2, 5, 10" in ended.err


def test_class_is_for_several(cwtool: Run, ok: Run, planted: Run) -> None:
    ok("train", planted("two.svm", 1, 100), "-m", "two.cw")
    ended = cwtool("inspect", "two.cw", "--class", "1")
    assert ended.code == 2
    assert "--class is for models of more than two classes" in ended.err


def test_weights(ok: Run, model: str) -> None:
    """The columns of the table are those of the single classes, and give the scores."""
    ok("inspect", model, "--weights", "w.tsv")
    heads, *lines = [x.split("\t") for x in Path("w.tsv").read_text().splitlines()]
    assert heads == ["feature", *LABELS]
    assert [line[0] for line in lines] == ["1", "2", "3", "4", "5", "6"]
    for k, label in enumerate(LABELS, 1):
        ok("inspect", model, "--class", label, "--weights", "one.tsv")
        one = [x.split("\t") for x in Path("one.tsv").read_text().splitlines()]
        assert [(j, w) for j, w, _ in one] == [(x[0], x[k]) for x in lines if float(x[k])]
        assert all(float(v) > 0 for _, _, v in one)
    weight = np.array([[float(w) for w in line[1:]] for line in lines])
    rows = [
        dict(p.split(":") for p in x.split()[1:]) for x in Path("b.svm").read_text().split("\n")
    ]
    x = np.array([[float(row.get(str(j), 0)) for j in range(1, 7)] for row in rows if row])
    _, score = table(ok("predict", "b.svm", "-m", model, "--output", "score"))
    np.testing.assert_allclose(x @ weight, score, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("algo", ["pa1", "cw", "sop", "bcw", "knn", "sdist"])
def test_every_kind_of_algorithm_is_shown(ok: Run, algo: str) -> None:
    """Linear or not, of one state or several, with weights, importances or neither."""
    Path("a.svm").write_text(classes_text(1, 120))
    ok("train", "a.svm", "-m", "m.cw", "--algo", algo)
    found = json.loads(ok("predict", "a.svm", "-m", "m.cw", "--evaluate", "--json"))
    assert found["error"] < 0.5
    assert found["log_loss"] < np.log(4)
    for more in ((), ("--class", "10")):
        assert "multiclass   " in ok("inspect", "m.cw", *more)
        shown = json.loads(ok("inspect", "m.cw", "--json", *more))
        assert len(shown["top"]) == (6 if shown["measure"] else 0)


@pytest.mark.parametrize("metric", ["error", "macro_f1", "balanced_error"])
def test_tune(cwtool: Run, ok: Run, metric: str) -> None:
    """A point whose algorithm has no rivals does not depend on one before it that has them."""
    Path("a.svm").write_text(classes_text(1, 120) + "77 1:1\n")  # one row: in one fold only
    grid = ("--grid", "covariance=diag,full", "--grid", "r=0.1,1e9")
    said = ok("tune", "a.svm", *grid, "--metric", metric, "--json", "-j", "1").splitlines()
    *points, winner = (json.loads(x) for x in said)
    assert len(points) == 4
    best = min(points, key=lambda p: -p[metric] if metric == "macro_f1" else p[metric])
    assert winner["params"] == best["params"]
    assert all(0 < p["error"] < 1 and "auc" not in p for p in points)
    ended = cwtool("tune", "a.svm", "--grid", "r=0.1", "--metric", "auc")
    assert ended.code != 0
    assert "no value of auc" in ended.err


def test_more_than_twenty_classes(ok: Run) -> None:
    labels = tuple(str(k) for k in range(30))
    draw = np.random.default_rng(3).integers(30, size=600)
    text = "".join(f"{labels[k]} {k + 1}:1 {(7 * k) % 30 + 31}:0.5\n" for k in draw)
    Path("many.svm").write_text(text)
    swapped = text.replace("\n3 ", "\n4 ")
    Path("swapped.svm").write_text(swapped)
    ok("train", "many.svm", "-m", "m.cw", "--passes", "2")
    shown = ok("predict", "swapped.svm", "-m", "m.cw", "--evaluate")
    n = swapped.count("\n4 ") - text.count("\n4 ")
    assert "classes with the lowest F1" in shown
    assert shown.endswith(f"4 -> 3: {n} rows\n")
    assert "and 10 more" in ok("inspect", "m.cw")


@pytest.mark.parametrize("algo", ["arow", "cw-fact"])
def test_new_classes_in_several_passes(algo: str, ok: Run) -> None:
    """The models beside the one that learns get room for classes that come with the rows."""
    for k in (3, 5):
        Path(f"{k}.svm").write_text("".join(f"{i % k} {i % 7 + 1}:1\n" for i in range(60)))
    ok("train", "3.svm", "-a", algo, "-m", "m.cw")
    ok("train", "5.svm", "--resume", "m.cw", "--passes", "2", "-m", "m.cw")
    assert "5 classes" in ok("inspect", "m.cw")
