"""Models of the command line as estimators, estimators as models, and LIBSVM files as matrices."""

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data import blobs, essence, fast, topics, words
from sklearn.datasets import load_svmlight_file

import cwtool
from cwtool import registry
from cwtool import run as cwtool_run
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.errors import DataError, ModelError, UsageError
from cwtool.estimators import ArowClassifier, SCW1Classifier
from cwtool.model import Model

Run = Callable[..., Any]


@pytest.mark.parametrize("name", ["arow", "cw-fact", "sbcw", "sdist", "knn", "stsgd"])
def test_a_model_of_the_command_line_is_an_estimator(name: str, ok: Run, planted: Run) -> None:
    one, two = planted("one.svm", 1, 60), planted("two.svm", 2, 50)
    ok("train", one, "-m", "one.cw", *words(name))
    ok("train", two, "--resume", "one.cw", "-m", "both.cw")
    made = cwtool.load("one.cw")
    (X, y), (more, z) = cwtool.read_libsvm(one), cwtool.read_libsvm(two, n_features=70)
    fitted = fast(name).fit(X, y)
    assert type(made) is type(fitted) and made.get_params() == fitted.get_params()
    assert made.classes_.tolist() == [-1, 1]
    assert (made.predict_proba(X) == fitted.predict_proba(X)).all()
    made.partial_fit(more, z).save("python.cw")
    assert essence("python.cw") == essence("both.cw")


def test_an_estimator_is_a_model_of_the_command_line(folder: Path, ok: Run) -> None:
    X, y = cwtool.read_libsvm(topics(folder / "t.svm"))
    made = ArowClassifier(class_weight={1: 2.0}, threshold="balanced").fit(X, y.astype(int))
    made.save("t.cw")
    labels = [int(label) for label in ok("predict", "t.svm", "-m", "t.cw").split()]
    assert made.predict(X).tolist() == labels
    assert "arow" in ok("inspect", "t.cw")
    copy = cwtool.load("t.cw")
    assert copy.get_params() == {**made.get_params(), "multi_class": "rival"}
    assert copy.classes_.dtype == made.classes_.dtype
    assert copy.n_features_in_ == X.shape[1]
    with pytest.raises(ValueError, match="features"):
        copy.predict(np.zeros((1, 3)))
    ok("train", "t.svm", "--resume", "t.cw", "-m", "more.cw")
    assert essence("more.cw") == essence(made.partial_fit(X, y.astype(int)).model_)


def test_names_of_a_file_may_be_in_any_order(folder: Path) -> None:
    X, y = blobs(classes=3)
    made = ArowClassifier().fit(X, np.array(["a", "b", "c"])[y])
    made.model_.estimator["classes"] = ["b", "c", "a"]
    made.save("named.cw")
    assert (cwtool.load("named.cw")._labels(np.array(["a", "b", "c"])) == [2, 0, 1]).all()
    with pytest.raises(ValueError, match="the class d is not among"):
        cwtool.load("named.cw").partial_fit(X[:1], np.array(["d"]))


def test_one_long_name_among_many_is_refused(folder: Path) -> None:
    """NumPy keeps each name in the room of the longest."""
    X, y = blobs(classes=3)
    made = ArowClassifier().fit(X, np.array(["a", "b", "c"])[y])
    made.model_.estimator["classes"] = ["a"] * 5000 + ["x" * 4000]
    made.save("named.cw")
    with pytest.raises(ModelError, match="too many and too long names"):
        cwtool.load("named.cw")


@pytest.mark.parametrize("names", [["no", "yes"], ["b", "a", "c"]])
def test_names_of_classes_are_kept(names: list[str], folder: Path) -> None:
    X, y = blobs(classes=len(names))
    made = SCW1Classifier(class_weight={names[0]: 2.0}).fit(X, np.array(names)[y])
    made.save("named.cw")
    copy = cwtool.load("named.cw")
    assert copy.predict(X).tolist() == made.predict(X).tolist()
    assert copy.class_weight == {names[0]: 2.0}
    assert essence(copy.partial_fit(X, np.array(names)[y]).model_) == essence(
        made.partial_fit(X, np.array(names)[y]).model_
    )


@pytest.mark.parametrize(
    "options", [["--normalize", "l2"], ["--hash-bits", 3], ["--bias"], ["--positive", 2]]
)
def test_rows_are_read_as_the_model_says(options: list[Any], folder: Path, ok: Run) -> None:
    data = topics(folder / "t.svm", classes=2 if "--positive" not in options else 4)
    ok("train", data, "-m", "t.cw", *options)
    X, y = cwtool.read_libsvm(data)
    scores = [float(s) for s in ok("predict", data, "-m", "t.cw", "--output", "score").split()]
    made = cwtool.load("t.cw")
    assert np.allclose(made.decision_function(X), scores, rtol=1e-5, atol=1e-5)
    ok("train", data, "--again", "--resume", "t.cw", "-m", "twice.cw")
    assert essence(made.partial_fit(X, y).model_) == essence("twice.cw")


@pytest.mark.parametrize("zero_based", [False, True])
def test_read_libsvm(zero_based: bool, folder: Path, planted: Run) -> None:
    name = planted("a.svm", 1, 300, first=1)
    X, y = cwtool.read_libsvm(name, zero_based=zero_based)
    wanted, labels = load_svmlight_file(name, zero_based=zero_based)
    assert X.shape == wanted.shape and (wanted != X).nnz == 0 and (y == labels).all()
    assert X.has_canonical_format
    (folder / "a.svm.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    packed, _ = cwtool.read_libsvm("a.svm.gz", zero_based=zero_based)
    assert (packed != X).nnz == 0


def test_read_libsvm_grows_over_blocks(folder: Path) -> None:
    """Compressed files do not tell their size, and blocks are less than this one."""
    text = "".join(f"{i % 2} {i + 1}:{i + 1} {i + 9}:0.5\n" for i in range(100_000))
    (folder / "long.svm.gz").write_bytes(gzip.compress(text.encode(), 1))
    X, y = cwtool.read_libsvm("long.svm.gz")
    assert X.shape == (100_000, 100_008) and X.nnz == 200_000
    assert X[99_999].toarray().ravel()[[99_999, 100_007]].tolist() == [100_000, 0.5]
    assert (y == np.arange(100_000) % 2).all()


def test_read_libsvm_weights_and_width(folder: Path) -> None:
    (folder / "w.svm").write_text("1 1:1\n-1:2.5 3:1\n")
    X, y, weight = cwtool.read_libsvm("w.svm", n_features=9, return_weight=True)
    assert X.shape == (2, 9) and y.tolist() == [1, -1] and weight.tolist() == [1, 2.5]
    assert cwtool.read_libsvm("w.svm")[0].shape == (2, 3)
    with pytest.raises(DataError, match="there is a feature 3, and `n_features` is 2"):
        cwtool.read_libsvm("w.svm", n_features=2)
    (folder / "empty.svm").write_text("# nothing\n")
    with pytest.raises(DataError, match="no rows"):
        cwtool.read_libsvm("empty.svm")


def test_every_algorithm_has_a_classifier() -> None:
    from cwtool.estimators.loading import CLASSIFIERS

    assert set(CLASSIFIERS) == set(registry.names())


def test_long_work_of_a_file_is_given_again(folder: Path, ok: Run, planted: Run) -> None:
    one = planted("one.svm", 1, 60)
    ok("train", one, "-m", "one.cw", "--algo", "dcd", "--max-batch-passes", "20000", "--tol", "0.5")
    X, y = cwtool.read_libsvm(one)
    made = cwtool.load("one.cw")
    assert made.predict(X).shape == y.shape
    with pytest.raises(
        ModelError, match="was trained with max_batch_passes=20000, with which learning may take"
    ):
        made.partial_fit(X, y)
    with pytest.raises(UsageError, match="is not a model with `max_batch_passes=30`"):
        cwtool.load("one.cw", max_batch_passes=30)
    assert cwtool.load("one.cw", max_batch_passes=20_000).partial_fit(X, y).model_.rows == 120
    assert made.fit(X, y).partial_fit(X, y).model_.rows == 120


def test_a_model_of_one_class_calls_every_row_so(folder: Path) -> None:
    model = Model.new("arow", {}, labels=Labels(positive=1.0))
    model.learn(Rows.from_lists([[(0, 1.0)], [(1, 1.0)]], [1, 1]), cwtool_run.Run())
    model.save(folder / "one.cw")
    made = cwtool.load("one.cw")
    assert made.predict([[1.0, 0.0], [-5.0, -5.0]]).tolist() == [1.0, 1.0]


def test_a_model_without_rows_is_no_classifier(folder: Path) -> None:
    model = Model.new("arow", {})
    for model.estimator in ({}, {"columns": 2, "classes": ["a"]}):
        model.save(folder / "m.cw")
        with pytest.raises(ModelError, match="has learned no rows, and has no classes"):
            cwtool.load("m.cw")


def test_an_intercept_takes_no_memory_for_columns(folder: Path, ok: Run) -> None:
    (folder / "a.svm").write_text("1 1:1\n-1 30000000:1\n")
    ok("train", "a.svm", "-m", "m.cw", "--bias")
    made = cwtool.load("m.cw")
    tracemalloc.start()
    try:
        assert made.intercept_.shape == (1,)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["sop", "narow", "sdist"])
def test_importances_of_columns_that_came_later(name: str, ok: Run, planted: Run) -> None:
    """A loaded model learns rows with more columns than those of its file."""
    one = planted("one.svm", 1, 60)
    ok("train", one, "-m", "one.cw", *words(name))
    made = cwtool.load("one.cw")
    X, y = cwtool.read_libsvm(one)
    wide = np.zeros((X.shape[0], made.n_features_in_ + 9))
    wide[:, : X.shape[1]] = X.toarray()
    wide[:, -1] = y
    made.partial_fit(wide, y)
    assert made.feature_importances_.shape == (wide.shape[1],)
