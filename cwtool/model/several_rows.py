"""Probabilities of several classes that an online learner has learned.

The scores before learning are those of many models, each with shifts of its own: they tell nothing
of the offsets of the last one, and make the slope too small. The last model has better scores for
the rows that it has learned, which make the slope too large. Between these lies the slope of the
scores of fold models (see held_sample.py); it is too small where the sample is much smaller than
all rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.data.rows import Rows
from cwtool.metrics.softmax import ROOM, Ring, standardized, widened
from cwtool.metrics.softmax_fit import Scored, Softmax, fit
from cwtool.model.held_sample import held_rows
from cwtool.model.results import Prediction

if TYPE_CHECKING:
    from cwtool.model.model import Model

ENTRIES = 1 << 23  # of rows times classes: what the tables of a fold model have room for, at most


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
    classes = own.score.shape[1]
    scores = Scores(widened(own.score, len(model.labels.values)), own.variance)
    if (most := _most(rows, classes)) < rows.n_rows:  # some of them, evenly
        some = np.arange(most) * rows.n_rows // most
        rows, scores = rows.take(some), scores.take(some)
    whole = Scored.of(standardized(*scores), rows.y, rows.weight)
    lowest, highest = before.fit().a, fit(whole).a
    assert model.several is not None
    held = held_rows(model, model.several, rows, scores)
    used = whole if held is None else Scored.of(held.z, held.y, held.weight)
    found = fit(used)
    a = min(lowest if held is None else max(lowest, found.a), highest)
    found = found if a == found.a else fit(used, a)
    return found._replace(b=found.b[:classes])


def _most(rows: Rows, classes: int) -> int:
    """How many of these rows are used of so many classes."""
    by_entries = ENTRIES * rows.n_rows // max(rows.nnz * classes, 1)
    return min(ROOM // max(classes, 1), by_entries, rows.n_rows)
