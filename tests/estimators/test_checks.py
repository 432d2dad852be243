"""Scikit-learn's own checks, on every estimator."""

import inspect
from typing import Any

import pytest
from data import made
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_classifiers_train,
    check_decision_proba_consistency,
    check_estimator,
)

import cwtool.estimators
from cwtool.estimators.classifier import Classifier

QUICK = ("ArowClassifier",)
FAILING = {
    # as scikit-learn expects of its SGDClassifier, Perceptron, LogisticRegression and LinearSVC:
    # rows are visited one after the other, and a row of weight 2 is not the same as two visits
    "check_sample_weight_equivalence_on_dense_data": "the order of rows matters",
    "check_sample_weight_equivalence_on_sparse_data": "the order of rows matters",
}
# These fit each row as it comes, whatever it takes, so that one pass over rows with wrong labels
# leaves a model of the last rows
OF_LAST_ROWS = ("PassiveAggressiveClassifier", "CWClassifier", "CWFactClassifier")
CLASSIFIERS = [name for name in cwtool.estimators.__all__ if name.endswith("Classifier")]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name in cwtool.estimators.__all__
    ],
)
def test_check_estimator(name: str) -> None:
    estimator = made(name)
    found = check_estimator(estimator, expected_failed_checks=FAILING, on_skip=None, on_fail=None)
    assert [r["check_name"] for r in found if r["status"] == "failed"] == []
    assert sum(r["status"] == "passed" for r in found) > 45


@pytest.mark.parametrize("algo", ["BCW", "FGM", "Narow"])
def test_probabilities_are_in_the_order_of_scores(algo: str) -> None:
    """The rows of this check do not show that the variance of a score tells anything."""
    check_decision_proba_consistency(algo, made(f"{algo}Classifier"))


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tag `poor_score`, for which checks leave out what they ask of the labels."""
    monkeypatch.setattr(Classifier, "__sklearn_tags__", ClassifierMixin.__sklearn_tags__)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in OF_LAST_ROWS])
def test_labels_are_good(name: str, strict: None) -> None:
    """The labels of two and of three classes agree with scores and probabilities, and more than
    83 % of them are right."""
    check_classifiers_train(name, made(name))


def test_labels_are_good_with_an_intercept(strict: None) -> None:
    check_classifiers_train("pa", cwtool.estimators.PassiveAggressiveClassifier(fit_intercept=True))
    check_classifiers_train("cw-fact", cwtool.estimators.CWFactClassifier(fit_intercept=True))


@pytest.mark.parametrize("kind", [LinearSVC, LogisticRegression, Perceptron, SGDClassifier])
def test_class_weights_need_an_intercept(kind: Any) -> None:
    """Class weights of 1000 and 0.0001 are to make all labels the same. A line through the origin
    cannot do that, and scikit-learn's do not either. The classifiers here have no intercept unless
    they are asked for one, as the command line has none, which is why they are `poor_score`."""
    with pytest.raises(AssertionError):
        check_class_weight_classifiers(kind.__name__, kind(fit_intercept=False))


@pytest.mark.parametrize("algo", ["Arow", "BCW", "CWSparse", "DCD", "FGM", "SBCW", "SOFS", "SOP"])
def test_class_weights_with_an_intercept(algo: str, strict: None) -> None:
    """First-order rules would need more than one pass as well: the rows are 20 times as long as the
    constant 1 of the intercept."""
    check_class_weight_classifiers(algo, made(f"{algo}Classifier").set_params(fit_intercept=True))


def test_sdist_and_rff_markov_need_no_tag() -> None:
    for name in CLASSIFIERS:
        poor = get_tags(made(name)).classifier_tags.poor_score
        assert poor == (name not in ("SDistClassifier", "RFFMarkovClassifier"))


def test_names_of_other_writers() -> None:
    assert cwtool.estimators.SCWClassifier is cwtool.estimators.SCW1Classifier
    assert cwtool.estimators.SCWClassifier.algorithm == "scw1"


@pytest.mark.parametrize("name", cwtool.estimators.__all__)
def test_signatures_are_real(name: str) -> None:
    kind = getattr(cwtool.estimators, name)
    parameters = inspect.signature(kind).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters)
    for p in parameters:
        assert f"\n{p.name} : " in inspect.getdoc(kind), p.name
    if issubclass(kind, Classifier):
        weights = "sample_weight" in inspect.signature(kind.fit).parameters
        assert weights == ("class_weight" in {p.name for p in parameters})
