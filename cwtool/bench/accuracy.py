"""Tasks that train on the training rows and measure the model."""

from __future__ import annotations

from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import memory, registry
from cwtool.bench import others
from cwtool.bench.classes import metrics, n_classes, numbers
from cwtool.data.labels import Labels
from cwtool.data.rows import Ints, Rows
from cwtool.metrics.stability import density_shares
from cwtool.metrics.tally import ratio
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.params import declared
from cwtool.run import Run
from cwtool.validation import cross_validate, evaluate, fit, held_bytes

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell

Result = dict[str, Any]
DENSITY = {"density": "density_up_to", "share": "share", "features": "features"}


# parameters of cells that need not be declared by an algorithm
OF_MODEL = ("class_weight", "threshold")
OTHER_PARAMS = (*OF_MODEL, "multiclass", "features")


def new_model(cell: Cell, rows: Rows) -> Model:
    """An untrained model for the classes of these rows, with the parameters of the cell; the task
    `select` has `features` also for algorithms that only rank."""
    own = {p.name for p in declared(registry.algorithm(cell.algo).Params)}
    given = {k: v for k, v in cell.params.items() if k in own or k not in OTHER_PARAMS}
    several = numbers(n_classes(rows)) if n_classes(rows) > 2 else None
    labels = Labels(multiclass=cell.params.get("multiclass", "auto"), several=several)
    more = {k: v for k, v in cell.params.items() if k in OF_MODEL}
    return Model.new(cell.algo, given, labels=labels, **more)


def trained(cell: Cell, rows: Rows, passes: int = 1) -> tuple[Model, float]:
    """A model that has learned the rows in a random order, and the CPU seconds that it took."""
    mixed, model = rows.take(permutation(rows.n_rows, cell.seed)), new_model(cell, rows)
    started = process_time()
    held = rows.nbytes + held_bytes(rows, copied=passes > 1)
    left = memory.beside(held, memory.beside_workers())
    fit(model, mixed, Run(cell.seed, max_memory=left, calibrate=False), passes)
    return model, process_time() - started


def validation(
    cell: Cell, folds: int, shuffled: bool = True, passes: int = 1, max_memory: int = 0
) -> Result:
    """The metrics on each fold of the training rows; test rows are never read."""
    rows = cell.source.training(cell.seed)
    left = memory.beside(held_bytes(rows, copied=True), memory.beside_workers(max_memory))
    run = Run(cell.seed, max_memory=left, calibrate=False)
    if cell.algo in others.PROGRAMS:
        return others.validation(cell, rows, folds, passes)
    made = partial(new_model, cell, rows)
    return dict(cross_validate(made, rows, folds, run, passes=passes, shuffled=shuffled))


def test(cell: Cell, passes: int = 1, support: bool = False) -> Result:
    """Learn the training rows in a random order and measure on the test rows."""
    train, test = cell.source.both(cell.seed)
    if cell.algo in others.PROGRAMS:
        return others.test(cell, train, test, passes)
    model, seconds = trained(cell, train, passes)
    used, width = used_ids(model), n_features(train, test)
    return {
        **metrics(evaluate(model, test)),
        "seconds": seconds,
        "nonzero": len(used),
        "share": ratio(len(used), width),
        "sparsity": 1 - len(used) / max(width, 1),
        "features": width,
        **({"support": used.tolist()} if support else {}),
    }


def used_ids(model: Model) -> Ints:
    """The features with a weight that is not zero, in any class."""
    ids, weight, *_ = model.weights()
    used: Ints = ids[weight.reshape(len(ids), -1).any(axis=1)]
    return used


def n_features(*parts: Rows) -> int:
    """The number of features as the papers count them: all ids up to the largest one."""
    return 1 + max(int(rows.indices.max(initial=-1)) for rows in parts)


def selection(cell: Cell, rank: str = "weight", refit_C: float = 1.0) -> Result:
    """Select `features` features, and measure the error of their weights and of a support vector
    machine that is fitted to them."""
    from cwtool.select.choosing import ranked
    from cwtool.select.judging import Judge

    train, test = cell.source.both(cell.seed)
    model, seconds = trained(cell, train)
    found = ranked(model, rank).first(cell.params["features"])
    judge = Judge(train, test, Run(cell.seed, calibrate=False), refit_C)
    return {
        "error": judge.weights(found)["error"],
        "refit_error": judge.refit(found)["error"],
        "seconds": seconds,
        "features": len(found.ids),
        "support": np.sort(found.ids).tolist(),
    }


def density(cell: Cell, passes: int = 1) -> Result:
    """The share of the features that have a weight, by how often they occur."""
    train = cell.source.training(cell.seed)
    model, _ = trained(cell, train, passes)
    used = used_ids(model)
    known, nnz = np.unique(train.indices, return_counts=True)
    levels = density_shares(used, known, nnz.astype(np.int64), train.n_rows)
    curve = {name: [level[key] for level in levels] for name, key in DENSITY.items()}
    return {"curve": curve, "nonzero": len(used)}
