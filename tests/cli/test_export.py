"""cwtool export: what other programs make of a model."""

import importlib.util
import json
import math
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import registry
from cwtool.algorithms.base import Linear
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.metrics import calibration
from cwtool.metrics.sigmoid import Sigmoid
from cwtool.model import Model
from cwtool.run import Run as JustRun

Run = Callable[..., Any]
LINEAR = [n for n in registry.names() if issubclass(registry.algorithm(n), Linear)]
MODELS = {
    "two": ("two.svm", []),
    "bias and threshold": ("two.svm", ["--bias", "--threshold", "f1"]),
    "class weights": ("two.svm", ["--bias", "--class-weight", "balanced"]),
    "first order": ("two.svm", ["--algo", "pa1"]),
    "several": ("topics.svm", []),
    "several, ovr": ("topics.svm", ["--multiclass", "ovr", "--bias"]),
    "several, first order": ("topics.svm", ["--algo", "pa1"]),
    "two as several": ("two.svm", ["--multiclass", "rival"]),
    "two as several, ovr": ("two.svm", ["--multiclass", "ovr", "--bias"]),
    "rest": ("topics.svm", ["--positive", "2"]),
}
UNIT = {"unit": ("two.svm", ["--normalize", "l2", "--bias"])}
# models with more than one variance a feature; --bias makes the linear part of the variance
JOINT = {
    "full": ("two.svm", ["--covariance", "full", "--bias"]),
    "full, unit": ("two.svm", ["--covariance", "full", "--normalize", "l2"]),
    "factored": ("two.svm", ["--algo", "scw1", "--covariance", "factored", "--bias"]),
    "sbcw": ("two.svm", ["--algo", "sbcw", "--features", "6", "--group-size", "3"]),
    "sbcw, several": ("topics.svm", ["--algo", "sbcw", "--features", "6", "--group-size", "3"]),
}
each = pytest.mark.parametrize(("data", "options"), MODELS.values(), ids=MODELS.keys())
each_unit = pytest.mark.parametrize(
    ("data", "options"), (MODELS | UNIT).values(), ids=(MODELS | UNIT).keys()
)

each_joint = pytest.mark.parametrize(
    ("data", "options"),
    (MODELS | UNIT | JOINT).values(),
    ids=(MODELS | UNIT | JOINT).keys(),
)

TRAINED: dict[str, tuple[bytes, str, list[dict[str, Any]]]] = {}


@pytest.fixture
def trained(folder: Path, ok: Run, planted: Run) -> Callable[..., list[dict[str, Any]]]:
    """Train on a file; what predict says of the rows of new.svm, some of whose features are new."""

    def train(data: str, options: list[str]) -> list[dict[str, Any]]:
        key = " ".join([data, *options])
        if key not in TRAINED:
            planted("two.svm", 1, 300, labels=("-1", "+1"))
            (folder / "topics.svm").write_text(topics(1, 300))
            ok("train", data, "-m", "m.cw", *options)
            new = topics(2, 60) if data == "topics.svm" else (folder / "two.svm").read_text()
            new = "\n".join([*new.splitlines()[:60], "1 77:2", "1"]) + "\n"
            (folder / "new.svm").write_text(new)
            shown = ok("predict", "new.svm", "-m", "m.cw", "--output", "all", "--json")
            found = [json.loads(line) for line in shown.splitlines()]
            TRAINED[key] = (folder / "m.cw").read_bytes(), new, found
        model, new, found = TRAINED[key]
        (folder / "m.cw").write_bytes(model)
        (folder / "new.svm").write_text(new)
        return found

    return train


@pytest.fixture(autouse=True)
def full_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """All probabilities have an offset and use variances, whether these help or not."""
    monkeypatch.setattr(calibration, "SIGNIFICANT", -np.inf)


def topics(seed: int, n_rows: int) -> str:
    """Rows of the classes 3, 10 and 2, which come in this order."""
    draw, lines = random.Random(seed), []
    for i in range(n_rows):
        k = i % 3
        ids = sorted({draw.randint(1 + 4 * k, 9 + 4 * k) for _ in range(4)})
        lines.append(f"{(3, 10, 2)[k]} " + " ".join(f"{j}:{draw.gauss(1, 0.8):.3f}" for j in ids))
    return "\n".join(lines) + "\n"


def rows(folder: Path) -> list[dict[int, float]]:
    lines = (folder / "new.svm").read_text().splitlines()
    return [{int(j): float(x) for j, x in (p.split(":") for p in li.split()[1:])} for li in lines]


def columns(found: dict[str, Any], name: str) -> list[float]:
    """The values of all columns of a name: score, or score_2, score_3, ... Two scores are exported
    as their difference."""
    values = [v for k, v in found.items() if k == name or k.startswith(f"{name}_")]
    return [values[1] - values[0]] if name == "score" and len(values) == 2 else values


def dense(folder: Path, width: int) -> Any:
    X = np.zeros((len(rows(folder)), width))
    for i, row in enumerate(rows(folder)):
        for j, x in row.items():
            if j <= width:
                X[i, j - 1] = x
    return X


def execute(path: Path) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(path.read_text(), space)
    return space


@each_unit
def test_python(data: str, options: list[str], folder: Path, ok: Run, trained: Run) -> None:
    wanted = trained(data, options)
    ok("export", "m.cw", "--format", "python", "-o", "m.py")
    made = execute(folder / "m.py")
    for row, found in zip(rows(folder), wanted, strict=True):
        assert made["predict"](row) == found["label"]
        assert made["scores"](row) == pytest.approx(columns(found, "score"), rel=1e-9, abs=1e-12)
        p = columns(found, "probability")
        assert made["probability"](row)[-len(p) :] == pytest.approx(p, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("data", "options"), JOINT.values(), ids=JOINT.keys())
def test_probabilities_with_covariances(
    data: str, options: list[str], folder: Path, ok: Run, trained: Run
) -> None:
    wanted = trained(data, options)
    ok("export", "m.cw", "--format", "python", "-o", "m.py")
    made = execute(folder / "m.py")
    assert made["PAIRS"] and bool(made["LINEAR"]) == ("--bias" in options)
    for row, found in zip(rows(folder), wanted, strict=True):
        p = columns(found, "probability")
        assert made["probability"](row)[-len(p) :] == pytest.approx(p, rel=1e-7, abs=1e-9)
    found = json.loads(ok("export", "m.cw", "--format", "json"))["probability"]
    assert len(found["pair_variances"]) == sum(map(len, made["PAIRS"].values()))
    assert len(found["linear_variances"]) == len(made["LINEAR"])


@pytest.mark.parametrize("algo", LINEAR)
def test_every_linear_algorithm(algo: str, folder: Path, ok: Run, trained: Run, brief: Run) -> None:
    """Scores are always there, and probabilities are right where there are any."""
    wanted = trained("two.svm", brief(algo))
    ok("export", "m.cw", "--format", "python", "-o", "m.py")
    made = execute(folder / "m.py")
    for row, found in zip(rows(folder), wanted, strict=True):
        assert made["predict"](row) == found["label"]
        assert made["scores"](row)[0] == pytest.approx(found["score"], rel=1e-7, abs=1e-9)
        if "probability" in made:
            p = made["probability"](row)[1]
            assert p == pytest.approx(found["probability"], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("algo", ["arow", "bcw"])
def test_variances_that_do_not_help_are_not_exported(
    algo: str, folder: Path, ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "SIGNIFICANT", np.inf)
    ok("train", planted("two.svm", 1, 300), "-a", algo, "-m", "m.cw")
    (folder / "new.svm").write_text((folder / "two.svm").read_text())
    told = ok("predict", "new.svm", "-m", "m.cw", "--output", "probability").split()
    ok("export", "m.cw", "--format", "python", "-o", "m.py")
    made = execute(folder / "m.py")
    assert made["OFFSETS"] == [0] and "VARIANCES" not in made
    found = [made["probability"](row)[1] for row in rows(folder)]
    assert found == pytest.approx([float(p) for p in told], rel=1e-9)
    kept = json.loads(ok("export", "m.cw", "--format", "json"))["probability"]
    assert set(kept) == {"slope", "offset"}
    assert "sqrt(1 + variance)" not in ok("inspect", "m.cw")


@pytest.mark.parametrize("algo", ["pa1", "arow"])
def test_bent_probabilities(
    algo: str, folder: Path, ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sigmoid(a asinh(k z) / k + b) in all formats that have probabilities, and in inspect."""
    found = Sigmoid(0.8, 0.3, by_variance=algo == "arow", k=2.5)
    monkeypatch.setattr(calibration.Calibration, "fit", lambda *_, **__: found)
    ok("train", planted("new.svm", 1, 200), "-a", algo, "-m", "m.cw")
    a, b = (json.loads(ok("inspect", "m.cw", "--json"))[f"calibration{n}"] for n in ("", "_offset"))
    z = "score / sqrt(1 + variance)" if algo == "arow" else "score"
    assert f"{a:.6g} * asinh(2.5 * {z}) / 2.5 " in ok("inspect", "m.cw")
    told = ok("predict", "new.svm", "-m", "m.cw", "--output", "probability").split()
    wanted = pytest.approx([float(p) for p in told], rel=1e-7)
    kept = json.loads(ok("export", "m.cw", "--format", "json"))["probability"]
    assert (kept["slope"], kept["offset"], kept["bend"]) == (a, b, 2.5)
    ok("export", "m.cw", "--format", "python", "-o", "m.py")
    assert [execute(folder / "m.py")["probability"](row)[1] for row in rows(folder)] == wanted
    assert in_sqlite(folder, ok("export", "m.cw", "--format", "sql")) == wanted
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
        import onnxruntime

        ok("export", "m.cw", "--format", "onnx", "-o", "m.onnx")
        session = onnxruntime.InferenceSession("m.onnx")
        X = dense(folder, session.get_inputs()[0].shape[1])
        assert session.run(["probability"], {"X": X})[0][:, 1].tolist() == wanted


def in_sqlite(folder: Path, script: str) -> list[float]:
    """The probabilities of the rows in the database that the script makes."""
    base = sqlite3.connect(":memory:")
    for name in ("exp", "sqrt"):  # SQLite may be built without them
        base.create_function(name, 1, getattr(math, name))
    base.create_function("LN", 1, math.log)
    base.create_function("SIGN", 1, lambda x: (x > 0) - (x < 0))
    base.executescript(
        "CREATE TABLE cwtool_entry (row_id INTEGER, feature INTEGER, value REAL);" + script
    )
    entries = [(i, j, x) for i, row in enumerate(rows(folder)) for j, x in row.items()]
    base.executemany("INSERT INTO cwtool_entry VALUES (?, ?, ?)", entries)
    found = base.execute("SELECT probability FROM cwtool_probability ORDER BY row_id")
    return [p for (p,) in found]


def test_python_folds_ids(folder: Path, ok: Run, trained: Run) -> None:
    wanted = trained("two.svm", ["--hash-bits", "3", "--algo", "scw1"])
    ok("export", "m.cw", "--format", "python", "-o", "m.py")
    made = execute(folder / "m.py")
    for row, found in zip(rows(folder), wanted, strict=True):
        assert made["scores"](row)[0] == pytest.approx(found["score"], rel=1e-9, abs=1e-12)


@each_joint
def test_sql(data: str, options: list[str], folder: Path, ok: Run, trained: Run) -> None:
    wanted = trained(data, options)
    base = sqlite3.connect(":memory:")
    base.executescript(
        "CREATE TABLE cwtool_entry (row_id INTEGER, feature INTEGER, value REAL);"
        + ok("export", "m.cw", "--format", "sql")
    )
    entries = [(i, j, x) for i, row in enumerate(rows(folder)) for j, x in row.items()]
    base.executemany("INSERT INTO cwtool_entry VALUES (?, ?, ?)", entries)
    found = base.execute("SELECT row_id, label, score FROM cwtool_label ORDER BY row_id").fetchall()
    assert [label for _, label, _ in found] == [w["label"] for w in wanted[:-1]]  # one is empty
    top = [max(columns(w, "score")) for w in wanted[:-1]]
    assert [score for _, _, score in found] == pytest.approx(top, rel=1e-9, abs=1e-12)
    base.create_function("EXP", 1, math.exp)  # SQLite may be built without them
    base.create_function("SQRT", 1, math.sqrt)
    shares = base.execute("SELECT row_id, label, probability FROM cwtool_probability").fetchall()
    for i, label, p in shares:
        named = {k: v for k, v in wanted[i].items() if k.startswith("probability")}
        share = named.get("probability", named.get(f"probability_{label}"))
        assert p == pytest.approx(share, rel=1e-7, abs=1e-9)
    assert len(shares) >= len(found)


@each
def test_liblinear(data: str, options: list[str], folder: Path, ok: Run, trained: Run) -> None:
    """By its own predict, also for rows that score exactly 0."""
    if shutil.which("liblinear-predict") is None:
        pytest.skip("needs liblinear-predict of the package liblinear-tools")
    wanted = trained(data, options)
    ok("export", "m.cw", "--format", "liblinear", "-o", "m.model")
    run = ["liblinear-predict", "new.svm", "m.model", "out.txt"]
    subprocess.run(run, check=True, capture_output=True)
    labels = (folder / "out.txt").read_text().split()
    names = [w["label"].replace("+1", "1").replace("rest", "3") for w in wanted]
    assert labels == names


@each
def test_liblinear_text(data: str, options: list[str], folder: Path, ok: Run, trained: Run) -> None:
    """The same by hand, where LIBLINEAR is not there: the first label if its score is above 0."""
    wanted = trained(data, options)
    ok("export", "m.cw", "--format", "liblinear", "-o", "m.model")
    head, _, body = (folder / "m.model").read_text().partition("\nw\n")
    header = dict(line.split(" ", 1) for line in head.splitlines())
    labels, bias = header["label"].split(), int(header["bias"])
    weights = np.array([[float(w) for w in line.split()] for line in body.splitlines()])
    width = int(header["nr_feature"])
    assert len(weights) == width + (bias == 1)
    scores = dense(folder, width) @ weights[:width] + (weights[width] if bias == 1 else 0)
    called = (scores[:, 0] <= 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
    names = [w["label"].replace("+1", "1").replace("rest", "3") for w in wanted]
    assert [labels[k] for k in called] == names


@each_joint
def test_onnx(data: str, options: list[str], folder: Path, ok: Run, trained: Run) -> None:
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    wanted = trained(data, options)
    ok("export", "m.cw", "--format", "onnx", "-o", "m.onnx")
    session = onnxruntime.InferenceSession("m.onnx")
    width = session.get_inputs()[0].shape[1]
    label, score, p = session.run(["label", "score", "probability"], {"X": dense(folder, width)})
    kept = [i for i, row in enumerate(rows(folder)) if max(row, default=0) <= width]
    assert len(kept) > 50
    names = [str(n) for n in label]
    assert [names[i] for i in kept] == [wanted[i]["label"].replace("+1", "1") for i in kept]
    for i in kept:
        assert score[i].tolist() == pytest.approx(columns(wanted[i], "score"), abs=1e-6)
        shares = columns(wanted[i], "probability")
        assert p[i].tolist()[-len(shares) :] == pytest.approx(shares, abs=1e-6)
        assert p[i].sum() == pytest.approx(1)


@each
def test_vw(data: str, options: list[str], folder: Path, ok: Run, trained: Run) -> None:
    vw = pytest.importorskip("vowpalwabbit")
    wanted = trained(data, options)
    ok("export", "m.cw", "--format", "vw", "-o", "m.vw")
    made = vw.Workspace("--quiet -t -i m.vw")
    labels = sorted({2, 3, 10})
    for row, found in zip(rows(folder), wanted, strict=True):
        text = "| " + " ".join(f"{j}:{x!r}" for j, x in row.items())
        scores = columns(found, "score")
        if len(scores) == 1:
            assert made.predict(text) == pytest.approx(scores[0], rel=1e-4, abs=1e-4)
        elif sorted(scores)[-1] - sorted(scores)[-2] > 1e-4:
            assert str(labels[made.predict(text) - 1]) == found["label"]


@each_unit
def test_json_and_tsv(data: str, options: list[str], folder: Path, ok: Run, trained: Run) -> None:
    trained(data, options)
    found = json.loads(ok("export", "m.cw", "--format", "json"))
    lines = [line.split("\t") for line in ok("export", "m.cw", "--format", "tsv").splitlines()]
    assert lines[0] == ["feature", *found["columns"]]
    table = {name: [float(v) for v in values] for name, *values in lines[1:]}
    assert table.pop("intercept") == found["intercept"]
    if len(found["columns"]) == 1:
        assert table.pop("threshold") == [found["threshold"]]
    assert table == {j: w for j, w in found["weights"].items() if any(w)}
    assert found["reading"]["normalize"] == ("l2" if "l2" in options else "none")


@pytest.mark.parametrize("form", ["liblinear", "tsv", "sql", "onnx", "vw"])
def test_what_a_format_cannot_express(form: str, cwtool: Run, trained: Run) -> None:
    trained("two.svm", ["--hash-bits", "3"])
    ended = cwtool("export", "m.cw", "--format", form, "-o", "out")
    assert ended.code == 4 and "cannot fold feature ids" in ended.err
    assert not Path("out").exists()


def test_refusals(folder: Path, cwtool: Run, ok: Run, trained: Run, planted: Run) -> None:
    trained("topics.svm", ["--threshold", "balanced"])
    assert "is not linear in the row" in cwtool("export", "m.cw", "--format", "json").err
    planted("two.svm", 1, 60)
    ok("train", "two.svm", "-m", "knn.cw", "--algo", "knn")
    ended = cwtool("export", "knn.cw", "--format", "json")
    assert ended.code == 4 and "knn is not a linear model" in ended.err
    assert "score rows with the command predict" in ended.err
    ok("train", "two.svm", "-m", "unit.cw", "--normalize", "l2")
    assert "cannot divide rows" in cwtool("export", "unit.cw", "--format", "liblinear").err
    ok("train", "two.svm", "-m", "zero.cw", "--zero-based")
    assert "counts features from 1" in cwtool("export", "zero.cw", "--format", "liblinear").err
    ended = cwtool("export", "zero.cw", "--format", "json", "-o", "zero.cw")
    assert ended.code == 2 and "will not be replaced" in ended.err


def test_models_without_probabilities_say_so(cwtool: Run, folder: Path, trained: Run) -> None:
    trained("topics.svm", ["--covariance", "full"])
    ended = cwtool("export", "m.cw", "--format", "json")
    assert "probability" not in json.loads(ended.out)
    assert "probabilities are left out" in ended.err


FORMS = ("liblinear", "json", "tsv", "sql", "python", "onnx", "vw")
NEEDED = {"onnx": "onnx", "vw": "vowpalwabbit"}  # packages


@pytest.mark.parametrize("form", FORMS)
def test_a_model_of_no_features(folder: Path, ok: Run, form: str) -> None:
    pytest.importorskip(NEEDED.get(form, "cwtool"))
    (folder / "a.svm").write_text("+1\n-1\n")
    ok("train", "a.svm", "-m", "m.cw")
    ok("export", "m.cw", "--format", form, "-o", "out")


@pytest.mark.parametrize("form", FORMS)
def test_a_model_of_one_class(folder: Path, ok: Run, form: str) -> None:
    pytest.importorskip(NEEDED.get(form, "cwtool"))
    (folder / "a.svm").write_text("3 1:1 2:2\n3 2:1\n")
    ok("train", "a.svm", "-m", "m.cw", "--multiclass", "ovr")
    ok("export", "m.cw", "--format", form, "-o", "out")
    if form == "python":
        made = execute(folder / "out")
        score = json.loads(
            ok("predict", "a.svm", "-m", "m.cw", "--output", "all", "--json").split("\n")[0]
        )
        assert made["scores"]({1: 1.0, 2: 2.0}) == pytest.approx([score["score_3"]])


@pytest.mark.parametrize("form", ["liblinear", "onnx", "vw"])
def test_few_features_with_large_ids_are_no_dense_rows(
    folder: Path, cwtool: Run, ok: Run, form: str
) -> None:
    pytest.importorskip(NEEDED.get(form, "cwtool"))
    (folder / "a.svm").write_text("+1 1:1 2000000:1\n-1 2:1\n")
    ok("train", "a.svm", "-m", "m.cw")
    found = cwtool("export", "m.cw", "--format", form, "-o", "out")
    assert found.code == 4
    assert "the model has 3 features up to 2,000,000, and" in found.err


def test_memory_of_dense_rows_is_bounded(folder: Path, cwtool: Run) -> None:
    """Each feature has 125 columns, of which ONNX would have three copies in memory."""
    pytest.importorskip("onnx")
    rows = Rows.from_lists([[(500 * k, 1.0) for k in range(20_000)]] * 4, [0, 1, 2, 3])
    model = Model.new("perceptron", {}, labels=Labels(several=[0.0, 1.0, 2.0, 3.0]))
    model.learn(rows, JustRun())
    model.save(folder / "m.cw")
    found = cwtool("export", "m.cw", "--format", "onnx", "-o", "out")
    assert found.code == 4 and "up to 9,999,501, and the rows of ONNX are dense" in found.err


def test_liblinear_has_lines_between_features(folder: Path, ok: Run) -> None:
    (folder / "a.svm").write_text("+1 3:1 90000:2\n-1 4:3\n")
    ok("train", "a.svm", "-m", "m.cw", "--algo", "arow", "--bias")
    lines = ok("export", "m.cw", "--format", "liblinear").splitlines()
    assert len(lines) == 6 + 90_000 + 1
    found = {k: float(line) for k, line in enumerate(lines[6:], 1) if float(line)}
    table = [line.split("\t") for line in ok("export", "m.cw", "--format", "tsv").splitlines()]
    weights = {int(j): float(w) for j, w in table[1:-2]} | {90_001: float(table[-2][1])}
    assert set(weights) == {3, 4, 90_000, 90_001}
    assert found == weights or found == {j: -w for j, w in weights.items()}


def test_covariances_of_features_with_large_ids(folder: Path, ok: Run) -> None:
    """The graph has a matrix over the features of the model, not over all columns."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    (folder / "a.svm").write_text("+1 1:1 90000:0.5\n-1 2:1 90000:1\n+1 1:2 2:0.5\n")
    ok("train", "a.svm", "-m", "m.cw", "--covariance", "full")
    ok("export", "m.cw", "--format", "onnx", "-o", "m.onnx")
    dense = np.zeros((3, 90_000))
    dense[[0, 0, 1, 1, 2, 2], [0, 89_999, 1, 89_999, 0, 1]] = 1, 0.5, 1, 1, 2, 0.5
    found = runtime.InferenceSession(str(folder / "m.onnx")).run(["probability"], {"X": dense})
    told = ok("predict", "a.svm", "-m", "m.cw", "--output", "probability").split()
    assert np.allclose(found[0][:, 1], [float(p) for p in told], atol=1e-12)
