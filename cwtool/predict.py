"""Prediction: a model turns rows into labels, scores, variances and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import numpy as np

from cwtool.ahead import ahead
from cwtool.algorithms.base import Recalls
from cwtool.data.parse import Block
from cwtool.data.pipeline import ReadOptions, read_worked
from cwtool.data.reports import ReadReport
from cwtool.data.rows import Floats, Ints, Rows
from cwtool.messages.notices import noticed
from cwtool.metrics.confusion import label_order, predicted
from cwtool.metrics.ranking import Ranking
from cwtool.metrics.tally import ratio
from cwtool.model import Model
from cwtool.model.learning_checks import check_scoring
from cwtool.model.results import Prediction
from cwtool.run import Run

MOST_SCORES = 1 << 16  # of several classes that are computed at once
MOST_ROWS = 1 << 31
COLUMNS = ("label", "score", "variance", "probability", "file", "line")
BY_CLASS = ("score", "probability")  # with several classes: one column per class


def predict(
    model: Model,
    paths: list[str],
    options: ReadOptions,
    columns: tuple[str, ...],
    write: Callable[[dict[str, list[Any]]], None] | None,
    *,
    evaluate: bool,
    report: ReadReport | None = None,
    watch: Callable[[Rows, Floats], None] | None = None,
    ranking: Ranking | None = None,
) -> dict[str, Any]:
    """Pass the requested columns of each block to `write`, and the labelled rows with their scores
    to `watch` and, with two classes, to `ranking`. Returns the counts."""
    report = ReadReport() if report is None else report
    ranking = ranking or Ranking()
    ranking.most = left_to_score(model, options)
    judged = Evaluation(model, watch, ranking) if evaluate else None
    n_rows = nnz = unknown = 0
    wanted = evaluate or "probability" in columns
    for block, (score, variance, dropped) in scored(model, paths, options, report):
        rows = model.labels.encode(block, learning=False) if evaluate else unlabelled(block)
        n_rows += rows.n_rows
        nnz += rows.nnz
        unknown += dropped
        p = model.probability(score, variance) if wanted else score  # which is not used then
        if judged is not None:
            judged.add(rows, score, variance, p)
        if write is not None:
            write(_written(model, columns, score, variance, p, block))
        del block, rows  # so that the reader can use their memory again
    if n_rows == 0:
        raise report.nothing("predict")
    result: dict[str, Any] = {
        "rows": n_rows,
        "file": report.names,
        "digest": ", ".join(f.digest for f in report.files),
        "learned_before": learned_before(model, report),
        "unknown_entries": unknown,
        "unknown_share": ratio(unknown, nnz),
        "bad_lines": report.bad_lines,
        "qids": report.qids,
    }
    if judged is not None:
        result |= judged.summary() | {"rows": n_rows}  # rows of weight 0 are predicted as well
    return result


def learned_before(model: Model, report: ReadReport) -> list[str]:
    """The names of the files that the model has learned."""
    known = model.learned()
    return [f.name for f in report.files if known.keys() & set(f.digests)]


class Evaluation:
    """The metrics of predictions against the labels of the rows."""

    def __init__(
        self, model: Model, watch: Callable[[Rows, Floats], None] | None, ranking: Ranking
    ) -> None:
        self.model, self.watch = model, watch
        self.ranking = ranking if model.several is None else None
        self.tally, self.reliability = model.new_tally(finished=True), model.new_reliability()

    def add(self, rows: Rows, score: Floats, variance: Floats, p: Floats) -> None:
        """Count these rows, whose positive class has the probability p."""
        self.tally.add(rows.y, self.model.calling(score, variance), rows.weight)
        self.reliability.add(rows.y, p, rows.weight)
        if self.ranking is not None:
            self.ranking.add(rows.y, score, p, rows.weight)
        if self.watch is not None:
            self.watch(rows, score)

    def summary(self) -> dict[str, Any]:
        """The metrics by name, with notices about them."""
        model = self.model
        found = self.tally.summary() | self.reliability.summary()
        found["notice"] = noticed(model, self.tally)
        if self.ranking is not None:
            found |= {"auc_about": found["auc"]} | self.ranking.summary()
        if self.watch is not None:
            found["bins"] = self.reliability.bins()
        if model.several is None:
            found["positive"] = model.labels.name(1)
            if model.operating_point:
                found["threshold"] = model.threshold
        return found


def left_to_score(model: Model, options: ReadOptions) -> int:
    """What predicting leaves of `max_memory`, which is refused if it takes more; 0: no limit."""
    return check_scoring(model.algorithm, model.state, options.max_memory, options.jobs)


def scored(
    model: Model, paths: list[str], options: ReadOptions, report: ReadReport | None = None
) -> Iterator[tuple[Block, Prediction]]:
    """The blocks in their order, each with the prediction of its rows. Several blocks are predicted
    at a time, unless the algorithm compares rows with those that it keeps: it then uses all threads
    for one block. Blocks with so many scores that those of several blocks would take much memory
    come in parts."""
    left_to_score(model, options)
    at_once = 1 if isinstance(model.algorithm, Recalls) else options.jobs
    run, preparing = Run(jobs=options.jobs // at_once), Lock()
    prepared: list[bool] = []
    most = max(1, MOST_SCORES // len(model.labels.several)) if model.labels.several else MOST_ROWS

    def one(block: Block) -> Prediction:
        if prepared:
            return model.scores(unlabelled(block), run)
        with preparing:  # the first prediction prepares what the others use
            found = model.scores(unlabelled(block), run)
            prepared.append(True)
            return found

    def at_most(block: Block) -> Prediction | bool:
        return one(block) if at_once > 1 and block.n_rows <= most else False

    for block, found in read_worked(paths, at_most, options, report):
        if isinstance(found, Prediction):
            yield block, found
        else:
            yield from _by_parts(block, most, one, at_once)
        del block, found


def _by_parts(
    block: Block, most: int, predict: Callable[[Block], Prediction], jobs: int
) -> Iterator[tuple[Block, Prediction]]:
    """The block in parts of at most so many rows, with their predictions in `jobs` threads."""
    parts = (block.slice(k, min(k + most, block.n_rows)) for k in range(0, block.n_rows, most))
    yield from ahead(lambda part: (part, predict(part)), parts, jobs)


def unlabelled(block: Block) -> Rows:
    """The rows of a block whose labels do not matter; all have class 0."""
    y = np.zeros(block.n_rows, dtype=np.int32)
    return Rows(block.indptr, block.indices, block.values, y, block.weight)


def column_names(model: Model, columns: tuple[str, ...]) -> list[str]:
    """The names of the columns that are written. With several classes, scores and probabilities
    have one column per class, by ascending label: its name is the label if nothing else is written,
    and otherwise for example score_2."""
    names: list[str] = []
    for column in columns:
        if model.labels.several is None or column not in BY_CLASS:
            names.append(column)
            continue
        ascending = [model.labels.name(int(k)) for k in label_order(model.labels.several)]
        names += ascending if len(columns) == 1 else [f"{column}_{label}" for label in ascending]
    return names


def _written(
    model: Model, columns: tuple[str, ...], score: Floats, variance: Floats, p: Floats, block: Block
) -> dict[str, list[Any]]:
    """The values of the columns by name."""
    origin = block.origin
    make: dict[str, Callable[[], list[list[Any]]]] = {
        "label": lambda: [_labels(model, called(model, score, variance))],
        "score": lambda: _by_class(model, score),
        "variance": lambda: [variance.tolist()],
        "probability": lambda: _by_class(model, p),
        "file": lambda: [[origin.source] * block.n_rows],
        "line": lambda: [(origin.first_line + origin.lines).tolist()],
        "id": lambda: [_ids(block)],
    }
    values = [one for column in columns for one in make[column]()]
    return dict(zip(column_names(model, columns), values, strict=True))


def _ids(block: Block) -> list[str]:
    """The comment behind each row; its file and line where there is none."""
    comments = block.comments or [""] * block.n_rows
    return [text or block.origin.place(k) for k, text in enumerate(comments)]


def called(model: Model, score: Floats, variance: Floats) -> Ints:
    """The number of the predicted class of each row, by its score and the variance of the score."""
    score = model.calling(score, variance)
    if model.labels.several is None:
        return (score >= model.threshold).astype(np.int32)
    return predicted(model.labels.several, score)


def _labels(model: Model, classes: Ints) -> list[str]:
    """The labels of these class numbers."""
    names = np.array(model.labels.names, dtype=object)
    found: list[str] = names[classes].tolist()
    return found


def _by_class(model: Model, values: Floats) -> list[list[float]]:
    """One column, or with several classes one for each, by ascending label."""
    if model.labels.several is None:
        return [values.tolist()]
    found: list[list[float]] = values.T[label_order(model.labels.several)].tolist()
    return found
