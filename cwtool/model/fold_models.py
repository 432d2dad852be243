"""Probabilities after several passes.

In later passes a model predicts rows that it has learned before, so that their scores are too good.
Fold models are models that go through the same passes with part of the rows (see crossfit.py), and
the scores of the other rows take the place of those that the model gave in its first pass. They
learn at most 20,000 rows in each pass, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from functools import partial
from typing import NamedTuple

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.data.rows import Floats, Longs, Rows, joined
from cwtool.metrics.calibration import Calibration
from cwtool.metrics.confusion import Uncounted
from cwtool.metrics.softmax import Ring
from cwtool.model.arithmetic import computing
from cwtool.model.crossfit import FOLDS, MOST, Fold, FoldScores, folds, held, quiet
from cwtool.model.model import Model
from cwtool.model.packing import Packed
from cwtool.model.sample import Sample
from cwtool.order import permutation
from cwtool.run import Run

SAMPLE = MOST * FOLDS // (FOLDS - 1)  # rows that are learned or predicted by fold models


class FoldModel(NamedTuple):
    """A model, the rows that it learns, and those that it predicts."""

    model: Model
    learned: Rows
    fold: Fold


class FoldModels:
    """Models beside one that learns rows in several passes."""

    def __init__(self, before: Model, rows: Rows, run: Run) -> None:
        """`before` is the model before the first pass. The rows are those of the run, or a sample
        of them, with their row weights; their first pass is made here."""
        self.before, self.rows, self.run = before, rows, quiet(run)
        self.parts: list[FoldModel] = []
        self.calibration: Calibration | Ring | None = None  # of the model before the run
        counts = np.arange(rows.n_rows) if rows.weight is None else np.flatnonzero(rows.weight)
        packed = None
        for fold in folds(rows.y[counts], run.seed):
            packed = packed or before.packed()
            model = self._before(packed)
            if self.calibration is None:
                self.calibration = deepcopy(model.calibration)
            some = rows.take(counts[fold.learned])
            learned = model.learn(some, self.run)
            self.parts.append(FoldModel(model, some.weighing(learned.weight), fold.of(counts)))

    def _before(self, packed: Packed) -> Model:
        """The model before the run, of as many classes as there are now, to be a fold model. If it
        has learned nothing, it may have an algorithm that takes less time."""
        model = self.before.copy(packed, trusted=True)
        model.labels = self.before.labels
        if self.before.several is None and model.rows == 0:
            model.algorithm = model.algorithm.lighter()
            model.state = model.algorithm.new_state(model.index)
        model.settle()
        if model.labels.several is not None:
            model.progress = Uncounted(model.labels.several)
        return model

    def another_pass(self, pass_: int) -> None:
        """Make the pass of this number."""
        for model, rows, _ in self.parts:
            order = permutation(rows.n_rows, self.run.seed, pass_)
            model.relearn(rows, order, self.run)

    def calibrate(self, model: Model) -> None:
        """Count the scores of held rows in place of what the model counted in this run."""
        if not self.parts:
            return
        fold_scores = [
            FoldScores(fold, self._scores(one, fold.compared), self._scores(one, fold.held))
            for one, _, fold in self.parts
        ]
        assert self.calibration is not None
        model.calibration, model.sample = deepcopy(self.calibration), Sample()
        own = partial(self._scores, model)
        y, weight = self.rows.y, self.rows.weight
        model.count_held(y, computing(lambda _: held(fold_scores, own, y, weight))(model), weight)

    def _scores(self, model: Model, rows: Longs) -> Scores:
        found = model.scores(self.rows.take(rows), self.run)
        return Scores(found.score, found.variance)


def fold_models_of(
    before: Model, windows: Iterable[Rows], counted: Floats | None, n_rows: int, run: Run
) -> FoldModels:
    """The fold models of a model that was `before` and has learned these windows of `n_rows` rows
    in a first pass; `counted` are the row weights, without class weights."""
    rows = _sampled(windows, n_rows, run.seed)
    if counted is not None and n_rows > SAMPLE:
        counted = counted[_chosen(n_rows, run.seed)]
    return FoldModels(before, rows.weighing(counted), run)


def _chosen(n_rows: int, seed: int) -> Longs:
    return np.sort(permutation(n_rows, seed, n_rows)[:SAMPLE])


def _sampled(windows: Iterable[Rows], n_rows: int, seed: int) -> Rows:
    """All rows, or SAMPLE of them in their order."""
    if n_rows <= SAMPLE:
        return joined(list(windows))
    some, parts, first = _chosen(n_rows, seed), [], 0
    for window in windows:
        here = some[(some >= first) & (some < first + window.n_rows)] - first
        parts.append(window.take(here))
        first += window.n_rows
    return joined(parts)
