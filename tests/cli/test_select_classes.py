"""cwtool select-features and tune with more than two classes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.model import Model

Run = Callable[..., Any]
LABELS = ["-1", "2", "7"]  # written in another order than they are sorted in


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def data(folder: Path) -> tuple[str, str]:
    """25 ids, of which 3, 11 and 20 have a larger value in rows of the classes 7, -1 and 2."""
    own = {"7": 3, "-1": 11, "2": 20}
    rng = np.random.default_rng(1)
    for name, n in (("train.svm", 240), ("test.svm", 120)):
        lines = []
        for _ in range(n):
            label = ["7", "-1", "2"][rng.integers(3)]
            x = rng.normal(0, 0.3, 25)
            x[own[label] - 1] += 1.5
            pairs = " ".join(f"{j}:{v:.4f}" for j, v in enumerate(x, 1) if rng.random() < 0.9)
            lines.append(f"{label} {pairs}\n")
        Path(name).write_text("".join(lines))
    return "train.svm", "test.svm"


@pytest.mark.parametrize(
    "algo", ["sbcw", "fgm", "l1svm", "spar-dca", "arow", "dcd", "sop", "sdist"]
)
def test_features_of_all_classes(algo: str, ok: Run, data: tuple[str, str]) -> None:
    train, test = data
    command = ["select-features", train, "--test", test, "--features", "3,6", "--algo", algo]
    for found, p in zip(objects(ok(*command, "--json")), (3, 6), strict=True):
        assert found["classes"] == LABELS
        assert len(set(found["selected"])) == p
        assert np.array(found["weight"]).shape == np.array(found["confidence"]).shape == (p, 3)
        assert {3, 11, 20} <= set(found["selected"])
        assert found["refit_error"] < 0.1
        assert found["test_error"] < 0.2


def test_ranked_by_the_sum_over_the_classes(ok: Run, data: tuple[str, str]) -> None:
    train, _ = data
    (found,) = objects(ok("select-features", train, "--algo", "arow", "--features", "9", "--json"))
    ok("train", train, "-a", "arow", "-m", "m.cw")
    model = Model.load(Path("m.cw"))
    weights, by_label = model.weights(), np.argsort(model.labels.several)
    size = np.abs(weights.weight).sum(axis=1)
    best = np.argsort(-size, kind="stable")[:9]
    assert found["selected"] == (weights.ids[best] + 1).tolist()
    assert found["score"] == size[best].tolist()
    assert found["weight"] == weights.weight[best][:, by_label].tolist()
    by = ["--rank", "confidence", "--algo", "arow", "--features", "9", "--json"]
    (sure,) = objects(ok("select-features", train, *by))
    confidence = np.abs(weights.weight) / np.sqrt(weights.variance)
    assert sure["score"] == np.sort(confidence.sum(axis=1))[::-1][:9].tolist()


@pytest.mark.parametrize("algo", ["sbcw", "l1svm"])
def test_weights_are_those_of_the_model(algo: str, ok: Run, data: tuple[str, str]) -> None:
    train, test = data
    given = ["-a", algo, "--features", "5"]
    (found,) = objects(ok("select-features", train, "--test", test, *given, "--json"))
    ok("train", train, *given, "-m", "m.cw")
    (said,) = objects(ok("predict", test, "-m", "m.cw", "--evaluate", "--json", "-q"))
    assert said["error"] == found["test_error"]


def test_the_table_and_the_stability(ok: Run, data: tuple[str, str]) -> None:
    train, _ = data
    said = ok("select-features", train, "--features", "4", "--stability", "3", "-q")
    header, *lines = [line.split("\t") for line in said.splitlines()]
    assert header == [
        "features", "order", "id", "score", "weight_-1", "weight_2", "weight_7", "group",
        "frequency", "name",
    ]  # fmt: skip
    assert len(lines) == 4
    assert {row[2]: row[8] for row in lines}["11"] == "1"
    (found,) = objects(
        ok("select-features", train, "--features", "3", "--stability", "3", "--json")
    )
    assert found["stability"] == 1


def test_features_of_each_class(ok: Run, data: tuple[str, str]) -> None:
    train, test = data
    command = ["select-features", train, "--test", test, "--features", "3,4", "--per-class"]
    found = objects(ok(*command, "--json"))
    assert [(r["class"], r["features"]) for r in found] == [(c, p) for c in LABELS for p in (3, 4)]
    for result in found:
        assert {3, 11, 20} <= set(result["selected"])
        assert result["test_error"] < 0.2
        assert len(result["weight"]) == result["features"]
    alone = ["select-features", train, "--test", test, "--features", "4", "--positive", "2"]
    (two,) = objects(ok(*alone, "--json"))
    (same,) = [r for r in found if (r["class"], r["features"]) == ("2", 4)]
    for name in ("selected", "weight", "score", "test_error", "refit_error"):
        assert same[name] == two[name]
    header, *lines = ok(*command).splitlines()
    assert header.startswith("class\tfeatures\torder\tid\tscore\tweight\t")
    assert len(lines) == 21


def test_how_features_of_all_classes_are_written(ok: Run, data: tuple[str, str]) -> None:
    ok("select-features", *data[:1], "--test", data[1], "--features", "3", "--project", "out", "-q")
    for name, path in (("train", data[0]), ("test", data[1])):
        rows = [line.split() for line in Path(f"out/{name}.3.svm").read_text().splitlines()]
        assert [row[0] for row in rows] == [
            x.split()[0] for x in Path(path).read_text().splitlines()
        ]
        assert {pair.split(":")[0] for row in rows for pair in row[1:]} == {"3", "11", "20"}


def test_a_class_of_the_test_rows_alone_is_never_called(ok: Run, data: tuple[str, str]) -> None:
    Path("more.svm").write_text(Path(data[1]).read_text() + "9 3:1\n" * 120)
    given = ["--features", "6", "--json"]
    (all_,) = objects(ok("select-features", data[0], "--test", data[1], *given))
    (more,) = objects(ok("select-features", data[0], "--test", "more.svm", *given))
    for error in ("test_error", "refit_error"):
        assert more[error] == (all_[error] + 1) / 2


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--per-class", "--project", "out"], 2, "leave out --per-class"),
        (["--per-class", "--positive", "2"], 2, "--per-class is for more than two classes"),
        (["--multiclass", "rival"], 2, "use --multiclass ovr"),
        (["--multiclass", "no"], 3, "is a third class"),
        (["--algo", "knn"], 2, "knn uses all features alike"),
    ],
)
def test_mistakes(
    cwtool: Run, data: tuple[str, str], args: list[str], code: int, said: str
) -> None:
    ended = cwtool("select-features", data[0], "--features", "3", *args)
    assert (ended.code, said in ended.err) == (code, True), ended.err


# -- tune -----------------------------------------------------------------------------------------


def test_how_several_classes_are_learned_can_be_tuned(ok: Run, data: tuple[str, str]) -> None:
    command = ["tune", data[0], "--grid", "multiclass=rival,ovr", "--grid", "r=0.1,1", "-m", "m.cw"]
    *points, winner, _, _ = objects(ok(*command, "--json", "-j", "1"))
    assert [p["params"]["multiclass"] for p in points] == ["rival", "rival", "ovr", "ovr"]
    assert winner["params"] == min(points, key=lambda p: p["error"])["params"]
    for given in ("rival", "ovr"):
        *alone, _ = objects(ok("tune", data[0], "--multiclass", given, *command[4:6], "--json"))
        want = [p for p in points if p["params"]["multiclass"] == given]
        assert [p["error"] for p in alone] == [p["error"] for p in want]
    model = Model.load(Path("m.cw"))
    assert model.labels.multiclass == winner["params"]["multiclass"]
    assert model.algorithm.params.r == winner["params"]["r"]


@pytest.mark.parametrize(
    "metric",
    [
        "macro-f1",
        *(pytest.param(m, marks=pytest.mark.slow) for m in ("error", "balanced-error", "log_loss")),
    ],
)
def test_metrics_of_several_classes(ok: Run, data: tuple[str, str], metric: str) -> None:
    *points, winner = objects(
        ok("tune", data[0], "-a", "dcd", "--grid", "C=0.0001,1", "--metric", metric, "--json")
    )
    name = metric.replace("-", "_")  # both spellings are understood
    best = max if name == "macro_f1" else min
    assert winner["params"] == best(points, key=lambda p: p[name])["params"]
    assert points[0][name] != points[1][name]


@pytest.mark.parametrize("metric", ["balanced_error", "log_loss"])
def test_one_label_against_all_others(ok: Run, data: tuple[str, str], metric: str) -> None:
    given = ["--positive", "7", "--metric", metric, "-m", "m.cw", "--json"]
    *points, winner, _, _ = objects(ok("tune", data[0], "--grid", "r=0.1,1000000", *given))
    assert winner["params"] == min(points, key=lambda p: p[metric])["params"]
    assert points[0][metric] != points[1][metric]
    assert Model.load(Path("m.cw")).labels.names == ["rest", "7"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--grid", "multiclass=rival,no"], 2, "one of rival, ovr"),
        (["--grid", "multiclass=rival", "--multiclass", "ovr"], 2, "given both"),
        (["--grid", "multiclass=rival", "--positive", "7"], 2, "--positive makes two classes"),
        (["--grid", "r=1", "--metric", "auc"], 3, "no value of auc"),
    ],
)
def test_mistakes_in_tuning(
    cwtool: Run, data: tuple[str, str], args: list[str], code: int, said: str
) -> None:
    ended = cwtool("tune", data[0], *args)
    assert (ended.code, said in ended.err) == (code, True), ended.err
