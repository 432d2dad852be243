"""What can be measured: a task turns a cell into a result, numbers by name and curves.

A suite names the task; to add one, write a function and name it in TASKS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import registry
from cwtool.bench.fit import cross_validate, evaluate, fit
from cwtool.data import Block, Reading
from cwtool.data.block import Longs
from cwtool.metrics import ratio
from cwtool.model import Model
from cwtool.order import chosen, permutation
from cwtool.params import declared

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell

Result = dict[str, Any]


def validation(cell: Cell, folds: int, passes: int = 1, shuffled: bool = True) -> Result:
    """Error, AUC and F1 on each fold of the training rows; test rows are never read."""
    rows = cell.source.training(cell.seed)
    how: dict[str, Any] = {"seed": cell.seed, "passes": passes, "shuffled": shuffled}
    return cross_validate(cell.algo, cell.params, rows, folds, **how)


def test(cell: Cell, passes: int = 1, support: bool = False) -> Result:
    """Learn the training rows in a random order, measure on the test rows."""
    train, test = cell.source.both(cell.seed)
    order = permutation(train.n_rows, cell.seed)
    model, seconds = fit(cell.algo, cell.params, train, order, seed=cell.seed, passes=passes)
    found = evaluate(model, test)
    ids, weight, _ = model.weights()
    used = ids[weight != 0]
    width = 1 + max(int(block.indices.max(initial=-1)) for block in (train, test))
    return {
        **{name: found[name] for name in ("error", "auc", "f1")},
        "seconds": seconds,
        "nonzero": len(used),
        "share": ratio(len(used), width),
        "features": width,
        **({"support": used.tolist()} if support else {}),
    }


def online(cell: Cell, timed: bool = False, points: int = 20) -> Result:
    """One pass over all rows, each predicted before it is learned: in a random order or, of a
    feed, a random half of the rows in their order."""
    rows = cell.source.everything(cell.seed)
    order = visiting_order(rows, cell.seed, timed)
    model = Model.new(cell.algo, cell.params, Reading())
    block = rows.take(order)
    started = process_time()
    model.state.features.observe(block)
    scores = [
        model.algorithm.learn(part, model.state, part.order).score
        for part in model.scale.split(block)
    ]
    seconds = process_time() - started
    wrong = (np.concatenate(scores) >= 0) != (block.y > 0)
    mistakes = np.cumsum(wrong)
    at = np.unique(np.linspace(0, len(wrong), points + 1).astype(int)[1:])
    held = sum(array.nbytes for name, array in model.state.pack().items() if name != "ids")
    return {
        "error": float(wrong.mean()),
        "mistakes": int(mistakes[-1]),
        "seconds": seconds,
        "kilobytes": held / 1e3,
        "rows": len(wrong),
        "features": len(np.unique(block.indices)),
        "curve": {
            "rows": at.tolist(),
            "mistakes": mistakes[at - 1].tolist(),
            "error": (mistakes[at - 1] / at).tolist(),
        },
    }


def visiting_order(rows: Block, seed: int, timed: bool) -> Longs:
    if timed:
        return np.flatnonzero(chosen(0, rows.n_rows, 0.5, seed)).astype(np.int64)
    return permutation(rows.n_rows, seed)


def selection(cell: Cell, rank: str = "weight", refit_C: float = 1.0) -> Result:
    """Choose `features` features, or take the first by rank; error of their weights and of a
    support vector machine fitted to them."""
    from cwtool.select import SelectOptions, error, ordered, refit

    train, test = cell.source.both(cell.seed)
    own = {p.name for p in declared(registry.algorithm(cell.algo).Params)}
    params = {k: v for k, v in cell.params.items() if k in own}
    order = permutation(train.n_rows, cell.seed)
    model, seconds = fit(cell.algo, params, train, order, seed=cell.seed)
    found = ordered(model, rank).first(cell.params["features"])
    options = SelectOptions((), cell.algo, refit_C=refit_C, seed=cell.seed)
    return {
        "error": error(test.y, found.margins(found.project(test))),
        "refit_error": refit(found, [train], [test], options),
        "seconds": seconds,
        "features": len(found.ids),
        "support": np.sort(found.ids).tolist(),
    }


@dataclass(frozen=True)
class Task:
    function: Callable[..., Result]
    alone: bool = False  # measures time by the clock: nothing else may run beside it
    extra: tuple[str, ...] = ()  # what it takes from the parameters besides those of algorithms

    def work(self, cell: Cell) -> Result:
        return self.function(cell, **cell.options)


TASKS = {
    "validation": Task(validation),
    "test": Task(test),
    "online": Task(online),
    "select": Task(selection, extra=("features",)),
}
