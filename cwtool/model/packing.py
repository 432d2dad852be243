"""A model as the header and arrays of a file, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cwtool import __version__
from cwtool.data.known import RowSample
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.errors import Damage, ModelError
from cwtool.metrics.calibration import Calibration
from cwtool.metrics.tally import UNIT, Counts, Tally, Weighted, dense, no_counts, sparse
from cwtool.metrics.threshold import OperatingPoint
from cwtool.model.class_weight import ClassWeight
from cwtool.model.file import Arrays
from cwtool.model.header import LABEL, check_header
from cwtool.model.header_text import too_large
from cwtool.model.sample import Sample
from cwtool.params import AUTO
from cwtool.state import FeatureIndex
from cwtool.state.checking import array_of, ascending, negative_diagonal, without_others
from cwtool.state.index import SPARE, direct_for
from cwtool.state.layout import MOST

if TYPE_CHECKING:
    from cwtool.algorithms.base import Algorithm
    from cwtool.model.model import Model

# what the names of arrays begin with that are no part of the state
COUNTS = ("score.", "odds.", "margin.", "batch.", "known", "latest", "sample", "confusion", "ring.")
Packed = tuple[dict[str, Any], Arrays]  # the header and the arrays of a file
COUNTED = ("rows", "calibration", "numbers", "class_weight", "confusion")  # entries that grow
NOT_YET = "ring.z"  # where classes that were not yet there have scores of minus infinity


def pack(model: Model, *, calibrated: bool = True, jobs: int = 1) -> Packed:
    """Everything that a file holds, packed in `jobs` threads; the state is finished first. Without
    `calibrated`, the probabilities are not fitted, for a file that is never used to predict."""
    model.learner.finish(model.state)
    if calibrated:
        model.calibrate()
    rows, total = model.scale.seen.tolist()
    header = {
        "cwtool": __version__,
        "algorithm": model.algorithm.name,
        "params": asdict(model.algorithm.params),
        "reading": model.reading.packed,
        "features": model.index.count,
        "rows": model.rows,
        "scale": {"value": model.scale.value, "rows": rows, "total": total},
        "calibration": {
            "a": model.slope,
            "b": model.offset,
            "by_variance": model.by_variance,
            "rows": model.calibration.rows,
            **({"k": model.bend} if model.bend else {}),
            **({"offsets": model.offsets.tolist()} if len(model.offsets) else {}),
        },
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
    arrays = model.state.pack(jobs=jobs) | counts
    lows = {column.name: column.low for column in model.algorithm.layout.columns}
    for name, values in arrays.items():
        if values.dtype.kind == "f" and values.size:
            _check_numbers(model.algorithm, name, values, lows)
    header |= own
    grown = [header.get(name) for name in COUNTED]
    grown += [int(a.max(initial=0)) for name, a in arrays.items() if name.endswith(".rounds")]
    if _largest(grown) >= MOST or any(abs(x or 0) > LABEL for x in model.labels.values):
        raise too_large(model.algorithm.name)
    return header, arrays


def _check_numbers(
    algorithm: Algorithm, name: str, values: NDArray[Any], lows: dict[str, float]
) -> None:
    """Refuse to write an array that could not be read again; `lows` are the least values of the
    columns."""
    least = values.min()
    if not values.max() < np.inf or (least == -np.inf and name != NOT_YET):
        raise too_large(algorithm.name)
    column = name.partition("feature.")[2].split(".")[0]
    if least < lows.get(column, -np.inf) or ("square." in name and negative_diagonal(values)):
        raise ModelError(
            f"a variance of the {algorithm.name} model has become negative",
            "restore the model from a copy, or train it anew",
        )


def _largest(value: Any) -> int:
    """The greatest whole number of these entries of a header, or 0."""
    if isinstance(value, dict | list):
        return max(map(_largest, value.values() if isinstance(value, dict) else value), default=0)
    return value if isinstance(value, int) else 0


def is_partial(model: Model) -> bool:
    """Whether a model has only what differs from another one: see merging/changes.py."""
    return model.index.direct == 0 and not model.algorithm.layout.compact


def _pack_two(model: Model) -> Packed:
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
    if calibration.plain is not None:
        counts["odds.plain"] = calibration.plain
    if progress.weighted is not None:
        header["weighted_confusion"] = progress.weighted.confusion.tolist()
        counts["score.weight"] = progress.weighted.scores
    if model.operating_point:
        header["threshold"] = {"setting": model.operating_point.setting, "value": model.threshold}
    if model.of_batches.rows:
        counts["batch.score"] = model.of_batches.scores
        if model.of_batches.weighted is not None:
            counts["batch.score.weight"] = model.of_batches.weighted.scores
    arrays = model.sample.pack()
    for name, found in counts.items():
        for part, values in sparse(found).items():
            arrays[f"{name}.{part}"] = values
    return header, arrays


def unpack(
    header: dict[str, Any], arrays: Arrays, spare: int = SPARE, *, trusted: bool = False
) -> Model:
    """The model that was packed, by this version or an older one. All of it is checked before it
    is used, but for a state that is `trusted`; what cannot be is raised as Damage. Its tables may
    have `spare` bytes of no use."""
    from cwtool.model.model import Model

    check_header(header)
    if not isinstance(header["params"], dict):
        raise Damage("its params are not given by name")
    model = Model.new(header["algorithm"], header["params"], Reading.unpacked(header["reading"]))
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
    _index(model, arrays, spare, partial=header.get("partial", False))
    known = model.state.unpack(arrays, header["numbers"], trusted=trusted)
    if not trusted:
        without_others([name for name in arrays if not name.startswith(COUNTS)], known)
        model.learner.check(model.state)
    model.slope = header["calibration"]["a"]
    model.offset = header["calibration"].get("b", 0.0)
    model.by_variance = header["calibration"].get("by_variance", True)
    model.bend = header["calibration"].get("k", 0.0)
    model.history = header["history"]
    if "known" in arrays:
        hashes = array_of(arrays, "known", "<i8").view(np.uint64).copy()
        model.known = RowSample.checked(hashes, header.get("known_level", -1))
    model.version = header["cwtool"]
    model.estimator = header.get("estimator", {})
    _check_whole(model, header)
    return model


def _index(model: Model, arrays: Arrays, spare: int, *, partial: bool) -> None:
    """Give the new model an index by which tables take memory for the features of the file alone,
    where these lie so far apart that it matters."""
    direct = 0 if partial else model.index.direct
    if direct and "ids" in arrays:
        direct = direct_for(arrays["ids"].ravel(), model.state.row_bytes, spare)
    reindex(model, direct)


def reindex(model: Model, direct: int) -> None:
    """Let ids below `direct` be their own slots in this new model."""
    if direct == model.index.direct:
        return
    model.state = model.learner.new_state(FeatureIndex(direct))
    model.index = model.state.index
    if model.labels.several is not None:
        model.state.admit(model.labels.several)


def _check_whole(model: Model, header: dict[str, Any]) -> None:
    """Refuse parts that do not fit each other."""
    if header["features"] != model.index.count:
        raise Damage("its number of features is not that of its feature ids")
    columns, whole = model.reading.columns, model.rows and not header.get("partial", False)
    if columns and whole and columns.filled > model.index.count:
        raise Damage("it has learned fewer features than there are columns that every row has")
    if header["rows"] != model.rows:
        raise Damage("its number of rows is not that of its confusion")
    if not 0 < model.scale.value < np.inf:
        raise Damage("its row scale is not a positive number")


def _unpack_two(model: Model, header: dict[str, Any], arrays: Arrays) -> None:
    """Take over the labels, metrics and probabilities of two classes."""
    model.labels = Labels(*header["labels"])
    model.labels.multiclass = header.get("multiclass", "auto")
    model.labels.rest = header.get("rest", 0)
    progress = model.progress = Tally(
        _histogram(arrays, "score"), np.array(header["confusion"], dtype=np.int64)
    )
    progress.check()
    if "weighted_confusion" in header:
        confusion = np.array(header["weighted_confusion"], dtype=np.int64)
        progress.weighted = Weighted(_histogram(arrays, "score.weight"), confusion)
    model.sample = Sample.unpack(arrays)
    if "batch.score.at" in arrays:
        model.of_batches = _scores(arrays, "batch.score")
    calibration = model.calibration = _calibration(header["calibration"]["rows"], arrays)
    if "odds.plain.at" in arrays:
        calibration.plain = _histogram(arrays, "odds.plain")
    elif "by_variance" not in header["calibration"]:  # earlier versions did not count scores alone
        calibration.plain = no_counts()


def _calibration(rows: int, arrays: Arrays) -> Calibration:
    """The counted scores; earlier versions had margins, of two stretches of rows."""
    if "odds.at" in arrays:
        return Calibration(_histogram(arrays, "odds"), rows)
    weighted = "margin.weight.at" in arrays
    margins = _histogram(arrays, "margin.weight" if weighted else "margin").sum(axis=0)
    positive = None
    if "margin.positive.at" in arrays:
        positive = _histogram(arrays, "margin.positive").sum(axis=0)
    if not weighted and margins.max() >= 1 << 43:
        raise Damage("the array margin.n has a value that cannot be")
    counts = margins if weighted else UNIT * margins
    if positive is not None and (positive > counts).any():
        raise Damage("the array margin.positive.n has more rows than there are")
    return Calibration.of_margins(counts, positive, rows)


def _scores(arrays: Arrays, name: str) -> Tally:
    """The tally of which only the scores are kept."""
    found = Tally(_histogram(arrays, name))
    if f"{name}.weight.at" in arrays:
        found.weighted = Weighted(_histogram(arrays, f"{name}.weight"), found.confusion.copy())
    return found.at(0.0)


def _histogram(arrays: Arrays, name: str) -> Counts:
    at, n = array_of(arrays, f"{name}.at", "<i4"), array_of(arrays, f"{name}.n", "<i8")
    size = no_counts().size
    if len(at) != len(n) or not ascending(at) or (at.size and not 0 <= at[0] <= at[-1] < size):
        raise Damage(f"the array {name}.at does not fit {name}.n")
    if (n < 0).any() or float(n.sum(dtype=np.float64)) >= 2.0**62:
        raise Damage(f"the array {name}.n has a value that cannot be")
    return dense(at, n)
