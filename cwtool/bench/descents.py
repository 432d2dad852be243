"""Passes of stochastic gradient descent in memory: sgd, scikit-learn's SGDClassifier, stsgd.

`python -m cwtool.bench.descents NAME FILE...` prints the median cost of a pass over all rows. A
first pass is not counted.
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
    from cwtool.data.rows import Rows

PASSES = 5
Pass = Callable[[int], object]  # of the number of the pass


def ours(name: str, rows: Rows, *, mixed: bool, jobs: int = 1) -> Pass:
    """Passes as `train` makes them, in the order of the rows or in a random one."""
    from cwtool.data.spool import Spool
    from cwtool.model import Model
    from cwtool.run import Run

    model, run = Model.new(name, {"paths": 4} if name == "stsgd" else {}), Run(jobs=jobs)
    kept = Spool(1 << 40)
    kept.add(rows)

    def one(number: int) -> None:
        if number == 0:
            model.learn(rows, run)
        elif mixed:
            for window, order, _ in kept.shuffled(run.seed, number):
                model.relearn(window, order, run)
        else:
            model.relearn(rows, rows.order, run)

    return one


def sklearn(rows: Rows, *, mixed: bool) -> Pass:
    from scipy.sparse import csr_matrix

    X = csr_matrix((rows.values, rows.indices, rows.indptr.astype("int32")))
    rate = rows.n_rows / float(rows.values @ rows.values)
    learner = import_module("sklearn.linear_model").SGDClassifier(
        penalty=None, learning_rate="constant", eta0=rate, shuffle=mixed, fit_intercept=False
    )
    return lambda number: learner.partial_fit(X, rows.y, classes=[0, 1])


LEARNERS: dict[str, Callable[[Rows], Pass]] = {
    "sgd": lambda rows: ours("sgd", rows, mixed=False),
    "sgd-mixed": lambda rows: ours("sgd", rows, mixed=True),
    "sklearn": lambda rows: sklearn(rows, mixed=False),
    "sklearn-mixed": lambda rows: sklearn(rows, mixed=True),
    "stsgd-1": lambda rows: ours("stsgd", rows, mixed=True),
    "stsgd-2": lambda rows: ours("stsgd", rows, mixed=True, jobs=2),
}


def main(name: str, *paths: str) -> None:
    from cwtool.data.labels import Labels
    from cwtool.data.pipeline import ReadOptions
    from cwtool.validation import read

    one = LEARNERS[name](read(paths, Labels(), ReadOptions()))
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
