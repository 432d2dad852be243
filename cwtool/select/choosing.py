"""Features in the order of their use: as an algorithm selects them, or by rank in its model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from time import perf_counter
from typing import Any

import numpy as np

from cwtool import registry
from cwtool.algorithms.base import Linear, Ranks, Selects
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Floats, Ints, Longs, Rows
from cwtool.errors import UsageError
from cwtool.model import Model
from cwtool.parallel import EngineOptions
from cwtool.records import dataclass
from cwtool.run import Note, Run, no_note
from cwtool.validation import fit


@dataclass(frozen=True)
class SelectOptions:
    """How this run selects."""

    sizes: tuple[int, ...]
    algo: str
    params: dict[str, Any] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)  # which classes there are, before rows are read
    per_class: bool = False  # features of each class against the rest, instead of all together
    class_weight: str = ""
    rank: str = "weight"  # or "confidence"; for algorithms that do not select by themselves
    refit_C: float = 1.0
    stability: int = 0  # number of subsamples
    share: float = 0.8  # share of the rows in each subsample
    seed: int = 0
    max_memory: int = 0
    warn: Note = no_note
    engine: EngineOptions = field(default_factory=EngineOptions)  # of subsamples
    read: ReadOptions = field(default_factory=ReadOptions)

    @property
    def run(self) -> Run:
        return Run(self.seed, max_memory=self.max_memory, calibrate=False, warn=self.warn)


@dataclass(frozen=True)
class Selection:
    """Features of a model, the most useful ones first. With several classes, weights and
    confidences have a column, and the intercept a value, for each."""

    model: Model
    intercept: float | Floats  # of a linear model
    ids: Ints
    weight: Floats
    score: Floats  # what they are ordered by, descending
    confidence: Floats  # |mu| / sqrt(Sigma), nan where there is no variance
    group: Ints  # in which group an algorithm chose the feature, counted from 1; 0: by rank
    seconds: float = 0.0  # that training took

    def first(self, n: int) -> Selection:
        """The n most useful features."""
        return self.at(np.arange(min(n, len(self.ids))))

    def without(self, feature: int) -> Selection:
        """All features except this one."""
        return self.at(np.flatnonzero(self.ids != feature))

    def at(self, places: Longs) -> Selection:
        """The features at these positions, in this order."""
        names = ("ids", "weight", "score", "confidence", "group")
        return replace(self, **{name: getattr(self, name)[places] for name in names})


def selections(rows: Rows, labels: Labels, options: SelectOptions) -> Iterator[Selection]:
    """For each size: the features that an algorithm selects for this size, or the first ones by
    rank in one model of an algorithm that does not select."""
    selects = issubclass(registry.algorithm(options.algo), Selects)
    found: Selection | None = None
    for size in options.sizes:
        if selects or found is None:
            started = perf_counter()
            given = {**options.params, "features": size} if selects else options.params
            weight, reading = options.class_weight, options.read.reading
            new = Model.new(
                options.algo, given, reading, class_weight=weight, labels=replace(labels)
            )
            model = fit(new, rows, options.run)
            found = replace(ranked(model, options.rank), seconds=perf_counter() - started)
        yield found.first(size)


def ranked(model: Model, rank: str) -> Selection:
    """The features of a model: by group and score where the algorithm selects, and otherwise by
    weight (or importance) or by confidence, without those that have none. Several classes are
    added up."""
    algorithm = model.algorithm
    if not isinstance(algorithm, Linear | Ranks | Selects):
        raise UsageError(
            f"{algorithm.name} uses all features alike and ranks none",
            "select with sbcw, l1svm or sdist",
        )
    ids, weight, variance, intercept = model.weights()
    confidence = np.full(weight.shape, np.nan)
    if variance is not None:
        known = variance > 0
        confidence[known] = np.abs(weight[known]) / np.sqrt(variance[known])
    group = np.zeros(len(ids), dtype=np.int32)
    if isinstance(algorithm, Selects):
        learner = model.several or algorithm
        found = learner.selection(model.state)
        score, place = np.zeros(len(ids)), np.searchsorted(ids, model.index.ids_of(found.slots))
        score[place], group[place] = found.score, found.group
        order = place[np.lexsort((ids[place], -found.score, found.group))]
        # a feature may gain more once others are chosen: it scores at most what those before it do
        score[order] = np.minimum.accumulate(score[order])
    else:
        if rank == "confidence" and variance is None:
            raise UsageError(f"{algorithm.name} has no confidence", "use `rank=weight`")
        score = np.nan_to_num(confidence) if rank == "confidence" else np.abs(weight)
        score = score if score.ndim == 1 else score.sum(axis=1)
        order = np.argsort(-score, kind="stable")[: np.count_nonzero(score)]
    return Selection(model, intercept, ids, weight, score, confidence, group).at(order)
