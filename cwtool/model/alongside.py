"""Models that learn the same rows, of which only the predictions before learning are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from cwtool.algorithms.covariance import PROJECTIONS
from cwtool.algorithms.second_order import SecondOrder
from cwtool.data.rows import Rows
from cwtool.model.arithmetic import computing
from cwtool.model.model import Model
from cwtool.run import Run
from cwtool_ext import alongside

MOST = max(alongside.PLACES)


class Alone:
    """One model, which learns as it always does."""

    def __init__(self, model: Model) -> None:
        self.models = [model]

    def learn(self, rows: Rows, run: Run) -> None:
        self.models[0].learn(rows, run)

    def only(self, kept: Sequence[Model]) -> None:
        """Go on with those of the models that are kept."""
        self.models = [model for model in self.models if any(model is one for one in kept)]


class Alongside:
    """Models of two classes with diagonal covariances that differ in their rules alone. Their
    columns are side by side in the state of the first one, which also knows the row scale and the
    class weights of all; the others have a count of their predictions, and nothing else."""

    def __init__(self, models: list[Model]) -> None:
        self.models, self.first = models, models[0]
        self.algorithm: Any = self.first.algorithm
        self.first.state.widen(_places(models))

    @computing
    def learn(self, rows: Rows, run: Run) -> None:
        """Let every model predict each row and then learn it, and count the predictions."""
        algorithms: list[Any] = [model.algorithm for model in self.models]
        rules = [algorithm.rule for algorithm in algorithms]
        floors = np.array([algorithm.params.variance_floor for algorithm in algorithms])
        projection, parts = PROJECTIONS[self.algorithm.params.projection], []
        for part in self.first.scale.observe(self.first.taken_in(rows, run)):
            parts.append(np.empty((len(rules), part.n_rows)))
            weight: Any = part.weight  # None where all rows have the weight 1
            alongside.learn(
                part.csr, part.y, weight, part.order, self.first.state.table, rules, projection,
                floors, parts[-1],
            )  # fmt: skip
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        for model, score in zip(self.models, scores, strict=True):
            model.progress.add(rows.y, score, rows.weight)

    def only(self, kept: Sequence[Model]) -> None:
        """Go on with those of the models that are kept."""
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
    found: int = min(places for places in alongside.PLACES if places >= len(models))
    return found


def grouped(models: Sequence[Model], jobs: int) -> list[Alone | Alongside]:
    """The models, which have learned nothing and share their features, in groups that learn apart
    from one another: at least `jobs`, if there are so many models."""
    alike: dict[Any, list[Model]] = {}
    for model in models:
        algorithm: Any = model.algorithm
        key: Any = id(model)
        if (
            isinstance(algorithm, SecondOrder)
            and algorithm.is_wide
            and model.labels.several is None
            and model.reading == models[0].reading
        ):
            key = algorithm.prior, algorithm.params.projection, id(model.index)
        alike.setdefault(key, []).append(model)
    groups: list[Alone | Alongside] = []
    for same in alike.values():
        size = min(MOST, ceil(len(same) / max(jobs, 1)))
        parts = [same[k : k + size] for k in range(0, len(same), size)]
        groups += [Alone(part[0]) if len(part) == 1 else Alongside(part) for part in parts]
    return groups
