"""cwtool select-features"""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import registry
from cwtool.algorithms.base import Linear, Ranks

Run = Callable[..., str]


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@cache
def texts() -> dict[str, str]:
    """43 ids, of which 3, 70 and 4,200,000 (hashed) decide the label."""
    rng, found = np.random.default_rng(5), {}
    for name, n in (("train.svm", 600), ("test.svm", 300)):
        lines = []
        for _ in range(n):
            ids = [*sorted({3, 70, *rng.integers(100, 140, 10).tolist()}), 4_200_000]
            x = rng.normal(size=len(ids)).round(4) + 1e-5
            side = 2 * x[ids.index(3)] - 2 * x[ids.index(70)] + 1.5 * x[-1] > 0
            pairs = " ".join(f"{j}:{v:.5f}" for j, v in zip(ids, x, strict=True))
            lines.append(f"{'+1' if side else '-1'} {pairs}")
        found[name] = "\n".join(lines) + "\n"
    return found


@pytest.fixture
def few(folder: Path) -> tuple[str, ...]:
    for name, text in texts().items():
        Path(name).write_text(text)
    return tuple(texts())


RANKED = [
    name
    for name in registry.names()
    if issubclass(registry.algorithm(name), Linear) or issubclass(registry.algorithm(name), Ranks)
]


@pytest.mark.parametrize("algo", sorted(set(registry.names()) - set(RANKED)))
def test_all_features_alike(algo: str, cwtool: Run, few: tuple[str, ...]) -> None:
    ended = cwtool("select-features", few[0], "--algo", algo)
    assert (ended.code, ended.out) == (2, "")
    assert f"{algo} uses all features alike" in ended.err


SHORTER = {
    "rff-markov": ["--iterations", "6000", "--chains", "1"],
    "sdist": ["--steps", "30", "--runs", "1"],
}


@pytest.mark.parametrize(
    "algo",
    [
        pytest.param(algo, marks=[pytest.mark.slow] * (algo not in {"sbcw", "l1svm", "arow"}))
        for algo in RANKED
    ],
)
def test_every_algorithm_finds_what_decides(algo: str, ok: Run, few: tuple[str, ...]) -> None:
    train, test = few
    command = ["select-features", train, "--test", test, "--features", "3,8", "--algo", algo]
    command += SHORTER.get(algo, [])
    three, eight = objects(ok(*command, "--json"))
    for found, p in ((three, 3), (eight, 8)):
        assert (found["algo"], found["features"]) == (algo, p)
        assert len(found["selected"]) == len(set(found["selected"])) == p
        assert found["refit_error"] < 0.1
        assert found["test_error"] < 0.2
        assert found["seconds"] > 0
        for key in ("score", "weight", "confidence", "group"):
            assert len(found[key]) == p
        assert found["score"] == sorted(found["score"], reverse=True)
    assert set(three["selected"]) == {3, 70, 4_200_000}


def test_the_table(ok: Run, few: tuple[str, ...]) -> None:
    Path("names.tsv").write_text("3\tthree\n")
    named = ["--feature-names", "names.tsv", "--features", "2,3"]
    said = ok("select-features", few[0], *named)
    header, *lines = [line.split("\t") for line in said.splitlines()]
    assert header == ["features", "order", "id", "score", "weight", "confidence", "group", "name"]
    assert [(r[0], r[1]) for r in lines] == [("2", "1"), ("2", "2"), *(("3", k) for k in "123")]
    assert {r[-1] for r in lines if r[2] == "3"} == {"three"}
    summary = ok("select-features", few[0], *named, "-o", "features.tsv")
    assert Path("features.tsv").read_text() == said
    assert re.match(r"sbcw  2 features  [\d.]+ s$", summary.splitlines()[0])


def test_weights_are_those_of_the_model(ok: Run, few: tuple[str, ...]) -> None:
    """What select-features says of the test rows is what train and predict say."""
    train, test = few
    (found,) = objects(ok("select-features", train, "--test", test, "--features", "5", "--json"))
    ok("train", "-a", "sbcw", "--features", "5", train, "-m", "m.cw")
    (said,) = objects(ok("predict", test, "-m", "m.cw", "--evaluate", "--json", "-q"))
    assert said["error"] == found["test_error"] == found["test_metrics"]["error"]
    assert said["f1"] == found["test_metrics"]["f1"]
    assert found["test_metrics"]["auc"] == pytest.approx(said["auc"], abs=0.01)
    assert found["refit_metrics"].keys() == {"error", "auc", "f1", "balanced_error"}
    shown = json.loads(ok("inspect", "m.cw", "--json"))["top"]
    weights = dict(zip(found["selected"], found["weight"], strict=True))
    assert {int(r["feature"]): r["weight"] for r in shown} == weights


@pytest.fixture
def rare(folder: Path) -> tuple[str, str]:
    """One row in 20 is positive, where feature 1 is large: an intercept is needed to say so."""
    rng = np.random.default_rng(7)
    for name, n in (("train.svm", 2000), ("test.svm", 500)):
        x = rng.random((n, 6))
        y = x[:, 0] > 0.95
        lines = [
            ("+1 " if side else "-1 ") + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(row, 1))
            for side, row in zip(y, x.tolist(), strict=True)
        ]
        Path(name).write_text("\n".join(lines) + "\n")
    return "train.svm", "test.svm"


def test_the_intercept_counts(ok: Run, rare: tuple[str, str]) -> None:
    """The error of all features is that of the whole model, of which the intercept is a part."""
    train, test = rare
    options = ["--algo", "stsgd", "--intercept", "on"]
    command = ["select-features", train, "--test", test, "--features", "6", "--json", *options]
    (found,) = objects(ok(*command))
    ok("train", train, *options, "-m", "m.cw")
    (said,) = objects(ok("predict", test, "-m", "m.cw", "--evaluate", "--json", "-q"))
    shown = json.loads(ok("inspect", "m.cw", "--json"))
    assert shown["intercept"] != 0
    assert shown["nonzero_weights"] == len(found["selected"])
    assert found["test_error"] == said["error"] < 0.2


def test_rank_by_confidence(ok: Run, few: tuple[str, ...], cwtool: Callable[..., Any]) -> None:
    command = ["select-features", few[0], "--features", "9", "--json", "--algo"]
    (found,) = objects(ok(*command, "arow", "--rank", "confidence"))
    assert found["score"] == found["confidence"] == sorted(found["score"], reverse=True)
    (found,) = objects(ok(*command, "arow"))
    assert found["score"] == [abs(w) for w in found["weight"]]
    ended = cwtool(*command, "pa1", "--rank", "confidence")
    assert (ended.code, "pa1 has no confidence" in ended.err) == (2, True)


def test_stability(ok: Run, few: tuple[str, ...]) -> None:
    command = ["select-features", few[0], "--features", "3,30", "--stability", "4", "--json"]
    three, many = objects(ok(*command, "--jobs", "1"))
    assert three["stability"] == 1
    assert three["frequency"] == [1, 1, 1]
    assert 0 < many["stability"] < 1
    assert min(many["frequency"]) < 1
    again = objects(ok(*command, "--jobs", "2"))
    for one, other in zip((three, many), again, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_shares_by_density(ok: Run, few: tuple[str, ...]) -> None:
    (found,) = objects(ok("select-features", few[0], "--features", "3", "--json"))
    shares = found["density_shares"]
    assert sum(level["selected"] for level in shares) == 3
    seen = {j.split(":")[0] for line in Path(few[0]).read_text().splitlines()
            for j in line.split()[1:]}  # fmt: skip
    assert sum(level["features"] for level in shares) == len(seen)
    assert shares[-1]["density_up_to"] == 1


def test_projected_files(ok: Run, few: tuple[str, ...]) -> None:
    train, test = few
    command = ["select-features", train, "--test", test, "--features", "3"]
    ok(*command, "--project", "small", "-q")
    for name, source in (("train", train), ("test", test)):
        rows = Path(f"small/{name}.3.svm").read_text().splitlines()
        for line, original in zip(rows, Path(source).read_text().splitlines(), strict=True):
            label, *pairs = original.split()
            kept = [p.split(":") for p in pairs if p.split(":")[0] in ("3", "70", "4200000")]
            found = [p.split(":") for p in line.split()[1:]]
            assert float(line.split()[0]) == float(label)
            assert [(j, float(x)) for j, x in found] == [(j, float(x)) for j, x in kept]
    ok(*command, "--project", "renumbered", "--ids", "renumbered", "-q")
    line = Path("renumbered/test.3.svm").read_text().splitlines()[0]
    assert [p.split(":")[0] for p in line.split()[1:]] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("train.svm", ["-o", "train.svm"]),
        ("test.svm", ["-o", "test.svm"]),
        ("names.tsv", ["--feature-names", "names.tsv", "-o", "names.tsv"]),
        ("train.3.svm", ["--project", "."]),
        ("p.svg", ["--feature-names", "p.svg", "--plot", "p.svg"]),
    ],
)
def test_nothing_that_is_read_is_replaced(
    name: str, option: list[str], cwtool: Callable[..., Any], few: tuple[str, ...]
) -> None:
    train, test = few
    if "--plot" in option:
        pytest.importorskip("matplotlib")
    Path("train.3.svm").write_text(Path(train).read_text())
    for names in ("names.tsv", "p.svg"):
        Path(names).write_text("3\tthree\n")
    before = Path(name).read_bytes()
    command = ["select-features", train, "train.3.svm", "--test", test, "--features", "3"]
    ended = cwtool(*command, *option)
    assert (ended.code, f"{name} is read here" in ended.err) == (2, True)
    assert Path(name).read_bytes() == before


def test_a_place_that_cannot_be_written_is_found_before_the_work(
    cwtool: Callable[..., Any], few: tuple[str, ...]
) -> None:
    ended = cwtool("select-features", few[0], "--features", "3", "-o", "absent/features.tsv")
    assert (ended.code, ended.out) == (2, "")
    assert "absent/features.tsv: cannot write" in ended.err


def test_errors_are_told_beside_the_table(cwtool: Callable[..., Any], few: tuple[str, ...]) -> None:
    command = ["select-features", few[0], "--test", few[1], "--features", "3,8"]
    ended = cwtool(*command)
    assert [line.split("\t")[0] for line in ended.out.splitlines()] == [
        "features", *["3"] * 3, *["8"] * 8,
    ]  # fmt: skip
    assert ended.err.count("test error") == 2
    assert cwtool(*command, "--quiet").err == ""


def test_files_without_rows_are_named(cwtool: Callable[..., Any], few: tuple[str, ...]) -> None:
    Path("empty.svm").touch()
    ended = cwtool("select-features", few[0], "--test", "empty.svm")
    assert (ended.code, ended.err) == (3, "error: empty.svm: no rows\n")


def test_more_features_than_there_are(ok: Run, folder: Path) -> None:
    Path("a.svm").write_text("+1 1:1\n-1 2:1\n+1 1:2 5:0\n-1 2:1\n")
    (found,) = objects(ok("select-features", "a.svm", "--features", "9", "--json"))
    assert set(found["selected"]) == {1, 2}


@pytest.mark.parametrize("sizes", ["", "0", "3,x", "-1"])
def test_sizes_that_make_no_sense(sizes: str, cwtool: Callable[..., Any], few: Any) -> None:
    ended = cwtool("select-features", few[0], f"--features={sizes}")
    assert (ended.code, "not a list of numbers" in ended.err) == (2, True)


def test_bad_data(cwtool: Callable[..., Any], folder: Path) -> None:
    Path("bad.svm").write_text("+1 1:1\n-1 2:x\n")
    ended = cwtool("select-features", "bad.svm")
    assert (ended.code, "bad.svm:2:" in ended.err) == (3, True)
    Path("one.svm").write_text("+1 1:1\n+1 2:1\n")
    assert cwtool("select-features", "one.svm").code == 3


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot(ok: Run, few: tuple[str, ...], suffix: str) -> None:
    pytest.importorskip("matplotlib")
    train, test = few
    ok("select-features", train, "--test", test, "--features", "3,8", "--plot", f"p.{suffix}")
    head = Path(f"p.{suffix}").read_bytes()[:5]
    assert head == (b"\x89PNG\r" if suffix == "png" else b"<?xml")


def test_plots_that_cannot_be(
    cwtool: Callable[..., Any], few: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    train, test = few
    ended = cwtool("select-features", train, "--test", test, "--plot", "p.jpg")
    assert (ended.code, ".png or .svg" in ended.err) == (2, True)
    monkeypatch.setattr("cwtool.report.charts.available", lambda: True)
    ended = cwtool("select-features", train, "--plot", "p.svg")
    assert (ended.code, "needs --test" in ended.err) == (2, True)
    monkeypatch.setattr("cwtool.report.charts.available", lambda: False)
    ended = cwtool("select-features", train, "--test", test, "--plot", "p.svg")
    assert (ended.code, "cwtool[report]" in ended.err) == (2, True)
