"""Test errors and other metrics of classifiers that use selected features alone."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from cwtool.algorithms.base import Linear
from cwtool.data.rows import Floats, Ints, Rows
from cwtool.model import Model
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.select.choosing import Selection
from cwtool.validation import counted_metrics, evaluate, fit

Metrics = dict[str, float | None]
METRICS = ("error", "auc", "f1", "macro_f1", "balanced_error")


def projected(rows: Rows, features: Ints) -> Rows:
    """The rows with only these features, which get the ids 0, 1, ... in ascending order."""
    ids = np.sort(features)
    at = np.minimum(np.searchsorted(ids, rows.indices), max(0, len(ids) - 1))
    kept = ids[at] == rows.indices if len(ids) else np.zeros(rows.nnz, dtype=np.bool_)
    return replace(
        rows,
        indptr=np.append(0, np.cumsum(kept))[rows.indptr].astype(np.int64),
        indices=at[kept].astype(np.int32),
        values=rows.values[kept],
    )


def margins(found: Selection, rows: Rows) -> Floats:
    """The scores of a linear model in which all weights but those of the selection are 0; with
    several classes a column for each."""
    own = projected(rows, found.ids)
    weight = found.weight[np.argsort(found.ids)]
    if weight.ndim > 1:
        from scipy.sparse import csr_array

        x = csr_array((own.values, own.indices, own.indptr), shape=(own.n_rows, len(weight)))
        scores: Floats = x @ weight + found.intercept
        return scores
    row_of = np.repeat(np.arange(own.n_rows, dtype=np.int32), np.diff(own.indptr))
    products = weight[own.indices] * own.values
    total: Floats = np.bincount(row_of, products, minlength=own.n_rows).astype(float)
    return total + found.intercept


@dataclass(frozen=True)
class Judge:
    """Measures selections on test rows."""

    train: Rows
    test: Rows
    run: Run
    refit_C: float = 1.0

    def weights(self, found: Selection) -> Metrics:
        """The metrics of the weights of the selected features, with the intercept. A model that
        is not linear is trained again on the selected features."""
        algorithm = found.model.algorithm
        if not isinstance(algorithm, Linear):
            return self._fitted(self._new(found, algorithm.name, asdict(algorithm.params)), found)
        tally, score = found.model.new_tally(finished=True), margins(found, self.test)
        if found.model.several is not None:  # classes of the test rows alone are never called
            score[:, np.bincount(self.train.y, minlength=score.shape[1]) == 0] = -np.inf
        tally.add(self.test.y, score, self.test.weight)
        return named(counted_metrics(tally))

    def refit(self, found: Selection) -> Metrics:
        """The metrics of a linear SVM with the hinge loss on the selected features."""
        return self._fitted(self._new(found, "dcd", {"C": self.refit_C, "loss": "hinge"}), found)

    def _new(self, found: Selection, name: str, params: dict[str, Any]) -> Model:
        """An untrained model with the class weights of the one that selected."""
        setting, labels = found.model.class_weight.setting, replace(found.model.labels)
        if labels.several is not None and name != found.model.algorithm.name:
            labels.multiclass = "auto"
        return Model.new(name, params, class_weight=setting, labels=labels)

    def _fitted(self, model: Model, found: Selection) -> Metrics:
        fit(model, projected(self.train, found.ids), self.run)
        return named(evaluate(model, projected(self.test, found.ids)))


def named(found: dict[str, Any]) -> Metrics:
    """Those of all metrics that selections are compared by."""
    return {name: found[name] for name in METRICS if name in found}
