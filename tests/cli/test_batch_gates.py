"""A gate judges batch learners by a model, never by the absence of one."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
BATCH = ("bcw", "dcd", "l1svm", "sbcw", "fgm", "spar-dca", "knn", "sdist")


@pytest.fixture
def separable(folder: Path) -> Callable[..., str]:
    """Write rows of two classes that a plane separates, or rows with the labels of the other
    class; the name of the file."""

    def write(name: str, seed: int, n_rows: int = 120, *, turned: bool = False) -> str:
        draw, lines = random.Random(seed), []
        for k in range(n_rows):
            side = 1 if k % 2 else -1
            values = [side * draw.uniform(0.5, 2), *(draw.uniform(-1, 1) for _ in range(4))]
            label = -side if turned else side
            lines.append(f"{label} " + " ".join(f"{j}:{x:.3f}" for j, x in enumerate(values, 1)))
        (folder / name).write_text("\n".join(lines) + "\n")
        return name

    return write


@pytest.mark.parametrize("algo", BATCH)
def test_the_only_batch_is_judged_once_it_was_learned(
    algo: str, cwtool: Run, ok: Run, separable: Run
) -> None:
    data = separable("a.svm", 1)
    ok("train", "--algo", algo, data, "--require", "error<0.3", "-m", "m.cw")
    ended = cwtool("train", "--algo", algo, data, "--require", "error<0", "-m", "n.cw")
    assert ended.code == 5
    assert "error < 0 is required, but error is " in ended.err
    assert not Path("n.cw").exists()
    assert Path("n.cw.rejected").exists()


@pytest.mark.parametrize("algo", ["bcw", "dcd", "knn"])
def test_a_second_file_is_judged_before_it_is_learned(
    algo: str, cwtool: Run, ok: Run, separable: Run
) -> None:
    first, second = separable("a.svm", 1), separable("b.svm", 2)
    turned = separable("turned.svm", 2, turned=True)
    gate = ["train", "--algo", algo, "--require", "error<0.3", "--json", "-m", "m.cw"]
    events = [json.loads(line) for line in ok(*gate, first, second).splitlines()]
    result = events[-1]
    assert result["rows"] == 240
    assert result["fitted"]["rows"] == 120, "rows that there was no model to predict"
    files = [e for e in events if e["event"] == "file"]
    assert [e.get("fitted", {}).get("rows") for e in files] == [120, None]
    assert result["error"] == files[1]["error"], "the error of rows that were predicted"
    (run,) = json.loads(ok("inspect", "m.cw", "--json"))["history"]
    assert (run["rows"], run["error"]) == (240, result["error"])
    ended = cwtool(*gate, first, turned)
    assert ended.code == 5
    found = float(ended.err.split("error is ")[1].split()[0])
    assert found > 0.7, "only the rows of the second file count"


@pytest.mark.parametrize("algo", ["bcw", "knn"])
def test_inspect_has_no_progressive_metrics_of_a_first_batch(
    algo: str, ok: Run, separable: Run
) -> None:
    ok("train", "--algo", algo, separable("a.svm", 1), "-m", "m.cw")
    said = ok("inspect", "m.cw")
    assert "progressive  not measured" in said
    assert "1 pass, on the learned rows error" in said
    ok("train", separable("b.svm", 2), "--resume", "m.cw", "-m", "m.cw")
    found = json.loads(ok("inspect", "m.cw", "--json"))
    assert found["progressive"]["rows"] == 120
    assert found["progressive"]["error"] == found["history"][1]["error"]


@pytest.mark.parametrize("algo", ["bcw", "dcd"])
def test_a_trained_model_is_judged_before_it_learns(
    algo: str, cwtool: Run, ok: Run, separable: Run
) -> None:
    ok("train", "--algo", algo, separable("a.svm", 1), "-m", "m.cw")
    gate = ["train", "--resume", "m.cw", "--require", "error<0.3", "-m", "n.cw"]
    assert cwtool(*gate, separable("turned.svm", 2, turned=True)).code == 5
    assert cwtool(*gate, separable("b.svm", 2)).code == 0


def test_later_batches_of_one_file_are_judged_before_they_are_learned(
    cwtool: Run, ok: Run, separable: Run
) -> None:
    data = separable("a.svm", 1, 100)
    Path(data).write_text(
        Path(data).read_text() + Path(separable("b.svm", 2, 100, turned=True)).read_text()
    )
    gate = ["train", "--algo", "bcw", data, "--require", "error<0.3", "-m", "m.cw"]
    assert cwtool(*gate, "--batch-rows", 100).code == 5
    ok("train", "--algo", "bcw", data, "--require", "rows>=200", "-m", "m.cw")


def test_rows_held_out_decide_where_there_are_any(cwtool: Run, separable: Run) -> None:
    data, turned = separable("a.svm", 1), separable("turned.svm", 2, turned=True)
    gate = ["train", "--algo", "bcw", data, "--require", "error<0.3", "-m", "m.cw"]
    assert cwtool(*gate, "--validation", turned).code == 5
    assert cwtool(*gate, "--holdout", 0.3).code == 0
