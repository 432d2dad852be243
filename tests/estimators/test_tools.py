"""Estimators inside the tools of scikit-learn."""

from typing import Any

import numpy as np
import pytest
from data import blobs
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from cwtool.estimators import (
    ArowClassifier,
    CWSparseSelector,
    L1SVMSelector,
    NarowClassifier,
    SBCWSelector,
    SCW1Classifier,
    STSGDSelector,
)


def test_clone_and_parameters() -> None:
    made = ArowClassifier(r=0.5, passes=2).set_params(r=2.0)
    assert clone(made.fit(*blobs())).get_params() == made.get_params()
    assert not hasattr(clone(made), "model_")


def test_grid_search_and_cross_validation() -> None:
    X, y = blobs(classes=3)
    grid = GridSearchCV(SCW1Classifier(fit_intercept=True), {"C": [0.1, 1.0], "passes": [1, 3]})
    assert grid.fit(X, y).best_score_ > 0.9
    assert cross_val_score(ArowClassifier(passes=2), X, y).mean() > 0.8


def test_text_pipeline() -> None:
    good, bad = ["fine warm sun", "warm day", "sun and sea"], ["cold rain", "grey rain", "cold fog"]
    pipe = make_pipeline(TfidfVectorizer(), ArowClassifier(passes=5))
    pipe.fit(good + bad, ["good"] * 3 + ["bad"] * 3)
    assert pipe.predict(["warm sea", "fog and rain", ""])[:2].tolist() == ["good", "bad"]


def test_calibration() -> None:
    X, y = blobs(n_rows=200)
    made = CalibratedClassifierCV(ArowClassifier(), cv=3).fit(X, y)
    p = made.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1)
    assert made.score(X, y) > 0.9


@pytest.mark.parametrize("estimator", [ArowClassifier(), NarowClassifier()])
def test_select_from_model(estimator: Any) -> None:
    X, y = blobs()
    X = np.column_stack([X, 1e-3 * np.random.default_rng(0).normal(size=(len(y), 2))])
    kept = SelectFromModel(estimator, threshold=-np.inf, max_features=3).fit(X, y).get_support()
    assert kept.sum() == 3


@pytest.mark.parametrize(
    "selector",
    [
        SBCWSelector(features=3),
        L1SVMSelector(features=3),
        STSGDSelector(max_features=3),
        CWSparseSelector(mode="aggressive", features=3, max_features=3),
    ],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_selectors(selector: Any, classes: int) -> None:
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(300, 20)), draw.integers(0, classes, 300)
    for k in range(3):
        X[:, 5 + k] += 3.0 * (y == k % classes)
    made = clone(selector).fit(X, y)
    assert made.get_support(indices=True).tolist() == [5, 6, 7]
    assert made.transform(X).shape == (300, 3)
    assert made.get_feature_names_out().tolist() == ["x5", "x6", "x7"]
    assert sorted(made.ranking_.tolist()) == [5, 6, 7]
    piped = make_pipeline(clone(selector), ArowClassifier(passes=3, fit_intercept=True))
    assert piped.fit(X, y).score(X, y) > 0.75
