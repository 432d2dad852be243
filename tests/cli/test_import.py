"""cwtool import: a LIBLINEAR model as a starting point."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import registry
from cwtool.model import Model

Run = Callable[..., Any]
TWO = "solver_type L2R_LR\nnr_class 2\nlabel {}\nnr_feature 3\nbias {}\nw\n0.5 \n0 \n-2 \n"
SEVERAL = (
    "solver_type MCSVM_CS\nnr_class 3\nlabel 5 2 9\nnr_feature 2\nbias -1\nw\n1 0 -1 \n0 2 0.5 \n"
)
ALGORITHMS = ["arow", "cw", "cw-var", "scw1", "scw2", "nherd", "perceptron", "pa", "pa1", "pa2"]


def weights(path: str) -> dict[int, list[float]]:
    ids, weight, _, _ = Model.load(Path(path)).weights()
    return dict(zip(ids.tolist(), weight.reshape(len(ids), -1).tolist(), strict=True))


@pytest.mark.parametrize(("labels", "sign"), [("1 -1", 1), ("-1 1", -1), ("3 8", -1)])
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_two_classes(labels: str, sign: int, algo: str, folder: Path, ok: Run) -> None:
    (folder / "m.model").write_text(TWO.format(labels, -1))
    ok("import", "m.model", "-m", "m.cw", "--algo", algo)
    assert weights("m.cw") == {0: [0.5 * sign], 2: [-2.0 * sign]}
    first, second = labels.split()
    (folder / "new.svm").write_text("0 1:1\n0 3:1\n0 1:5 3:1\n0 2:1\n")
    called = [float(x) for x in ok("predict", "new.svm", "-m", "m.cw").split()]
    assert called == [float(first), float(second), float(first), float(second)]


@pytest.mark.parametrize("mode", ["rival", "ovr"])
@pytest.mark.parametrize("algo", ["arow", "pa1"])
def test_several_classes(mode: str, algo: str, folder: Path, ok: Run) -> None:
    (folder / "m.model").write_text(SEVERAL)
    ok("import", "m.model", "-m", "m.cw", "--algo", algo, "--multiclass", mode)
    (folder / "new.svm").write_text("0 1:1\n0 2:1\n0 1:-1\n")
    shown = ok("predict", "new.svm", "-m", "m.cw", "--output", "all").splitlines()
    assert [line.split("\t")[0] for line in shown[1:]] == ["5", "2", "9"]
    scores = [[float(s) for s in line.split("\t")[1:4]] for line in shown[1:]]
    assert scores == [[0, 1, -1], [2, 0, 0.5], [0, -1, 1]]
    (folder / "more.svm").write_text("9 1:1\n5 2:1\n4 3:1\n" * 20)
    ok("train", "more.svm", "--resume", "m.cw", "-m", "more.cw")
    assert ok("predict", "more.svm", "-m", "more.cw").split()[:3] == ["9", "5", "4"]


def test_bias_prior_and_precision(folder: Path, ok: Run) -> None:
    (folder / "m.model").write_text(TWO.format("1 -1", 2) + "0.25 \n")
    ok("import", "m.model", "-m", "m.cw", "--prior", 4, "--precision", 3)
    model = Model.load(folder / "m.cw")
    _, weight, variance, _ = model.weights()
    assert weight.tolist() == [0.5, -2, 0.5] and variance.tolist() == [1, 1, 1]
    assert model.reading.bias
    (folder / "new.svm").write_text("1 1:1\n")
    assert float(ok("predict", "new.svm", "-m", "m.cw", "--output", "score")) == 1.0


def test_the_help_lists_what_can_start_from_weights(folder: Path, cwtool: Run, ok: Run) -> None:
    (folder / "m.model").write_text(TWO.format("1 -1", -1))
    for algo in registry.names():
        done = cwtool("import", "m.model", "-m", f"{algo}.cw", "--algo", algo)
        assert (done.code == 0) == (algo in ALGORITHMS), algo
    said = ok("import", "--help")
    shown = said[said.index("Algorithms for --algo") :]
    found = [name for name in registry.names() if f"\n    {name} " in shown]
    assert sorted(found) == sorted(ALGORITHMS)
    assert (
        "[default: 1.0]" in said[said.index("--prior auto|FLOAT") : said.index("--variance-floor")]
    )


def test_a_large_precision_keeps_the_weights(folder: Path, ok: Run) -> None:
    (folder / "m.model").write_text(TWO.format("1 -1", -1))
    (folder / "other.svm").write_text("-1 1:1\n1 3:1\n" * 50)
    moved = []
    for precision in (0, 1e6):
        ok("import", "m.model", "-m", "m.cw", "--precision", precision)
        ok("train", "other.svm", "--resume", "m.cw", "-m", "after.cw")
        moved.append(abs(weights("after.cw")[0][0] - 0.5))
    assert moved[0] > 0.5 and moved[1] < 1e-3


@pytest.mark.parametrize("options", [[], ["--bias"], ["--algo", "pa1"]])
def test_round_trip(options: list[str], ok: Run, planted: Run) -> None:
    data = planted("a.svm", 1, 200)
    ok("train", data, "-m", "a.cw", *options)
    ok("export", "a.cw", "--format", "liblinear", "-o", "a.model")
    ok("import", "a.model", "-m", "b.cw")
    before, after = weights("a.cw"), weights("b.cw")
    assert before.keys() == after.keys()
    assert all(np.allclose(before[j], after[j], rtol=1e-15) for j in before)
    assert ok("predict", data, "-m", "a.cw") == ok("predict", data, "-m", "b.cw")


@pytest.mark.parametrize("solver", [0, 1, 4])
@pytest.mark.parametrize("classes", [2, 3])
def test_models_of_liblinear(solver: int, classes: int, folder: Path, ok: Run) -> None:
    """What its train has written is predicted as its predict does."""
    if shutil.which("liblinear-train") is None:
        pytest.skip("needs liblinear-train of the package liblinear-tools")
    draw = np.random.default_rng(0)
    lines = []
    for i in range(200):
        k = i % classes
        x = draw.normal(size=4) + 2 * (np.arange(4) == k)
        lines.append(f"{3 - k} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(x)))
    (folder / "a.svm").write_text("\n".join(lines) + "\n")
    run = {"check": True, "capture_output": True}
    subprocess.run(
        ["liblinear-train", "-q", "-s", str(solver), "-B", "1", "a.svm", "a.model"], **run
    )
    subprocess.run(["liblinear-predict", "a.svm", "a.model", "out.txt"], **run)
    ok("import", "a.model", "-m", "a.cw")
    assert ok("predict", "a.svm", "-m", "a.cw").split() == (folder / "out.txt").read_text().split()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "is not the text of a LIBLINEAR model"),
        ("solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 1\nbias -1\nw\n1\n", "no classes"),
        (TWO.format("1 -1", 1), "its weights are not those of its header"),
        (TWO.format("1 -1", -1).replace("0.5", "x"), "is damaged"),
        (TWO.format("1 -1 2", -1), "1 weights per feature"),
    ],
)
def test_what_is_no_model(text: str, message: str, folder: Path, cwtool: Run) -> None:
    (folder / "m.model").write_text(text)
    ended = cwtool("import", "m.model", "-m", "m.cw")
    assert ended.code == 3 and message in ended.err
    assert not Path("m.cw").exists()


def test_algorithms_that_cannot_start_from_weights(folder: Path, cwtool: Run) -> None:
    (folder / "m.model").write_text(TWO.format("1 -1", -1))
    ended = cwtool("import", "m.model", "-m", "m.cw", "--algo", "dcd")
    assert ended.code == 2 and "cannot start from the weights" in ended.err
    ended = cwtool("import", "none.model", "-m", "m.cw")
    assert ended.code == 3 and "No such file" in ended.err
