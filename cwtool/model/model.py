"""The one learning path: rows of ids become rows of slots, scaled, learned, counted, calibrated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import __version__, params, registry
from cwtool.algorithms.base import (
    Algorithm,
    Batch,
    Coefficients,
    Linear,
    Ranks,
    Scores,
    joined_scores,
)
from cwtool.data.batches import batches
from cwtool.data.known import RowSample
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.data.rows import Longs, Origin, Rows, SlotRows
from cwtool.metrics.calibration import Own
from cwtool.metrics.threshold import OperatingPoint
from cwtool.model import few_rows, file, opening, packing, sample
from cwtool.model.arithmetic import computing
from cwtool.model.batch_learning import learn_batches
from cwtool.model.class_weight import ClassWeight
from cwtool.model.interpretation import ScoreInterpretation
from cwtool.model.learning_checks import check_memory, check_takes_weights, observed
from cwtool.model.memory_estimate import check_load
from cwtool.model.packing import Packed
from cwtool.model.results import (
    Learned,
    Prediction,
    Weights,
    bounded,
    in_units_of_columns,
    in_units_of_data,
)
from cwtool.model.sample import Sample
from cwtool.model.scale import RowScale, slotted
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import FeatureIndex, State
from cwtool.state.index import SPARE

if TYPE_CHECKING:
    from cwtool.algorithms.multiclass.base import Several


@dataclass
class Model(ScoreInterpretation):
    """An algorithm, its state, and all that is needed to go on learning or to predict."""

    algorithm: Algorithm
    index: FeatureIndex
    state: State
    scale: RowScale
    reading: Reading = field(default_factory=Reading)
    several: Several | None = None  # how several classes are learned; None: there are two
    class_weight: ClassWeight = field(default_factory=ClassWeight)
    history: list[dict[str, Any]] = field(default_factory=list)
    known: RowSample = field(default_factory=RowSample)  # of the rows learned, by their hashes
    sample: Sample = field(default_factory=Sample)  # of the rows of an online learner
    version: str = __version__  # of the cwtool that wrote it
    estimator: dict[str, Any] = field(default_factory=dict)  # what cwtool.estimators keep in it

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
        balanced, or LABEL=WEIGHT,LABEL=WEIGHT; `threshold` is the setting of an operating point;
        `labels` are those of the rows, if these are known before any is learned."""
        kind = registry.algorithm(name)
        algorithm = kind(params.build(kind.Params, given))
        state = algorithm.new_state()
        scale = RowScale(algorithm.prior, of_batches=isinstance(algorithm, Batch))
        model = cls(
            algorithm, state.index, state, scale, reading or Reading(), labels=labels or Labels()
        )
        model.class_weight = ClassWeight(class_weight)
        model.operating_point = OperatingPoint(threshold)
        if class_weight:
            check_takes_weights(algorithm, "class weights")
        if model.labels.multiclass not in ("auto", "no"):
            from cwtool.model.several import check_mode

            check_mode(algorithm, model.labels.multiclass)
        return model

    def settle(self) -> None:
        """Become a model of several classes if there are more than two labels; called when the
        first rows have been read, before any is learned."""
        if self.labels.several is None or self.several is not None:
            return
        from cwtool.model import several

        several.settle(self)

    @cached_property
    def batch(self) -> Batch | None:
        """The algorithm, if it learns whole batches."""
        return self.algorithm if isinstance(self.algorithm, Batch) else None

    @property
    def learner(self) -> Algorithm | Several:
        """The object that learns the rows: the algorithm, or its form for several classes."""
        return self.several or self.algorithm

    def portions(
        self, blocks: Iterator[tuple[Rows, Origin]], run: Run
    ) -> Iterator[tuple[Rows, Origin]]:
        """The rows in the portions that `learn` expects: whole batches for batch learners, and
        blocks as they are read for all others."""
        if self.batch is not None:
            return batches(blocks, self.batch.batch_rows, run.max_memory)
        return blocks

    @computing
    def learn(self, rows: Rows, run: Run) -> Learned:
        """Predict each row and then learn it, with its row weight times its class weight; rows of
        weight 0 are only predicted. Rows pass here on their first visit only."""
        by_slot = self.taken_in(rows, run)
        if self.batch is None:
            return self.count(rows, by_slot, self.visit(self.scale.observe(by_slot), run), run)
        return learn_batches(self, self.several or self.batch, rows, by_slot, run)

    @computing
    def visit(self, parts: Iterable[SlotRows], run: Run) -> Scores:
        """Let an online learner predict each row and then learn it; the parts come from the
        row scale, and there is room for them."""
        return joined_scores([self.learner.learn(self.state, x, x.order, run) for x in parts])

    def count(self, rows: Rows, by_slot: SlotRows, scores: Scores, run: Run) -> Learned:
        """Count the scores of rows that an online learner has visited."""
        self.calibration.add(rows.y, *scores, rows.weight)
        if run.calibrate:
            self.sample.add(rows)
        self.progress.add(rows.y, scores.score, rows.weight)
        return Learned(*scores, None, by_slot.weight)

    def taken_in(self, rows: Rows, run: Run) -> SlotRows:
        """The rows by slots, with the weights that they are learned with; the model has met their
        features and classes, and has room for them."""
        by_slot = self.met(rows)
        self.make_room(run, len(self.labels.values), None if self.batch is None else rows)
        return by_slot

    @computing
    def met(self, rows: Rows) -> SlotRows:
        """The rows by slots, with the weights that they are learned with; the index has met their
        features, and the state may have no room for them."""
        if rows.weight is not None:
            check_takes_weights(self.algorithm, "row weights")
        self.settle()
        weight = self.class_weight.learning(rows, self.labels, at_once=self.batch is not None)
        weighted = rows if weight is rows.weight else replace(rows, weight=weight)
        return observed(self.index, weighted)

    def make_room(self, run: Run, classes: int, batch: Rows | None = None) -> None:
        """Make room in the state for so many classes and for all features met, and see whether
        there is memory to learn the rows of a batch."""
        if self.labels.several is not None and len(self.state.labels) < classes:
            self.state.admit(self.labels.several[:classes])
        check_memory(self.algorithm, self.state, run.max_memory, batch, self.sample.nbytes)
        self.state.reserve()

    def calibrate(self) -> None:
        """Fit the probabilities to the scores so far, and their offset to a sample of the rows,
        whose scores by this model also limit the others. If the sample has all rows, fit the
        probabilities to scores of fold models instead."""
        rows = self.sample.rows()
        own = self.scores(rows) if rows.n_rows else None
        if self.several is None:
            self.calibrate_by(self, own)
        else:
            from cwtool.model import several_rows

            self.slope, self.offsets = several_rows.fitted(self, own)
            self.offset, self.by_variance, self.bend = 0.0, True, 0.0  # of two classes

    def calibrate_by(self, shared: Model, found: Prediction | None) -> None:
        """As `calibrate`, with the sample of rows of a model that shares its index, row scale and
        class weights with this one, and the predictions of this model for them; None if there are
        none."""
        if found is not None and (by_folds := few_rows.fitted_to_folds(self, shared, found)):
            self.slope, self.offset, self.by_variance, self.bend = by_folds
            return
        rows = shared.sample.rows()
        own = None if found is None else Own(found.score, found.variance, rows.weight)
        self.calibrate_to(own)
        if found is not None and self.calibration.rows >= sample.ENOUGH:
            logit = self.unshifted(found.score, found.variance)
            steeper = few_rows.steeper_by_folds(self, shared, found)
            c, self.offset = sample.fitted(steeper * logit, rows.y, rows.weight, self.offset)
            self.slope *= steeper * c

    @computing
    def relearn(self, rows: Rows, order: Longs, run: Run) -> Scores:
        """Visit rows that were learned in an earlier pass once more, in this order. Their weights
        are those that they were learned with: `rows.weighing(learned.weight)`."""
        part = slotted(rows, self.index.known(rows.indices), self.scale.value)
        return self.learner.relearn(self.state, part, order, run)

    @computing
    def scores(self, rows: Rows, run: Run | None = None) -> Prediction:
        """Predict the rows; neither they nor the model are changed."""
        part, unknown, dropped = self.index.lookup(rows, self.scale.value)
        with np.errstate(over="ignore"):
            score, variance = self.learner.scores(self.state, part, unknown, run or Run())
        lowest = None if self.several is None else -np.inf
        return Prediction(*bounded(score, variance, lowest), dropped)

    @computing
    def weights(self) -> Weights:
        """Feature ids with their weights and variances in the units of the data, and the
        intercept; importances of an algorithm that is not linear."""
        ids, slots = self.index.ids_and_slots()
        found = Coefficients(np.zeros(len(ids)))
        with np.errstate(over="ignore"):
            if self.several is not None:
                found = self.several.coefficients(self.state, slots)
            elif isinstance(self.algorithm, Linear):
                found = self.algorithm.coefficients(self.state, slots)
            elif isinstance(self.algorithm, Ranks):
                found = Coefficients(self.algorithm.importance(self.state, slots))
        weights = in_units_of_data(ids, found, self.scale.value)
        columns = self.reading.columns
        if columns is None or not isinstance(self.algorithm, Linear):
            return weights
        return in_units_of_columns(weights, columns)

    def described(self, class_: int | None = None) -> State | None:
        """The state that the algorithm can describe, of several classes that of this one; None if
        there is none."""
        return self.state if self.several is None else self.several.described(self.state, class_)

    @computing
    def packed(self, *, counted: bool = True) -> Packed:
        """What copies are made of. Without `counted` they have no progressive metrics, whose table
        grows with the square of the number of classes."""
        source = self if counted else replace(self, progress=self.progress.new())
        header, arrays = packing.pack(source)
        return header | {"history": []}, arrays

    @computing
    def copy(self, packed: Packed | None = None, *, trusted: bool = False) -> Model:
        """A model that goes on independently of this one. There may be several of them, so that
        they take less memory for features that lie far apart, and are made of what was `packed`
        once. `trusted`: it has learned nothing since it was loaded or copied itself."""
        header, arrays = packed or self.packed()
        copied = packing.unpack(header, arrays, SPARE // 8, trusted=trusted)  # copies the arrays
        copied.history = self.history  # not checked again: it may be long
        return copied

    def learned(self) -> dict[str, str]:
        """The files learned so far: digest -> name."""
        return {f["digest"]: f["name"] for run in self.history for f in run["files"]}

    def save(self, path: Path, jobs: int = 1) -> int:
        """Write the model to a file, atomically and in `jobs` threads; returns its size in
        bytes."""
        return file.save(path, *packing.pack(self, jobs=jobs), jobs)

    @classmethod
    def load(cls, path: Path, jobs: int = 1, max_memory: int = 0) -> Model:
        """Read a model file, in `jobs` threads; everything wrong with it is a ModelError. One that
        would take more than `max_memory` bytes is refused before it is read; 0: no limit."""
        check_load(path, max_memory)
        return file.used(path, partial(opening.unpacked, path), jobs)

    def to_bytes(self) -> bytes:
        """The bytes of a model file."""
        return b"".join(file.written(*packing.pack(self)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """The model of the bytes of a file; everything wrong with them is a ModelError."""
        path = Path("the model in memory")
        return file.parsed(path, data, partial(opening.unpacked, path))
