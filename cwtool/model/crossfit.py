"""Scores of rows by models that have not learned them, for probabilities.

Scores of rows that a model has learned are too good. So parts of the rows are learned, each by a
model of its own, a fold model, which then predicts rows that it has not learned:

    rows                  models     rows that each of them learns
    up to 1,000           5          4/5 of the rows
    1,000 to 5,000        4 to 2     4/5 of the rows
    5,000 and more        1          4/5 of the rows, but no more than MOST

A fold model is not the model: its scores may be larger or shifted. Therefore the probabilities of
both are fitted to rows that both have learned, at most COMPARED, sigmoid(a z + b) to the scores z
of the fold model and sigmoid(a' z' + b') to those of the model, and a score z of a row that the
fold model has not learned counts as the z' of the same logit: a' z' + b' = a z + b. With several
classes the softmax of a z + b takes the place of the sigmoid, with an offset for each class; where
a model is wrong on fewer of these rows than there are classes, means and deviations take the place
of the fit. Where the scores of one of them tell nothing even of rows that it has learned, the
scores of the model itself count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data.labels import Labels
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.metrics.calibration import LEAST, Calibration, unit_of
from cwtool.order import distinct, permutation
from cwtool.run import Run, no_note, no_progress
from cwtool.state import FeatureIndex, State

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from cwtool.algorithms.multiclass.base import Several

    # scores of the rows of these numbers, by a model that has learned them
    Scorer: TypeAlias = Callable[[Longs], Scores]

FOLDS = 5
ENOUGH = 1000  # rows to fit a probability to: there are no more fold models
MOST = 20_000  # rows that a fold model learns at most
COMPARED = 5_000  # rows on which a fold model is compared with the model at most


class Fold(NamedTuple):
    """The numbers of rows that are learned, of those that are then predicted, and of learned ones
    on which the fold model is compared with the model, each ascending."""

    learned: Longs
    held: Longs
    compared: Longs

    def of(self, rows: Longs) -> Fold:
        """The fold of these rows, where this one counts from 0."""
        return Fold(*(rows[numbers] for numbers in self))


class FoldScores(NamedTuple):
    """The scores by a fold model for the rows of its fold on which it is compared with the model,
    and for those that it has not learned."""

    fold: Fold
    compared: Scores
    held: Scores

    def plain(self) -> FoldScores:
        """The same scores with variances of 0."""
        return FoldScores(self.fold, _plain(self.compared), _plain(self.held))


class Held(NamedTuple):
    """The numbers of rows, and scores of them that are as those of the model would be, had it not
    learned them."""

    rows: Longs
    score: Floats
    z: Floats  # with the variance of the score


def folds(y: Ints, seed: int) -> list[Fold]:
    """The folds of rows of the classes y; none if fewer than two classes have two rows. Every fold
    has the same share of each class."""
    if np.count_nonzero(np.bincount(y) > 1) < 2:
        return []
    mixed = permutation(len(y), seed)
    fold = np.empty(len(y), dtype=np.int64)
    fold[mixed[np.argsort(y[mixed], kind="stable")]] = np.arange(len(y)) % FOLDS
    found = []
    for k in range(count_of_fold_models(len(y))):
        if (fold == k).any():
            learned = mixed[fold[mixed] != k][:MOST]
            sets = np.sort(learned), np.flatnonzero(fold == k), np.sort(learned[:COMPARED])
            found.append(Fold(*sets))
    return found


def count_of_fold_models(n_rows: int) -> int:
    """The number of fold models of so many rows."""
    return min(FOLDS, -(-FOLDS * ENOUGH // max(1, n_rows)))


def held(fold_scores: list[FoldScores], own: Scorer, y: Ints, weight: Floats | None) -> Held:
    """The scores of all rows that fold models have not learned; `own` scores rows by the model,
    which has learned all of them, y are their classes and `weight` their row weights."""
    rows = np.concatenate([scored.fold.held for scored in fold_scores])
    known = distinct(np.concatenate([scored.fold.compared for scored in fold_scores]))
    whole = own(known)
    z = np.concatenate([_matched(scored, known, whole, own, y, weight) for scored in fold_scores])
    all_scores = [scores for one in fold_scores for scores in (one.compared, one.held)]
    if z.ndim > 1 or not any(scores.variance.any() for scores in all_scores):
        return Held(rows, z, z)
    plain = known, _plain(whole), lambda some: _plain(own(some))
    score = [_matched(scored.plain(), *plain, y, weight) for scored in fold_scores]
    return Held(rows, np.concatenate(score), z)


def _plain(scores: Scores) -> Scores:
    return Scores(scores.score, np.zeros_like(scores.variance))


def _matched(
    scored: FoldScores, known: Longs, whole: Scores, own: Scorer, y: Ints, weight: Floats | None
) -> Floats:
    """z of the held scores of the fold model, in the place of those of the model, whose scores of
    the rows `known` are `whole`."""
    some = scored.fold.compared
    at, importance = np.searchsorted(known, some), None if weight is None else weight[some]
    fit = _line if whole.score.ndim == 1 else _offsets
    if fit is _offsets and any(_separated(y[some], s) for s in (scored.compared, whole.take(at))):
        fit = _moments
    a, b = fit(y[some], scored.compared, importance)
    to_a, to_b = fit(y[some], whole.take(at), importance)
    if not min(a, to_a) > LEAST * max(a, to_a):  # the scores of one of them tell nothing
        return _standardized(own(scored.fold.held))
    # not (a z + b - to_b) / to_a, which is 0 where a z is too small to change b
    return a / to_a * _standardized(scored.held) + (b - to_b) / to_a


def _standardized(scores: Scores) -> Floats:
    spread = np.sqrt(1 + scores.variance)
    z: Floats = scores.score / (spread if scores.score.ndim == 1 else spread[:, None])
    return z


def _line(y: Ints, scores: Scores, weight: Floats | None) -> tuple[float, float]:
    """Slope and offset of probabilities that are fitted to these scores alone."""
    calibration = Calibration(unit=unit_of(scores.score))
    calibration.add(y, *scores, weight, at_once=True)
    return calibration.line()


def _offsets(y: Ints, scores: Scores, weight: Floats | None) -> tuple[float, Floats]:
    """Slope and offsets of probabilities of several classes that are fitted to these scores
    alone."""
    from cwtool.metrics.softmax_fit import Scored, joint_fit

    return joint_fit(Scored.of(_standardized(scores), y, weight))


def _separated(y: Ints, scores: Scores) -> bool:
    """Whether fewer rows are wrong than there are classes: then likelihood says nothing of
    offsets."""
    return int((scores.score.argmax(axis=1) != y).sum()) < len(np.unique(y))


def _moments(y: Ints, scores: Scores, weight: Floats | None) -> tuple[float, Floats]:
    """Slope and offsets by which the scores, less the mean of each row, have means of 0 and a
    standard deviation of 1."""
    from cwtool.metrics.softmax_fit import SMALLEST, Scored

    rows = Scored.of(_standardized(scores), y, weight)
    born = rows.z > -np.inf
    z = np.where(born, rows.z, 0.0)
    z = np.where(born, z - (z.sum(axis=1) / born.sum(axis=1))[:, None], 0.0)
    mean = z.sum(axis=0) / np.maximum(born.sum(axis=0), 1)
    spread = float(np.sqrt(((z - mean) ** 2)[born].mean())) if born.any() else 0.0
    a = 1 / max(spread, SMALLEST)
    return a, rows.of_all(-a * mean)


def quiet(run: Run) -> Run:
    """The run without progress, notes and warnings, for models that are not the result."""
    return replace(run, progress=no_progress, note=no_note, warn=no_note)


def fold_scores(
    learner: Algorithm | Several, index: FeatureIndex, labels: Labels, rows: SlotRows, run: Run
) -> list[FoldScores]:
    """The scores of these rows by fold models, each of which has learned part of them."""
    some = rows.order if rows.weight is None else np.flatnonzero(rows.weight)
    run, found = quiet(run), []
    for fold in (one.of(some) for one in folds(rows.y[some], run.seed)):
        state = learner.new_state(index)
        if labels.several is not None:
            state.admit(labels.several)
        state.reserve()
        learned = rows.take(fold.learned)
        learner.learn(state, learned, learned.order, run)
        by, few = scorer(learner, state, rows, run), len(fold.compared) < learned.n_rows
        unknown = np.zeros(learned.n_rows)
        compared = by(fold.compared) if few else learner.scores(state, learned, unknown, run)
        found.append(FoldScores(fold, compared, by(fold.held)))
    return found


def scorer(learner: Algorithm | Several, state: State, rows: SlotRows, run: Run) -> Scorer:
    """The scores of some of these rows by this state."""
    return lambda some: learner.scores(state, rows.take(some), np.zeros(len(some)), run)
