"""Probabilities of an online learner that has learned few rows.

The scores before learning are those of many models, most of which had learned much less than the
last one. As long as the sample of the model holds all rows that it has learned, there are better
scores: those of fold models, which have learned four fifths of the rows in one pass, for the other
rows (see crossfit.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.rows import Rows
from cwtool.errors import CwtoolError
from cwtool.metrics.calibration import Calibration, unit_of
from cwtool.metrics.sigmoid import Sigmoid
from cwtool.model.arithmetic import computing
from cwtool.model.crossfit import Held, fold_scores, held
from cwtool.model.results import Prediction
from cwtool.model.sample import ENOUGH
from cwtool.run import Run

if TYPE_CHECKING:
    from cwtool.model.model import Model


def fitted_to_folds(model: Model, shared: Model, own: Prediction) -> Sigmoid | None:
    """The sigmoid that is fitted to the scores of fold models; None if there are no fold models. It
    has an offset only from ENOUGH rows on, or if the scores before learning ask for one too, so
    that labels and probabilities of fewer rows agree."""
    counted, before = counted_by_folds(model, shared, own), model.calibration
    if counted is None:
        return None
    assert isinstance(before, Calibration)
    shifted = shared.sample.seen >= ENOUGH or before.fit().b != 0
    return counted.fit(shifted=shifted)


def counted_by_folds(model: Model, shared: Model, own: Prediction) -> Calibration | None:
    """The scores of fold models for the rows of the sample of `shared`, whose index, row scale and
    class weights are those of the model; `own` are the scores of the model for these rows. None if
    they are not all rows that the model has learned, or cannot be divided into folds."""
    sample = shared.sample
    if not sample.complete or sample.seen != model.calibration.rows or model.several is not None:
        return None
    if model.algorithm.layout.squares:  # to learn rows again takes long: all features have a matrix
        return None
    rows = sample.rows()
    try:
        found = held_scores(shared, model.algorithm, rows, own)
    except CwtoolError:  # a fold model has too large numbers, although the model has not
        return None
    if found is None:
        return None
    counted = Calibration(unit=unit_of(own.score))
    weight = None if rows.weight is None else rows.weight[found.rows]
    counted.count(rows.y[found.rows], found.score, found.z, weight, at_once=True)
    return counted


@computing
def held_scores(shared: Model, algorithm: Algorithm, rows: Rows, own: Prediction) -> Held | None:
    """Scores of these rows that are as those of a model of this algorithm would be, had it not
    learned them; `own` are those that it gives."""
    weight = shared.class_weight.relearning(rows, shared.labels)
    part, _, unknown = shared.index.lookup(rows.weighing(weight), shared.scale.value)
    if unknown:  # the model is a part of a merge, without the features that its base has too
        return None
    found = fold_scores(algorithm.lighter(), shared.index, shared.labels, part, Run())
    if not found:
        return None
    scores = Scores(own.score, own.variance)
    return held(found, scores.take, rows.y, rows.weight)
