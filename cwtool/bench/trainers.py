"""Batch learners in memory, each in a process of its own: training time and test error.

`python -m cwtool.bench.trainers NAME TRAIN TEST [C ...]`: C is chosen from a grid on a fifth of the
training rows, which is not timed; then training on all rows is timed, without reading them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Floats, Ints, Rows
from cwtool.model import Model
from cwtool.run import Run
from cwtool.validation import read

GRID = (0.01, 0.1, 1.0, 10.0)

T = TypeVar("T")
Predict = Callable[[Rows], Floats]
Fit = Callable[[Rows, float], tuple[float, float, Predict]]  # CPU and wall seconds


def load(path: str, labels: Labels) -> Rows:
    return read([path], labels, ReadOptions())


def normalised(rows: Rows, norm: float) -> Rows:
    """The rows divided by their root mean square norm, so that C means the same to all learners."""
    return replace(rows, values=rows.values / norm)


def timed(work: Callable[[], T]) -> tuple[float, float, T]:
    """CPU seconds, wall seconds, and what the work returns."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return time.process_time() - cpu, time.perf_counter() - wall, found


def ours(name: str, jobs: int, **params: Any) -> Fit:
    def fit(rows: Rows, C: float) -> tuple[float, float, Predict]:
        model = Model.new(name, {**params, "C": C, "prior": 1.0})
        run = Run(jobs=jobs, calibrate=False, note=lambda line: print(line, file=sys.stderr))
        cpu, wall, _ = timed(lambda: model.learn(rows, run))
        return cpu, wall, lambda test: model.scores(test).score

    return fit


def liblinear(solver: int) -> Fit:
    from liblinear.liblinear import liblinear as library
    from liblinear.liblinear import parameter, problem, toPyModel
    from scipy.sparse import csr_matrix

    def fit(rows: Rows, C: float) -> tuple[float, float, Predict]:
        width = int(rows.indices.max()) + 1
        matrix = csr_matrix((rows.values, rows.indices, rows.indptr), (rows.n_rows, width))
        task, options = problem(rows.signs(), matrix), parameter(f"-s {solver} -c {C} -q")
        cpu, wall, model = timed(lambda: toPyModel(library.train(task, options)))
        w = np.array([model.w[j] for j in range(width)]) * model.get_labels()[0]

        def predict(test: Rows) -> Floats:
            known = test.indices < width
            values = np.where(known, test.values, 0.0) * w[np.minimum(test.indices, width - 1)]
            sums = np.concatenate([[0.0], np.cumsum(values)])[test.indptr]
            return np.asarray(np.diff(sums))

        return cpu, wall, predict

    return fit


FITS: dict[str, Callable[[], Fit]] = {
    "bcw-1": lambda: ours("bcw", 1),
    "bcw": lambda: ours("bcw", 2),
    "dcd-hinge": lambda: ours("dcd", 1, loss="hinge"),
    "dcd-squared": lambda: ours("dcd", 1, loss="squared-hinge"),
    "liblinear-hinge": lambda: liblinear(3),
    "liblinear-squared": lambda: liblinear(1),
}


def error(score: Floats, y: Ints) -> float:
    return float(np.mean((score >= 0) != (y > 0)))


def main(name: str, train: str, test: str, *cs: str) -> None:
    labels = Labels()
    rows = load(train, labels)
    norm = float(np.sqrt((rows.values**2).sum() / rows.n_rows))
    rows, check = normalised(rows, norm), normalised(load(test, labels), norm)
    fit = FITS[name]()
    some = np.random.default_rng(0).permutation(rows.n_rows)
    aside, rest = rows.take(some[: rows.n_rows // 5]), rows.take(some[rows.n_rows // 5 :])
    grid = tuple(map(float, cs)) or GRID
    errors = {}
    for C in grid if len(grid) > 1 else ():
        errors[C] = error(fit(rest, C)[2](aside), aside.y)
    best = min(errors, key=lambda C: errors[C]) if errors else grid[0]
    cpu, wall, predict = fit(rows, best)
    found = {"cpu": cpu, "wall": wall, "C": best, "error": error(predict(check), check.y)}
    print(json.dumps({**found, "validation": {str(k): v for k, v in errors.items()}}))


if __name__ == "__main__":
    main(*sys.argv[1:])
