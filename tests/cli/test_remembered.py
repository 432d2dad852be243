"""Learners that remember their rows."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cwtool.bench.generators import of_arrays
from cwtool.bench.synthetic import hidden
from cwtool.data.writer import write_rows

Run = Callable[..., str]


def test_too_many_rows(cwtool: Callable, planted: Run) -> None:
    rows = planted("a.svm", 1, 500)
    ended = cwtool("train", rows, "--algo", "knn", "--max-memory", "3MB", "-m", "m.cw")
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


@pytest.fixture
def hidden_xor(folder: Path) -> str:
    """400 rows; the product of columns 1 and 2 decides, 6 others are noise."""
    write_rows(Path("xor.svm"), of_arrays(*hidden("xor", 400, 8, 1)))
    return "xor.svm"


SHORT = ["--algo", "sdist", "--steps", "80", "--runs", "1"]


def test_inspect_names_interactions(ok: Run, hidden_xor: str) -> None:
    ok("train", hidden_xor, *SHORT, "-m", "m.cw")
    Path("names.tsv").write_text("1\twidth\n2\theight\n")
    found = json.loads(ok("inspect", "m.cw", "--json", "--feature-names", "names.tsv"))
    assert found["measure"] == "importance"
    assert sum(row["importance"] for row in found["top"]) == pytest.approx(1)
    assert {row["feature"] for row in found["top"][:2]} == {"1", "2"}
    first = found["interactions"][0]
    assert (first["interaction"], first["name"]) == ("1*2", "width*height")
    assert first["importance"] > 0.3
    assert 1 <= found["rank"] <= found["terms"] <= found["accepted"] <= found["steps"] == 80
    shown = ok("inspect", "m.cw", "--feature-names", "names.tsv")
    assert f"rank {found['rank']}" in shown
    assert "interaction" in shown
    assert "width*height" in shown
    assert len(json.loads(ok("inspect", "m.cw", "--json", "--top", "1"))["interactions"]) == 1


def test_squares_and_ids_from_0(ok: Run, folder: Path) -> None:
    write_rows(Path("ring.svm"), of_arrays(*hidden("ring", 300, 5, 1)))
    ok("train", "ring.svm", *SHORT, "--zero-based", "-m", "m.cw")
    found = json.loads(ok("inspect", "m.cw", "--json"))["interactions"]
    assert {row["interaction"] for row in found[:2]} == {"1*1", "2*2"}


def test_select_features_gives_interactions(ok: Run, hidden_xor: str) -> None:
    write_rows(Path("test.svm"), of_arrays(*hidden("xor", 500, 8, 2)))
    command = ["select-features", hidden_xor, *SHORT, "--features", "2", "--test", "test.svm"]
    found = json.loads(ok(*command, "--json"))
    assert set(found["selected"]) == {1, 2}
    assert found["interactions"][0]["interaction"] == "1*2"
    assert found["test_error"] < 0.25  # sdist on the two columns
    assert found["refit_error"] > 0.4  # a line cannot
    assert "1*2" not in ok(*command)  # a table of features


@pytest.mark.slow
def test_cross_validation_does_not_depend_on_jobs(ok: Run, hidden_xor: str) -> None:
    for jobs in ("1", "3"):
        ok("train", hidden_xor, *SHORT, "--cv", "3", "--jobs", jobs, "-m", f"{jobs}.cw")
    assert Path("1.cw").read_bytes() == Path("3.cw").read_bytes()
    found = json.loads(ok("inspect", "1.cw", "--json"))
    assert found["direction_columns"] in (2, 5)
    assert found["steps"] in (80, 40, 20)
    ok("train", hidden_xor, *SHORT, "--cv", "2", "--rho", "0.3", "-m", "rho.cw")
    assert json.loads(ok("inspect", "rho.cw", "--json"))["direction_share"] in (0.05, 0.1, 0.2, 0.3)


def test_seed_decides_the_bags(ok: Run, hidden_xor: str) -> None:
    for seed, model in (("5", "one.cw"), ("5", "same.cw"), ("6", "other.cw")):
        ok("train", hidden_xor, *SHORT, "--seed", seed, "-m", model)
    assert Path("same.cw").read_bytes() == Path("one.cw").read_bytes()
    assert Path("other.cw").read_bytes() != Path("one.cw").read_bytes()


def test_predictors_and_outputs(ok: Run, hidden_xor: str) -> None:
    scores = []
    for how in ("knn", "fw"):
        ok("train", hidden_xor, *SHORT, "--predict", how, "-m", "m.cw")
        text = ok("predict", hidden_xor, "-m", "m.cw", "--output", "all", "-q").splitlines()
        rows = [line.split("\t") for line in text[1:]]
        scores.append([float(r[1]) for r in rows])
        assert all((r[0] == "+1") == (float(r[1]) >= 0) for r in rows)
    assert scores[0] != scores[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cv", "1"], "at least 2 folds"),
        (["--rho", "0.1", "--kappa", "3"], "exclude each other"),
        (["--rho", "0.1", "--engine", "stsgd"], "is for --engine power"),
        (["--order", "9"], "at most 4"),
    ],
)
def test_options_that_make_no_sense(
    options: list[str], message: str, cwtool: Callable, hidden_xor: str
) -> None:
    ended = cwtool("train", hidden_xor, "--algo", "sdist", *options, "-m", "m.cw")
    assert ended.code == 2
    assert message in ended.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--algo", "sdist", "--steps", "20"], "20 of 20 steps of metric 4 of 4"),
        (
            ["--algo", "sdist", "--steps", "8", "--cv", "2"],
            "sdist  fit to 60 rows  4 of 4 fits to folds",
        ),
        (
            ["--algo", "rff-markov", "--iterations", "400"],
            "rff-markov  fit to 60 rows  400 of 400 iterations",
        ),
    ],
)
def test_a_long_fit_tells_how_far_it_is(
    options: list[str], told: str, cwtool: Run, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cwtool.messages.console.PLAIN", 0.0)
    ended = cwtool("train", planted("a.svm", 1, 60), *options, "-m", "m.cw")
    assert ended.code == 0
    assert told in ended.err
    assert cwtool("train", "a.svm", *options, "-m", "m.cw", "-q").err == ""


@pytest.mark.parametrize(("width", "advised"), [(3000, True), (8, False)])
def test_advice_for_sparse_rows(width: int, advised: bool, cwtool: Run, planted: Run) -> None:
    data = planted("a.svm", 1, 60, width=width, entries=8)
    ended = cwtool("train", data, "--algo", "sdist", "--steps", "3", "-m", "m.cw")
    assert ended.code == 0
    assert ("these rows are sparse" in ended.err) == advised


def test_sdist_reads_its_model_if_the_rows_of_one_class_alone_are_sparse(
    folder: Path, ok: Run
) -> None:
    """A class of one row is not fitted; the other rows are dense without it."""
    rows = ["1 1:1 2:1 3:1 4:1", "1 1:1 2:2 3:1 4:2", "2 1:3 2:1 3:2 4:1", "2 1:2 2:1 3:1 4:1"]
    rows += ["3 1:1" + "".join(f" {j}:1" for j in range(5, 40))]
    (folder / "a.svm").write_text("\n".join(rows) + "\n")
    ok("train", "a.svm", "--algo", "sdist", "-m", "m.cw")
    assert len(ok("predict", "a.svm", "-m", "m.cw").splitlines()) == 5


def test_a_batch_of_several_classes_may_have_no_rows(folder: Path, ok: Run) -> None:
    """Each row is a batch, and some of them are held out."""
    (folder / "a.svm").write_text("".join(f"{k % 3} {1 + k % 5}:1\n" for k in range(40)))
    ok("train", "a.svm", "--algo", "knn", "--batch-rows", "1", "--holdout", "0.3", "-m", "m.cw")
