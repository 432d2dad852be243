"""A model as the header and arrays of a file, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import __version__
from cwtool.calibration import Calibration
from cwtool.data.known import RowSample
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.metrics import UNIT, Counts, Tally, Weighted, dense, sparse
from cwtool.model.class_weight import ClassWeight
from cwtool.model.file import Arrays
from cwtool.params import AUTO
from cwtool.state import FeatureIndex
from cwtool.threshold import OperatingPoint

if TYPE_CHECKING:
    from cwtool.model.model import Model


def pack(model: Model, *, calibrated: bool = True) -> tuple[dict[str, Any], Arrays]:
    """Everything that a file holds; the state is finished first. Without `calibrated`, the
    probabilities are not fitted, for a file that nobody predicts with."""
    model.learner.finish(model.state)
    if calibrated:
        model.calibrate()
    rows, total = model.scale.seen.tolist()
    header = {
        "cwtool": __version__,
        "algorithm": model.algorithm.name,
        "params": asdict(model.algorithm.params),
        "reading": asdict(model.reading),
        "features": model.index.count,
        "rows": model.rows,
        "scale": {"value": model.scale.value, "rows": rows, "total": total},
        "calibration": {"a": model.slope, "b": model.offset, "rows": model.calibration.rows},
        "numbers": model.state.pack_numbers(),
        "history": model.history,
    }
    if is_partial(model):
        header["partial"] = True
    if model.class_weight:
        header["class_weight"] = model.class_weight.packed()
    if model.operating_point:
        header["threshold"] = {"setting": model.operating_point.setting}
    if model.estimator:
        header["estimator"] = model.estimator
    if model.several is not None:
        from cwtool.model import several

        own, counts = several.pack(model)
    else:
        own, counts = _pack_two(model)
    if len(model.known):
        header["known_level"] = model.known.level
        counts["known"] = model.known.hashes.view(np.int64)
    return header | own, model.state.pack() | counts


def is_partial(model: Model) -> bool:
    """Whether a model has only what differs from another one: see merging/changes.py."""
    return model.index.direct == 0 and not model.algorithm.layout.compact


def _pack_two(model: Model) -> tuple[dict[str, Any], Arrays]:
    """The header entries and arrays of the labels, metrics and probabilities of two classes."""
    progress, calibration, labels = model.progress, model.calibration, model.labels
    assert isinstance(progress, Tally) and isinstance(calibration, Calibration)
    header: dict[str, Any] = {
        "labels": [labels.negative, labels.positive],
        "confusion": progress.confusion.tolist(),
    }
    if labels.multiclass == "no":
        header["multiclass"] = "no"
    if labels.rest:
        header["rest"] = labels.rest
    counts = {"score": progress.scores, "odds": calibration.counts}
    if progress.weighted is not None:
        header["weighted_confusion"] = progress.weighted.confusion.tolist()
        counts["score.weight"] = progress.weighted.scores
    if model.operating_point:
        header["threshold"] = {"setting": model.operating_point.setting, "value": model.threshold}
    if model.of_batches.rows:
        counts["batch.score"] = model.of_batches.scores
        if model.of_batches.weighted is not None:
            counts["batch.score.weight"] = model.of_batches.weighted.scores
    arrays: Arrays = {}
    for name, found in counts.items():
        for part, values in sparse(found).items():
            arrays[f"{name}.{part}"] = values
    return header, arrays


def unpack(header: dict[str, Any], arrays: Arrays) -> Model:
    """The model that was packed, by this version or an older one."""
    from cwtool.model.model import Model

    model = Model.new(header["algorithm"], header["params"], Reading(**header["reading"]))
    model.scale.seen[:] = header["scale"]["rows"], header["scale"]["total"]
    if header["scale"]["rows"]:  # stsgd had a row scale once: such a model keeps it
        model.scale.prior = AUTO
    model.class_weight = ClassWeight.unpacked(header.get("class_weight", {}))
    model.operating_point = OperatingPoint(header.get("threshold", {}).get("setting", ""))
    if header.get("multiclass", "no") != "no":
        from cwtool.model import several

        several.unpack(model, header, arrays)
    else:
        _unpack_two(model, header, arrays)
    if header.get("partial", False):
        model.state = model.learner.new_state(FeatureIndex(0))
        model.index = model.state.index
        if model.labels.several is not None:
            model.state.admit(model.labels.several)
    model.state.unpack_numbers(header["numbers"])
    model.state.unpack(arrays)
    model.slope = header["calibration"]["a"]
    model.offset = header["calibration"].get("b", 0.0)
    model.history = header["history"]
    if "known" in arrays:
        model.known = RowSample(arrays["known"].view(np.uint64), header["known_level"])
    model.version = header["cwtool"]
    model.estimator = header.get("estimator", {})
    return model


def _unpack_two(model: Model, header: dict[str, Any], arrays: Arrays) -> None:
    """Take over the labels, metrics and probabilities of two classes."""
    model.labels = Labels(*header["labels"])
    model.labels.multiclass = header.get("multiclass", "auto")
    model.labels.rest = header.get("rest", 0)
    progress = model.progress = Tally(
        _histogram(arrays, "score"), np.array(header["confusion"], dtype=np.int64)
    )
    if "weighted_confusion" in header:
        confusion = np.array(header["weighted_confusion"], dtype=np.int64)
        progress.weighted = Weighted(_histogram(arrays, "score.weight"), confusion)
    if "batch.score.at" in arrays:
        model.of_batches = _scores(arrays, "batch.score")
    model.calibration = _calibration(header["calibration"]["rows"], arrays)


def _calibration(rows: int, arrays: Arrays) -> Calibration:
    """The counted scores; earlier versions had margins, of two stretches of rows."""
    if "odds.at" in arrays:
        return Calibration(_histogram(arrays, "odds"), rows)
    weighted = "margin.weight.at" in arrays
    margins = _histogram(arrays, "margin.weight" if weighted else "margin").sum(axis=0)
    positive = None
    if "margin.positive.at" in arrays:
        positive = _histogram(arrays, "margin.positive").sum(axis=0)
    return Calibration.of_margins(margins if weighted else UNIT * margins, positive, rows)


def _scores(arrays: Arrays, name: str) -> Tally:
    """The tally of which only the scores are kept."""
    found = Tally(_histogram(arrays, name))
    if f"{name}.weight.at" in arrays:
        found.weighted = Weighted(_histogram(arrays, f"{name}.weight"), found.confusion.copy())
    return found.at(0.0)


def _histogram(arrays: Arrays, name: str) -> Counts:
    return dense(arrays[f"{name}.at"], arrays[f"{name}.n"])
