"""The classes of an estimator, which can be anything, as the numbers that are labels of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cwtool.errors import ModelError, UsageError

if TYPE_CHECKING:
    from cwtool.data.labels import Labels

MODES = ("auto", "rival", "ovr")
MOST_LETTERS = 1 << 24  # of the names of classes, each of which takes the room of the longest


def numbers(classes: NDArray[Any]) -> NDArray[np.float64]:
    """The label of each class: the class itself if all of them are numbers, or else 0, 1, ..."""
    if classes.dtype.kind in "biuf":
        found: NDArray[np.float64] = classes.astype(np.float64)
        if len(np.unique(found)) == len(classes):
            return found
    return np.arange(len(classes), dtype=np.float64)


def labels(numbers: NDArray[np.float64], multi_class: str) -> Labels:
    """The labels of a new model."""
    from cwtool.data.labels import Labels

    if multi_class not in MODES:
        raise UsageError(f"`multi_class` is {multi_class!r}; it must be one of {', '.join(MODES)}")
    if len(numbers) > 2 or multi_class != "auto":
        return Labels(multiclass=multi_class, several=[])
    return Labels(*numbers.tolist())


def weights(setting: Any, classes: NDArray[Any], numbers: NDArray[np.float64]) -> str:
    """The class weights as a model takes them: balanced, or LABEL=WEIGHT,LABEL=WEIGHT."""
    if setting is None or isinstance(setting, str):
        return setting or ""
    if not isinstance(setting, Mapping):
        raise UsageError(
            f"`class_weight` is {setting!r}; it must be None, 'balanced' or a dict of classes "
            "and weights"
        )
    known = dict(zip(classes.tolist(), numbers.tolist(), strict=True))
    if unmet := [c for c in setting if c not in known]:
        from warnings import warn

        warn(f"no row has the class {unmet[0]!r}, which `class_weight` names", stacklevel=6)
    pairs = [(known[c], float(w)) for c, w in setting.items() if c in known]
    return ",".join(f"{label!r}={weight!r}" for label, weight in pairs)


def packed(classes: NDArray[Any]) -> dict[str, Any]:
    """What a model file keeps of classes: text, and whole numbers and truth values as such."""
    if classes.dtype.kind in "biu":
        return {"classes": classes.dtype.kind}
    if classes.dtype.kind == "f":
        return {}
    return {"classes": [str(c) for c in classes]}


def unpacked(labels: Labels, kept: list[str] | str | None) -> NDArray[Any]:
    """The classes of a model; numbers ascend, and names are in the order of their labels."""
    values = np.unique([label for label in labels.values if label is not None])
    if kept is None or not values.size:
        return values
    if isinstance(kept, str):
        kind: Any = {"b": np.bool_, "u": np.uint64}.get(kept, np.int64)
        return values.astype(kind) if (values == values.astype(kind)).all() else values
    if not set(values.tolist()) <= set(range(len(kept))):
        raise ModelError(
            "the model has learned labels that are none of the classes of its estimator",
            "train it with the numbers of the classes: 0 is the first of them",
        )
    if len(kept) * max(map(len, kept)) > MOST_LETTERS:
        raise ModelError("the model has too many and too long names of classes")
    return np.array(kept)
