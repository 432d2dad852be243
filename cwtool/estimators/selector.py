"""Selectors: transformers that keep the columns that an algorithm has chosen."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from cwtool.estimators.learner import Learner

S = TypeVar("S", bound="Selector")


class Selector(SelectorMixin, Learner):  # type: ignore[misc]
    """A selector whose rows have no weights.

    `ranking_` are the selected columns, the most useful one first.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self: S, X: Any, y: Any) -> S:
        """Select columns by the rows X of the classes y."""
        return self._selected(X, y, None)

    def _selected(self: S, X: Any, y: Any, sample_weight: Any) -> S:
        self._fit(X, y, sample_weight)
        from cwtool.estimators.training import ranking

        self.ranking_ = ranking(self.model_)[: getattr(self, "max_features", None)]
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "model_")
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.ranking_] = True
        return mask


class WeightedSelector(Selector):
    """A selector whose rows may have weights."""

    def fit(self: S, X: Any, y: Any, sample_weight: Any = None) -> S:
        """Select columns by the rows X of the classes y with these weights."""
        return self._selected(X, y, sample_weight)
