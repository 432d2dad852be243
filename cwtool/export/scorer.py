"""What a linear model does with a row, in a form that can be written down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.base import Linear
from cwtool.data.parse import Reading
from cwtool.data.rows import BIAS, Floats, Ints, Longs
from cwtool.errors import ModelError
from cwtool.export.covariance import covariance_of
from cwtool.metrics.confusion import label_order
from cwtool.metrics.softmax import offsets
from cwtool.metrics.threshold import ABOVE_ZERO
from cwtool.model import Model, Weights
from cwtool.records import dataclass

FEW = 1 << 20  # numbers of a dense form that are no burden, even if almost all are 0
SPARSE = 256  # numbers of a dense form for each that is not 0, of which more are too many
AT_ONCE = 1 << 16  # numbers that become text or Python's
DIAGONAL = ("cw-sparse", "sofs")  # and all whose parameter `covariance` is diag


@dataclass(frozen=True)
class Scorer:
    """score = intercept + sum of weight_j x_j, one column per class; two classes have one column,
    the score of the second. `features` are ids as they stand in the data.

    Two classes: the second is called if score >= threshold. Several: the one with the highest
    score, and of equal ones the first. The probability is
    sigmoid(slope g(score / sqrt(1 + v)) + offset), or softmax(slope score / sqrt(1 + v) + offset),
    with one of `offsets` for each column,
    g(z) = asinh(bend z) / bend, or g(z) = z if bend is 0, and
    v = constant_variance + sum of variance_j x_j^2, where features that are not listed have the
    variance `unknown`; of several classes v is the mean of those of the two highest scores. Models
    with more than one variance per feature add, for all classes, the sum of linear_j x_j and the
    sum of c x_i x_j over `pairs` (i, j, c), which are places in `features`.
    """

    algorithm: str
    labels: list[str]  # of the classes, ascending
    numbers: list[float]  # the same as numbers
    features: Longs
    weight: Floats
    intercept: Floats
    threshold: float
    reading: Reading
    slope: float
    offsets: list[float]
    bend: float
    has_probability: bool
    variance: Floats | None  # None: v is 0, or probabilities do not depend on it
    constant_variance: Floats
    unknown: float
    linear: Floats | None = None
    pairs: tuple[Longs, Longs, Floats] | None = None

    @property
    def several(self) -> bool:
        return len(self.labels) != 2

    @property
    def above(self) -> bool:
        """Whether a score of exactly 0 is of the first class: the threshold is the least number
        above 0."""
        return self.threshold == ABOVE_ZERO

    @property
    def names(self) -> list[str]:
        """The classes that have a column."""
        return self.labels if self.several else self.labels[1:]

    @property
    def width(self) -> int:
        """The number of columns of a dense row: column 0 is the first feature of the data."""
        first = 0 if self.reading.zero_based else 1
        return int(self.features.max(initial=first - 1)) + 1 - first

    @property
    def named_pairs(self) -> Iterator[tuple[int, int, float]]:
        """The pairs by the ids of their features."""
        if self.pairs is not None:
            i, j, c = self.pairs
            yield from zip(
                self.features[i].tolist(), self.features[j].tolist(), c.tolist(), strict=True
            )

    def portions(self, values: Floats) -> Iterator[tuple[Longs, Floats]]:
        """The features in a column, with their rows of `values`, some at a time: as text, or as
        numbers of Python, they take much more memory."""
        step = max(1, AT_ONCE // max(1, values[:1].size))
        for start in range(0, len(values), step):
            here = slice(start, start + step)
            yield self.features[here, None], np.ascontiguousarray(values[here])

    def by_feature(self, values: Floats) -> Iterator[tuple[int, Any]]:
        """The features, each with its row of `values`, as numbers of Python."""
        for features, some in self.portions(values):
            yield from zip(features[:, 0].tolist(), some.tolist(), strict=True)

    @property
    def places(self) -> Longs:
        """The columns of the features in a dense row."""
        return self.features - (not self.reading.zero_based)

    def check_width(self, most: int, needs: str, hint: str) -> None:
        """Refuse a form that has a number for each column of a dense row and each class, if these
        are more than `most`, or almost all of very many would be 0."""
        if self.width * self.weight.shape[1] > min(most, max(FEW, SPARSE * self.weight.size)):
            features = len(self.features)
            raise ModelError(
                f"the model has {features:,} features up to {self.width:,}, and {needs}", hint
            )

    def dense(self, values: Floats, other: float = 0.0) -> Floats:
        """Weights, or variances, of all columns of a dense row; `other` where there is none."""
        found = np.full((self.width, values.shape[1]), other)
        found[self.places] = values
        return found


def scorer_of(model: Model, max_memory: int = 0) -> Scorer:
    """The scorer of a model, or what can be done instead if it has none."""
    _check(model)
    model.calibrate()
    weights, name = model.weights(), model.algorithm.name
    order = np.zeros(1, dtype=np.intp)
    if model.labels.several is not None:
        order = label_order(model.labels.several)
    weight, variance = _columns(weights, order)
    if not model.by_variance:
        variance = None
    elif name == "bcw":  # it has variances of scores, from which those of the weights are found
        variance = np.zeros_like(weight)
    constant = np.broadcast_to(np.asarray(weights.intercept, dtype=float), weight.shape[1:])[order]
    threshold = float(model.threshold) if model.several is None else 0.0
    if len(order) == 2:  # as one score: the second class is called where it is above 0
        with np.errstate(over="ignore"):
            weight, constant = weight[:, 1:] - weight[:, :1], constant[1:] - constant[:1]
            variance = None if variance is None else variance.mean(axis=1, keepdims=True)
        threshold = ABOVE_ZERO
    bias, scale = weights.ids == BIAS, float(model.scale.value)
    kept = ~bias & (weight.any(axis=1) if variance is None else True)
    ids: Ints = weights.ids[kept]
    diagonal = name in DIAGONAL or getattr(model.algorithm.params, "covariance", "") == "diag"
    labels, numbers = _labels(model, order)
    sigma = None if variance is None or diagonal else covariance_of(model, weights.ids, max_memory)
    if variance is not None and sigma is not None:
        variance = np.broadcast_to(np.diag(sigma)[:, None], variance.shape)
    reading = model.reading
    if reading.columns is not None:  # which the weights allow for, but not the variances
        reading, sigma, diagonal = replace(reading, normalize="none", columns=None), None, False
    return Scorer(
        algorithm=name,
        labels=labels,
        numbers=numbers,
        features=ids.astype(np.int64) + (not model.reading.zero_based),
        weight=np.nan_to_num(weight[kept]),
        intercept=np.nan_to_num(constant + weight[bias].sum(axis=0)),
        threshold=threshold,
        reading=reading,
        slope=float(model.slope),
        offsets=_offsets(model, order),
        bend=float(model.bend),
        has_probability=variance is None or diagonal or sigma is not None,
        variance=None if variance is None else np.nan_to_num(variance[kept]),
        constant_variance=np.zeros(1) if variance is None else variance[bias].sum(axis=0),
        unknown=min(scale * scale, float_info.max) if model.algorithm.counts_unknown else 0.0,
        linear=None if sigma is None else 2 * sigma[kept][:, bias].sum(axis=1),
        pairs=None if sigma is None else _pairs(sigma[np.ix_(kept, kept)]),
    )


def _check(model: Model) -> None:
    """Refuse models whose decisions are not linear."""
    if not isinstance(model.algorithm, Linear):
        raise ModelError(
            f"{model.algorithm.name} is not a linear model; other programs cannot score with it",
            "score rows with the command predict, or train a linear one, such as arow or sbcw",
        )
    if model.several is not None and model.operating_point:
        setting = model.operating_point.setting
        raise ModelError(
            f"`threshold={setting}` of several classes is not linear in the row",
            "train the model without `threshold`",
        )


def _columns(weights: Weights, order: NDArray[np.intp]) -> tuple[Floats, Floats | None]:
    """Weights and variances with one column per class, by ascending label."""
    shape = len(weights.ids), len(order)
    weight = weights.weight.reshape(shape)[:, order]
    variance = weights.variance
    return weight, None if variance is None else variance.reshape(shape)[:, order]


def _offsets(model: Model, order: NDArray[np.intp]) -> list[float]:
    """The offset of each column."""
    if model.several is None:
        return [float(model.offset)]
    found = offsets(model.offsets, len(order))[order].tolist()
    return [found[1] - found[0]] if len(order) == 2 else found


def _pairs(sigma: Floats) -> tuple[Longs, Longs, Floats]:
    """i < j and 2 Sigma_ij of the covariances that are not 0."""
    i, j = np.nonzero(np.triu(sigma, 1))
    return i, j, 2 * sigma[i, j]


def _labels(model: Model, order: NDArray[np.intp]) -> tuple[list[str], list[float]]:
    """The classes as text and as numbers, ascending. An estimator may have named them."""
    labels = model.labels
    at = [0, 1] if labels.several is None else order.tolist()
    numbers = [float(labels.values[k] or 0.0) for k in at]
    named = model.estimator.get("classes")
    if isinstance(named, list) and set(numbers) <= set(range(len(named))):
        return [named[int(n)] for n in numbers], numbers
    return [labels.name(k) for k in at], numbers
