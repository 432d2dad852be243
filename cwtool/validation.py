"""Training on rows in memory, cross-validation, and the points of a grid of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cwtool import memory
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions, read_joined
from cwtool.data.rows import Ints, Longs, Origin, Rows
from cwtool.data.sources import display
from cwtool.errors import DataError
from cwtool.metrics.tally import AnyTally, Tally
from cwtool.model import Model
from cwtool.model.results import Prediction
from cwtool.order import permutation
from cwtool.run import Run

if TYPE_CHECKING:
    from cwtool.model.fold_models import FoldModels
    from cwtool.model.model_group import ModelGroup

METRICS = ("error", "auc", "f1")  # of two classes
CLASS_METRICS = ("error", "macro_f1", "balanced_error")  # of several
LOWER_IS_BETTER = ("error", "balanced_error", "log_loss")
BLOCK = 1 << 20  # entries of rows that are learned or predicted at once

Point = dict[str, Any]  # parameters by name
Judged = dict[str, list[float | None]]  # metric -> its value on each fold
L = TypeVar("L", "Model", "ModelGroup")


def read(paths: Sequence[str], labels: Labels, options: ReadOptions) -> Rows:
    """All rows of these files in memory; they must have two classes."""
    rows = read_joined(paths, labels, options)
    check_classes(paths, labels)
    return rows


def check_classes(paths: Sequence[str], labels: Labels) -> None:
    """Refuse data, once all of it was read, whose rows have the same label."""
    if not labels.complete:
        names = ", ".join(map(display, paths))
        if all(label is None for label in labels.values):
            raise DataError(f"{names}: no rows")
        raise DataError(f"{names}: all rows have one label; two classes are needed")


def fit(
    model: L, rows: Rows, run: Run | None = None, passes: int = 1, numbers: Longs | None = None
) -> L:
    """Train the model, or models side by side, on rows in memory, all or those with these numbers:
    in their order in the first pass, in random orders in the others. Algorithms that learn batches
    learn each of them once, whatever `passes` says."""
    run = run or Run()
    if numbers is not None and (passes > 1 or model.batch is not None):
        rows, numbers = rows.take(numbers), None
    alone = model if isinstance(model, Model) and passes > 1 and run.calibrate else None
    before = alone.copy() if alone is not None else None
    found = [model.learn(part, run).weight for part in _portions(model, rows, numbers, run)]
    if passes > 1 and model.batch is None:
        weights = [weight for weight in found if weight is not None]
        known = rows.weighing(np.concatenate(weights) if weights else None)
        fold_models = _fold_models(before, alone, rows, run) if before and alone else None
        for pass_ in range(2, passes + 1):
            model.relearn(known, permutation(known.n_rows, run.seed, pass_), run)
            if fold_models:
                fold_models.another_pass(pass_)
        if fold_models and alone:
            fold_models.calibrate(alone)
    return model


def _portions(
    model: Model | ModelGroup, rows: Rows, numbers: Longs | None, run: Run
) -> Iterator[Rows]:
    """The rows in the portions in which they are learned: whole batches, or blocks."""
    if isinstance(model, Model) and model.batch is not None:
        origin = Origin("the training rows", 0, 1, rows.order.astype(np.int32))
        return (portion for portion, _ in model.portions(iter([(rows, origin)]), run))
    return _blocks(rows, numbers)


def _blocks(rows: Rows, numbers: Longs | None) -> Iterator[Rows]:
    """All rows, or those with these numbers, in blocks. Rows with numbers are copied no sooner than
    they are needed."""
    n_rows = rows.n_rows if numbers is None else len(numbers)
    step = max(1, BLOCK * rows.n_rows // max(1, rows.nnz))
    for start in range(0, max(1, n_rows), step):
        stop = min(start + step, n_rows)
        yield rows.slice(start, stop) if numbers is None else rows.take(numbers[start:stop])


def held_bytes(rows: Rows, *, copied: bool, models: int = 1) -> int:
    """What judging models by folds of these rows holds besides the models: the rows and the numbers
    of those of each fold, and for each thread copies of a block, or of all rows of a fold if these
    are `copied`, with the scores and the counts of so many `models` side by side."""
    share = 1.0 if copied else min(1.0, BLOCK / max(1, rows.nnz))
    again = int(share * (rows.nbytes + (32 + 32 * models) * rows.n_rows))
    counts = memory.bytes_of_counts(models, rows.n_rows)
    return rows.nbytes + 56 * rows.n_rows + memory.BOUNDS.threads * (again + counts)


def _fold_models(before: Model, model: Model, rows: Rows, run: Run) -> FoldModels:
    from cwtool.model.fold_models import fold_models_of

    before.labels = model.labels
    return fold_models_of(before, [rows], rows.weight, rows.n_rows, run)


def evaluate(model: Model, rows: Rows, numbers: Longs | None = None) -> dict[str, Any]:
    """All metrics of the model on these rows, all or those with these numbers."""
    blocks = _blocks(rows, numbers)
    if model.batch is not None:  # which may compare all rows with one another
        blocks = iter([rows if numbers is None else rows.take(numbers)])
    model.calibrate()
    return _metrics([model], ((block, [model.scores(block)]) for block in blocks))[0]


def evaluate_all(
    models: ModelGroup, rows: Rows, numbers: Longs | None = None
) -> list[dict[str, Any]]:
    """All metrics of each of these models on these rows, all or those with these numbers."""
    models.calibrate()
    blocks = _blocks(rows, numbers)
    return _metrics(models.models, ((block, models.scores(block)) for block in blocks))


def _metrics(
    models: Sequence[Model], predicted: Iterable[tuple[Rows, list[Prediction]]]
) -> list[dict[str, Any]]:
    """The metrics of each model, from its predictions for these blocks of rows."""
    counts = [(model.new_tally(finished=True), model.new_reliability()) for model in models]
    for rows, found in predicted:
        for model, (tally, reliability), one in zip(models, counts, found, strict=True):
            tally.add(rows.y, model.calling(one.score, one.variance), rows.weight)
            reliability.add(rows.y, model.probability(one.score, one.variance), rows.weight)
    losses = [{"log_loss": reliability.summary()["log_loss"]} for _, reliability in counts]
    return [counted_metrics(tally) | loss for (tally, _), loss in zip(counts, losses, strict=True)]


def counted_metrics(tally: AnyTally) -> dict[str, Any]:
    """The metrics of these counts, for two classes with the balanced error."""
    found = tally.summary()
    return found | ({"balanced_error": tally.balanced_error} if isinstance(tally, Tally) else {})


def folds(y: Ints, n: int, seed: int = 0) -> Iterator[tuple[Longs, Longs]]:
    """n times: the numbers of the rows to learn and of the rows to check, both ascending, by
    `fold_of_rows`."""
    fold = fold_of_rows(y, n, seed)
    for k in range(n):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def fold_of_rows(y: Ints, n: int, seed: int = 0) -> Ints:
    """The number of the fold in which each row is checked; in all others it is learned. Each fold
    has the same share of every class. The folds depend on the classes y and the seed alone. Of
    several classes, some may have fewer than n rows."""
    classes = np.maximum(y, 0)  # -1 has no class: a row of weight 0
    counts = np.bincount(classes, minlength=2)
    needed = int(counts.min() if len(counts) == 2 else counts.sum())
    if needed < n:
        raise DataError(f"{n} folds need {n} rows of each class; one class has {needed}")
    mixed = permutation(len(y), seed)
    spread = mixed[np.argsort(classes[mixed], kind="stable")]
    fold = np.empty(len(y), dtype=np.int32)
    fold[spread] = np.arange(len(y)) % n
    return fold


def time_fold_of_rows(n_rows: int, n: int) -> Ints:
    """The same in the order of time: the rows are cut into n + 1 parts of equal size, and each part
    but the first, which has the number -1, is checked by what was learned from all parts before
    it."""
    cuts = np.linspace(0, n_rows, n + 2).astype(np.int64)
    if n_rows < 2 * (n + 1):
        raise DataError(f"{n} folds by time need {2 * (n + 1)} rows; there are {n_rows}")
    return np.repeat(np.arange(-1, n, dtype=np.int32), np.diff(cuts))


def cross_validate(
    new_model: Callable[[], Model],
    rows: Rows,
    n: int,
    run: Run,
    *,
    passes: int = 1,
    shuffled: bool = True,
) -> Judged:
    """The metrics on each of n folds of a model that has learned the other folds. Rows are learned
    in a random order, or in their own order unless `shuffled`."""
    found = []
    for learned, checked in folds(rows.y, n, run.seed):
        order = learned[permutation(len(learned), run.seed, 0)] if shuffled else learned
        model = fit(new_model(), rows.take(order), run, passes)
        found.append(evaluate(model, rows.take(checked)))
    return gathered(found)


def gathered(found: Sequence[dict[str, Any]]) -> Judged:
    """The metrics by name, from those of each fold."""
    names = (*METRICS, "balanced_error") if "auc" in found[0] else CLASS_METRICS
    return {name: [one[name] for one in found] for name in (*names, "log_loss")}


def points(grid: dict[str, list[Any]]) -> list[Point]:
    """All combinations of the values of a grid, the last name changing fastest."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def ranked(candidates: Sequence[tuple[Point, Judged]], metric: str = "error") -> list[Point]:
    """The points by their mean over the folds, the best first and equal ones in their order.
    Points that have no value on some fold are left out."""
    sign = 1 if metric in LOWER_IS_BETTER else -1
    means = []
    for point, judged in candidates:
        values = judged.get(metric, [])
        known = [value for value in values if value is not None]
        if values and len(known) == len(values):
            means.append((sign * float(np.mean(known)), point))
    return [point for _, point in sorted(means, key=lambda pair: pair[0])]


def best(candidates: Sequence[tuple[Point, Judged]], metric: str = "error") -> Point | None:
    """The first of `ranked`; None if it is empty."""
    return next(iter(ranked(candidates, metric)), None)


def summary(judged: Judged) -> dict[str, float | None]:
    """Mean and standard deviation over the folds; None where a fold has no value."""
    found: dict[str, float | None] = {}
    for name in judged or METRICS:
        values = [value for value in judged.get(name, [None]) if value is not None]
        known = len(values) == len(judged.get(name, [None]))
        found[name] = float(np.mean(values)) if known else None
        several = known and len(values) > 1
        found[f"{name}_sd"] = float(np.std(values, ddof=1)) if several else None
    return found
