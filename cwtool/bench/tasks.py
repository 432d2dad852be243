"""What can be measured: a task turns a cell into a result, numbers by name and curves.

A suite names the task; to add one, write a function and name it in TASKS.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cwtool import registry
from cwtool.bench import designs, learned
from cwtool.bench.designs import DESIGNS
from cwtool.bench.fit import cross_validate, evaluate, fit, learn
from cwtool.data import Block, Reading
from cwtool.data.block import Floats, Longs
from cwtool.errors import CwtoolError
from cwtool.metrics import density_shares, ratio
from cwtool.model import Model
from cwtool.order import chosen, permutation
from cwtool.params import declared

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell

Result = dict[str, Any]


def validation(cell: Cell, folds: int, shuffled: bool = True, **how: int) -> Result:
    """Error, AUC and F1 on each fold of the training rows; test rows are never read."""
    rows = cell.source.training(cell.seed)
    params = own_params(cell)
    return cross_validate(cell.algo, params, rows, folds, seed=cell.seed, shuffled=shuffled, **how)


def own_params(cell: Cell) -> dict[str, Any]:
    """The parameters of the algorithm itself; a number of features is the budget of those that
    have one, and nothing to those that only rank."""
    own = {p.name for p in declared(registry.algorithm(cell.algo).Params)}
    if "features" not in cell.params or "features" in own:
        return cell.params
    given = {"budget": cell.params["features"], **cell.params}
    return {name: value for name, value in given.items() if name in own}


def test(cell: Cell, passes: int = 1, support: bool = False) -> Result:
    """Learn the training rows in a random order, measure on the test rows."""
    train, test = cell.source.both(cell.seed)
    order = permutation(train.n_rows, cell.seed)
    model, seconds = fit(cell.algo, cell.params, train, order, seed=cell.seed, passes=passes)
    found = evaluate(model, test)
    ids, weight, _ = model.weights()
    used = ids[weight != 0]
    width = highest(train, test)
    return {
        **{name: found[name] for name in ("error", "auc", "f1")},
        "seconds": seconds,
        "nonzero": len(used),
        "share": ratio(len(used), width),
        "sparsity": 1 - len(used) / max(width, 1),
        "features": width,
        **({"support": used.tolist()} if support else {}),
    }


def highest(*blocks: Block) -> int:
    """The number of features, seen or not: the papers count up to the last id."""
    return 1 + max(int(block.indices.max(initial=-1)) for block in blocks)


def online(cell: Cell, timed: bool = False, points: int = 20) -> Result:
    """One pass over all rows, each predicted before it is learned: in a random order or, of a
    feed, a random half of the rows in their order."""
    rows = cell.source.everything(cell.seed)
    block = rows.take(visiting_order(rows, cell.seed, timed))
    score, seconds, arrays = progressive(cell, block)
    wrong = (score >= 0) != (block.y > 0)
    mistakes = np.cumsum(wrong)
    at = np.unique(np.linspace(0, len(wrong), points + 1).astype(int)[1:])
    held = sum(array.nbytes for name, array in arrays.items() if name != "ids")
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


def progressive(cell: Cell, block: Block) -> tuple[Floats, float, dict[str, NDArray[Any]]]:
    """Scores of rows before they are learned, CPU seconds, and the state at the end."""
    started = process_time()
    if cell.algo in DESIGNS:
        score, arrays = designs.progressive(block, partial(DESIGNS[cell.algo], **cell.params))
        return score, process_time() - started, arrays
    model = Model.new(cell.algo, cell.params, Reading())
    model.state.features.observe(block)
    parts = model.scale.split(block)
    scores = [model.algorithm.learn(part, model.state, part.order).score for part in parts]
    seconds = process_time() - started
    return np.concatenate(scores), seconds, model.state.pack()


def visiting_order(rows: Block, seed: int, timed: bool) -> Longs:
    if timed:
        return np.flatnonzero(chosen(0, rows.n_rows, 0.5, seed)).astype(np.int64)
    return permutation(rows.n_rows, seed)


def selection(cell: Cell, rank: str = "weight", refit_C: float = 1.0) -> Result:
    """Choose `features` features, or keep a budget of as many, or take the first by rank; error
    of their weights and of a support vector machine fitted to them."""
    from cwtool.select import SelectOptions, ordered, refit, test_error

    train, test = cell.source.both(cell.seed)
    order = permutation(train.n_rows, cell.seed)
    model, seconds = fit(cell.algo, own_params(cell), train, order, seed=cell.seed)
    found = ordered(model, rank).first(cell.params["features"])
    options = SelectOptions((), cell.algo, own_params(cell), refit_C=refit_C, seed=cell.seed)
    return {
        "error": test_error(found, [train], [test], options),
        "refit_error": refit(found, [train], [test], options),
        "seconds": seconds,
        "features": len(found.ids),
        "support": np.sort(found.ids).tolist(),
    }


def trace(cell: Cell, passes: int = 1, points: int = 20) -> Result:
    """Test error and share of weights while the training rows go by: so many points a pass."""
    train, test = cell.source.both(cell.seed)
    model = Model.new(cell.algo, cell.params, Reading())
    model.algorithm.seed = cell.seed
    width = highest(train, test)
    curve: dict[str, list[float]] = {"rows": [], "error": [], "share": []}
    for pass_ in range(1, passes + 1):
        order = permutation(train.n_rows, cell.seed, *([pass_] if pass_ > 1 else []))
        for part in np.array_split(order, points):
            block = train.take(part)
            if pass_ == 1:
                learn(model, block)
            else:
                model.state.features.observe(block)
                block.scale = model.scale.value
                model.algorithm.relearn(block, model.state, block.order)
            weight = model.weights()[1]
            seen = curve["rows"][-1] if curve["rows"] else 0
            curve["rows"].append(seen + len(part))
            curve["error"].append(evaluate(model, test)["error"])
            curve["share"].append(float(np.count_nonzero(weight)) / width)
    return {"error": curve["error"][-1], "share": curve["share"][-1], "curve": curve}


def density(cell: Cell, passes: int = 1) -> Result:
    """Which share of the features has a weight, by how often they occur."""
    train = cell.source.training(cell.seed)
    order = permutation(train.n_rows, cell.seed)
    model, _ = fit(cell.algo, cell.params, train, order, seed=cell.seed, passes=passes)
    ids, weight, _ = model.weights()
    known, nnz = np.unique(train.indices, return_counts=True)
    levels = density_shares(ids[weight != 0], known, nnz.astype(np.int64), train.n_rows)
    curve = {name: [level[key] for level in levels] for name, key in DENSITY.items()}
    return {"curve": curve, "nonzero": int(np.count_nonzero(weight))}


DENSITY = {"density": "density_up_to", "share": "share", "features": "features"}


def effective_dimension(cell: Cell, points: int = 10) -> Result:
    """tr(Sigma) / largest eigenvalue while rows are learned (Ma et al. 2010, Figure 1b)."""
    rows = cell.source.training(cell.seed)
    model = Model.new(cell.algo, cell.params, Reading())
    block = rows.take(rows.order)
    block.scale = model.scale.value
    model.state.features.observe(block)
    slots = model.state.features.ids_and_slots()[1]
    curve: dict[str, list[float]] = {"rows": [], "dimension": []}
    for part in np.array_split(block.order, points):
        model.algorithm.learn(block, model.state, part)
        variance = np.asarray(model.algorithm.weights(model.state, slots)[1])
        sigma = model.state.squares.get("sigma")
        n = len(slots)
        spread = variance if sigma is None else np.linalg.eigvalsh(sigma[:n, :n])
        curve["rows"].append(float(part[-1]) + 1)
        curve["dimension"].append(float(spread.sum() / spread.max()))
    return {"curve": curve, "dimension": curve["dimension"][-1]}


def duel(cell: Cell, size: float = 500, rounds: int = 3) -> Result:
    """A comparison with other programs, in fresh processes (peers.py); `algo` is its name, and a
    source with files stands in the folder of data where it looks for them."""
    files = cell.source.train
    where = {"CWTOOL_DATA": str(Path(files[0]).parent.parent)} if files else {}
    with tempfile.TemporaryDirectory(prefix="cwtool-bench-") as folder:
        command = [sys.executable, "-m", "cwtool.bench.peers", "--only", cell.algo]
        command += ["--size", str(size), "--rounds", str(rounds), "--dir", folder]
        ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **where})
        if ended.returncode:
            raise CwtoolError(ended.stderr.strip().rpartition("\n")[2])
        found: Result = json.loads((Path(folder) / "peers.json").read_text())[cell.algo]
    return found


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
    "trace": Task(trace),
    "density": Task(density),
    "effective-dimension": Task(effective_dimension),
    "surface": Task(learned.surface),
    "images": Task(learned.images),
    "duel": Task(duel, alone=True),
}
