"""Passes of stochastic gradient descent in memory: sgd, scikit-learn's SGDClassifier, stsgd.

`python -m cwtool.bench.descents NAME FILE...`: the median cost of a pass over all rows, after a
first one that is not counted.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from cwtool.bench.duel import Contender, Duel, faster, within

if TYPE_CHECKING:
    from cwtool.data import Block

PASSES = 5
Pass = Callable[[int], None]


def ours(name: str, rows: Block, *, mixed: bool, jobs: int = 1) -> Pass:
    from cwtool.data import Reading
    from cwtool.data.spool import Spool
    from cwtool.model import Model

    model = Model.new(name, {"paths": 4} if name == "stsgd" else {}, Reading())
    algorithm, state, kept = model.algorithm, model.state, Spool(1 << 40)
    algorithm.jobs = jobs
    state.features.observe(rows)
    kept.add(rows)
    parts = list(model.scale.split(rows))

    def one(number: int) -> None:
        if number and mixed:
            for block, order in kept.shuffled(0, number):
                block.scale = model.scale.value
                algorithm.relearn(block, state, order)
        else:
            for part in parts:
                algorithm.learn(part, state, part.order)

    return one


def sklearn(rows: Block, *, mixed: bool) -> Pass:
    from scipy.sparse import csr_matrix

    X = csr_matrix((rows.values, rows.indices, rows.indptr.astype("int32")))
    eta = rows.n_rows / float(rows.values @ rows.values)
    learner = import_module("sklearn.linear_model").SGDClassifier(
        penalty=None, learning_rate="constant", eta0=eta, shuffle=mixed, fit_intercept=False
    )
    return lambda number: learner.partial_fit(X, rows.y, classes=[-1.0, 1.0])


LEARNERS: dict[str, Callable[[Block], Pass]] = {
    "sgd": lambda rows: ours("sgd", rows, mixed=False),
    "sgd-mixed": lambda rows: ours("sgd", rows, mixed=True),
    "sklearn": lambda rows: sklearn(rows, mixed=False),
    "sklearn-mixed": lambda rows: sklearn(rows, mixed=True),
    "stsgd-1": lambda rows: ours("stsgd", rows, mixed=True),
    "stsgd-2": lambda rows: ours("stsgd", rows, mixed=True, jobs=2),
}


def main(name: str, *paths: str) -> None:
    from cwtool.data import ReadOptions, read_blocks
    from cwtool.data.labels import Labels
    from cwtool.data.timeslots import joined

    blocks = Labels().settle(read_blocks(list(paths), ReadOptions()))
    one = LEARNERS[name](joined([b.take(b.order) for b in blocks]))
    one(0)
    costs = []
    for number in range(1, PASSES + 1):
        cpu, wall = time.process_time(), time.perf_counter()
        one(number)
        costs.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = (median(times) for times in zip(*costs, strict=True))
    print(json.dumps({"cpu": cpu, "wall": wall}))


def duel(folder: Path, size: float) -> Duel:
    days = sorted((Path(os.environ.get("CWTOOL_DATA", "data")) / "phishurl").glob("*.svm.gz"))
    names = {
        "sgd": "sgd",
        "sklearn": "SGDClassifier",
        "sgd-mixed": "sgd, random order",
        "sklearn-mixed": "SGDClassifier, random order",
        "stsgd-1": "stsgd, 4 paths",
        "stsgd-2": "stsgd, 4 paths, 2 jobs",
    }

    def contender(name: str) -> Contender:
        if not days:
            return Contender(names[name], absent="no phishurl; set CWTOOL_DATA")
        if name.startswith("sklearn"):
            try:
                version("scikit-learn")
            except PackageNotFoundError:
                return Contender(names[name], absent="absent (pip install scikit-learn)")
        command = (sys.executable, "-m", "cwtool.bench.descents", name, *map(str, days))
        return Contender(names[name], command, inside=True)

    return Duel(
        title="Gradient descent on phishurl",
        timed="A pass over all rows in memory.",
        reference=names["sgd-mixed"],
        contenders=[contender(name) for name in names],
        targets=[
            within(names["sgd"], names["sklearn"], "cpu", 1.2),
            within(names["sgd-mixed"], names["sklearn-mixed"], "cpu", 1.2),
            within(names["stsgd-1"], names["sgd-mixed"], "cpu", 6),
            faster(names["stsgd-2"], names["stsgd-1"], "wall", 1.6),
        ],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
