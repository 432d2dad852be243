"""Probabilities of several classes that an online learner has learned.

The scores before learning are those of many models, each with shifts of its own: they tell nothing
of the offsets of the last one, and make the slope too small. The last model has better scores for
the rows that it has learned, which make the slope too large. Between these lies the slope of the
scores of fold models, which have learned four fifths of the sample of rows, for the other fifths
(see crossfit.py); it is too small where the sample is much smaller than all rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.data.rows import Rows
from cwtool.errors import CwtoolError
from cwtool.metrics.softmax import ROOM, Ring, standardized, widened
from cwtool.metrics.softmax_fit import Scored, Softmax, fit
from cwtool.model.arithmetic import computing
from cwtool.model.crossfit import fold_scores, held
from cwtool.model.learning_checks import observed
from cwtool.model.results import Prediction
from cwtool.run import Run
from cwtool.state import FeatureIndex

if TYPE_CHECKING:
    from cwtool.model.model import Model


def fitted(model: Model, own: Prediction | None) -> Softmax:
    """The probabilities that fit the scores of fold models for the rows of the sample, but with a
    slope of at least that of the scores before learning, and at most that of `own`, the scores of
    the model for these rows; None if there are none. Without fold models `own` takes their
    place."""
    before = model.calibration
    assert isinstance(before, Ring)
    if own is None:
        return before.fit()
    rows = model.sample.rows()
    if (most := ROOM // max(own.score.shape[1], 1)) < rows.n_rows:  # some of them, evenly
        some = np.arange(most) * rows.n_rows // most
        rows, own = rows.take(some), Prediction(own.score[some], own.variance[some], own.dropped)
    whole = Scored.of(standardized(own.score, own.variance), rows.y, rows.weight)
    lowest, highest = before.fit().a, fit(whole).a
    parts = _held(model, rows, own)
    found = fit(parts or whole)
    a = min(max(lowest, found.a if parts else 0.0), highest)
    found = found if a == found.a else fit(parts or whole, a)
    return found._replace(b=found.b[: own.score.shape[1]])


def _held(model: Model, rows: Rows, own: Prediction) -> Scored | None:
    """Scores of these rows that are as those of the model would be, had it not learned them; `own`
    are those that it gives. None if there are no fold models."""
    if model.algorithm.layout.squares:  # to learn rows again takes long: all features have a matrix
        return None
    try:
        return _scored(model, rows, own)
    except CwtoolError:  # a fold model has too large numbers, although the model has not
        return None


@computing
def _scored(model: Model, rows: Rows, own: Prediction) -> Scored | None:
    assert model.several is not None
    learner = model.several.lighter()
    weight = model.class_weight.relearning(rows, model.labels)
    index = FeatureIndex(0)  # of these rows alone: tables are as wide as there are classes
    part = replace(observed(index, rows.weighing(weight)), scale=model.scale.value)
    found = fold_scores(learner, index, model.labels, part, Run())
    if not found:
        return None
    whole = Scores(widened(own.score, len(model.labels.values)), own.variance)
    some = held(found, whole.take, rows.y, rows.weight)
    weight = None if rows.weight is None else rows.weight[some.rows]
    return Scored.of(some.z, rows.y[some.rows], weight)
