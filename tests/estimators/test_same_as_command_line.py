"""Fitting rows in memory gives the model that the command line makes of a file, bit for bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data import essence, fast, topics, words

import cwtool
from cwtool import registry

Run = Callable[..., Any]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in {"arow", "pa1", "bcw", "sbcw"}))
        for name in registry.names()
    ],
)
def test_fit_and_partial_fit(name: str, ok: Run, planted: Run) -> None:
    one, two = planted("one.svm", 1, 60), planted("two.svm", 2, 50)
    ok("train", one, "-m", "one.cw", *words(name))
    ok("train", two, "--resume", "one.cw", "-m", "both.cw")
    (X, y), (more, z) = (cwtool.read_libsvm(p, n_features=40) for p in (one, two))
    estimator = fast(name).fit(X, y)
    assert essence(estimator.model_) == essence("one.cw")
    assert essence(estimator.partial_fit(more, z).model_) == essence("both.cw")
    rows = fast(name).partial_fit(X, y, classes=[-1, 1]).partial_fit(more, z)
    assert essence(rows.model_) == essence("both.cw")


@pytest.mark.parametrize(
    ("name", "settings", "options"),
    [
        ("arow", {"passes": 3, "random_state": 5}, ["--passes", 3, "--seed", 5]),
        ("scw1", {"fit_intercept": True, "threshold": "f1"}, ["--bias", "--threshold", "f1"]),
        ("pa1", {"class_weight": "balanced", "passes": 2}, ["--class-weight", "balanced",
                                                             "--passes", 2]),
        ("dcd", {"class_weight": {1: 3.0}}, ["--class-weight", "1=3"]),
    ],
)  # fmt: skip
def test_settings(
    name: str, settings: dict[str, Any], options: list[Any], ok: Run, planted: Run
) -> None:
    ok("train", planted("a.svm", 3, 400), "-m", "a.cw", "--algo", name, *options)
    X, y = cwtool.read_libsvm("a.svm")
    made = cwtool.load("a.cw").__class__(**settings).fit(X, y)
    assert essence(made.model_) == essence("a.cw")
    labels = [float(label) for label in ok("predict", "a.svm", "-m", "a.cw").split()]
    assert made.predict(X).tolist() == labels


@pytest.mark.parametrize("mode", ["rival", "ovr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes(mode: str, weighted: bool, folder: Path, ok: Run) -> None:
    data = topics(folder / "t.svm", weighted=weighted)
    options = ["--multiclass", mode, "--passes", 2, "--threshold", "balanced"]
    ok("train", data, "-m", "t.cw", *options)
    X, y, weight = cwtool.read_libsvm(data, return_weight=True)
    assert (weight is not None) == weighted
    made = cwtool.load("t.cw").__class__(multi_class=mode, passes=2, threshold="balanced")
    made.fit(X, y, weight)
    assert essence(made.model_) == essence("t.cw")
    labels = [float(label) for label in ok("predict", data, "-m", "t.cw").split()]
    assert made.predict(X).tolist() == labels
    shown = ok("predict", data, "-m", "t.cw", "--output", "probability").splitlines()[1:]
    wanted = np.array([[float(p) for p in line.split("\t")] for line in shown])
    assert np.allclose(made.predict_proba(X), wanted, rtol=0, atol=1e-5)


def test_classes_that_come_later(folder: Path, ok: Run) -> None:
    """A class of `classes` without rows is never predicted, and comes in with its first row."""
    X, y = cwtool.read_libsvm(topics(folder / "t.svm"))
    early = y < 2
    made = fast("arow").partial_fit(X[early], y[early], classes=[0, 1, 2, 3])
    assert set(made.predict(X)) <= {0, 1}
    assert (made.predict_proba(X)[:, 2:] == 0).all()
    assert made.coef_.shape == (4, X.shape[1])
    made.partial_fit(X, y)
    assert set(made.predict(X)) == {0, 1, 2, 3}
