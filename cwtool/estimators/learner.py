"""What all estimators share: parameters, checks, training a model, and keeping it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from cwtool.errors import ModelError, UsageError
from cwtool.estimators import classes
from cwtool.run import Run

L = TypeVar("L", bound="Learner")
Whole = int | np.integer


class Learner(BaseEstimator):  # type: ignore[misc]
    """An estimator that trains a Model. Its parameters are those of the algorithm, and those in
    `common`, which mean the same in all estimators."""

    algorithm: ClassVar[str]  # as it is registered
    renamed: ClassVar[dict[str, str]] = {}  # parameters of the algorithm that have another name
    common: ClassVar[tuple[str, ...]] = (
        "passes", "fit_intercept", "multi_class", "class_weight", "threshold", "max_features",
        "random_state", "n_jobs",
    )  # fmt: skip

    _unasked = ""  # a setting of a loaded model with which learning may take very long

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self: L, X: Any, y: Any, sample_weight: Any) -> L:
        """Train a new model on these rows."""
        X, y, weight = self._checked(X, y, sample_weight, reset=True)
        self._begin(np.unique(y))
        return self._learn(X, y, weight, getattr(self, "passes", 1))

    def _partial_fit(self: L, X: Any, y: Any, labels: Any, sample_weight: Any) -> L:
        """Continue the model with these rows, in one pass."""
        first = not hasattr(self, "model_")
        if self._unasked:
            raise ModelError(
                f"the model was trained with {self._unasked}, with which learning may take very "
                "long",
                f"load it with cwtool.load(path, {self._unasked}) if you want that",
            )
        X, y, weight = self._checked(X, y, sample_weight, reset=first)
        if first and labels is None:
            raise ValueError("the first call of partial_fit needs `classes`, all classes there are")
        if first:
            self._begin(np.unique(labels))
        elif labels is not None and not np.array_equal(np.unique(labels), self.classes_):
            raise ValueError("`classes` differs from the classes of the first call of partial_fit")
        return self._learn(X, y, weight)

    def _begin(self, found: NDArray[Any]) -> None:
        """A new model for these classes."""
        if len(found) == 0:
            raise ValueError("`classes` is empty; it must have all classes there are")
        if len(found) == 1:
            raise ValueError(
                f"{type(self).__name__} tells classes apart, and all rows are of one class, "
                f"{found[0]}"
            )
        from cwtool.estimators.training import new_model

        settings = self.get_params(deep=False)
        common = {name: settings.pop(name) for name in self.common if name in settings}
        given = {self.renamed.get(name, name): value for name, value in settings.items()}
        self.model_, self._unasked = new_model(self.algorithm, given, common, found), ""
        self.model_.estimator = {"columns": self.n_features_in_, **classes.packed(found)}
        self.classes_ = found

    def _learn(self: L, X: Any, y: NDArray[Any], weight: Any, passes: Any = 1) -> L:
        from cwtool.estimators.training import learn

        try:
            learn(self.model_, X, self._labels(y), weight, self._run(), passes)
        except BaseException:
            if self.model_.rows == 0:  # it is as if it had not been fitted
                del self.model_
            raise
        self._uncalibrated = [self.model_]  # predict_proba takes it out
        return self

    def _labels(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """The labels inside the model of these classes."""
        order = np.argsort(self.classes_, kind="stable")  # names of a file may be in any order
        found = np.searchsorted(self.classes_, y, sorter=order)
        at = order[np.minimum(found, len(order) - 1)]
        strange = self.classes_[at] != y
        labels = classes.numbers(self.classes_)[at]
        if strange.any() and self.model_.labels.rest:  # one class against all others
            labels[strange] = y[strange]
        elif strange.any():
            raise ValueError(f"the class {y[strange][0]} is not among `classes`")
        return labels

    def _run(self) -> Run:
        from cwtool.clock import today
        from cwtool.parallel import cores

        seed, jobs = getattr(self, "random_state", None), getattr(self, "n_jobs", None)
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31)
        seed, jobs = 0 if seed is None else seed, 1 if jobs is None else jobs
        if not isinstance(seed, Whole) or not 0 <= seed < 2**63:
            raise UsageError(f"`random_state` is {seed!r}; it must be from 0 to 2^63 - 1, or None")
        if not isinstance(jobs, Whole):
            raise UsageError(f"`n_jobs` is {jobs!r}; it must be a whole number, or None")
        return Run(int(seed), cores() if jobs == -1 else max(1, int(jobs)), day=today())

    def _checked(self, X: Any, y: Any, weight: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        """The rows, their classes, and their weights or None."""
        accepted = {"accept_sparse": "csr", "dtype": np.float64}
        if reset or self._fixed_width:
            X, y = validate_data(self, X, y, reset=reset, **accepted)
        else:
            X, y = check_array(X, **accepted), np.asarray(y)
        check_classification_targets(y)
        if weight is not None:
            weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
        return X, y, weight

    def _scores(self, X: Any) -> Any:
        """The scores of the rows, and the variances of these."""
        check_is_fitted(self, "model_")
        accepted = {"accept_sparse": "csr", "dtype": np.float64}
        if self._fixed_width:
            X = validate_data(self, X, reset=False, **accepted)
        else:
            X = check_array(X, **accepted)
        from cwtool.estimators.training import scores

        return scores(self.model_, X, self._run())

    @property
    def _fixed_width(self) -> bool:
        """Whether the number of columns is known. A model of the command line has none: features
        that it does not know are left out of its scores."""
        return "columns" in self.model_.estimator

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which the command line reads as well."""
        check_is_fitted(self, "model_")
        self.model_.save(Path(path))

    def __getstate__(self) -> dict[str, Any]:
        """The parameters, and the model as the bytes of a model file."""
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = self.model_.to_bytes()
            state["_uncalibrated"] = []
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "model_" in state:
            from cwtool.model import Model

            state = {**state, "model_": Model.from_bytes(state["model_"])}
        super().__setstate__(state)
