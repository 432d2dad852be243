"""cwtool inspect: a model in words, as JSON, and as a table of weights."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool import registry
from cwtool.params import declared

Run = Callable[..., Any]


def weights(path: str = "w.tsv") -> dict[str, tuple[float, float]]:
    rows = [line.split("\t") for line in Path(path).read_text().splitlines()]
    return {j: (float(w), float(v)) for j, w, v in rows}


@pytest.fixture
def model(ok: Run, planted: Run) -> str:
    ok("train", planted("a.svm", 1, 300), "-m", "m.cw")
    ok("train", planted("b.svm", 2, 100), "--resume", "m.cw", "-m", "m.cw")
    return "m.cw"


def test_in_words(ok: Run, model: str) -> None:
    shown = ok("inspect", model)
    for words in (
        "arow",
        "r=0.1",
        "-1, +1 (positive)",
        "400",
        "1. 2027-01-15  a.svm: 300 rows",
        "2. 2027-01-15  b.svm: 100",
    ):
        assert words in shown
    assert len([x for x in shown.splitlines() if x.strip().split()[0].isdigit()]) == 20


def test_as_json(ok: Run, model: str) -> None:
    found = json.loads(ok("inspect", model, "--json", "--top", "5"))
    assert (found["algorithm"], found["rows"], found["features"]) == ("arow", 400, 30)
    assert found["params"]["r"] == 0.1
    assert [run["rows"] for run in found["history"]] == [300, 100]
    assert {"error", "auc", "f1"} <= found["progressive"].keys()
    sizes = [abs(row["weight"]) for row in found["top"]]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)
    assert all(row["variance"] > 0 for row in found["top"])


def test_weights_never_replace_the_model(cwtool: Run, model: str) -> None:
    before = Path(model).read_bytes()
    assert cwtool("inspect", model, "--weights", model).code == 2
    assert Path(model).read_bytes() == before


def test_top_is_the_top_of_all_weights(ok: Run, model: str) -> None:
    ok("inspect", model, "--weights", "w.tsv")
    all_ = weights()
    best = sorted(all_, key=lambda j: -abs(all_[j][0]))[:3]
    found = json.loads(ok("inspect", model, "--json", "--top", "3"))["top"]
    assert [row["feature"] for row in found] == best
    assert [(row["weight"], row["variance"]) for row in found] == [all_[j] for j in best]


def test_top_none(ok: Run, model: str) -> None:
    assert json.loads(ok("inspect", model, "--json", "--top", "0"))["top"] == []
    ok("inspect", model, "--top", "0")


def test_feature_names(ok: Run, cwtool: Run, model: str) -> None:
    top = json.loads(ok("inspect", model, "--json", "--top", "1"))["top"][0]
    Path("names.tsv").write_text(f"{top['feature']}\tthe word häufig\n99999\tnever seen\n\n")
    shown = json.loads(ok("inspect", model, "--json", "--top", "2", "--feature-names", "names.tsv"))
    assert [row.get("name") for row in shown["top"]] == ["the word häufig", None]
    assert "the word häufig" in ok("inspect", model, "--feature-names", "names.tsv")
    assert "  name\n" in ok("inspect", model, "--feature-names", "names.tsv")
    assert "  name\n" not in ok("inspect", model), "a column without any name"
    Path("names.tsv").write_text("1\tone\n2 two\n")
    ended = cwtool("inspect", model, "--feature-names", "names.tsv")
    assert ended.code == 2
    assert "names.tsv:2" in ended.err
    assert cwtool("inspect", model, "--feature-names", "none.tsv").code == 2
    Path("names.tsv").write_bytes(b"1\t\xff\xfe\n")
    ended = cwtool("inspect", model, "--feature-names", "names.tsv")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "reading", [[], ["--bias"], ["--zero-based"], ["--normalize", "l2"]], ids=str
)
@pytest.mark.parametrize("algo", ["arow", "cw", "cw-fact", "pa1", "perceptron --average"])
def test_scores_from_the_weights(algo: str, reading: list[str], ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 300), "--algo", *algo.split(), *reading, "-m", "m.cw")
    assert ok("inspect", "m.cw", "--weights", "w.tsv") != ""
    w = {j: x for j, (x, _) in weights().items()}
    scores = ok("predict", planted("b.svm", 2, 100), "-m", "m.cw", "--output", "score").split()
    for line, score in zip(Path("b.svm").read_text().splitlines(), scores, strict=True):
        row = {j: float(x) for j, x in (c.split(":") for c in line.split()[1:])}
        if "l2" in reading:
            length = sum(x * x for x in row.values()) ** 0.5
            row = {j: x / length for j, x in row.items()}
        mine = sum(w.get(j, 0) * x for j, x in row.items()) + w.get("bias", 0)
        assert float(score) == pytest.approx(mine, abs=1e-12)


def linear() -> list[str]:
    return [a for a in registry.names() if hasattr(registry.algorithm(a), "coefficients")]


def kept() -> list[tuple[str, str]]:
    """Every algorithm with every covariance that it offers, or none."""
    found = []
    for algo in linear():
        own = {p.name: p.choices for p in declared(registry.algorithm(algo).Params)}
        found += [(algo, covariance) for covariance in own.get("covariance", ("",))]
    return found


@pytest.mark.parametrize(("algo", "covariance"), kept())
def test_weights_of_every_algorithm(algo: str, covariance: str, ok: Run, planted: Run) -> None:
    more = ["--covariance", covariance] if covariance else []
    second = bool(covariance) or algo in ("cw-fact", "sbcw", "fgm")
    ok("train", planted("a.svm", 1, 200, first=4_194_290), "--algo", algo, *more, "-m", "m.cw")
    ok("inspect", "m.cw", "--weights", "w.tsv", "--top", "3")
    rows = [line.split("\t") for line in Path("w.tsv").read_text().splitlines()]
    assert len(rows) == json.loads(ok("inspect", "m.cw", "--json"))["nonzero_weights"] > 0
    ids = [int(j) for j, _, _ in rows]
    assert ids == sorted(ids)
    assert set(ids) <= set(range(4_194_290, 4_194_320))
    assert all(float(w) != 0 for _, w, _ in rows)
    confident = second or algo in ("cw-sparse", "sofs")
    assert all((float(v) > 0) == confident for _, _, v in rows)


@pytest.mark.parametrize("algo", sorted(set(registry.names()) - set(linear())))
def test_no_linear_weights(algo: str, brief: Run, ok: Run, cwtool: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 100), *brief(algo), "-m", "m.cw")
    ended = cwtool("inspect", "m.cw", "--weights", "w.tsv")
    assert (ended.code, ended.out) == (2, "")
    assert f"{algo} is not a linear model and has no weights" in ended.err
    assert not Path("w.tsv").exists()
    assert all("weight" not in row for row in json.loads(ok("inspect", "m.cw", "--json"))["top"])
    assert "      weight  " not in ok("inspect", "m.cw")  # as a column


def test_weights_to_stdout(ok: Run, model: str) -> None:
    ok("inspect", model, "--weights", "w.tsv")
    assert ok("inspect", model, "--weights", "-") == Path("w.tsv").read_text()


def test_weights_that_cannot_be_written(cwtool: Run, model: str) -> None:
    ended = cwtool("inspect", model, "--weights", "nowhere/w.tsv")
    assert ended.code in (2, 4)
    assert "nowhere/w.tsv" in ended.err
    assert "Traceback" not in ended.err


def test_inspecting_changes_nothing(ok: Run, model: str) -> None:
    before = Path(model).read_bytes()
    ok("inspect", model, "--weights", "w.tsv")
    assert Path(model).read_bytes() == before


def test_model_of_empty_rows(ok: Run) -> None:
    Path("a.svm").write_text("+1\n-1\n")
    ok("train", "a.svm", "-m", "m.cw")
    assert json.loads(ok("inspect", "m.cw", "--json"))["top"] == []
    ok("inspect", "m.cw", "--weights", "w.tsv")
    assert Path("w.tsv").read_text() == ""


def test_names_do_not_fit_folded_ids(cwtool: Run, ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 50), "--hash-bits", "3", "-m", "m.cw")
    Path("names.tsv").write_text("1\tone\n")
    for command in (["inspect", "m.cw"], ["select-features", "a.svm", "--hash-bits", "3"]):
        ended = cwtool(*command, "--feature-names", "names.tsv")
        assert (ended.code, ended.out) == (2, "")
        assert "--hash-bits has folded" in ended.err


def test_names_from_a_pipe_are_refused(cwtool: Run, ok: Run, planted: Run) -> None:
    """They would be read twice: a named pipe waits for a second writer, and the second reading of
    another one finds no names."""
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    reading, writing = os.pipe()
    try:
        os.write(writing, b"1\tone\n")
        os.close(writing)
        for command in (["inspect", "m.cw"], ["select-features", "a.svm"]):
            ended = cwtool(*command, "--feature-names", f"/dev/fd/{reading}")
            assert (ended.code, ended.out) == (2, "")
            assert "is a pipe" in ended.err
    finally:
        os.close(reading)


def test_a_bad_line_of_names_has_its_number(cwtool: Run, ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    Path("names.tsv").write_text("1\tone\n\n2 two\n")
    assert "names.tsv:3:" in cwtool("inspect", "m.cw", "--feature-names", "names.tsv").err


def test_the_names_are_not_replaced_by_weights(cwtool: Run, ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    Path("names.tsv").write_text("1\tone\n")
    ended = cwtool("inspect", "m.cw", "--feature-names", "names.tsv", "--weights", "names.tsv")
    assert ended.code == 2
    assert Path("names.tsv").read_text() == "1\tone\n"
