"""Tasks that measure a model while it learns."""

from __future__ import annotations

from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cwtool.bench import designs
from cwtool.bench.accuracy import Result, n_features, new_model, used_ids
from cwtool.bench.classes import called
from cwtool.bench.designs import DESIGNS
from cwtool.data.rows import Floats, Longs, Rows
from cwtool.order import chosen, permutation
from cwtool.run import Run
from cwtool.validation import evaluate

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell


def online(cell: Cell, timed: bool = False, points: int = 20) -> Result:
    """One pass over all rows, each predicted before it is learned: in a random order, or a random
    half of the rows in their own order if they are `timed`."""
    everything = cell.source.everything(cell.seed)
    rows = everything.take(visiting_order(everything, cell.seed, timed))
    score, seconds, arrays = progressive(cell, rows)
    wrong = called(score) != rows.y
    mistakes = np.cumsum(wrong)
    at = np.unique(np.linspace(0, len(wrong), points + 1).astype(int)[1:])
    held = sum(array.nbytes for name, array in arrays.items() if name != "ids")
    return {
        "error": float(wrong.mean()),
        "mistakes": int(mistakes[-1]),
        "seconds": seconds,
        "kilobytes": held / 1e3,
        "rows": len(wrong),
        "features": len(np.unique(rows.indices)),
        "curve": {
            "rows": at.tolist(),
            "mistakes": mistakes[at - 1].tolist(),
            "error": (mistakes[at - 1] / at).tolist(),
        },
    }


def progressive(cell: Cell, rows: Rows) -> tuple[Floats, float, dict[str, NDArray[Any]]]:
    """The scores of the rows before they are learned, CPU seconds, and the arrays of the state at
    the end."""
    started = process_time()
    if cell.algo in DESIGNS:
        score, arrays = designs.progressive(rows, partial(DESIGNS[cell.algo], **cell.params))
        return score, process_time() - started, arrays
    model = new_model(cell, rows)
    score = model.learn(rows, Run()).score
    seconds = process_time() - started
    return score, seconds, model.state.pack()


def visiting_order(rows: Rows, seed: int, timed: bool) -> Longs:
    """The numbers of the rows that are visited, in order."""
    if timed:
        return np.flatnonzero(chosen(0, rows.n_rows, 0.5, seed)).astype(np.int64)
    return permutation(rows.n_rows, seed)


def trace(cell: Cell, passes: int = 1, points: int = 20) -> Result:
    """The test error and the share of nonzero weights during training, at `points` places of each
    pass."""
    train, test = cell.source.both(cell.seed)
    model, run = new_model(cell, train), Run(cell.seed)
    width = n_features(train, test)
    curve: dict[str, list[float]] = {"rows": [], "error": [], "share": []}
    seen = 0
    for pass_ in range(1, passes + 1):
        order = permutation(train.n_rows, cell.seed, *([pass_] if pass_ > 1 else []))
        for part in np.array_split(order, points):
            rows = train.take(part)
            if pass_ == 1:
                model.learn(rows, run)
            else:
                model.relearn(rows, rows.order, run)
            seen += len(part)
            curve["rows"].append(seen)
            curve["error"].append(evaluate(model, test)["error"])
            curve["share"].append(len(used_ids(model)) / width)
    return {"error": curve["error"][-1], "share": curve["share"][-1], "curve": curve}


def effective_dimension(cell: Cell, points: int = 10) -> Result:
    """tr(Sigma) / largest eigenvalue of Sigma during training (Ma et al. 2010, Figure 1b)."""
    rows = cell.source.training(cell.seed)
    model, run = new_model(cell, rows), Run()
    curve: dict[str, list[float]] = {"rows": [], "dimension": []}
    for part in np.array_split(rows.order, points):
        model.learn(rows.take(part), run)
        spread = np.asarray(model.weights().variance)
        sigma, n = model.state.squares.get("sigma"), model.index.count
        if sigma is not None:
            spread = np.linalg.eigvalsh(sigma[:n, :n])
        curve["rows"].append(float(part[-1]) + 1)
        curve["dimension"].append(float(spread.sum() / spread.max()))
    return {"curve": curve, "dimension": curve["dimension"][-1]}
