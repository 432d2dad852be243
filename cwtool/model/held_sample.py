"""Scores of the rows of a sample that are as those of the model would be, had it not learned them.

They are those of fold models, which have learned four fifths of the sample in one pass, for the
other rows (see crossfit.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.rows import Floats, Ints, Rows
from cwtool.errors import CwtoolError
from cwtool.model.arithmetic import computing
from cwtool.model.crossfit import fold_scores, held
from cwtool.model.learning_checks import observed
from cwtool.run import Run
from cwtool.state import FeatureIndex

if TYPE_CHECKING:
    from cwtool.algorithms.multiclass.base import Several
    from cwtool.model.model import Model


class HeldRows(NamedTuple):
    """The classes of rows, their scores, without and with their variances, and their weights."""

    y: Ints
    score: Floats
    z: Floats
    weight: Floats | None


def held_rows(
    shared: Model, learner: Algorithm | Several, rows: Rows, own: Scores
) -> HeldRows | None:
    """The scores for these rows of the sample by fold models of this learner, with the row scale
    and class weights of the model `shared`; `own` are the scores of the model. None if there are no
    fold models."""
    if shared.algorithm.layout.squares:  # to learn rows again takes long: a matrix of all features
        return None
    try:
        return _held_rows(shared, learner, rows, own)
    except CwtoolError:  # a fold model has too large numbers, although the model has not
        return None


@computing
def _held_rows(
    shared: Model, learner: Algorithm | Several, rows: Rows, own: Scores
) -> HeldRows | None:
    weight = shared.class_weight.relearning(rows, shared.labels)
    index = FeatureIndex(0)  # of the features of these rows alone
    part = replace(observed(index, rows.weighing(weight)), scale=shared.scale.value)
    found = fold_scores(learner.lighter(), index, shared.labels, part, Run())
    if not found:
        return None
    some, score, z = held(found, own.take, rows.y, rows.weight)
    return HeldRows(rows.y[some], score, z, None if rows.weight is None else rows.weight[some])
