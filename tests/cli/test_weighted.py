"""Row weights in files and class weights: what they do from the command line."""

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import registry
from cwtool.algorithms.online.learner import Online
from cwtool.model import file

Run = Callable[..., Any]

TAKING = [n for n in registry.names() if issubclass(registry.algorithm(n), Online) and n != "pa"]
WEIGHTS = ("", ":2", ":0.25", "", ":0", ":5", ":1", "", ":3.5")


def essence(path: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """All of a model but its history."""
    header, arrays = file.load(Path(path))
    del header["history"]
    return header, {name: array.tobytes() for name, array in arrays.items()}


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def weighed(name: str, draw: Callable[[int], str]) -> str:
    """The file with a weight behind each label."""
    lines = Path(name).read_text().splitlines(keepends=True)
    words = [line.split(" ", 1) for line in lines]
    text = "".join(f"{label}{draw(k)} {rest}" for k, (label, rest) in enumerate(words))
    Path(name).write_text(text)
    return name


@pytest.fixture
def weighted(planted: Run) -> Run:
    """Write a file of planted rows with weights; its name."""

    def write(name: str, seed: int, n_rows: int, **more: Any) -> str:
        chance = random.Random(seed)
        return weighed(planted(name, seed, n_rows, **more), lambda k: chance.choice(WEIGHTS))

    return write


def rare(name: str, planted: Run, n_rows: int = 600) -> str:
    """A file with few rows of the class +1."""
    lines = Path(planted(name, 3, n_rows)).read_text().splitlines(keepends=True)
    kept = [line for k, line in enumerate(lines) if line[0] == "-" or k % 9 == 1]
    Path(name).write_text("".join(kept))
    return name


@pytest.mark.parametrize("algo", TAKING)
@pytest.mark.parametrize("classes", [[], ["--class-weight", "balanced"]], ids=["rows", "balanced"])
def test_a_day_later_is_one_run(ok: Run, weighted: Run, algo: str, classes: list[str]) -> None:
    first, second = weighted("a.svm", 1, 90), weighted("b.svm", 2, 60)
    ok("train", first, second, "-m", "once.cw", "--algo", algo, *classes, "-q")
    ok("train", first, "-m", "day.cw", "--algo", algo, *classes, "-q")
    ok("train", second, "--resume", "day.cw", "-m", "day.cw", "-q")
    assert essence("day.cw") == essence("once.cw")


@pytest.mark.parametrize("algo", ["arow", "pa1", "cw-sparse", "rda", "sgd", "sop"])
def test_jobs_and_blocks_change_nothing(ok: Run, weighted: Run, algo: str) -> None:
    data = weighted("a.svm", 1, 3000)
    assert Path(data).stat().st_size > 2 * 65536
    settings = ["--algo", algo, "--class-weight", "balanced", "--passes", "2", "-q"]
    ok("train", data, "-m", "a.cw", "--jobs", 1, *settings)
    ok("train", data, "-m", "b.cw", "--jobs", 2, "--block-size", 65536, *settings)
    assert essence("a.cw") == essence("b.cw")


@pytest.mark.parametrize("algo", TAKING)
@pytest.mark.parametrize(
    "more", [[], ["--passes", 2, "--class-weight", "balanced"]], ids=["rows", "balanced"]
)
def test_rows_of_weight_zero_are_as_good_as_absent(
    ok: Run, planted: Run, algo: str, more: list[Any]
) -> None:
    """They give nothing: no round, no scale, no count, and none of their features."""
    settings = ["--algo", algo, *more, "-q"]
    data = weighed(planted("a.svm", 1, 120), lambda k: ":0" if k % 4 == 3 else WEIGHTS[k % 4])
    lines = Path(data).read_text().splitlines(keepends=True)
    some = [line.replace(":0 ", ":0 1:100 ", 1).replace(" 1:100 1:", " 1:") for line in lines]
    some = [line.rstrip() + " 77:5\n" if ":0 " in line[:5] else line for line in some]
    Path(data).write_text("".join(some))
    Path("b.svm").write_text("".join(line for k, line in enumerate(lines) if k % 4 != 3))
    ok("train", data, "-m", "a.cw", *settings)
    ok("train", "b.svm", "-m", "b.cw", *settings)
    assert essence("a.cw") == essence("b.cw")


@pytest.mark.parametrize("algo", TAKING)
def test_weights_of_one_are_no_weights(ok: Run, planted: Run, algo: str) -> None:
    ok("train", planted("a.svm", 1, 150), "-m", "a.cw", "--algo", algo, "-q")
    ones = weighed(planted("b.svm", 1, 150), lambda k: (":1", "", ":1.0")[k % 3])
    ok("train", ones, "-m", "b.cw", "--algo", algo, "-q")
    assert essence("a.cw") == essence("b.cw")
    header, arrays = file.load(Path("a.cw"))
    assert not [name for name in (*header, *arrays) if "weight" in name and "feature" not in name]


def test_class_weights_by_label(ok: Run, planted: Run) -> None:
    """As if each row had the weight of its class, but not in the metrics."""
    data = planted("a.svm", 1, 300)
    plus = weighed(planted("b.svm", 1, 300), lambda k: "")
    text = Path(plus).read_text().replace("+1 ", "+1:4 ").replace("-1 ", "-1:0.5 ")
    Path(plus).write_text(text)
    for passes in (1, 3):
        ok("train", data, "-m", "a.cw", "--class-weight", "-1=0.5,+1=4", "--passes", passes, "-q")
        ok("train", plus, "-m", "b.cw", "--passes", passes, "-q")
        (ours, arrays), (theirs, others) = essence("a.cw"), essence("b.cw")
        own = [name for name in arrays if name.startswith("feature.")]
        assert own
        assert all(arrays[name] == others[name] for name in own)
        assert ours["confusion"] == theirs["confusion"]
        assert "weighted_confusion" in theirs
        assert "weighted_confusion" not in ours
        assert ours["class_weight"] == {"setting": "-1=0.5,1=4.0", "counts": []}


def test_balanced_finds_more_of_the_rare_class(ok: Run, planted: Run) -> None:
    data, test = rare("a.svm", planted), planted("t.svm", 5, 400)
    recall = []
    for weight in ([], ["--class-weight", "balanced"]):
        ok("train", data, "-m", "m.cw", "--bias", *weight, "-q")
        (found,) = events(ok("predict", test, "-m", "m.cw", "--evaluate", "--json"))
        recall.append(found["recall"])
    assert recall[1] > recall[0]
    header = file.load(Path("m.cw"))[0]
    assert sum(header["class_weight"]["counts"]) == header["rows"]


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        ([], "balanced", "without --class-weight and cannot be continued with --class-weight bal"),
        (["balanced"], "1=2", "with --class-weight balanced and cannot be continued with"),
        (["1=3"], "1=2", "with --class-weight 1=3.0"),
    ],
)
def test_other_class_weights_are_refused_on_resume(
    cwtool: Run, ok: Run, planted: Run, first: list[str], then: str, words: str
) -> None:
    given = ["--class-weight", *first] if first else []
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw", *given, "-q")
    more = planted("b.svm", 2, 50)
    ended = cwtool("train", more, "--resume", "m.cw", "-m", "m.cw", "--class-weight", then)
    assert ended.code == 4
    assert words in ended.err
    again = ["--class-weight", f"+{first[0]}" if "=" in first[0] else first[0]] if first else []
    ok("train", more, "--resume", "m.cw", "-m", "m.cw", *again, "-q")


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ("even", "'even' is not LABEL=WEIGHT"),
        ("1=0", "the weight of a class is a number greater than 0"),
        ("1=2,1=3", "the label 1 twice"),
        ("7=2", "--class-weight has the label 7; the labels of the data are -1 and +1"),
    ],
)
@pytest.mark.parametrize("command", ["train", "tune", "select-features"])
def test_class_weights_that_cannot_be(
    cwtool: Run, planted: Run, command: str, weight: str, words: str
) -> None:
    if command == "tune" and weight == "7=2":
        words = "no combination of the grid could be evaluated"
    more = {
        "train": ["-m", "m.cw"],
        "tune": ["--grid", "r=1", "--jobs", "1"],
        "select-features": ["--algo", "arow"],
    }[command]
    ended = cwtool(command, planted("a.svm", 1, 50), "--class-weight", weight, *more)
    assert ended.code in (2, 3)
    assert words in " ".join(ended.err.replace("│", " ").split())


def test_pa_takes_no_weights(cwtool: Run, weighted: Run, planted: Run) -> None:
    ended = cwtool("train", weighted("a.svm", 1, 50), "-m", "m.cw", "--algo", "pa")
    assert ended.code == 2
    assert "pa does not take row weights" in ended.err
    assert "hint: use pa1" in ended.err
    plain = planted("b.svm", 1, 50)
    ended = cwtool("train", plain, "-m", "m.cw", "--algo", "pa", "--class-weight", "balanced")
    assert ended.code == 2
    assert "pa does not take class weights" in ended.err


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("+1:-2 1:1", "3:4", "row weight -2 is negative"),
        ("-1:nan 1:1", "3:4", "row weight nan is not finite"),
        ("1:inf 1:1", "3:3", "row weight inf is not finite"),
        ("1:x 1:1", "3:3", "row weight x is not a number"),
    ],
)
def test_bad_weights(cwtool: Run, folder: Path, text: str, place: str, words: str) -> None:
    (folder / "a.svm").write_text(f"+1 1:1\n-1 2:1\n{text}\n")
    ended = cwtool("train", "a.svm", "-m", "m.cw")
    assert ended.code == 3
    assert f"a.svm:{place}: {words}" in ended.err
    assert "hint: " in ended.err
    assert cwtool("train", "a.svm", "-m", "m.cw", "--on-bad-line", "skip").code == 0


def test_a_large_weight_is_noted(cwtool: Run, planted: Run) -> None:
    data = weighed(planted("a.svm", 1, 50), lambda k: ":1e6" if k == 7 else "")
    note = "the largest weight of a row is 1e+06; one row with a weight above 1,000"
    assert note in cwtool("train", data, "-m", "m.cw").err
    fine = weighed(planted("b.svm", 1, 50), lambda k: ":1000")
    assert "weight" not in cwtool("train", fine, "-m", "m.cw").err


def test_reports_count_weights(ok: Run, weighted: Run, planted: Run) -> None:
    """Whole weights are so many rows; the error of `predict --evaluate` too."""
    data = weighed(planted("a.svm", 1, 200), lambda k: f":{k % 4}")
    each, run = events(ok("train", data, "-m", "m.cw", "--json"))
    assert (each["rows"], each["weight"]) == (150, 300)
    assert (run["rows"], run["weight"]) == (150, 300)
    assert "weight" not in events(ok("train", planted("p.svm", 1, 99), "-m", "p.cw", "--json"))[-1]
    test = weighed(planted("t.svm", 2, 200), lambda k: f":{k % 4}")
    lines = Path(test).read_text().splitlines(keepends=True)
    Path("u.svm").write_text(
        "".join(line[:2] + line[4:] for k, line in enumerate(lines) for _ in range(k % 4))
    )
    (found,) = events(ok("predict", test, "-m", "m.cw", "--evaluate", "--json"))
    (often,) = events(ok("predict", "u.svm", "-m", "m.cw", "--evaluate", "--json"))
    assert (found["rows"], found["weight"], often["rows"]) == (200, 300, 300)
    for metric in ("error", "auc", "precision", "recall", "f1", "average_precision", "log_loss"):
        assert found[metric] == pytest.approx(often[metric], rel=1e-5), metric
    assert found["weighted_confusion"] == often["confusion"]
    assert "200 rows of the total weight 300, " in ok("predict", test, "-m", "m.cw", "--evaluate")
    (plain,) = events(ok("predict", "p.svm", "-m", "m.cw", "--evaluate", "--json"))
    assert "weight" not in plain


@pytest.mark.parametrize("algo", ["dcd", "bcw", "sbcw", "knn"])
def test_rows_of_weight_zero_are_absent_from_batches(ok: Run, planted: Run, algo: str) -> None:
    """Also of a batch that has no other rows, at the end of the file."""
    lines = Path(planted("p.svm", 1, 120)).read_text().splitlines(keepends=True)
    labels = [line.split(" ", 1)[0] for line in lines]
    some = [f"{labels[k]}:0 77:5\n" + line if k % 3 else line for k, line in enumerate(lines)]
    Path("a.svm").write_text("".join(some) + "-1:0 1:1\n+1:0 2:1\n")
    asked = ["--algo", algo, "--batch-rows", "40", "--threshold", "f1"]
    asked += ["--features", "9"] if algo == "sbcw" else []
    zero = ok("train", "a.svm", "-m", "a.cw", *asked)
    plain = ok("train", "p.svm", "-m", "b.cw", *asked)
    assert essence("a.cw") == essence("b.cw")
    assert zero.count("batch of") == plain.count("batch of") == 3


def test_later_passes_count_row_weights_alone(ok: Run, planted: Run) -> None:
    """The error of a pass with class weights of 1, which change nothing else."""
    data = weighed(planted("a.svm", 1, 150), lambda k: f":{k % 3}")
    asked = ["--passes", "2", "--json", "--algo", "perceptron"]
    plain, ones = (
        next(e["error"] for e in events(ok("train", data, "-m", "m.cw", *asked, *weight))
             if e["event"] == "pass")
        for weight in ([], ["--class-weight", "-1=1,+1=1"])
    )  # fmt: skip
    assert ones == plain


def test_held_out_rows_are_weighed_and_not_counted(ok: Run, weighted: Run) -> None:
    data = weighted("a.svm", 1, 400)
    out = events(
        ok("train", data, "-m", "m.cw", "--holdout", "0.25", "--passes", "2",
           "--class-weight", "balanced", "--json")
    )  # fmt: skip
    checked = [e for e in out if e["event"] == "validation"]
    assert all(e["weight"] != e["rows"] for e in checked)
    header = file.load(Path("m.cw"))[0]
    assert sum(header["class_weight"]["counts"]) == header["rows"] < 300


def test_projected_files_keep_weights(ok: Run, weighted: Run) -> None:
    data, test = weighted("a.svm", 1, 80), weighted("b.svm", 2, 30)
    ok("select-features", data, "--algo", "arow", "--features", "30", "--class-weight", "balanced",
       "--project", "p", "-q")  # fmt: skip

    def rows(name: str) -> list[tuple[str, float]]:
        labels = [line.split()[0].partition(":") for line in Path(name).read_text().splitlines()]
        return [(str(int(label)), float(weight or 1)) for label, _, weight in labels]

    assert rows("p/train.30.svm") == rows(data)
    assert len({weight for _, weight in rows(data)}) > 4
    assert rows(test)


def test_selection_follows_weights(ok: Run, planted: Run) -> None:
    data = rare("a.svm", planted)
    found = []
    for weight in ([], ["--class-weight", "balanced"], ["--class-weight", "1=9"]):
        asked = ["--algo", "arow", "--features", "5", *weight]
        (one,) = events(ok("select-features", data, *asked, "--json"))
        found.append(one["weight"])
    assert found[0] != found[1] != found[2]


def test_tune_with_weights(ok: Run, weighted: Run) -> None:
    data = weighted("a.svm", 1, 200)
    asked = ["--algo", "arow", "--grid", "r=0.1,10", "--passes", "2", "--json", "-m", "m.cw"]
    plain, heavy = (
        [e for e in events(ok("tune", data, *asked, *weight)) if e["event"] == "point"]
        for weight in (["--jobs", "1"], ["--jobs", "2", "--class-weight", "1=50"])
    )
    assert plain != heavy
    header = file.load(Path("m.cw"))[0]
    assert header["class_weight"]["setting"] == "1=50.0"
    one = events(ok("tune", data, *asked, "--class-weight", "+1=50", "--jobs", "1"))
    assert [e for e in one if e["event"] == "point"] == heavy


def test_inspect_shows_class_weights(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw", "--class-weight", "balanced", "-q")
    assert "weights      balanced" in ok("inspect", "m.cw")
    assert json.loads(ok("inspect", "m.cw", "--json"))["class_weight"] == "balanced"


def test_scores_of_rows_of_weight_zero() -> None:
    """They are those of the model at that time."""
    from cwtool.data.rows import Rows
    from cwtool.model import Model
    from cwtool.run import Run as Settings

    random = np.random.default_rng(1)
    x = [[(int(j), float(random.normal())) for j in range(5)] for _ in range(40)]
    y = random.integers(0, 2, 40).tolist()
    weight = np.where(np.arange(40) % 3 == 2, 0.0, 1.5)
    rows = Rows.from_lists(x, y)
    model = Model.new("arow", {"prior": 1.0})
    weighted = Rows(rows.indptr, rows.indices, rows.values, rows.y, weight)
    found = model.learn(weighted, Settings())
    for i in (2, 20, 38):
        before = Model.new("arow", {"prior": 1.0})
        before.learn(weighted.slice(0, i), Settings())
        assert before.scores(rows.slice(i, i + 1)).score[0] == found.score[i]


def test_a_class_weight_of_a_label_that_never_comes(ok: Run, cwtool: Run, folder: Path) -> None:
    lines = [f"{k % 3} {1 + k % 3}:1 4:{0.1 * k:.1f}\n" for k in range(60)]
    (folder / "a.svm").write_text("".join(lines))
    ended = cwtool("train", "a.svm", "-m", "m.cw", "--class-weight", "2=3,9=5")
    assert ended.code == 0
    assert "no row has the label 9, which --class-weight names" in ended.err
    assert "label 2" not in ended.err


@pytest.mark.parametrize("multiclass", ["ovr", "rival"])
def test_rows_of_weight_0_alone_are_nothing_to_learn(
    multiclass: str, folder: Path, cwtool: Callable
) -> None:
    (folder / "a.svm").write_text("1:0 1:1\n2:0 2:1\n3:0 1:1\n")
    ended = cwtool("train", "a.svm", "-m", "m.cw", "--multiclass", multiclass)
    assert ended.code == 3
    assert "no rows to learn from" in ended.err


@pytest.mark.parametrize("heavy", ["1e308", "1e160"])
def test_huge_weights_count_as_a_million_in_exact_metrics(
    ok: Run, planted: Run, folder: Path, heavy: str
) -> None:
    ok("train", planted("a.svm", 1, 200), "-m", "m.cw")
    lines = (folder / "a.svm").read_text().splitlines()
    found = {}
    for weight in (heavy, str(2**20)):
        text = (f"{label}:{weight} {rest}" for label, rest in (x.split(" ", 1) for x in lines))
        (folder / "b.svm").write_text("\n".join(text) + "\n")
        said = json.loads(ok("predict", "b.svm", "-m", "m.cw", "--evaluate", "--json"))
        found[weight] = [said[name] for name in ("auc", "average_precision", "brier")]
    assert found[heavy] == found[str(2**20)]


def test_predictions_of_rows_of_weight_zero_have_no_metrics(
    ok: Run, cwtool: Run, planted: Run, folder: Path
) -> None:
    ok("train", planted("a.svm", 1, 200), "-m", "m.cw")
    (folder / "b.svm").write_text("1:0 1:1\n-1:0 2:1\n")
    said = json.loads(ok("predict", "b.svm", "-m", "m.cw", "--evaluate", "--json"))
    assert said["rows"] == 2 and said["auc"] is None
    pytest.importorskip("matplotlib")
    ended = cwtool("predict", "b.svm", "-m", "m.cw", "--evaluate", "--plot", "x.svg")
    assert ended.code == 3 and "--plot: all rows have the weight 0" in ended.err


@pytest.mark.parametrize("algo", ["arow", "pa2"])
def test_huge_weights_of_all_rows_overflow_nowhere(
    cwtool: Run, planted: Run, folder: Path, algo: str
) -> None:
    lines = Path(planted("a.svm", 1, 60)).read_text().splitlines()
    text = (f"{label}:1e308 {rest}" for label, rest in (x.split(" ", 1) for x in lines))
    (folder / "b.svm").write_text("\n".join(text) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ended = cwtool("train", "b.svm", "-m", "m.cw", "-a", algo)
    assert ended.code == 0, ended.err
