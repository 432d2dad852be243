"""rff-markov: two variables among fifty, what inspect and select-features tell of them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Run = Callable[..., str]
SHORT = ["--algo", "rff-markov", "--iterations", "2000", "--chains", "3", "--d-max", "10"]


def exclusive_or(path: str, seed: int, n: int, p: int, first: int = 1) -> str:
    """The sign of c_1 c_2, seen as c + 0.72 noise beside p - 2 variables of noise. The least
    error there is, that of the signs of the first two, is 15.1 %."""
    draw = np.random.default_rng(seed)
    c = draw.choice([-1.0, 1.0], (n, 2))
    x = draw.standard_normal((n, p))
    x[:, :2] = (c + 0.72 * x[:, :2]) / np.sqrt(1 + 0.72**2)
    rows = (" ".join(f"{j}:{v:.6g}" for j, v in enumerate(row, first)) for row in x)
    lines = [f"{y:+.0f} {row}" for y, row in zip(c[:, 0] * c[:, 1], rows, strict=True)]
    Path(path).write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 5 variables, two of which matter."""
    from cwtool import cli

    folder = tmp_path_factory.mktemp("xor")
    data = exclusive_or(str(folder / "train.svm"), 1, 300, 5)
    options = ["--algo", "rff-markov", "--iterations", "20000", "--chains", "3", "-q"]
    assert cli.run(["train", data, *options, "-m", str(folder / "m.cw")]) == 0
    exclusive_or(str(folder / "test.svm"), 2, 1000, 5)
    return folder


@pytest.mark.slow
def test_finds_two_of_fifty_variables(ok: Run) -> None:
    """Where a linear model guesses; one chain of two has to find them."""
    train, test = exclusive_or("a.svm", 101, 500, 50), exclusive_or("b.svm", 102, 2000, 50)
    ok("train", train, "--algo", "rff-markov", "--chains", "2", "--jobs", "2", "-m", "m.cw")
    found = json.loads(ok("predict", test, "-m", "m.cw", "--evaluate", "--json"))
    assert found["error"] <= 0.2
    assert found["ece"] <= 0.06
    shown = json.loads(ok("inspect", "m.cw", "--top", "2", "--json"))
    assert {row["feature"] for row in shown["top"]} == {"1", "2"}


def test_probabilities_can_be_trusted(learned: Path, ok: Run) -> None:
    """The slope is fitted to rows as if they had not been learned: it stays near 1."""
    m = learned / "m.cw"
    found = json.loads(ok("predict", learned / "test.svm", "-m", m, "--evaluate", "--json"))
    assert found["error"] < 0.2
    assert found["ece"] < 0.06
    assert json.loads(ok("inspect", m, "--json"))["calibration"] == pytest.approx(1, abs=0.1)


def test_inspect_names_the_variables(learned: Path, ok: Run) -> None:
    shown = json.loads(ok("inspect", learned / "m.cw", "--json"))
    assert shown["samples"] == 200
    assert 1 < shown["fourier_features"] < 40
    assert len(shown["loglik_of_chains"]) == 3
    assert [row["importance"] for row in shown["top"][:2]] == [1, 1]
    assert shown["interactions"][0]["interaction"].startswith("1*2")
    assert shown["interactions"][0]["importance"] > 0.5
    said = ok("inspect", learned / "m.cw")
    assert "posterior    200 samples" in said
    assert " 1*2" in said


def test_select_features_ranks_by_inclusion(ok: Run) -> None:
    data = exclusive_or("a.svm", 1, 300, 5)
    options = ["--algo", "rff-markov", "--iterations", "20000", "--chains", "1"]
    found = json.loads(ok("select-features", data, *options, "--features", "2", "--json"))
    assert sorted(found["selected"]) == [1, 2]


@pytest.mark.parametrize("discriminant", ["linear", "nn"])
def test_resumed_with_more_jobs(discriminant: str, ok: Run) -> None:
    a, b = exclusive_or("a.svm", 1, 200, 4), exclusive_or("b.svm", 2, 150, 4, first=3)
    some = [*SHORT, "--discriminant", discriminant]
    ok("train", *some, a, b, "-m", "long.cw")
    ok("train", *some, a, "--jobs", "2", "-m", "day1.cw")
    ok("train", "--resume", "day1.cw", b, "--jobs", "3", "-m", "day2.cw")
    said = [
        ok("predict", a, b, "-m", m, "--output", "all", "--jobs", jobs)
        for m, jobs in (("long.cw", "1"), ("day2.cw", "2"))
    ]
    assert said[0] == said[1]


def test_similar_rows_decide(learned: Path, ok: Run) -> None:
    """nn, on a model that has to be read from its file first."""
    options = ["--algo", "rff-markov", "--iterations", "20000", "--chains", "3"]
    ok("train", learned / "train.svm", *options, "--discriminant", "nn", "--k", "9", "-m", "nn.cw")
    found = json.loads(ok("predict", learned / "test.svm", "-m", "nn.cw", "--evaluate", "--json"))
    assert found["error"] < 0.22
    assert found["ece"] < 0.08


@pytest.mark.parametrize("discriminant", ["linear", "nn"])
def test_nothing_to_tell_rows_apart(discriminant: str, ok: Run) -> None:
    """Constant columns are no variables; the classes have their frequencies."""
    Path("a.svm").write_text("+1 1:2\n-1 1:2\n+1 1:2\n+1 1:2\n" * 20)
    ok("train", *SHORT, "a.svm", "--discriminant", discriminant, "-m", "m.cw")
    said = ok("predict", "a.svm", "-m", "m.cw", "--output", "probability").split()
    assert float(said[0]) == pytest.approx(0.75, abs=0.03)


def test_too_large(cwtool: Callable, folder: Path) -> None:
    rows = (f"{'+-'[k % 2]}1 {k + 1}:1 {k + 2000}:1" for k in range(1900))
    Path("a.svm").write_text("\n".join(rows) + "\n")
    ended = cwtool("train", *SHORT, "a.svm", "-m", "m.cw")
    assert ended.code == 2
    assert "1,900 rows of 3,800 features" in ended.err
    assert "use sdist" in ended.err
    assert not Path("m.cw").exists()
