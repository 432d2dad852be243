"""Prediction: a model turns rows into labels, scores, variances and probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cwtool.calibration import Reliability, probability
from cwtool.data.parse import Block
from cwtool.data.pipeline import ReadOptions, ReadReport, read_blocks
from cwtool.data.rows import Floats, Rows
from cwtool.errors import DataError
from cwtool.metrics import Tally, ratio
from cwtool.model import Model
from cwtool.run import Run

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
    run = Run(jobs=options.jobs)
    n_rows = nnz = unknown = 0
    for block in read_blocks(paths, options, report):
        rows = model.labels.encode(block) if evaluate else unlabelled(block)
        n_rows += rows.n_rows
        nnz += rows.nnz
        score, variance, dropped = model.scores(rows, run)
        unknown += dropped
        p = probability(model.slope, score, variance)
        if evaluate:
            tally.add(rows.y, score, rows.weight)
            reliability.add(rows.y, p, rows.weight)
        del block, rows  # so that the reader can use their memory again
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
        found = tally.summary() | reliability.summary() | {"positive": model.labels.name(1)}
        result |= found | {"rows": n_rows}  # rows of weight 0 are predicted as well
    return result


def unlabelled(block: Block) -> Rows:
    """The rows of a block whose labels do not matter; all have class 0."""
    y = np.zeros(block.n_rows, dtype=np.int32)
    return Rows(block.indptr, block.indices, block.values, y, block.weight)


def _rows(
    model: Model, columns: tuple[str, ...], score: Floats, variance: Floats, p: Floats
) -> dict[str, list[Any]]:
    names = (model.labels.name(0), model.labels.name(1))
    make: dict[str, Callable[[], list[Any]]] = {
        "label": lambda: [names[s] for s in (score >= 0).tolist()],
        "score": score.tolist,
        "variance": variance.tolist,
        "probability": p.tolist,
    }
    return {name: make[name]() for name in columns}
