"""The parts of a model of several classes that replace those of a model of two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool.algorithms.base import Algorithm
from cwtool.algorithms.multiclass.base import Several
from cwtool.algorithms.multiclass.one_vs_rest import OneVsRest
from cwtool.algorithms.multiclass.side_by_side import Rival, VersusRest, Wide
from cwtool.algorithms.multiclass.votes import Votes, Voting
from cwtool.errors import Damage, UsageError
from cwtool.metrics.confusion import Confusion
from cwtool.metrics.softmax import Ring
from cwtool.model.file import Arrays
from cwtool.model.sample import Sample

if TYPE_CHECKING:
    from cwtool.model.model import Model


def is_wide(algorithm: Algorithm) -> bool:
    """Whether the algorithm has learners of several classes side by side."""
    return isinstance(algorithm, Wide) and algorithm.is_wide


def form_of(algorithm: Algorithm, multiclass: str) -> type[Several]:
    """How the algorithm learns several classes by this setting."""
    if isinstance(algorithm, Voting):
        return Votes
    if not is_wide(algorithm):
        return OneVsRest
    return VersusRest if multiclass == VersusRest.mode else Rival


def check_mode(algorithm: Algorithm, multiclass: str) -> None:
    """Refuse a mode that the algorithm does not have."""
    if multiclass == Rival.mode and not is_wide(algorithm):
        raise UsageError(
            f"{algorithm.name} with these parameters does not learn several classes by the top "
            "rival",
            "use `multiclass=ovr`, which trains one class against the rest",
        )


def settle(model: Model) -> None:
    """Make an untrained model of two classes one of several, by the setting of its labels."""
    labels = model.labels
    assert labels.several is not None
    model.operating_point.check_several()
    # models that learn the same rows share their labels, so that these keep the setting
    model.several = form_of(model.algorithm, labels.multiclass)(model.algorithm)
    model.state = model.several.new_state(model.index)
    model.state.admit(labels.several)
    model.progress, model.calibration = Confusion(labels.several), Ring()


def pack(model: Model) -> tuple[dict[str, Any], Arrays]:
    """The header entries and arrays of the labels, metrics and probabilities."""
    assert isinstance(model.progress, Confusion) and isinstance(model.calibration, Ring)
    assert model.several is not None
    header = {"labels": model.labels.several, "multiclass": model.several.mode}
    return header, {**model.progress.pack(), **model.calibration.pack(), **model.sample.pack()}


def unpack(model: Model, header: dict[str, Any], arrays: Arrays) -> None:
    """Fill this new model of several classes with the header and arrays of a model file."""
    labels, mode = list(header["labels"]), header["multiclass"]
    progress = Confusion.unpack(labels, arrays)  # first, as it bounds the number of classes
    if form_of(model.algorithm, mode).mode != mode:
        raise Damage(f"its multiclass is {mode}, which its algorithm does not have")
    model.labels.several, model.labels.multiclass = labels, mode
    settle(model)
    model.progress = progress
    model.calibration = Ring.unpack(header["calibration"]["rows"], arrays, len(labels))
    model.sample = Sample.unpack(arrays, len(labels))
    model.offsets = np.array(header["calibration"].get("offsets", []))
    if len(model.offsets) > len(labels):
        raise Damage("its probabilities have more offsets than there are classes")
