"""Tasks that train on the training rows and measure the model."""

from __future__ import annotations

from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import registry
from cwtool.data.rows import Rows
from cwtool.metrics import density_shares, ratio
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.params import declared
from cwtool.run import Run
from cwtool.validation import cross_validate, evaluate, fit

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell

Result = dict[str, Any]
DENSITY = {"density": "density_up_to", "share": "share", "features": "features"}


def new_model(cell: Cell) -> Model:
    """An untrained model of the algorithm with those parameters of the cell that it has; the task
    `select` has `features` also for algorithms that only rank."""
    own = {p.name for p in declared(registry.algorithm(cell.algo).Params)}
    given = {k: v for k, v in cell.params.items() if k in own or k != "features"}
    return Model.new(cell.algo, given)


def trained(cell: Cell, rows: Rows, passes: int = 1) -> tuple[Model, float]:
    """A model that has learned the rows in a random order, and the CPU seconds that it took."""
    mixed, model = rows.take(permutation(rows.n_rows, cell.seed)), new_model(cell)
    started = process_time()
    fit(model, mixed, Run(cell.seed), passes)
    return model, process_time() - started


def validation(
    cell: Cell, folds: int, shuffled: bool = True, passes: int = 1, max_memory: int = 0
) -> Result:
    """Error, AUC and F1 on each fold of the training rows; test rows are never read."""
    rows, run = cell.source.training(cell.seed), Run(cell.seed, max_memory=max_memory)
    made = partial(new_model, cell)
    return dict(cross_validate(made, rows, folds, run, passes=passes, shuffled=shuffled))


def test(cell: Cell, passes: int = 1, support: bool = False) -> Result:
    """Learn the training rows in a random order and measure on the test rows."""
    train, test = cell.source.both(cell.seed)
    model, seconds = trained(cell, train, passes)
    found = evaluate(model, test)
    ids, weight, *_ = model.weights()
    used = ids[weight != 0]
    width = n_features(train, test)
    return {
        **{name: found[name] for name in ("error", "auc", "f1")},
        "seconds": seconds,
        "nonzero": len(used),
        "share": ratio(len(used), width),
        "sparsity": 1 - len(used) / max(width, 1),
        "features": width,
        **({"support": used.tolist()} if support else {}),
    }


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
    judge = Judge(train, test, Run(cell.seed), refit_C)
    return {
        "error": judge.test_error(found),
        "refit_error": judge.refit_error(found),
        "seconds": seconds,
        "features": len(found.ids),
        "support": np.sort(found.ids).tolist(),
    }


def density(cell: Cell, passes: int = 1) -> Result:
    """The share of the features that have a weight, by how often they occur."""
    train = cell.source.training(cell.seed)
    model, _ = trained(cell, train, passes)
    ids, weight, *_ = model.weights()
    known, nnz = np.unique(train.indices, return_counts=True)
    levels = density_shares(ids[weight != 0], known, nnz.astype(np.int64), train.n_rows)
    curve = {name: [level[key] for level in levels] for name, key in DENSITY.items()}
    return {"curve": curve, "nonzero": int(np.count_nonzero(weight))}
