"""Scikit-learn's own checks, on every estimator."""

import inspect

import pytest
from data import made
from sklearn.utils.estimator_checks import check_estimator

import cwtool.estimators
from cwtool.estimators.classifier import Classifier

QUICK = ("ArowClassifier", "PassiveAggressive1Classifier", "SBCWSelector")
FAILING = {
    # as in scikit-learn's SGDClassifier, Perceptron and LinearSVC: rows are visited one after the
    # other, and a row of weight 2 is not the same as two visits
    "check_sample_weight_equivalence_on_dense_data": "the order of rows matters",
    "check_sample_weight_equivalence_on_sparse_data": "the order of rows matters",
}
# labels follow the scores, and a probability of 1/2 need not be a score of 0
OF_CLASSIFIERS = {"check_classifiers_train": "probabilities have an offset"}
# where probabilities are nearer to 1/2 for scores of large variance, their order may differ
BY_VARIANCE = {"check_decision_proba_consistency": "probabilities depend on the variance"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name in cwtool.estimators.__all__
    ],
)
def test_check_estimator(name: str) -> None:
    estimator = made(name)
    by_variance = ("FGMClassifier", "NarowClassifier", "BCWClassifier")
    known = FAILING | (BY_VARIANCE if name in by_variance else {})
    if name.endswith("Classifier"):
        known |= OF_CLASSIFIERS
    found = check_estimator(estimator, expected_failed_checks=known, on_skip=None, on_fail=None)
    assert [r["check_name"] for r in found if r["status"] == "failed"] == []
    assert sum(r["status"] == "passed" for r in found) > 45


def test_names_of_other_writers() -> None:
    assert cwtool.estimators.SCWClassifier is cwtool.estimators.SCW1Classifier
    assert cwtool.estimators.SCWClassifier.algorithm == "scw1"


@pytest.mark.parametrize("name", cwtool.estimators.__all__)
def test_signatures_are_real(name: str) -> None:
    kind = getattr(cwtool.estimators, name)
    parameters = inspect.signature(kind).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters)
    for p in parameters:
        assert f"    {p.name} : " in kind.__doc__, p.name
    if issubclass(kind, Classifier):
        weights = "sample_weight" in inspect.signature(kind.fit).parameters
        assert weights == ("class_weight" in {p.name for p in parameters})
