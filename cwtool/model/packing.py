"""A model as the header and arrays of a file, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import __version__
from cwtool.calibration import Calibration
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.metrics import Counts, Tally, Weighted, dense, sparse
from cwtool.model.class_weight import ClassWeight
from cwtool.model.file import Arrays

if TYPE_CHECKING:
    from cwtool.model.model import Model


def pack(model: Model) -> tuple[dict[str, Any], Arrays]:
    """Everything that a file holds; the state is finished first."""
    model.algorithm.finish(model.state)
    model.slope = model.calibration.fit()
    rows, total = model.scale.seen.tolist()
    header = {
        "cwtool": __version__,
        "algorithm": model.algorithm.name,
        "params": asdict(model.algorithm.params),
        "labels": [model.labels.negative, model.labels.positive],
        "reading": asdict(model.reading),
        "features": model.index.count,
        "rows": model.rows,
        "scale": {"value": model.scale.value, "rows": rows, "total": total},
        "calibration": {"a": model.slope, "rows": model.calibration.rows},
        "numbers": model.state.numbers,
        "confusion": model.progress.confusion.tolist(),
        "history": model.history,
    }
    counts = {"score": model.progress.scores, "margin": model.calibration.margins}
    if model.class_weight:
        header["class_weight"] = model.class_weight.packed()
    if model.progress.weighted is not None:
        header["weighted_confusion"] = model.progress.weighted.confusion.tolist()
        counts["score.weight"] = model.progress.weighted.scores
    if model.calibration.weighted is not None:
        counts["margin.weight"] = model.calibration.weighted
    arrays: Arrays = model.state.pack()
    for name, found in counts.items():
        for part, values in sparse(found).items():
            arrays[f"{name}.{part}"] = values
    return header, arrays


def unpack(header: dict[str, Any], arrays: Arrays) -> Model:
    """The model that was packed, by this version or an older one."""
    from cwtool.model.model import Model

    model = Model.new(header["algorithm"], header["params"], Reading(**header["reading"]))
    model.labels = Labels(*header["labels"])
    model.scale.seen[:] = header["scale"]["rows"], header["scale"]["total"]
    names = {n.formerly: n.name for n in model.state.layout.numbers if n.formerly}
    model.state.numbers |= {names.get(k, k): v for k, v in header["numbers"].items()}
    model.state.unpack(arrays)
    model.class_weight = ClassWeight.unpacked(header.get("class_weight", {}))
    model.progress = Tally(
        _histogram(arrays, "score"), np.array(header["confusion"], dtype=np.int64)
    )
    if "weighted_confusion" in header:
        confusion = np.array(header["weighted_confusion"], dtype=np.int64)
        model.progress.weighted = Weighted(_histogram(arrays, "score.weight"), confusion)
    model.calibration = Calibration(_histogram(arrays, "margin"), header["calibration"]["rows"])
    if "margin.weight.at" in arrays:
        model.calibration.weighted = _histogram(arrays, "margin.weight")
    model.slope = header["calibration"]["a"]
    model.history = header["history"]
    model.version = header["cwtool"]
    return model


def _histogram(arrays: Arrays, name: str) -> Counts:
    return dense(arrays[f"{name}.at"], arrays[f"{name}.n"])
