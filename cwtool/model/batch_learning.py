"""How a model learns batches: the rows of each are predicted, learned together and counted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cwtool.algorithms.base import Batch, Recalls, Scores, joined_scores
from cwtool.data.rows import Floats, Rows, SlotRows
from cwtool.memory import limited
from cwtool.metrics.calibration import Calibration
from cwtool.model.crossfit import FoldScores, fold_scores, scorer
from cwtool.model.results import Learned
from cwtool.run import Run
from cwtool.threads import both

if TYPE_CHECKING:
    from cwtool.algorithms.multiclass.base import Several
    from cwtool.model.model import Model


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
    """Learn the first batch of a model; the scores of its rows before and after. Fold models, for
    the probabilities, learn at the same time if there is a second thread and no limit of memory."""
    learner, state = model.learner, model.state
    learn = partial(learner.learn, state, part, part.order, run)
    of_folds = partial(fold_scores, learner, model.index, model.labels, part, run)
    if not run.calibrate or isinstance(model.algorithm, Recalls):
        before, found = learn(), list[FoldScores]()
    else:
        before, found = both(learn, of_folds, 1 if limited(run.max_memory) else run.jobs)
    # the variances of all rows are needed only if no fold model gives probabilities
    asked = replace(run, calibrate=run.calibrate and not found)
    fitted = batch.fitted(state, part, asked)
    model.count_first(part.y, found, fitted, scorer(learner, state, part, run), importance)
    return before, fitted


def _recall(model: Model, run: Run) -> None:
    """Count all rows so far anew, if the algorithm keeps them: then probabilities do not depend on
    how the rows were cut into batches."""
    if model.several is not None or not isinstance(model.algorithm, Recalls):
        return
    if found := model.algorithm.recalled(model.state, run):
        y, scores = found
        model.calibration = Calibration()
        model.calibration.add(y, *scores, at_once=True)
