"""The contents of a model for people and programs: settings, history, weights."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.algorithms.base import Describes, Linear, Ranks
from cwtool.data.names import read_names
from cwtool.data.parse import Reading
from cwtool.data.rows import BIAS, Floats, Ints
from cwtool.errors import UsageError
from cwtool.files import complete_text
from cwtool.metrics.confusion import label_order
from cwtool.metrics.softmax import offsets
from cwtool.model import Model, Weights
from cwtool.model.memory_estimate import MemoryEstimate
from cwtool_ext.shortest import lines

AT_ONCE = 1 << 16  # numbers that become text
TEXT = 100  # bytes of each of them meanwhile, at most


def bytes_of_weights(model: MemoryEstimate) -> int:
    """Upper bound of the bytes that the weights of a model take while they are found and sorted.
    What is no column may be copied for the variances."""
    return len(model.ids) * (56 + 13 * model.shown // 4) + model.others


def bytes_shown(model: MemoryEstimate, top: int) -> int:
    """The same with `top` features that are shown, each with the weights of all classes, or with
    the text of weights that are written before."""
    written = TEXT * min(AT_ONCE, 2 * model.classes * len(model.ids))
    shown = min(top, len(model.ids)) * (600 + 150 * model.classes)
    return bytes_of_weights(model) + max(written, shown)


def external(model: Model, feature: int) -> str:
    """The feature id as written in the data."""
    if feature == BIAS:
        return "bias"
    return str(feature if model.reading.zero_based else feature + 1)


def measure(model: Model) -> str:
    """The kind of number that the model has for a feature: a weight of a linear score, an
    importance, or none."""
    if isinstance(model.algorithm, Linear):
        return "weight"
    return "importance" if isinstance(model.algorithm, Ranks) else ""


def interactions(
    model: Model, names: dict[str, str], class_: int | None = None
) -> list[dict[str, Any]]:
    """Products of columns such as 12*40 with their importance, in descending order."""
    state = model.described(class_)
    if not isinstance(model.algorithm, Describes) or state is None:
        return []
    shown = []
    for slots, importance in model.algorithm.interactions(state):
        factors = sorted(model.index.ids_of(slots).tolist())
        keys = [external(model, j) for j in factors]
        row: dict[str, Any] = {"interaction": "*".join(keys), "importance": importance}
        if any(key in names for key in keys):
            row["name"] = "*".join(names.get(key, key) for key in keys)
        shown.append(row)
    return sorted(shown, key=lambda row: -row["importance"])


def names_of(path: Path, reading: Reading) -> dict[str, str]:
    """id -> name from lines of id, tab, name."""
    if reading.hash_bits:
        raise UsageError(
            "feature names belong to ids, and `hash_bits` has folded the ids of this model",
            "leave out the names",
        )
    return read_names(path).by_id


def class_number(model: Model, label: str) -> int:
    """The number of the class with this label, in a model of several classes."""
    if model.labels.several is None:
        raise UsageError(
            "`class` is for models of more than two classes; this one has two",
            "leave out `class`: weights are those of the positive class",
        )
    try:
        return model.labels.several.index(float(label))
    except ValueError:
        known = ", ".join(list(_by_label(model))[:20])
        raise UsageError(f"the model has no class {label}", f"it has {known}") from None


def _by_label(model: Model) -> dict[str, int]:
    """Several classes: number of each class by its label, ascending."""
    order = label_order(model.labels.several or [])
    return {model.labels.name(int(k)): int(k) for k in order}


def describe(
    model: Model, top: int, names: dict[str, str], class_: int | None = None
) -> dict[str, Any]:
    """All that inspect shows, ready for JSON; of several classes the weights of all, or those of
    one."""
    weights = model.weights()
    if class_ is not None:
        weights = of_class(weights, class_)
    return {
        "cwtool": model.version,
        "algorithm": model.algorithm.name,
        "params": asdict(model.algorithm.params),
        "reading": model.reading.settings,
        **_classes(model, class_),
        **({"class_weight": model.class_weight.setting} if model.class_weight else {}),
        **_threshold(model),
        "rows": model.rows,
        "features": model.index.count,
        "measure": measure(model),
        "nonzero_weights": int(np.count_nonzero(weights.weight)),
        "intercept": _numbers(model, weights.intercept),
        "row_scale": model.scale.value,
        **details(model, class_),
        "calibration": model.slope,
        "calibration_by_variance": model.by_variance,
        **({"calibration_offset": model.offset} if model.offset else {}),
        **_class_offsets(model),
        **({"calibration_bend": model.bend} if model.bend else {}),
        "progressive": model.predicted.summary(),
        "history": model.history,
        "top": _largest(model, weights, top, names),
        "interactions": interactions(model, names, class_)[:top],
    }


def _class_offsets(model: Model) -> dict[str, Any]:
    """The offsets of the probabilities of several classes, if there are any."""
    if not len(model.offsets):
        return {}
    return {"calibration_offsets": _numbers(model, offsets(model.offsets, len(model.labels.names)))}


def _threshold(model: Model) -> dict[str, Any]:
    """The threshold, if the model has one."""
    if not model.operating_point or model.several is not None:
        return {}
    return {"operating_point": model.operating_point.setting, "threshold": model.threshold}


def _classes(model: Model, class_: int | None) -> dict[str, Any]:
    """The labels, and the class whose weights are shown if it is one of several."""
    labels = model.labels
    if model.several is None:
        return {"labels": {"negative": labels.name(0), "positive": labels.name(1)}}
    found: dict[str, Any] = {"labels": list(_by_label(model)), "multiclass": model.several.mode}
    return found if class_ is None else found | {"class": labels.name(class_)}


def of_class(weights: Weights, class_: int) -> Weights:
    """The weights of one of several classes."""
    variance = None if weights.variance is None else weights.variance[:, class_]
    intercept = float(np.asarray(weights.intercept)[class_])
    return Weights(weights.ids, weights.weight[:, class_], variance, intercept)


def _numbers(model: Model, values: Any) -> Any:
    """A number, or those of several classes by label, ready for JSON."""
    if np.ndim(values) == 0:
        return float(values)
    return {label: float(values[k]) for label, k in _by_label(model).items()}


def _largest(
    model: Model, weights: Weights, top: int, names: dict[str, str]
) -> list[dict[str, Any]]:
    """The features with the largest weights, of several classes by the sum over them."""
    ids, weight, variance, _ = weights
    with np.errstate(over="ignore"):
        size = np.abs(weight) if weight.ndim == 1 else np.nan_to_num(np.abs(weight).sum(axis=1))
    nonzero = np.flatnonzero(size)
    shown = []
    for k in nonzero[np.argsort(-size[nonzero], kind="stable")][:top].tolist():
        key = external(model, int(ids[k]))
        row = {"feature": key, measure(model): _numbers(model, weight[k])}
        if weight.ndim > 1:
            row["sum"] = float(size[k])
        elif variance is not None:
            row["variance"] = float(variance[k])
        if key in names:
            row["name"] = names[key]
        shown.append(row)
    return shown


def details(model: Model, class_: int | None) -> dict[str, Any]:
    """What the algorithm shows besides, if anything."""
    state = model.described(class_)
    if isinstance(model.algorithm, Describes) and state is not None:
        return model.algorithm.details(state)
    return {}


def write_weights(model: Model, path: Path, sources: list[Path], class_: int | None = None) -> None:
    """Id, weight and variance of every weight that is not zero, tab-separated, as exact as they
    are; a line `intercept` where the model has one. Of several classes, unless one is chosen: the
    ids and a column of weights for each class, under a line with the labels. `sources` are the
    files that were read."""
    if not isinstance(model.algorithm, Linear):
        shown = "; inspect shows importances" if isinstance(model.algorithm, Ranks) else ""
        raise UsageError(
            f"{model.algorithm.name} is not a linear model and has no weights",
            f"leave out `weights`{shown}",
        )
    weights = model.weights()
    if class_ is not None:
        weights = of_class(weights, class_)
    text = _one_class(model, weights) if weights.weight.ndim == 1 else _each(model, weights)
    with nullcontext(sys.stdout) if str(path) == "-" else complete_text(path, sources) as out:
        out.writelines(text)


def _one_class(model: Model, weights: Weights) -> Iterator[str]:
    """Lines of weight and variance."""
    ids, weight, variance, intercept = weights
    spread = np.broadcast_to(np.nan, weight.shape) if variance is None else variance
    nonzero = np.flatnonzero(weight)
    for start in range(0, len(nonzero), AT_ONCE):
        at = nonzero[start : start + AT_ONCE]
        yield _lines(model, ids[at], np.stack([weight[at], spread[at]], axis=1))
    if intercept:
        yield f"intercept\t{intercept!r}\tnan\n"


def _each(model: Model, weights: Weights) -> Iterator[str]:
    """Lines of the weights of all classes, under their labels."""
    classes = _by_label(model)
    order = np.array(list(classes.values()), dtype=np.int64)
    yield "\t".join(["feature", *classes]) + "\n"
    nonzero, step = np.flatnonzero(weights.weight.any(axis=1)), max(1, AT_ONCE // len(order))
    for start in range(0, len(nonzero), step):
        at = nonzero[start : start + step]
        yield _lines(model, weights.ids[at], weights.weight[np.ix_(at, order)])
    intercept = np.asarray(weights.intercept)
    if intercept.any():
        yield "\t".join(["intercept", *map(repr, intercept[order].tolist())]) + "\n"


def _lines(model: Model, ids: Ints, values: Floats) -> str:
    """A line for each feature, the bias among them, wherever it is."""
    keys = ids.astype(np.int64)[:, None] + (not model.reading.zero_based)
    bias = np.flatnonzero(ids == BIAS)
    if not len(bias):
        return lines(keys, values, b"", b"\t", b"\t", b"\n")
    own = "\t".join(["bias", *map(repr, values[bias[0]].tolist())]) + "\n"
    before, after = (
        _lines(model, ids[some], values[some])
        for some in (slice(bias[0]), slice(bias[0] + 1, None))
    )
    return before + own + after
