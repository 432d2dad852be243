"""Models that learn the same rows side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.algorithms.covariance.diagonal import PROJECTIONS
from cwtool.algorithms.online.second_order import SecondOrder
from cwtool.data.rows import Floats, Longs, Rows, SlotRows
from cwtool.model.arithmetic import computing
from cwtool.model.model import Model
from cwtool.model.results import Learned, Prediction, bounded
from cwtool.model.scale import slotted
from cwtool.run import Run
from cwtool_ext import diagonal_learners

MOST = max(diagonal_learners.PLACES)


class SingleModel:
    """A group of one model."""

    def __init__(self, model: Model) -> None:
        self.models = [model]

    def learn(self, rows: Rows, run: Run) -> None:
        self.models[0].learn(rows, run)

    def only(self, kept: Sequence[Model]) -> None:
        """Continue only with the models that are kept."""
        self.models = [model for model in self.models if any(model is one for one in kept)]


class ModelGroup:
    """Models of two classes with diagonal covariances that differ in their rules alone. Their
    columns are side by side in the state of the first one, which also knows the features, the row
    scale, the class weights and the sample of rows of all; the others have counts of their
    predictions, and nothing else. Predictions are counted for `probabilities` only on demand. The
    models take the memory of a group that is to `spare`."""

    batch = None  # all of them learn row by row

    def __init__(
        self,
        models: list[Model],
        *,
        probabilities: bool = False,
        spare: ModelGroup | None = None,
    ) -> None:
        self.models, self.first, self.probabilities = models, models[0], probabilities
        self.algorithm: Any = self.first.algorithm
        memory = None if spare is None else spare.first.state
        self.first.state.widen(_places(models), memory)

    @computing
    def learn(self, rows: Rows, run: Run) -> Learned:
        """Let every model predict each row and then learn it, and count the predictions. Scores
        and variances have a row for each model."""
        by_slot = self.first.taken_in(rows, run)
        parts = [self._visit(p, p.order, p.weight) for p in self.first.scale.observe(by_slot)]
        found = parts[0] if len(parts) == 1 else Scores(*map(np.hstack, zip(*parts, strict=True)))
        for model, score, variance in zip(self.models, *found, strict=True):
            model.progress.add(rows.y, score, rows.weight)
            if self.probabilities:
                model.calibration.add(rows.y, score, variance, rows.weight)
        if self.probabilities and run.calibrate:
            self.first.sample.add(rows)
        return Learned(*found, None, by_slot.weight)

    @computing
    def relearn(self, rows: Rows, order: Longs, run: Run) -> Scores:
        """Visit rows that were learned in an earlier pass once more, in this order."""
        slots = self.first.index.known(rows.indices)
        return self._visit(slotted(rows, slots, self.first.scale.value), order, rows.weight)

    @computing
    def scores(self, rows: Rows) -> list[Prediction]:
        """What each model predicts; neither the rows nor the models are changed."""
        part, unknown, dropped = self.first.index.lookup(rows, self.first.scale.value)
        score, variance = self._visit(part, part.order, np.zeros(part.n_rows))
        found = bounded(score, variance + unknown)
        return [Prediction(*one, dropped) for one in zip(*found, strict=True)]

    def calibrate(self) -> None:
        """Fit the probabilities of each model, with the same result as if it had learned alone."""
        rows = self.first.sample.rows()
        predictions = self.scores(rows) if rows.n_rows else [None] * len(self.models)
        for model, found in zip(self.models, predictions, strict=True):
            model.calibrate_by(self.first, found)

    def _visit(self, rows: SlotRows, order: Longs, weight: Floats | None) -> Scores:
        """Predict rows in this order with all models, and learn those whose weight is not 0."""
        algorithms: list[Any] = [model.algorithm for model in self.models]
        floors = np.array([algorithm.params.variance_floor for algorithm in algorithms])
        found = Scores(*np.empty((2, len(algorithms), rows.n_rows)))
        given: Any = weight  # None where all rows have the weight 1
        diagonal_learners.learn(
            rows.csr, rows.y, given, order, self.first.state.table,
            [algorithm.rule for algorithm in algorithms],
            PROJECTIONS[self.algorithm.params.projection], floors, *found,
        )  # fmt: skip
        return found

    def only(self, kept: Sequence[Model]) -> None:
        """Continue only with the models that are kept."""
        at = [k for k, model in enumerate(self.models) if any(model is one for one in kept)]
        if len(at) == len(self.models):
            return
        self.models = [self.models[k] for k in at]
        old, new = self.first.state, self.algorithm.new_state(self.first.index)
        if at:
            new.widen(_places(self.models))
        used = self.first.index.ids_and_slots()[1]
        for place, k in enumerate(at):
            for column in ("mean", "precision"):
                new.column(column, place)[used] = old.column(column, k)[used]
        self.first.state = new


def _places(models: Sequence[Model]) -> int:
    found: int = min(places for places in diagonal_learners.PLACES if places >= len(models))
    return found


def alike(models: Sequence[Model]) -> list[list[int]]:
    """The places of these models, which have learned nothing: those that can learn side by side
    together, and each other one alone."""
    found: dict[Any, list[int]] = {}
    for place, model in enumerate(models):
        algorithm: Any = model.algorithm
        key: Any = place
        wide = isinstance(algorithm, SecondOrder) and algorithm.is_wide
        if wide and model.labels.several is None:
            key = algorithm.prior, algorithm.params.projection, model.reading
        found.setdefault(key, []).append(place)
    return list(found.values())


def cut(places: Sequence[int], parts: int) -> list[Sequence[int]]:
    """The places in at least so many parts, if there are enough of them, and none that is too
    large for a table."""
    size = min(MOST, ceil(len(places) / max(parts, 1)))
    return [places[k : k + size] for k in range(0, len(places), size)]


def grouped(models: Sequence[Model], jobs: int) -> list[SingleModel | ModelGroup]:
    """The models, which have learned nothing, in groups that learn apart from one another: at
    least `jobs`, if there are so many models."""
    parts = [[models[k] for k in part] for same in alike(models) for part in cut(same, jobs)]
    return [SingleModel(part[0]) if len(part) == 1 else ModelGroup(part) for part in parts]
