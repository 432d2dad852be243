"""What is told once, on stderr and in JSON, and how results end that cannot be written."""

import errno
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cwtool.train.data_notices import Turns
from cwtool.tune.tunable import edge

Run = Callable[..., str]


def last(text: str) -> dict:
    return json.loads(text.splitlines()[-1])


def test_rows_sorted_by_class(cwtool: Callable, planted: Run) -> None:
    rows = Path(planted("a.svm", 1, 400)).read_text().splitlines()
    Path("s.svm").write_text("\n".join(sorted(rows)) + "\n")
    ended = cwtool("train", "s.svm", "-m", "m.cw", "--json", "--block-size", 65536)
    assert ended.err.count("warning: the rows are sorted by class") == 1
    assert "sorted by class" in last(ended.out)["warnings"][0]
    ended = cwtool("train", "a.svm", "-m", "n.cw", "--json")
    assert "warnings" not in last(ended.out)
    ended = cwtool("feed", "s.svm", "-m", "f.cw", "--json", "--accept")
    assert "sorted by class" in last(ended.out)["warnings"][0]


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_turns(step: int) -> None:
    y = np.random.default_rng(1).integers(0, 3, 500)
    for rows, ordered in ((y, False), (np.sort(y), True), (0 * y, False), (y[:50], False)):
        turns = Turns()
        for start in range(0, len(rows), step):
            turns.add(rows[start : start + step])
        assert turns.turns == sum(a != b for a, b in zip(rows[1:], rows[:-1], strict=True))
        assert turns.sorted == ordered


def columns(name: str, scale: np.ndarray, mean: float) -> str:
    """A file of 300 rows of four columns with these standard deviations around this mean."""
    draw = np.random.default_rng(1)
    values = mean + draw.normal(size=(300, 4)) * scale
    rows = [f"{y} 1:{a:.3f} 2:{b:.3f} 3:{c:.3f} 4:{d:.3f}" for y, (a, b, c, d) in
            zip(draw.integers(0, 2, 300), values, strict=True)]  # fmt: skip
    Path(name).write_text("\n".join(rows) + "\n")
    return name


def test_columns_that_should_be_scaled(cwtool: Callable, folder: Path) -> None:
    far, even = columns("far.svm", np.ones(4), 9.0), columns("even.svm", np.ones(4), 0.3)
    large = columns("large.svm", np.array([1, 1, 90, 1]), 0.0)
    args = ["-m", "m.cw", "--bias", "--block-size", 65536]
    said = cwtool("train", far, *args).err
    assert "the values of most columns are far from 0" in said
    assert "or try --covariance full" in said
    assert "far from 0" in last(cwtool("train", far, *args, "--json").out)["warnings"][-1]
    assert "are far from 0" in cwtool("feed", far, "-m", "f.cw", "--accept").err
    assert "--covariance" not in cwtool("train", far, *args, "--algo", "dcd").err
    assert "the values of feature 3 are so large" in cwtool("train", large, *args).err
    said = cwtool("train", large, *args, "--zero-based").err
    assert "the values of feature 3 are so large" in said, "features are called as in the file"
    for asked in ([even], [far, "--resume", "m.cw"], [large, "--algo", "sbcw"]):
        assert "--normalize columns" not in cwtool("train", *asked, *args).err


def test_a_scaled_column_that_changes_later(cwtool: Callable, folder: Path) -> None:
    """The first 1,000 rows are of one day, the last 500 of a later one."""
    draw = np.random.default_rng(1)
    x = draw.normal(size=(1500, 3))
    x[:, 1] = 300 + draw.integers(0, 2, 1500)
    x[1000:, 1] += 50
    rows = [f"{y} 1:{a:.3f} 2:{b:.0f} 3:{c:.3f}\n" for y, (a, b, c) in
            zip(draw.integers(0, 2, 1500), x, strict=True)]  # fmt: skip
    Path("time.svm").write_text("".join(rows))
    Path("mixed.svm").write_text("".join(rows[i] for i in draw.permutation(1500)))
    args = ["--normalize", "columns", "--bias", "-m", "m.cw", "--block-size", 65536]
    assert (
        "the values of feature 2 in the last rows differ" in cwtool("train", "time.svm", *args).err
    )
    assert "in the last rows" not in cwtool("train", "mixed.svm", *args).err
    Path("next.svm").write_text("".join(rows[1000:]))
    Path("first.svm").write_text("".join(rows[:1000]))
    assert "in the last rows" not in cwtool("train", "first.svm", *args).err
    more = ["train", "next.svm", "--resume", "m.cw", "-m", "m.cw"]
    assert "the values of feature 2 in the last rows differ" in cwtool(*more).err


@pytest.mark.parametrize(
    ("args", "remedy"),
    [
        (["-a", "pa1", "--multiclass", "ovr"], "more --passes or another --algo"),
        (["-a", "dcd", "--loss", "hinge"], "another --algo"),
    ],
)
def test_a_class_between_two_others(
    cwtool: Callable, folder: Path, args: list[str], remedy: str
) -> None:
    """The class in the middle of a column is hardly predicted; batch learners have no passes."""
    Path("line.svm").write_text("1 1:1 2:-1\n3 1:1 2:1\n2 1:1\n1 1:1 2:-1\n3 1:1 2:1\n" * 60)
    said = cwtool("train", "line.svm", "-m", "m.cw", *args).err
    assert f"of the class 2 are predicted as it; {remedy} may separate it" in said


def test_a_model_that_is_replaced(cwtool: Callable, planted: Run) -> None:
    args = ["train", planted("a.svm", 1, 100), "-m", "m.cw"]
    assert "replaced" not in cwtool(*args).err
    said = cwtool(*args).err
    assert "warning: m.cw exists; the new model will replace it (--resume continues it)" in said
    more = ["train", planted("b.svm", 2, 50), "-m", "m.cw", "--resume", "m.cw"]
    assert "replaced" not in cwtool(*more).err


GROUPS = [
    "--features", 6, "--final-passes", 1, "--group-passes", 1, "--group-gap", 1e9, "--tol", 1e-9,
]  # fmt: skip
SHORT = {
    "dcd": ["-C", 100, "--max-batch-passes", 1],
    "l1svm": ["-C", 100, "--features", 0, "--max-batch-passes", 1],
    "spar-dca": ["-C", 100, "--features", 0, "--max-batch-passes", 1],
    "fgm": GROUPS,
    "sbcw": GROUPS,
}


@pytest.mark.parametrize("algo", SHORT)
def test_a_solver_that_ends_early(cwtool: Callable, planted: Run, algo: str) -> None:
    data = [planted("a.svm", 1, 300), planted("b.svm", 2, 300)]
    args = ["train", *data, "-a", algo, "-m", "m.cw", "--json"]
    ended = cwtool(*args, *SHORT[algo])
    assert ended.err.count("passes ended ") == 1, "once, although there are two batches"
    assert ended.err.count("warning: --") == 1
    assert len(last(ended.out)["warnings"]) == 1
    ended = cwtool(*args[:-1], *(["--features", 6, "--tol", 0.5] if algo != "dcd" else []))
    assert "passes ended" not in ended.err
    assert "batch 1" not in ended.err, "only --verbose tells that"


def test_a_selection_that_ends_early(cwtool: Callable, planted: Run) -> None:
    args = ["select-features", planted("a.svm", 1, 300), "-a", "l1svm", "--features", "3,4"]
    ended = cwtool(*args, "--max-batch-passes", 1, "--json")
    assert ended.err.count("passes ended ") == 1
    assert last(ended.out)["warnings"]


def test_the_edge_of_a_grid(cwtool: Callable, planted: Run) -> None:
    assert edge(1, [1, 2, 3]) == "the smallest of the grid"
    assert edge(3, [1, 2, 3]) == "the largest of the grid"
    assert edge(2, [1, 2, 3]) is None
    assert edge("diag", ["diag", "full"]) is None
    assert edge(1, [1]) is None
    args = ["tune", planted("a.svm", 1, 200), "-a", "arow", "--grid", "r=1e8,1e9", "-j", 1]
    assert "of the grid; widen the grid" in cwtool(*args, "--json").err


def test_quiet_evaluation_prints_its_result(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 100), "-m", "m.cw", "-q")
    assert ok("predict", "a.svm", "-m", "m.cw", "--evaluate", "-q").startswith("error ")


def no_room() -> None:
    """A limit on the size of files stands for the end of a disk, on every system."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("args", [["--evaluate"], [], ["--output", "all", "-o", "all.tsv"]])
def test_a_full_disk_is_no_bug(process: Callable, ok: Run, planted: Run, args: list[str]) -> None:
    ok("train", planted("a.svm", 1, 100), "-m", "m.cw", "-q")
    with Path("out.tsv").open("wb") as full:
        run = process("predict", "a.svm", "-m", "m.cw", *args, stdout=full, preexec_fn=no_room)
        _, said = run.communicate()
    assert run.returncode == 74
    assert os.strerror(errno.EFBIG).encode() in said
    assert b"bug" not in said
    assert not Path("all.tsv").exists()
