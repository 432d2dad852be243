"""Two classes or several: what of the rows, scores and metrics depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cwtool.data.rows import Floats, Ints, Rows
from cwtool.metrics.confusion import Confusion, predicted
from cwtool.metrics.tally import AnyTally, Tally, ratio
from cwtool.validation import CLASS_METRICS, METRICS


def n_classes(rows: Rows) -> int:
    """The number of classes of training rows; of rows with one label it is two."""
    return max(2, 1 + int(rows.y.max(initial=0)))


def numbers(classes: int) -> list[float]:
    """The class numbers as labels."""
    return [float(k) for k in range(classes)]


def called(score: Floats) -> Ints:
    """The classes that scores stand for; several classes have a column each."""
    if score.ndim == 1:
        return (score >= 0).astype(np.int32)
    return predicted(numbers(score.shape[1]), score)


def metrics(found: dict[str, Any]) -> dict[str, Any]:
    """Those metrics of a summary that suites compare, and the balanced error of two classes:
    (fn / P + fp / N) / 2."""
    if "macro_f1" in found:
        return {name: found[name] for name in CLASS_METRICS}
    confusion = found.get("weighted_confusion", found["confusion"])
    tp, fp, tn, fn = (confusion[name] for name in ("tp", "fp", "tn", "fn"))
    missed, alarms = ratio(fn, tp + fn), ratio(fp, tn + fp)
    balanced = None if missed is None or alarms is None else (missed + alarms) / 2
    return {**{name: found[name] for name in METRICS}, "balanced_error": balanced}


def metrics_of(y: Ints, answers: Ints, classes: int) -> dict[str, Any]:
    """The metrics of predicted classes, which have no AUC."""
    tally: AnyTally = Confusion(numbers(classes)) if classes > 2 else Tally()
    tally.add(y, np.eye(classes)[answers] if classes > 2 else answers.astype(np.float64) - 0.5)
    return {name: value for name, value in metrics(tally.summary()).items() if name != "auc"}
