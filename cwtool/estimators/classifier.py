"""Classifiers: what scikit-learn asks of them, on top of Learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cwtool.estimators import classes
from cwtool.estimators.learner import Learner

if TYPE_CHECKING:
    from cwtool.data.rows import Floats, Ints

C = TypeVar("C", bound="Classifier")


class Classifier(ClassifierMixin, Learner):  # type: ignore[misc]
    """A classifier whose rows have no weights."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # defaults are those of the command line, without an intercept: class weights of 1000 and
        # 0.0001 then do not make all labels the same, as scikit-learn's checks ask for. In one
        # pass, pa, cw and cw-fact also have less right labels than these ask for
        tags.classifier_tags.poor_score = self.algorithm not in ("sdist", "rff-markov")
        return tags

    def fit(self: C, X: Any, y: Any) -> C:
        """Train a new model on the rows X, which have the classes y."""
        return self._fit(X, y, None)

    def partial_fit(self: C, X: Any, y: Any, classes: Any = None) -> C:
        """Continue the model with more rows, as the command line does with a further file.
        The first call needs all `classes`."""
        return self._partial_fit(X, y, classes, None)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        found = self._scores(X)
        if self.model_.operating_point:
            self._calibrate()
        from cwtool.estimators.training import predicted

        labels = predicted(self.model_, found)
        called: NDArray[Any] = self.classes_[self._places(labels)]
        return called

    def decision_function(self, X: Any) -> Floats:
        """The score of each row. With two classes a score above 0 stands for the second class; with
        more, there is one column per class."""
        return self._single(self._by_class(self._scores(X).score, -np.inf))

    def decision_variance(self, X: Any) -> Floats:
        """The variance of the score of each row, x' Sigma x: small where the model is sure of the
        weights of the features. It is 0 for algorithms without variances."""
        variance: Floats = self._scores(X).variance
        return variance

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, a column each."""
        score, variance, _ = self._scores(X)
        self._calibrate()
        p = self.model_.probability(score, variance)
        if self.model_.labels.several is None:
            return np.column_stack([1 - p, p])
        p = self._by_class(p, 0.0)
        p[~p.any(axis=1)] = 1 / len(self.classes_)  # the model has learned no row of any class
        return p

    def _calibrate(self) -> None:
        """Fit the probabilities, if rows were learned since they were fitted."""
        from cwtool.estimators.training import calibrate

        while self._uncalibrated:
            calibrate(self._uncalibrated.pop())

    def _width(self, ids: Ints) -> int:
        """The number of columns with those of these ids, which a model from a file may have more of
        than were given."""
        width: int = max(self.n_features_in_, int(ids.max(initial=-1)) + 1)
        return width

    def _places(self, labels: Any) -> NDArray[np.intp]:
        """The places in `classes_` of labels inside the model; a class that no row had yet, which
        has no label, is taken for the last one."""
        places: NDArray[np.intp] = np.searchsorted(classes.numbers(self.classes_), labels)
        return np.minimum(places, len(self.classes_) - 1)

    def _by_class(self, values: Floats, missing: float) -> Floats:
        """The columns in the order of `classes_`; classes without a row so far are `missing`."""
        several = self.model_.labels.several
        if several is None:
            return values
        found = np.full((*values.shape[:-1], len(self.classes_)), missing)
        found[..., self._places(several)] = values
        return found

    def _single(self, values: Floats) -> Floats:
        """One score where there are two classes that have one each."""
        if values.ndim and values.shape[-1] == 2 and self.model_.labels.several is not None:
            difference: Floats = np.nan_to_num(values[..., 1] - values[..., 0])
            return difference
        return values


class WeightedClassifier(Classifier):
    """A classifier whose rows may have weights."""

    def fit(self: C, X: Any, y: Any, sample_weight: Any = None) -> C:
        """Train a new model on the rows X, which have the classes y and these weights."""
        return self._fit(X, y, sample_weight)

    def partial_fit(self: C, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> C:
        """Continue the model with more rows, as the command line does with a further file.
        The first call needs all `classes`."""
        return self._partial_fit(X, y, classes, sample_weight)


class LinearScore(Classifier):
    """The score is X @ coef_.T + intercept_."""

    @property
    def coef_(self) -> Floats:
        """The weight of each column: one row, or with more than two classes a row for each."""
        from cwtool.data.rows import BIAS

        ids, weight, _ = self._linear()
        kept = ids != BIAS
        coef = np.zeros((len(weight), self._width(ids[kept])))
        coef[:, ids[kept]] = weight[:, kept]
        return np.atleast_2d(self._single(self._by_class(coef.T, 0.0)).T)

    @property
    def intercept_(self) -> Floats:
        """The constant of the score, or with more than two classes of each."""
        from cwtool.data.rows import BIAS

        ids, weight, constant = self._linear()
        constant = constant + weight[:, ids == BIAS].sum(axis=1)
        return np.atleast_1d(self._single(self._by_class(constant, 0.0)))

    def _linear(self) -> tuple[Ints, Floats, Floats]:
        """The ids of the features, a row of weights and a constant for each class."""
        check_is_fitted(self, "model_")
        ids, weight, _, intercept = self.model_.weights()
        return ids, np.atleast_2d(weight.T), np.atleast_1d(np.array(intercept, dtype=float))


class Importances(Classifier):
    """The score is not linear, and columns have an importance."""

    @property
    def feature_importances_(self) -> Floats:
        """The importance of each column; the mean over the classes if there are more than two."""
        check_is_fitted(self, "model_")
        from cwtool.data.rows import BIAS

        ids, weight, _, _ = self.model_.weights()
        kept = ids != BIAS
        found = np.zeros(self._width(ids[kept]))
        found[ids[kept]] = weight[kept] if weight.ndim == 1 else weight[kept].mean(axis=1)
        return found
