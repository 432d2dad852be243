"""Rows of matrices pass through a Model as those of files do. Estimators import this module when
they train or predict, which keeps their own import short."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from threadpoolctl import ThreadpoolController

from cwtool.algorithms.base import Batch
from cwtool.data.labels import written
from cwtool.data.matrix import block_of
from cwtool.data.parse import Reading, row_hashes
from cwtool.data.rows import BIAS, Ints, Longs, Rows
from cwtool.data.spool import shuffled, windows
from cwtool.errors import UsageError
from cwtool.estimators import classes
from cwtool.model import Model, Prediction
from cwtool.model.fold_models import fold_models_of
from cwtool.predict import called
from cwtool.run import Run
from cwtool.select.choosing import ranked
from cwtool.validation import fit


def new_model(
    algorithm: str, given: dict[str, Any], common: dict[str, Any], found: NDArray[Any]
) -> Model:
    """A new model of these classes. `given` are the parameters of the algorithm and `common` those
    that mean the same in all estimators."""
    numbers = classes.numbers(found)
    return Model.new(
        algorithm,
        given,
        Reading(bias=bool(common.get("fit_intercept", False))),
        class_weight=classes.weights(common.get("class_weight"), found, numbers),
        threshold=_threshold(common.get("threshold")),
        labels=classes.labels(numbers, common.get("multi_class", "auto")),
    )


def _threshold(setting: Any) -> str:
    if setting is None or isinstance(setting, str):
        return setting or ""
    return written(float(setting))


def learn(model: Model, X: Any, labels: Any, weight: Any, run: Run, passes: Any = 1) -> None:
    """Train the model with these rows as with a file. Later passes have the orders of the command
    line; batch learners have one pass."""
    if not isinstance(passes, int | np.integer) or passes < 1:
        raise UsageError(f"`passes` is {passes!r}; it must be a whole number, at least 1")
    block = block_of(_csr(X), labels, weight, model.reading)
    with _one_blas_thread():
        _learn(model, model.labels.encode(block), run, int(passes))
    model.known.add(row_hashes(block))  # the command line notes rows that it learns once more


def _learn(model: Model, rows: Rows, run: Run, passes: int) -> None:
    if passes == 1 or isinstance(model.algorithm, Batch):
        fit(model, rows, run)
        return
    before = model.copy()
    kept = windows(rows.weighing(model.learn(rows, run).weight))
    before.labels = model.labels
    counted = None if rows.weight is None else rows.weight[rows.weight > 0]
    n_rows = sum(window.n_rows for window in kept)
    fold_models = fold_models_of(before, kept, counted, n_rows, run)
    for pass_ in range(2, passes + 1):
        for k, order in shuffled([window.n_rows for window in kept], run.seed, pass_):
            model.relearn(kept[k], order, run)
        fold_models.another_pass(pass_)
    fold_models.calibrate(model)


def calibrate(model: Model) -> None:
    """Fit the probabilities."""
    with _one_blas_thread():
        model.calibrate()


def scores(model: Model, X: Any, run: Run) -> Prediction:
    """The scores of these rows."""
    n_rows = X.shape[0]
    b = block_of(_csr(X), np.zeros(n_rows), None, model.reading)
    rows = Rows(b.indptr, b.indices, b.values, np.zeros(n_rows, dtype=np.int32))
    with _one_blas_thread():
        return model.scores(rows, run)


def _one_blas_thread() -> Any:
    """A context in which BLAS has one thread: the last bits depend on their number."""
    return _blas().limit(limits=1, user_api="blas")


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _csr(X: Any) -> Any:
    return X if issparse(X) else csr_array(X)


def predicted(model: Model, found: Prediction) -> NDArray[np.float64]:
    """The label inside the model that each row is called."""
    number: Ints = called(model, found.score, found.variance)
    labels: NDArray[np.float64] = np.array(model.labels.values, dtype=np.float64)[number]
    return labels


def ranking(model: Model) -> Longs:
    """The columns that the model uses, the most useful first."""
    ids = ranked(model, "weight").without(BIAS).ids
    found: Longs = ids.astype(np.int64)
    return found
