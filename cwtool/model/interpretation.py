"""The interpretation of the scores of a model: progressive metrics, probabilities and predicted
labels."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.data.labels import Labels
from cwtool.data.rows import Floats, Ints
from cwtool.metrics.calibration import Calibration, Own
from cwtool.metrics.reliability import Reliability
from cwtool.metrics.sigmoid import bent, sigmoid, standardized
from cwtool.metrics.tally import AnyTally, Tally
from cwtool.metrics.threshold import OperatingPoint
from cwtool.records import dataclass

if TYPE_CHECKING:
    from cwtool.metrics.softmax import Ring, SoftmaxReliability
    from cwtool.model.crossfit import Held

# Where more of the rows of batches score 0 than this share, they tell the class of others that do.
# Few of them say little: features are chosen so that the rows of training have some.
MANY = 0.05


def no_offsets() -> Floats:
    return np.empty(0)


AnyReliability: TypeAlias = "Reliability | SoftmaxReliability"


@dataclass(kw_only=True)
class ScoreInterpretation:
    """The scores of first visits, counted before the rows were learned, and what follows from
    them. `progress` and `calibration` are of another kind for several classes."""

    labels: Labels = field(default_factory=Labels)
    progress: AnyTally = field(default_factory=Tally)
    calibration: Calibration | Ring = field(default_factory=Calibration)
    of_batches: Tally = field(default_factory=Tally)  # as `judged`, of a batch learner
    operating_point: OperatingPoint = field(default_factory=OperatingPoint)
    slope: float = 1.0  # a of the probability: sigmoid(a g(z) + b), or softmax(a z + b)
    offset: float = 0.0  # b, of two classes
    by_variance: bool = True  # z is s / sqrt(1 + v), or s
    bend: float = 0.0  # k of g(z) = asinh(k z) / k, of two classes; 0: g(z) = z
    offsets: Floats = field(default_factory=no_offsets)  # b of several classes, or none: all are 0

    @property
    def rows(self) -> int:
        """The number of rows learned, each counted once."""
        return self.progress.rows

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
        from cwtool.metrics.softmax import SoftmaxReliability

        return SoftmaxReliability(self.labels.several)

    def calibrate_to(self, own: Own | None) -> None:
        """Fit the probabilities of two classes to the scores so far; `own` are scores of rows that
        the model has learned."""
        assert isinstance(self.calibration, Calibration)
        self.slope, self.offset, self.by_variance, self.bend = self.calibration.fit(own)

    def probability(self, score: Floats, variance: Floats) -> Floats:
        """The probability of the positive class, or of each of several classes in a column."""
        if self.labels.several is None:
            return sigmoid(self.logit(score, variance))
        from cwtool.metrics import softmax

        return softmax.probability(self.slope, score, variance, self.offsets)

    def logit(self, score: Floats, variance: Floats) -> Floats:
        """log(p / (1 - p)) of the probability p of the positive class, of two classes."""
        return self.unshifted(score, variance) + self.offset

    def unshifted(self, score: Floats, variance: Floats) -> Floats:
        """The same calibration with an offset of 0."""
        return self.sloped(standardized(score, variance) if self.by_variance else score)

    def sloped(self, z: Floats) -> Floats:
        """a g(z), for scores z of two classes."""
        with np.errstate(over="ignore"):
            return self.slope * bent(z, self.bend)

    def call_by(self, setting: str) -> None:
        """Predict classes by this operating point from now on."""
        point = OperatingPoint(setting)
        if self.labels.several:
            point.check_several()
        self.operating_point = point

    def calling(self, score: Floats, variance: Floats) -> Floats:
        """The scores by which labels are predicted. With two classes these are the scores, and the
        threshold decides; with several classes the highest decides, and a threshold shifts them."""
        if self.labels.several is None or not self.operating_point:
            return score
        return self._shifted(score, variance)

    def _shifted(self, score: Floats, variance: Floats) -> Floats:
        """s_k - sqrt(1 + u) t_k with the shifts t_k of the operating point, which are those of
        z = s / sqrt(1 + u)."""
        from cwtool.metrics.softmax import offsets

        progress: Any = self.progress
        counts = progress.measured.sum(axis=1)[1:]
        known = np.zeros(score.shape[1])
        known[: len(counts)] = counts
        b = offsets(self.offsets, len(known))
        shifts = self.operating_point.shifts(known, self.slope, b)
        moved: Floats = score - np.sqrt(1 + variance)[:, None] * shifts
        return moved

    @property
    def threshold(self) -> float:
        """The lowest score that is predicted as the positive class, for two classes."""
        assert isinstance(self.progress, Tally)
        negatives, positives = self.of_batches.ties.tolist()
        total = negatives + positives
        if negatives == positives or total <= MANY * self.of_batches.measured[1].sum():
            negatives, positives = self.progress.measured[1].sum(axis=1).tolist()
        return self.operating_point.threshold(self.judged, negatives, positives)

    @property
    def predicted(self) -> AnyTally:
        """The predictions before learning, of two classes without the rows of a first batch."""
        return self.of_batches if 0 < self.of_batches.rows < self.rows else self.progress

    @property
    def judged(self) -> Tally:
        """The scores that thresholds are found from: those of rows before they were learned. Rows
        of a first batch, which there was no model to predict, are left out; as long as there are
        no others, they count with their scores once learned."""
        assert isinstance(self.progress, Tally)
        return self.of_batches if self.of_batches.rows else self.progress

    def judge(self, y: Ints, score: Floats, weight: Floats | None, *, predicted: bool) -> None:
        """Count the scores of a batch, `predicted` before it was learned or fitted after."""
        some = len(y) > 0 if weight is None else bool(weight.any())
        if predicted and some and self.of_batches.rows == self.rows:  # all of them fitted
            self.of_batches = Tally()
        self.of_batches.add(y, score, weight)

    def count_batch(self, y: Ints, found: Scores, weight: Floats | None) -> None:
        """Count the scores of a batch that were given before it was learned."""
        self.calibration.add(y, *found, weight, at_once=True)
        if self.labels.several is None:
            self.judge(y, found.score, weight, predicted=True)

    def count_first(
        self, y: Ints, found: Held | None, fitted: Scores, weight: Floats | None
    ) -> None:
        """Count the scores of a first batch, `fitted` by the model that has learned it. For the
        probabilities those that are as if it had not learned them take their place, if there are
        any."""
        if self.labels.several is None:
            self.judge(y, fitted.score, weight, predicted=False)
        if found is None:
            self.calibration.add(y, *fitted, weight, at_once=True)
        else:
            self.count_held(y, found, weight)

    def count_held(self, y: Ints, found: Held, weight: Floats | None) -> None:
        """Count scores of rows as if the model had not learned them; all rows are of the classes
        y."""
        rows, score, z = found
        weight = None if weight is None else weight[rows]
        self.calibration.count(y[rows], score, z, weight, at_once=True)
