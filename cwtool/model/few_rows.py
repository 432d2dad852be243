"""Probabilities of an online learner of two classes by scores of fold models.

The scores before learning are those of many models, most of which had learned much less than the
last one, and each of which had a shift of its own. As long as the sample of the model holds all
rows that it has learned, there are better scores: those of fold models (see held_sample.py). Of
more rows, they say how much steeper than by the scores before learning the probabilities are at
least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwtool.algorithms.base import Scores
from cwtool.metrics.calibration import Calibration, unit_of
from cwtool.metrics.sigmoid import Sigmoid
from cwtool.model.held_sample import HeldRows, held_rows
from cwtool.model.results import Prediction
from cwtool.model.sample import ENOUGH, steeper

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
    """The scores of fold models for the rows of the sample of `shared`, whose row scale and class
    weights are those of the model; `own` are the scores of the model for these rows. None if they
    are not all rows that the model has learned, or cannot be divided into folds."""
    sample = shared.sample
    if not sample.complete or sample.seen != model.calibration.rows:
        return None
    found = _held(model, shared, own)
    if found is None:
        return None
    counted = Calibration(unit=unit_of(own.score))
    counted.count(found.y, found.score, found.z, found.weight, at_once=True)
    return counted


def steeper_by_folds(model: Model, shared: Model, own: Prediction) -> float:
    """The least factor >= 1 of the slope of the model that the scores of fold models do not
    reject; the arguments are those of `counted_by_folds`."""
    found = _held(model, shared, own)
    if found is None:
        return 1.0
    z = found.z if model.by_variance else found.score
    return steeper(model.sloped(z), found.y, found.weight)


def _held(model: Model, shared: Model, own: Prediction) -> HeldRows | None:
    rows, scores = shared.sample.rows(), Scores(own.score, own.variance)
    return held_rows(shared, model.algorithm, rows, scores)
