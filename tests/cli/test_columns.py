"""`--normalize columns` in all commands that read rows."""

import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import load, read_libsvm
from cwtool.data.columns import Columns
from cwtool.data.parse import Reading
from cwtool.errors import DataError
from cwtool.model import Model, file
from cwtool.model.results import Weights, in_units_of_columns

Run = Callable[..., str]
GIVEN = ("--normalize", "columns", "--bias")


def made(name: str, n_rows: int, seed: int) -> None:
    """Rows whose label depends on small differences of columns with large means."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4))
    y = np.where(x[:, 0] - x[:, 1] + 0.3 * rng.normal(size=n_rows) > 0, 1, -1)
    x = x * [0.01, 3, 20, 1] + [5, -40, 1000, 0]
    word = rng.integers(10, 60, n_rows)
    lines = (
        f"{label} 1:{a:.6g} 2:{b:.6g} 3:{c:.6g} 4:{d:.6g} {w}:1\n"
        for label, (a, b, c, d), w in zip(y, x, word, strict=True)
    )
    Path(name).write_text("".join(lines))


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    made("train.svm", 1500, 1)
    made("test.svm", 400, 2)


def scores(ok: Run, model: str, *more: object) -> str:
    return ok("predict", "test.svm", "-m", model, "--output", "score", *more)


def error(ok: Run, model: str) -> float:
    return float(
        json.loads(ok("predict", "test.svm", "-m", model, "--evaluate", "--json"))["error"]
    )


@pytest.mark.parametrize("algo", ["arow", "scw1", "bcw", "sgd", "dcd"])
def test_columns_with_large_means_are_learned(ok: Run, algo: str) -> None:
    ok("train", "train.svm", "-a", algo, "-m", "plain.cw", "--bias")
    ok("train", "train.svm", "-a", algo, "-m", "columns.cw", *GIVEN)
    assert error(ok, "columns.cw") < 0.15 < 0.25 < error(ok, "plain.cw")


def test_a_resumed_run_equals_one_run(ok: Run) -> None:
    made("more.svm", 300, 3)
    ok("train", "train.svm", "more.svm", "-m", "both.cw", *GIVEN)
    ok("train", "train.svm", "-m", "first.cw", *GIVEN)
    ok("train", "more.svm", "--resume", "first.cw", "-m", "second.cw")
    assert scores(ok, "both.cw") == scores(ok, "second.cw")


def test_blocks_threads_and_forms_of_files_change_nothing(ok: Run) -> None:
    ok("train", "train.svm", "-m", "model.cw", *GIVEN)
    expected = scores(ok, "model.cw")
    Path("train.svm.gz").write_bytes(gzip.compress(Path("train.svm").read_bytes()))
    ok("convert", "train.svm", "-o", "train.cwrows")
    small = ("--jobs", 3, "--block-size", 65536)
    for name in ("train.svm.gz", "train.cwrows", "train.svm"):
        ok("train", name, "-m", "other.cw", *GIVEN, *small)
        assert scores(ok, "other.cw", *small) == expected


@pytest.mark.parametrize("more", [(), ("--holdout", 0.2), ("--shards", 2, "--engine", "inline")])
def test_several_passes(ok: Run, more: tuple[object, ...]) -> None:
    """A copy of the model is kept in memory before the passes."""
    ok("train", "train.svm", "-m", "model.cw", "--passes", 3, *more, *GIVEN)
    assert error(ok, "model.cw") < 0.15


def test_what_is_done_is_not_proposed(cwtool: Callable[..., Any]) -> None:
    Path("constant.svm").write_text("1 1:5 2:5 3:7\n-1 1:5 2:5 3:7\n" * 100)
    for given, said in (((), True), (("--normalize", "columns"), False)):
        ended = cwtool("train", "constant.svm", "-m", "model.cw", *given)
        assert (ended.code, "--normalize columns" in ended.err) == (0, said)


def test_python_and_exports_give_the_same_scores(ok: Run) -> None:
    pytest.importorskip("sklearn")
    ok("train", "train.svm", "-m", "model.cw", "-a", "dcd", *GIVEN)
    X, _ = read_libsvm("test.svm", n_features=100)
    expected = load("model.cw").decision_function(X)
    shown = [float(line) for line in scores(ok, "model.cw").split()]
    np.testing.assert_allclose(shown, expected, rtol=1e-5)
    ok("export", "model.cw", "-o", "model.json", "--format", "json")
    found = json.loads(Path("model.json").read_text())
    assert found["reading"]["normalize"] == "none"
    weight = np.zeros(100)
    for feature, (w,) in found["weights"].items():
        weight[int(feature) - 1] = w
    np.testing.assert_allclose(X @ weight + found["intercept"][0], expected, atol=1e-9)
    ok("export", "model.cw", "-o", "model.liblinear", "--format", "liblinear")


def test_probabilities_by_variance_are_not_exported(ok: Run) -> None:
    ok("train", "train.svm", "-m", "model.cw", *GIVEN)
    model = Model.load(Path("model.cw"))
    model.by_variance = True
    model.calibrate = lambda: None  # type: ignore[method-assign]
    from cwtool.export.scorer import scorer_of

    assert not scorer_of(model).has_probability


def test_tune_and_select_features(ok: Run) -> None:
    grid = ("--grid", "normalize=none,l2,columns", "--bias", "--json")
    told = ok("tune", "train.svm", "-m", "model.cw", *grid)
    assert Model.load(Path("model.cw")).reading.columns is not None, told
    table = ok("select-features", "train.svm", "--features", 2, "--normalize", "columns")
    assert {"1", "2"} <= {field for line in table.splitlines() for field in line.split("\t")}


def test_shards_and_merges_need_the_same_columns(ok: Run, cwtool: Callable[..., Any]) -> None:
    ok("train", "train.svm", "-m", "sharded.cw", "--shards", 2, *GIVEN)
    assert error(ok, "sharded.cw") < 0.15
    ok("train", "train.svm", "-m", "one.cw", *GIVEN)
    ok("train", "test.svm", "-m", "other.cw", *GIVEN)
    ended = cwtool("merge", "one.cw", "other.cw", "-m", "merged.cw")
    assert ended.code == 4
    assert "different means and scales" in ended.err


def test_stdin_is_refused_for_a_new_model(cwtool: Callable[..., Any]) -> None:
    ended = cwtool("train", "-", "-m", "model.cw", *GIVEN, stdin=b"1 1:2\n")
    assert ended.code == 2
    assert "--normalize columns reads the first rows twice" in ended.err


def test_a_feed_keeps_the_columns_of_its_first_day(ok: Run) -> None:
    ok("feed", "train.svm", "-m", "feed.cw", *GIVEN)
    first = Model.load(Path("feed.cw")).reading.columns
    ok("feed", "test.svm", "-m", "feed.cw")
    assert Model.load(Path("feed.cw")).reading.columns == first is not None


DAMAGES = {
    "no columns": lambda r: r.pop("columns"),
    "another setting": lambda r: r.update(normalize="l2"),
    "ids twice": lambda r: r["columns"]["ids"].__setitem__(1, r["columns"]["ids"][0]),
    "a negative id": lambda r: r["columns"]["ids"].__setitem__(0, -1),
    "a scale of 0": lambda r: r["columns"]["scale"].__setitem__(0, 0.0),
    "a missing mean": lambda r: r["columns"]["mean"].pop(),
    "text": lambda r: r["columns"]["mean"].__setitem__(0, "1"),
    "no scales": lambda r: r["columns"].pop("scale"),
    "more columns than are measured": lambda r: r.update(columns=many(100_001, 0.0)),
    "columns that no row had": lambda r: r.update(columns=many(1000, 1.0)),
}


def many(n: int, mean: float) -> dict[str, Any]:
    return {"ids": list(range(n)), "mean": [mean] * n, "scale": [1.0] * n}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_columns_are_refused(ok: Run, cwtool: Callable[..., Any], damage: str) -> None:
    ok("train", "train.svm", "-m", "model.cw", *GIVEN)
    header, arrays = file.load(Path("model.cw"))
    DAMAGES[damage](header["reading"])
    file.save(Path("model.cw"), header, arrays)
    ended = cwtool("predict", "test.svm", "-m", "model.cw")
    assert (ended.code, ended.out) == (4, "")


def test_scales_whose_squares_are_0_and_means_that_overflow_give_numbers() -> None:
    ids = np.array([0, 1], dtype=np.int32)
    found = Weights(ids, np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = in_units_of_columns(found, Columns((0, 1), (1e308, 1e308), (1e-300, 1e-300)))
    assert shown.variance is not None
    for numbers in (shown.weight, shown.variance, shown.intercept):
        assert np.isfinite(numbers).all()


def test_rows_that_would_fill_the_memory_are_refused() -> None:
    columns = Columns((0, 1), (1.0, 1.0), (1.0, 1.0))
    reading = Reading(normalize="columns", columns=columns)
    assert reading.room(1000) == 2000
    with pytest.raises(DataError, match="more than fit into a block"):
        reading.room(1 << 24)
