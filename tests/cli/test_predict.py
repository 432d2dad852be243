"""cwtool predict: its columns, its counts, and its metrics against plain NumPy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import registry
from cwtool.model import file as modelfile

Run = Callable[..., Any]
COLUMNS = ["label", "score", "variance", "probability"]
PLACE = ["file", "line"]


@pytest.fixture
def model(ok: Run, planted: Run) -> str:
    ok("train", planted("a.svm", 1, 600), "-m", "m.cw")
    return "m.cw"


def table(ok: Run, *args: object) -> dict[str, np.ndarray]:
    head, *rows = ok("predict", *args, "--output", "all", "-q").splitlines()
    assert head.split("\t") == COLUMNS + PLACE
    return {
        name: np.array([float(x) for x in column])
        for name, column in zip(
            COLUMNS, zip(*(r.split("\t")[:-2] for r in rows), strict=True), strict=True
        )
    }


def truth(*files: str) -> np.ndarray:
    return np.array(
        [float(line.split()[0]) for f in files for line in Path(f).read_text().splitlines()]
    )


def test_labels_are_the_default(ok: Run, model: str, planted: Run) -> None:
    said = ok("predict", planted("b.svm", 2, 200), "-m", model)
    assert said == ok("predict", "b.svm", "-m", model, "--output", "label")
    assert set(said.split()) == {"+1", "-1"}
    assert len(said.splitlines()) == 200


def test_each_column_is_that_of_all(ok: Run, model: str, planted: Run) -> None:
    b = planted("b.svm", 2, 200)
    _, *rows = ok("predict", b, "-m", model, "--output", "all").splitlines()
    columns = zip(*(r.split("\t")[:-2] for r in rows), strict=True)
    for name, column in zip(COLUMNS, columns, strict=True):
        assert ok("predict", b, "-m", model, "--output", name).splitlines() == list(column)


def test_label_is_the_sign_of_the_score(ok: Run, model: str, planted: Run) -> None:
    found = table(ok, planted("b.svm", 2, 200), "-m", model)
    assert (found["label"] == np.where(found["score"] >= 0, 1, -1)).all()


@pytest.mark.parametrize("algo", registry.names())
def test_probability(algo: str, brief: Run, ok: Run, planted: Run) -> None:
    """sigmoid(a g(s) + b) or sigmoid(a g(s / sqrt(1 + v)) + b), with a, b and g of the model."""
    ok("train", planted("a.svm", 1, 300), *brief(algo), "-m", "m.cw")
    described = json.loads(ok("inspect", "m.cw", "--json"))
    a, b = described["calibration"], described.get("calibration_offset", 0.0)
    assert a > 0
    found = table(ok, planted("b.svm", 2, 200, first=20), "-m", "m.cw")
    spread = np.sqrt(1 + found["variance"] * described["calibration_by_variance"])
    z, k = found["score"] / spread, described.get("calibration_bend", 0.0)
    t = a * (np.arcsinh(k * z) / k if k else z) + b
    assert found["probability"] == pytest.approx(1 / (1 + np.exp(-t)), rel=1e-12)


def test_probability_with_an_offset(ok: Run, planted: Run) -> None:
    """Scores that class weights have raised are too high for the probabilities."""
    weights = ("--bias", "--class-weight", "-1=0.01,1=1")
    ok("train", planted("a.svm", 1, 300), "-a", "arow", *weights, "-m", "m.cw")
    described = json.loads(ok("inspect", "m.cw", "--json"))
    assert described["calibration_offset"] < -0.5
    found = table(ok, "a.svm", "-m", "m.cw")
    spread = np.sqrt(1 + found["variance"] * described["calibration_by_variance"])
    z = described["calibration"] * found["score"] / spread
    want = 1 / (1 + np.exp(-z - described["calibration_offset"]))
    assert found["probability"] == pytest.approx(want, rel=1e-12)


def test_arow_by_hand(ok: Run, planted: Run) -> None:
    """Scores and variances are w.x and x'Sx over the arrays of the file, where unknown features
    have weight 0 and the prior variance."""
    ok("train", planted("a.svm", 1, 600), "-a", "arow", "-m", "m.cw")
    header, arrays = modelfile.load(Path("m.cw"))
    scale = header["scale"]["value"]
    mean = dict(zip((arrays["ids"] + 1).tolist(), arrays["feature.mean"].tolist(), strict=True))
    gain = dict(
        zip((arrays["ids"] + 1).tolist(), arrays["feature.precision"].tolist(), strict=True)
    )
    found = table(ok, planted("b.svm", 2, 100, first=20), "-m", "m.cw")
    for k, line in enumerate(Path("b.svm").read_text().splitlines()):
        cells = [c.split(":") for c in line.split()[1:]]
        row = [(int(j), float(x) * scale) for j, x in cells]
        assert found["score"][k] == pytest.approx(
            sum(mean.get(j, 0) * x for j, x in row), abs=1e-12
        )
        variance = sum(x * x / (1 + gain.get(j, 0)) for j, x in row)
        assert found["variance"][k] == pytest.approx(variance, rel=1e-12)


def test_out_file(ok: Run, model: str, planted: Run) -> None:
    said = ok("predict", planted("b.svm", 2, 200), "-m", model, "--output", "all")
    assert ok("predict", "b.svm", "-m", model, "--output", "all", "-o", "out.tsv") == ""
    assert Path("out.tsv").read_text() == said


def test_out_file_that_cannot_be(cwtool: Run, model: str, planted: Run) -> None:
    ended = cwtool("predict", planted("b.svm", 2, 9), "-m", model, "-o", "nowhere/out.tsv")
    assert ended.code in (2, 3, 4)
    assert "nowhere/out.tsv" in ended.err
    assert "Traceback" not in ended.err


def test_bad_data_leaves_the_old_out_file(cwtool: Run, model: str) -> None:
    Path("out.tsv").write_text("of yesterday")
    ended = cwtool("predict", "none.svm", "-m", model, "-o", "out.tsv")
    assert ended.code == 3
    assert Path("out.tsv").read_text() == "of yesterday"


def test_json_rows(ok: Run, model: str, planted: Run) -> None:
    out = ok("predict", planted("b.svm", 2, 50), "-m", model, "--output", "all", "--json", "-q")
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 50
    assert all(list(row) == COLUMNS + PLACE for row in rows)
    _, *plain = ok("predict", "b.svm", "-m", model, "--output", "all").splitlines()
    assert ["\t".join(map(str, row.values())) for row in rows] == plain


def test_json_is_json_even_for_extreme_rows(ok: Run) -> None:
    Path("a.svm").write_text("+1 1:1e-150\n-1 2:1e-150\n" * 20)
    Path("b.svm").write_text("+1 1:1e308 2:-1e308 3:1e308\n")
    ok("train", "a.svm", "-m", "m.cw")

    def never(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    for line in ok("predict", "b.svm", "-m", "m.cw", "--output", "all", "--json").splitlines():
        json.loads(line, parse_constant=never)


def test_several_files_and_blocks(ok: Run, model: str, planted: Run) -> None:
    b, c = planted("b.svm", 2, 2000), planted("c.svm", 3, 50)
    apart = [ok("predict", f, "-m", model, "--output", "score") for f in (b, c)]
    for more in ([], ["--jobs", "1"], ["--jobs", "3", "--block-size", "65536"]):
        assert ok("predict", b, c, "-m", model, "--output", "score", *more) == "".join(apart)


def test_predictions_never_replace_what_they_come_from(
    cwtool: Run, model: str, planted: Run
) -> None:
    b = planted("b.svm", 2, 200)
    Path("link.svm").symlink_to(b)
    for out in (b, "link.svm", model):
        before = Path(out).read_bytes()
        ended = cwtool("predict", b, "-m", model, "-o", out)
        assert ended.code == 2
        assert "will not be replaced" in ended.err
        assert Path(out).read_bytes() == before


# --- unknown features ---------------------------------------------------------------------------


def test_unknown_features(cwtool: Run, ok: Run, model: str) -> None:
    Path("known.svm").write_text("+1 1:1 2:1\n-1 3:1\n")
    Path("b.svm").write_text("+1 1:1 2:1 500:7\n-1 3:1 2000000000:3\n")
    want = ok("predict", "known.svm", "-m", model, "--output", "score")
    ended = cwtool("predict", "b.svm", "-m", model, "--output", "score")
    assert (ended.code, ended.out) == (0, want)
    assert "2 entries (40.0 % of all)" in ended.err
    ended = cwtool("predict", "b.svm", "-m", model, "--unknown-features", "ignore")
    assert (ended.code, ended.err) == (0, "")
    ended = cwtool("predict", "b.svm", "-m", model, "--unknown-features", "error", "-o", "out")
    assert ended.code == 3
    assert "never seen" in ended.err
    assert not Path("out").exists()


def test_only_unknown_features(cwtool: Run, model: str) -> None:
    Path("b.svm").write_text("+1 4194304:1\n+1 4194305:1\n-1 2147483647:3\n")
    ended = cwtool("predict", "b.svm", "-m", model, "--output", "all")
    assert ended.code == 0
    assert "3 entries (100.0 % of all)" in ended.err
    assert {line.split("\t")[1] for line in ended.out.splitlines()[1:]} == {"0.0"}


def test_narrower_files(ok: Run, model: str) -> None:
    Path("b.svm").write_text("+1 1:1\n")
    assert len(ok("predict", "b.svm", "-m", model).splitlines()) == 1


def test_reading_of_the_training_is_used(ok: Run, planted: Run) -> None:
    """Rows of other lengths but the same direction have the same score after --normalize l2."""
    ok("train", planted("a.svm", 1, 300), "--normalize", "l2", "--bias", "-m", "m.cw")
    Path("b.svm").write_text("+1 1:3 2:4\n+1 1:300 2:400\n+1\n")
    one, other, empty = ok("predict", "b.svm", "-m", "m.cw", "--output", "score").splitlines()
    assert float(one) == pytest.approx(float(other), rel=1e-14)
    assert float(empty) != 0, "the bias alone"


# --- evaluation ---------------------------------------------------------------------------------


def plain_metrics(y: np.ndarray, score: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    """Everything from its definition; y in {-1, +1}."""
    said, positive = score >= 0, y > 0
    tp, fp = int((said & positive).sum()), int((said & ~positive).sum())
    fn, tn = int((~said & positive).sum()), int((~said & ~positive).sum())
    pairs = np.sign(score[positive][:, None] - score[~positive][None, :])
    order = np.argsort(-score, kind="stable")
    hits = positive[order]
    bins = np.minimum((p * 15).astype(int), 14)
    return {
        "rows": len(y),
        "error": (fp + fn) / len(y),
        "precision": tp / (tp + fp),
        "recall": tp / (tp + fn),
        "f1": 2 * tp / (2 * tp + fp + fn),
        "base_rate": float(positive.mean()),
        "confusion": {"tp": tp, "fp": fp, "tn": tn, "fn": fn},
        "auc": float((pairs + 1).mean() / 2),
        "average_precision": float((np.cumsum(hits) / np.arange(1, len(y) + 1))[hits].mean()),
        "log_loss": float(-np.log(np.where(positive, p, 1 - p)).mean()),
        "ece": sum(
            abs(float(p[bins == b].sum()) - float(positive[bins == b].sum())) for b in range(15)
        )
        / len(y),
    }


@pytest.mark.parametrize("algo", ["arow", "perceptron", "sop"])
def test_evaluate(algo: str, ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 600), "-a", algo, "-m", "m.cw")
    files = [planted("b.svm", 2, 700), planted("c.svm", 3, 300)]
    out = ok("predict", *files, "-m", "m.cw", "--evaluate", "--json")
    found = json.loads(out)
    said = table(ok, *files, "-m", "m.cw")
    want = plain_metrics(truth(*files), said["score"], said["probability"])
    assert found["event"] == "evaluate"
    assert found["positive"] == "+1"
    for name in ("rows", "error", "precision", "recall", "f1", "base_rate", "confusion"):
        assert found[name] == want[name], name
    for name in ("auc", "average_precision"):
        assert found[name] == pytest.approx(want[name], abs=1e-3), name
    for name in ("log_loss", "ece"):
        assert found[name] == pytest.approx(want[name], rel=1e-9), name


def test_evaluate_in_words(ok: Run, model: str, planted: Run) -> None:
    shown = ok("predict", planted("b.svm", 2, 300), "-m", model, "--evaluate")
    for words in (
        "error",
        "AUC",
        "precision",
        "recall",
        "F1",
        "log loss",
        "ECE",
        "300 rows",
        "(+1)",
    ):
        assert words in shown
    assert len(shown.splitlines()) < 10


def test_evaluate_with_predictions(ok: Run, model: str, planted: Run) -> None:
    b = planted("b.svm", 2, 300)
    shown = ok("predict", b, "-m", model, "--evaluate", "-o", "out.txt")
    assert "AUC" in shown
    assert Path("out.txt").read_text() == ok("predict", b, "-m", model)


def test_evaluate_rows_of_one_class(ok: Run, model: str) -> None:
    Path("b.svm").write_text("+1 1:1\n+1 2:1\n")
    found = json.loads(ok("predict", "b.svm", "-m", model, "--evaluate", "--json"))
    assert (found["rows"], found["auc"], found["base_rate"]) == (2, None, 1.0)
    ok("predict", "b.svm", "-m", model, "--evaluate")


def test_evaluate_a_label_that_the_model_does_not_know(cwtool: Run, model: str) -> None:
    Path("b.svm").write_text("+1 1:1\n7 2:1\n")
    ended = cwtool("predict", "b.svm", "-m", model, "--evaluate")
    assert ended.code == 3
    assert "b.svm:2" in ended.err
    assert cwtool("predict", "b.svm", "-m", model).code == 0, "no label is needed to predict"


def test_calibration_is_good_on_planted_rows(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 3000), "-m", "m.cw")
    found = json.loads(
        ok("predict", planted("b.svm", 2, 1000), "-m", "m.cw", "--evaluate", "--json")
    )
    assert found["ece"] < 0.1
    assert found["log_loss"] < 0.5


def test_missing_model(cwtool: Run, planted: Run) -> None:
    ended = cwtool("predict", planted("b.svm", 2, 9), "-m", "none.cw")
    assert ended.code == 4
    assert "none.cw: no such model" in ended.err


def test_rows_that_were_learned_are_named(cwtool: Run, model: str, planted: Run) -> None:
    ended = cwtool("predict", "a.svm", planted("b.svm", 2, 50), "-m", model, "--evaluate")
    assert ended.code == 0 and "the model has learned a.svm;" in ended.err
    ended = cwtool("predict", "b.svm", "-m", model, "--evaluate", "--json", "--output", "label")
    assert "learned" not in ended.err
    assert json.loads(ended.out.splitlines()[-1])["learned_before"] == []


def test_metrics_do_not_stand_among_rows(cwtool: Run, model: str, planted: Run) -> None:
    command = ["predict", planted("b.svm", 2, 50), "-m", model, "--evaluate"]
    both = cwtool(*command, "--output", "score")
    assert len([float(line) for line in both.out.splitlines()]) == 50
    assert both.err.endswith(cwtool(*command).out)
    assert "TP" not in cwtool(*command, "--output", "score", "-q").err
