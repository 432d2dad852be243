"""How a model learns batches: the rows of each are predicted, learned together and counted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cwtool.algorithms.base import Batch, LeavesOut, Recalls, Scores, joined_scores
from cwtool.data.rows import Floats, Rows, SlotRows
from cwtool.memory import limited
from cwtool.metrics.calibration import Calibration
from cwtool.metrics.sigmoid import standardized
from cwtool.model.crossfit import Held, fold_scores, held, scorer
from cwtool.model.results import Learned
from cwtool.order import permutation
from cwtool.run import Run
from cwtool.state import State
from cwtool.threads import both

if TYPE_CHECKING:
    from collections.abc import Callable

    from cwtool.algorithms.multiclass.base import Several
    from cwtool.model.model import Model


MOST = 5_000  # rows that are scored without themselves; more do not change probabilities much


def learn_batches(
    model: Model, batch: Batch | Several, rows: Rows, by_slot: SlotRows, run: Run
) -> Learned:
    """Predict the rows of each batch, learn them, and count the predictions."""
    before, after, done = [], [], 0
    for part in model.scale.observe(by_slot):
        here = slice(done, done := done + part.n_rows)
        importance = None if rows.weight is None else rows.weight[here]
        if batch.untrained(model.state):
            scores, fitted = _learn_first(model, batch, part, importance, run)
            after.append(fitted)
        else:
            scores = model.learner.learn(model.state, part, part.order, run)
            model.count_batch(part.y, scores, importance)
            _recall(model, run)
        before.append(scores)
    scores = joined_scores(before)
    model.progress.add(rows.y, scores.score, rows.weight)
    return Learned(*scores, joined_scores(after).score if after else None, by_slot.weight)


def _learn_first(
    model: Model, batch: Batch | Several, part: SlotRows, importance: Floats | None, run: Run
) -> tuple[Scores, Scores]:
    """Learn the first batch of a model; the scores of its rows before and after."""
    learn = partial(model.learner.learn, model.state, part, part.order, run)
    if not run.calibrate or isinstance(model.algorithm, Recalls):
        before, found = learn(), None
    elif (algorithm := _leaving_out(model)) is not None:
        before, found = learn(), _left_out(algorithm, model.state, part, run)
    else:
        before, found = _learn_with_folds(model, learn, part, importance, run)
    # the variances of all rows are needed only if their scores are those for the probabilities
    fitted = batch.fitted(model.state, part, replace(run, calibrate=run.calibrate and not found))
    model.count_first(part.y, found, fitted, importance)
    return before, fitted


def _leaving_out(model: Model) -> LeavesOut | None:
    """The algorithm, if it knows the scores of rows without the rows themselves."""
    algorithm = model.algorithm
    if model.several is None and isinstance(algorithm, LeavesOut):
        return algorithm if algorithm.leaves_out(model.state) else None
    return None


def _left_out(algorithm: LeavesOut, state: State, rows: SlotRows, run: Run) -> Held:
    """The scores of at most MOST of the rows, each without the row itself."""
    some = rows.order if rows.weight is None else np.flatnonzero(rows.weight)
    if len(some) > MOST:
        some = np.sort(some[permutation(len(some), run.seed)[:MOST]])
    score, variance = algorithm.left_out(state, rows.take(some), run)
    return Held(some, score, standardized(score, variance))


def _learn_with_folds(
    model: Model,
    learn: Callable[[], Scores],
    part: SlotRows,
    importance: Floats | None,
    run: Run,
) -> tuple[Scores, Held | None]:
    """The scores before learning, and those of rows that fold models have not learned. The fold
    models learn at the same time if there is a second thread and no limit of memory."""
    learner, state = model.learner, model.state
    of_folds = partial(fold_scores, learner, model.index, model.labels, part, run)
    before, found = both(learn, of_folds, 1 if limited(run.max_memory) else run.jobs)
    own = scorer(learner, state, part, run)
    return before, held(found, own, part.y, importance) if found else None


def _recall(model: Model, run: Run) -> None:
    """Count all rows so far anew, if the algorithm keeps them: then probabilities do not depend on
    how the rows were cut into batches."""
    if model.several is not None or not isinstance(model.algorithm, Recalls):
        return
    if found := model.algorithm.recalled(model.state, run):
        y, scores = found
        model.calibration = Calibration()
        model.calibration.add(y, *scores, at_once=True)
