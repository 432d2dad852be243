"""Thresholds that `predict` finds from rows: exact ones from labelled rows, and the K highest
scores of the rows to predict."""

from __future__ import annotations

import numpy as np

from cwtool.data.pipeline import ReadOptions
from cwtool.data.reports import ReadReport
from cwtool.errors import DataError, UsageError
from cwtool.messages.metrics_text import number
from cwtool.metrics.ranking import Ranking, cells
from cwtool.metrics.tally import ratio
from cwtool.metrics.threshold import OperatingPoint
from cwtool.model import Model
from cwtool.predict import left_to_score, scored


def from_validation(
    model: Model, paths: list[str], options: ReadOptions, report: ReadReport
) -> tuple[OperatingPoint, str]:
    """The threshold of the operating point of the model on labelled rows, as a number, and a
    sentence with its rates on these rows."""
    _check_two(model)
    ranking = Ranking()
    ranking.most = left_to_score(model, options)
    for block, (score, variance, _) in scored(model, paths, options, report):
        rows = model.labels.encode(block, learning=False)
        ranking.add(rows.y, score, model.probability(score, variance), rows.weight)
    hit, score, _, weight = ranking.columns()
    if not 0 < hit.sum() < len(hit):
        raise DataError("the rows to find the threshold on are of one class")
    threshold = model.operating_point.exact(*cells(hit, score, weight))
    called = score >= threshold
    recall = ratio(float(weight[hit & called].sum()), float(weight[hit].sum()))
    false = ratio(float(weight[~hit & called].sum()), float(weight[~hit].sum()))
    return OperatingPoint(repr(threshold)), (
        f"the threshold of {model.operating_point.setting} is {threshold:.6g}; on the rows of "
        f"{report.names} the recall is {number(recall)} and the false positive rate "
        f"{number(false, 5)}"
    )


def expected(model: Model) -> str:
    """A sentence with the threshold of the operating point, and its rates on the training rows
    before they were learned."""
    threshold = model.threshold
    (tn, fp), (fn, tp) = model.judged.at(threshold).measured[1].tolist()
    return (
        f"the threshold of {model.operating_point.setting} is {threshold:.6g}; by the scores of "
        f"training rows before they were learned, the recall is about {number(ratio(tp, tp + fn))} "
        f"and the false positive rate about {number(ratio(fp, fp + tn), 5)}"
    )


def highest(model: Model, k: int, paths: list[str], options: ReadOptions) -> OperatingPoint:
    """The score of the row with the k-th highest score, as a threshold."""
    _check_two(model)
    best = np.empty(0)
    for _, found in scored(model, paths, options):
        best = np.sort(np.concatenate([best, found.score]))[-k:]
    return OperatingPoint(repr(float(best[0])) if len(best) else "")


def _check_two(model: Model) -> None:
    if model.several is not None:
        raise UsageError("operating points are for two classes; this model has more")
