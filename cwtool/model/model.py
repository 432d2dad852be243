"""The one learning path: rows of ids become rows of slots, scaled, learned, counted, calibrated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from cwtool import __version__, params, registry
from cwtool.algorithms.base import Algorithm, Batch, Coefficients, Linear, Ranks, Scores
from cwtool.calibration import Calibration, Reliability, probability
from cwtool.data.batches import batches
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.data.rows import Floats, Ints, Longs, Origin, Rows, SlotRows, joined
from cwtool.errors import ModelError, UsageError
from cwtool.metrics import AnyTally, Tally, no_counts
from cwtool.model import file, packing
from cwtool.model.class_weight import ClassWeight
from cwtool.model.scale import RowScale, slotted
from cwtool.run import Run
from cwtool.state import FeatureIndex, State
from cwtool.threshold import OperatingPoint

if TYPE_CHECKING:
    from cwtool.algorithms.several import Several
    from cwtool.softmax import Ring, SoftmaxReliability

AnyReliability: TypeAlias = "Reliability | SoftmaxReliability"


class Prediction(NamedTuple):
    """For each row its score (several classes: a column each) and variance; the number of entries
    whose feature is unknown."""

    score: Floats
    variance: Floats
    unknown: int


class Weights(NamedTuple):
    """For each feature its id, weight or importance, and variance, in the units of the data; with
    several classes a column a class, and an intercept a class."""

    ids: Ints
    weight: Floats
    variance: Floats | None
    intercept: float | Floats


@dataclass
class Model:
    algorithm: Algorithm
    index: FeatureIndex
    state: State
    scale: RowScale
    reading: Reading = field(default_factory=Reading)
    labels: Labels = field(default_factory=Labels)
    several: Several | None = None  # how several classes are learned; None: there are two
    progress: AnyTally = field(default_factory=Tally)  # of first visits, predicted before learned
    calibration: Calibration | Ring = field(default_factory=Calibration)
    class_weight: ClassWeight = field(default_factory=ClassWeight)
    of_batches: Tally = field(default_factory=Tally)  # as `judged`, of a learner of batches
    operating_point: OperatingPoint = field(default_factory=OperatingPoint)
    slope: float = 1.0  # a of the probability: sigmoid or softmax of a s / sqrt(1 + v)
    offset: float = 0.0  # b of the probability sigmoid(a s / sqrt(1 + v) + b) of two classes
    history: list[dict[str, Any]] = field(default_factory=list)
    version: str = __version__  # of the cwtool that wrote it

    @classmethod
    def new(
        cls,
        name: str,
        given: dict[str, Any],
        reading: Reading | None = None,
        *,
        class_weight: str = "",
        threshold: str = "",
        labels: Labels | None = None,
    ) -> Model:
        """An untrained model of the named algorithm with these parameters. `class_weight` is
        balanced, or LABEL=WEIGHT,LABEL=WEIGHT; `threshold` is f1, balanced or a number; `labels`
        are those of the rows, if these are known before any is learned."""
        kind = registry.algorithm(name)
        algorithm = kind(params.build(kind.Params, given))
        state = algorithm.new_state()
        scale = RowScale(algorithm.prior, of_batches=isinstance(algorithm, Batch))
        model = cls(algorithm, state.index, state, scale, reading or Reading(), labels or Labels())
        model.class_weight = ClassWeight(class_weight)
        model.operating_point = OperatingPoint(threshold)
        if class_weight and not kind.takes_weights:
            raise _no_weights(algorithm, "class weights")
        if class_weight:
            model.calibration = Calibration(positive=no_counts())
        if model.labels.multiclass not in ("auto", "no"):
            from cwtool.model.several import check_mode

            check_mode(algorithm, model.labels.multiclass)
        return model

    def settle(self) -> None:
        """Turn into a model of several classes if the labels have become that; called when the
        first rows have been read, and before any is learned."""
        if self.labels.several is None or self.several is not None:
            return
        from cwtool.model import several

        several.settle(self)

    def new_tally(self, *, finished: bool = False) -> AnyTally:
        """Metrics of predictions of this model, with nothing counted yet. Those of a model that
        has `finished` learning call the positive class by its threshold, and progressive ones by
        the sign of the score."""
        found = self.progress.new()
        if finished and isinstance(found, Tally):
            found.threshold = self.threshold
        return found

    def new_reliability(self) -> AnyReliability:
        """Metrics of probabilities of this model, with nothing counted yet."""
        if self.labels.several is None:
            return Reliability()
        from cwtool.softmax import SoftmaxReliability

        return SoftmaxReliability(self.labels.several)

    def calibrate(self) -> None:
        """Fit the probabilities to the scores so far."""
        if isinstance(self.calibration, Calibration):
            self.slope, self.offset = self.calibration.fit_both()
        else:
            self.slope = self.calibration.fit()

    def probability(self, score: Floats, variance: Floats) -> Floats:
        """The probability of the positive class, or of each of several classes in a column."""
        if self.labels.several is None:
            return probability(self.slope, score, variance, self.offset)
        from cwtool import softmax

        return softmax.probability(self.slope, score, variance)

    def calling(self, score: Floats, variance: Floats) -> Floats:
        """The scores by which labels are called. With two classes these are the scores, and the
        threshold decides; of several the highest decides, and a threshold shifts them."""
        if self.labels.several is None or not self.operating_point:
            return score
        from cwtool.model import several

        return several.shifted(self, score, variance)

    @property
    def learner(self) -> Algorithm | Several:
        """What learns the rows: the algorithm, for several classes in its form for these."""
        return self.several or self.algorithm

    @property
    def rows(self) -> int:
        """The number of rows learned, each counted once."""
        return self.progress.rows

    @property
    def threshold(self) -> float:
        """The least score that is called the positive class, for two classes."""
        assert isinstance(self.progress, Tally)
        counts = self.progress.measured[1].sum(axis=1).tolist()
        return self.operating_point.threshold(self.judged, *counts)

    @property
    def judged(self) -> Tally:
        """The scores that thresholds are found from: those of rows before they were learned. Rows
        of a first batch, which there was no model to predict, are left out; as long as there are
        no others, they count with their scores once learned."""
        assert isinstance(self.progress, Tally)
        return self.of_batches if self.of_batches.rows else self.progress

    def portions(
        self, blocks: Iterator[tuple[Rows, Origin]], run: Run
    ) -> Iterator[tuple[Rows, Origin]]:
        """The rows in the portions in which `learn` wants them: whole batches for algorithms that
        learn these at once, and blocks as they come for all others."""
        if isinstance(self.algorithm, Batch):
            return batches(blocks, self.algorithm.batch_rows, run.max_memory)
        return blocks

    def learn(self, rows: Rows, run: Run) -> Learned:
        """Predict each row and then learn it, with its row weight times its class weight; rows of
        weight 0 are only predicted. Rows pass here on their first visit only."""
        if rows.weight is not None and not self.algorithm.takes_weights:
            raise _no_weights(self.algorithm, "row weights")
        self.settle()
        if self.labels.several is not None and len(self.state.labels) < len(self.labels.several):
            self.state.admit(self.labels.several)
        batch = None
        if isinstance(self.algorithm, Batch):
            batch = self.several or self.algorithm
        weight = self.class_weight.learning(rows, self.labels, at_once=batch is not None)
        by_slot = self._observed(replace(rows, weight=weight))
        self.state.reserve()
        before, after, done = [], [], 0
        for part in self.scale.observe(by_slot):
            untrained = batch is not None and batch.untrained(self.state)
            found = self.learner.learn(self.state, part, part.order, run)
            before.append(found)
            if batch is not None and untrained:
                # an empty model says nothing of the slope; these rows do, once learned
                found = batch.fitted(self.state, part, run)
                after.append(found)
            here = slice(done, done := done + part.n_rows)
            importance = None if rows.weight is None else rows.weight[here]
            self.calibration.add(part.y, *found, importance)
            if batch is not None and self.several is None:
                self._judge(part.y, found.score, importance, predicted=not untrained)
        scores = _joined(before)
        self.progress.add(rows.y, scores.score, rows.weight)
        return Learned(*scores, _joined(after).score if after else None, weight)

    def _judge(self, y: Ints, score: Floats, weight: Floats | None, *, predicted: bool) -> None:
        """Count the scores of a batch, `predicted` before it was learned or fitted after."""
        batch = Tally()
        batch.add(y, score, weight)
        if predicted and batch.rows and self.of_batches.rows == self.rows:  # all of them fitted
            self.of_batches = batch
        else:
            self.of_batches += batch

    def _observed(self, rows: Rows) -> SlotRows:
        """The rows by slots. Features that only rows of weight 0 have stay unknown: such rows are
        without them."""
        if rows.weight is None or rows.weight.all():
            return slotted(rows, self.index.observe(rows.indices))
        learned, others = np.flatnonzero(rows.weight), np.flatnonzero(rows.weight == 0)
        first = rows.take(learned)
        first = slotted(first, self.index.observe(first.indices))
        rest, _, _ = self.index.lookup(rows.take(others), 1.0)
        mixed = joined([first, rest]).take(np.argsort(np.concatenate([learned, others])))
        return slotted(mixed, mixed.indices)

    def relearn(self, rows: Rows, order: Longs, run: Run) -> Scores:
        """Visit rows that were learned in an earlier pass once more, in this order. Their weights
        are those that they were learned with: `rows.weighing(learned.weight)`."""
        part = slotted(rows, self.index.known(rows.indices), self.scale.value)
        return self.learner.relearn(self.state, part, order, run)

    def scores(self, rows: Rows, run: Run | None = None) -> Prediction:
        """Predict the rows; neither they nor the model are changed."""
        part, unknown, dropped = self.index.lookup(rows, self.scale.value)
        score, variance = self.learner.scores(self.state, part, unknown, run or Run())
        # a row near the end of the double range may score past it; a class not met scores -inf
        lowest = None if self.several is None else -np.inf
        np.nan_to_num(score, copy=False, neginf=lowest)
        return Prediction(score, np.nan_to_num(variance, copy=False), dropped)

    def weights(self) -> Weights:
        """Feature ids with their weights and variances in the units of the data, and the
        intercept; importances of an algorithm that is not linear."""
        ids, slots = self.index.ids_and_slots()
        found, scale = Coefficients(np.zeros(len(ids))), self.scale.value
        if self.several is not None:
            found = self.several.coefficients(self.state, slots)
        elif isinstance(self.algorithm, Linear):
            found = self.algorithm.coefficients(self.state, slots)
        elif isinstance(self.algorithm, Ranks):
            found = Coefficients(self.algorithm.importance(self.state, slots))
        with np.errstate(over="ignore"):  # the scale of tiny rows may be up to 2^1000
            weight = np.nan_to_num(found.weight * scale)
            variance = found.variance
            if variance is not None:
                variance = np.nan_to_num(variance * scale * scale)
        return Weights(ids, weight, variance, found.intercept)

    def copy(self) -> Model:
        """A model that goes on independently of this one."""
        header, arrays = packing.pack(self)
        return packing.unpack(header, {name: array.copy() for name, array in arrays.items()})

    def learned(self) -> dict[str, str]:
        """The files learned so far: digest -> name."""
        return {f["digest"]: f["name"] for run in self.history for f in run["files"]}

    def save(self, path: Path) -> int:
        """Write the model to this file, whole or not at all; its size in bytes."""
        return file.save(path, *packing.pack(self))

    @classmethod
    def load(cls, path: Path) -> Model:
        """Read a model file; everything wrong with it is a ModelError."""
        header, arrays = file.load(path)
        try:
            return packing.unpack(header, arrays)
        except (KeyError, TypeError, ValueError, UsageError) as failure:
            raise ModelError(
                f"{path} is a model of another version of cwtool: {failure}",
                f"it was written by cwtool {header.get('cwtool', '?')}; this is {__version__}",
            ) from None


class Learned(NamedTuple):
    """For each row the score and variance before it was learned; `fitted` are the scores after
    learning where there was no model yet to predict with, and `weight` is what the rows were
    learned with: row weight times class weight (None: all 1)."""

    score: Floats
    variance: Floats
    fitted: Floats | None
    weight: Floats | None


def _no_weights(algorithm: Algorithm, what: str) -> UsageError:
    instead = algorithm.weighted_instead
    hint = f"use {instead}, which does" if instead else None
    return UsageError(f"{algorithm.name} does not take {what}", hint)


def _joined(parts: list[Scores]) -> Scores:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Scores.zeros(0)
    return Scores(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def algorithm_of(path: Path) -> str:
    """The algorithm of a saved model, from its header alone."""
    name = str(file.load_header(path)["algorithm"])
    if name not in registry.names():
        raise ModelError(f"{path} is a model of {name}, which this cwtool does not have")
    return name
