"""Prediction: a model turns blocks into labels, scores, variances and probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cwtool.data import Block, ReadOptions, read_blocks
from cwtool.data.block import Floats
from cwtool.data.pipeline import ReadReport
from cwtool.errors import DataError
from cwtool.metrics import Reliability, Tally, probability, ratio
from cwtool.model import Model

COLUMNS = ("label", "score", "variance", "probability")


def predict(
    model: Model,
    paths: list[str],
    options: ReadOptions,
    columns: tuple[str, ...],
    write: Callable[[dict[str, list[Any]]], None] | None,
    *,
    evaluate: bool,
) -> dict[str, Any]:
    """Pass the asked columns of each block to `write`; returns what was counted on the way."""
    report = ReadReport()
    tally, reliability = Tally(), Reliability()
    n_rows = nnz = unknown = 0
    for block in read_blocks(paths, options, report):
        y = _encoded(model, block) if evaluate else None
        n_rows += block.n_rows
        nnz += block.nnz
        (score, variance), dropped = model.scores(block)
        unknown += dropped
        block.release()
        p = probability(model.slope, score, variance)
        if y is not None:
            tally.add(y, score)
            reliability.add(y, p)
        if write is not None:
            write(_rows(model, columns, score, variance, p))
    if n_rows == 0:
        raise DataError(f"{report.names}: no rows to predict")
    known = model.learned()
    result: dict[str, Any] = {
        "rows": n_rows,
        "learned_before": [f.name for f in report.files if f.digest in known],
        "unknown_entries": unknown,
        "unknown_share": ratio(unknown, nnz),
        "bad_lines": report.bad_lines,
        "qids": report.qids,
    }
    if evaluate:
        result |= tally.summary() | reliability.summary() | {"positive": model.labels.name(1)}
    return result


def _encoded(model: Model, block: Block) -> Floats:
    model.labels.encode(block)
    return block.y


def _rows(
    model: Model, columns: tuple[str, ...], score: Floats, variance: Floats, p: Floats
) -> dict[str, list[Any]]:
    names = (model.labels.name(-1), model.labels.name(1))
    make: dict[str, Callable[[], list[Any]]] = {
        "label": lambda: [names[s] for s in (score >= 0).tolist()],
        "score": score.tolist,
        "variance": variance.tolist,
        "probability": p.tolist,
    }
    return {name: make[name]() for name in columns}
