"""What estimators take, and that they leave it as it is."""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from data import blobs, essence, fast
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

from cwtool.data.matrix import block_of
from cwtool.data.parse import Reading
from cwtool.errors import UsageError
from cwtool.estimators import (
    ArowClassifier,
    DCDClassifier,
    KNNClassifier,
    SCW1Classifier,
    SDistClassifier,
)
from cwtool.model import Model


def wide(matrix: Any) -> Any:
    """The same matrix with indices of 64 bits."""
    found = csr_matrix(matrix)
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


@pytest.mark.parametrize("form", [csr_matrix, csr_array, csc_matrix, wide, np.asfortranarray])
def test_forms(form: Any) -> None:
    X, y = blobs()
    X[X < 0.3] = 0
    wanted, given = ArowClassifier().fit(X, y), form(X)
    assert essence(ArowClassifier().fit(given, y).model_) == essence(wanted.model_)
    assert (wanted.decision_function(given) == wanted.decision_function(X)).all()


def test_frames() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = blobs()
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    made = ArowClassifier().fit(frame, pandas.Series(y))
    assert list(made.feature_names_in_) == list("abcdef")
    assert (made.coef_ == ArowClassifier().fit(X, y).coef_).all()
    with pytest.raises(ValueError, match="feature names"):
        made.predict(frame[list("fedcba")])


@pytest.mark.parametrize("bias", [False, True])
def test_nothing_handed_in_is_changed_and_values_are_shared(bias: bool) -> None:
    X, y = blobs()
    matrix, weight = csr_matrix(X), np.ones(len(y))
    parts = [matrix.data, matrix.indices, matrix.indptr, y, weight]
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    made = SCW1Classifier(fit_intercept=bias, passes=2).fit(matrix, y, weight)
    made.partial_fit(matrix, y, sample_weight=weight).predict_proba(matrix)
    assert all((a == b).all() for a, b in zip(parts, before, strict=True))
    block = block_of(matrix, y.astype(float), None, Reading(bias=bias))
    assert np.shares_memory(block.values, matrix.data) != bias


def test_entries_of_value_0_are_no_entries() -> None:
    """A file cannot have them, and a feature that is always 0 is not a feature."""
    matrix = csr_matrix(np.eye(4))
    matrix.data[2] = 0
    made = ArowClassifier().fit(matrix, [0, 1, 0, 1])
    assert made.model_.index.count == 3
    assert matrix.nnz == 4


@pytest.mark.parametrize(
    "names",
    [["no", "yes"], [False, True], ["b", "a", "c"], [7, -3, 5], [2**60, 2**60 + 1]],
    ids=str,
)
def test_classes_are_what_they_are(names: list[Any]) -> None:
    X, y = blobs(classes=len(names))
    named = np.array(names)[y]
    made = ArowClassifier(passes=3, fit_intercept=True).fit(X, named)
    assert made.classes_.tolist() == sorted(names)
    assert made.classes_.dtype == made.predict(X).dtype == named.dtype
    assert made.score(X, named) > 0.95
    order = np.argsort(names, kind="stable")
    plain = ArowClassifier(passes=3, fit_intercept=True).fit(X, np.argsort(order)[y])
    assert (plain.decision_function(X) == made.decision_function(X)).all()
    most = made.classes_[made.predict_proba(X).argmax(axis=1)]
    assert (most == made.predict(X)).mean() > 0.95


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("mode", ["auto", "rival", "ovr"])
@pytest.mark.parametrize("bias", [False, True])
def test_scores_are_linear_in_the_columns(classes: int, mode: str, bias: bool) -> None:
    X, y = blobs(classes=classes)
    made = SCW1Classifier(multi_class=mode, fit_intercept=bias).fit(X, y)
    by_hand = X @ made.coef_.T + made.intercept_
    assert made.coef_.shape == (1 if classes == 2 else classes, 6)
    assert np.allclose(by_hand.squeeze(), made.decision_function(X), rtol=1e-9, atol=1e-9)
    assert made.intercept_.any() == bias
    assert (made.decision_variance(X) > 0).all()


def test_what_is_not_linear_has_importances_or_neither() -> None:
    X, y = blobs(n_rows=40)
    assert not hasattr(KNNClassifier().fit(X, y), "coef_")
    assert not hasattr(ArowClassifier(), "coef_")
    assert fast("sdist").fit(X, y).feature_importances_.shape == (6,)
    with pytest.raises(TypeError, match="sample_weight"):
        SDistClassifier().fit(X, y, sample_weight=np.ones(40))


def test_weights_of_rows() -> None:
    X, y = blobs()
    weight = np.arange(len(y)) % 3 / 1.0
    made, kept = DCDClassifier().fit(X, y, weight), weight > 0
    assert (made.coef_ == DCDClassifier().fit(X[kept], y[kept], weight[kept]).coef_).all()
    assert (made.coef_ != DCDClassifier().fit(X[kept], y[kept]).coef_).any()
    with pytest.raises(ValueError, match="Negative"):
        made.fit(X, y, -weight)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"passes": 0}, "`passes` is 0"),
        ({"r": -1}, "`r` is -1"),
        ({"multi_class": "all"}, "`multi_class` is 'all'"),
        ({"class_weight": 3}, "`class_weight` is 3"),
        ({"threshold": "best"}, "`threshold` is 'best'"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ArowClassifier(**settings).fit(*blobs())


def test_a_class_weight_of_no_class_is_told() -> None:
    with pytest.warns(UserWarning, match="no row has the class 'x', which `class_weight`") as told:
        ArowClassifier(class_weight={1: 2.0, "x": 3.0}).fit(*blobs())
    assert told[0].filename == __file__, "it names the line that calls fit"


def test_partial_fit_says_what_is_wrong() -> None:
    X, y = blobs()
    with pytest.raises(ValueError, match="needs `classes`"):
        ArowClassifier().partial_fit(X, y)
    made = ArowClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="differs from the classes"):
        made.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="the class 5 is not among"):
        made.partial_fit(X, y + 5)


def test_pickles_hold_the_bytes_of_a_model_file() -> None:
    """Scikit-learn sends estimators to other processes as pickles. These hold the model as the
    bytes of a model file, which are checked when they are read, and no object of the model."""
    X, y = blobs(classes=3)
    made = ArowClassifier().fit(X, np.array(["x", "y", "z"])[y])
    data = pickle.dumps(made)
    assert b"CWTOOL\0" in data and b"FeatureIndex" not in data
    copy = pickle.loads(data)
    assert (copy.predict_proba(X) == made.predict_proba(X)).all()
    assert (copy.predict(X) == made.predict(X)).all()


def test_the_import_says_what_is_missing() -> None:
    script = "import sys; sys.modules['sklearn'] = None; import cwtool.estimators"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    last = out.stderr.strip().splitlines()[-1]
    assert last == (
        "ImportError: cwtool.estimators needs scikit-learn: pip install 'cwtool[sklearn]'"
    )


def test_blas_has_one_thread_while_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last bits of its sums depend on the number, and must be those of the command line."""
    found = []

    def threads() -> set[int]:
        return {p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"}

    def spy(name: str) -> None:
        own = getattr(Model, name)
        monkeypatch.setattr(Model, name, lambda *args: (found.append(threads()), own(*args))[1])

    spy("learn")
    spy("scores")
    with threadpool_limits(2, "blas"):
        if threads() != {2}:
            pytest.skip("BLAS has no second thread here")
        DCDClassifier().fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4))
    assert found == [{1}, {1}]


def test_rows_too_long_to_learn_leave_classes_that_are_equally_likely() -> None:
    X = np.array([[1e200, 1.0], [1.0, 1e200]] * 3)
    found = KNNClassifier().fit(X, [0, 1, 2, 0, 1, 2]).predict_proba(X)
    np.testing.assert_allclose(found, 1 / 3)


@pytest.mark.parametrize("values", [1.0, 0.0], ids=["plain", "with zeros"])
@pytest.mark.parametrize(
    ("indptr", "indices"),
    [([0, 99, 4, 5, 6], 6), ([0, 2, 4, 5, 99], 6), ([1, 2, 4, 5, 6], 6), ([0, 2, 4, 5, 6], 5)],
    ids=["descending", "beyond the end", "not from 0", "too few entries"],
)
def test_matrices_whose_parts_do_not_fit_are_refused(
    indptr: list[int], indices: int, values: float
) -> None:
    matrix = csr_matrix(np.eye(4, 6) + np.eye(4, 6, 2))
    matrix.indptr = np.array(indptr, dtype=np.int32)
    matrix.indices, matrix.data = np.full(indices, 3, dtype=np.int32), np.ones(6)
    matrix.data[0] = values
    with pytest.raises(ValueError, match="row pointers"):
        ArowClassifier().fit(matrix, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="row pointers"):
        ArowClassifier().fit(np.eye(4, 6), [0, 1, 0, 1]).predict(matrix)


def test_no_classes_at_all_are_refused() -> None:
    X, y = blobs()
    with pytest.raises(ValueError, match="`classes` is empty"):
        ArowClassifier().partial_fit(X, y, classes=[])


@pytest.mark.parametrize(
    "setting",
    [{"random_state": -1}, {"random_state": 2**63}, {"random_state": "x"}, {"n_jobs": "x"}],
    ids=str,
)
def test_settings_of_the_run_are_checked(setting: dict[str, Any]) -> None:
    X, y = blobs()
    with pytest.raises(UsageError, match=f"`{next(iter(setting))}` is"):
        ArowClassifier(passes=2, **setting).fit(X, y)


def test_an_estimator_whose_first_rows_are_refused_is_not_fitted() -> None:
    X, y = blobs()
    made = ArowClassifier()
    with pytest.raises(ValueError, match="the class 9 is not among `classes`"):
        made.partial_fit(X, np.full(len(y), 9), classes=[0, 1, 2])
    with pytest.raises(NotFittedError):
        made.predict(X)
    with pytest.raises(ValueError, match="all rows are of one class"):
        made.fit(X, np.zeros(len(y)))
    with pytest.raises(NotFittedError):
        made.coef_  # noqa: B018
    assert (made.partial_fit(X, y, classes=np.unique(y)).predict(X) == y).mean() > 0.5
