"""What a model of several classes has in place of the parts of a model of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool.algorithms.base import Algorithm
from cwtool.algorithms.one_vs_rest import OneVsRest, States
from cwtool.algorithms.several import Several
from cwtool.algorithms.side_by_side import Rival, VersusRest, Wide
from cwtool.algorithms.votes import Votes, Voting
from cwtool.confusion import Confusion
from cwtool.data.rows import Floats
from cwtool.errors import UsageError
from cwtool.model.file import Arrays
from cwtool.softmax import Ring
from cwtool.state import State

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
    form = form_of(model.algorithm, labels.multiclass)
    labels.multiclass = form.mode
    model.several = form(model.algorithm)
    model.state = model.several.new_state()
    model.index = model.state.index
    model.state.admit(labels.several)
    model.progress, model.calibration = Confusion(labels.several), Ring()


def state_of(model: Model, class_: int | None) -> State | None:
    """The state that the algorithm for two classes can describe: that of the model, also by votes,
    or one against the rest that of the class. None if all classes are side by side in one state, or
    none is chosen."""
    if model.several is None or isinstance(model.several, Votes):
        return model.state
    if isinstance(model.state, States) and class_ is not None:
        return model.state.parts[class_]
    return None


def shifted(model: Model, score: Floats, variance: Floats) -> Floats:
    """s_k - sqrt(1 + u) ln((n_k + 1) / (N + K)) / a, which is in the order of
    a z_k - ln((n_k + 1) / (N + K)), z = s / sqrt(1 + u)."""
    assert isinstance(model.progress, Confusion)
    counts = model.progress.measured.sum(axis=1)[1:]
    known = np.zeros(score.shape[1])
    known[: len(counts)] = counts
    shifts = model.operating_point.shifts(known, model.slope)
    moved: Floats = score - np.sqrt(1 + variance)[:, None] * shifts
    return moved


def pack(model: Model) -> tuple[dict[str, Any], Arrays]:
    """The header entries and arrays of the labels, metrics and probabilities."""
    assert isinstance(model.progress, Confusion) and isinstance(model.calibration, Ring)
    header = {"labels": model.labels.several, "multiclass": model.labels.multiclass}
    return header, {**model.progress.pack(), **model.calibration.pack()}


def unpack(model: Model, header: dict[str, Any], arrays: Arrays) -> None:
    """Take over what was packed into a new model."""
    model.labels.several = list(header["labels"])
    model.labels.multiclass = header["multiclass"]
    settle(model)
    model.progress = Confusion.unpack(model.labels.several, arrays)
    model.calibration = Ring.unpack(header["calibration"]["rows"], arrays)
