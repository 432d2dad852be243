"""Batch learners in memory, each run in a process of its own: training time, test error.

C is chosen from a grid on a fifth of the training rows, untimed; then training on all rows is
timed, reading excluded: `python -m cwtool.bench.trainers NAME TRAIN TEST`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data import Block, Reading, ReadOptions, read_blocks
from cwtool.data.labels import Labels
from cwtool.data.timeslots import joined
from cwtool.model import Model

GRID = (0.01, 0.1, 1.0, 10.0)

Floats = NDArray[np.float64]
Fit = Callable[[Block, float], tuple[float, float, Callable[[Block], Floats]]]


def load(path: str, labels: Labels) -> Block:
    return joined([b.take(b.order) for b in labels.settle(read_blocks([path], ReadOptions()))])


def normalised(block: Block, norm: float) -> Block:
    """Rows divided by their root mean square norm, so that C means the same to all."""
    block.values /= norm
    return block


def clocks() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def ours(name: str, jobs: int, **params: Any) -> Fit:
    def fit(block: Block, C: float) -> tuple[float, float, Callable[[Block], Floats]]:
        model = Model.new(name, {**params, "C": C, "prior": 1.0}, Reading())
        model.algorithm.jobs = jobs
        rows = block.take(block.order)
        model.state.features.observe(rows)
        cpu, wall = clocks()
        model.algorithm.learn(rows, model.state, rows.order)
        cpu, wall = (b - a for a, b in zip((cpu, wall), clocks(), strict=True))
        for note in model.algorithm.notes:
            print(note, file=sys.stderr)

        def predict(test: Block) -> Floats:
            return model.scores(test.take(test.order))[0].score

        return cpu, wall, predict

    return fit


def liblinear(solver: int) -> Fit:
    from liblinear.liblinear import liblinear as library
    from liblinear.liblinear import parameter, problem, toPyModel
    from scipy.sparse import csr_matrix

    def matrix(block: Block, width: int) -> Any:
        return csr_matrix((block.values, block.indices, block.indptr), (block.n_rows, width))

    def fit(block: Block, C: float) -> tuple[float, float, Callable[[Block], Floats]]:
        width = int(block.indices.max()) + 1
        task = problem(block.y, matrix(block, width))
        options = parameter(f"-s {solver} -c {C} -q")
        cpu, wall = clocks()
        model = toPyModel(library.train(task, options))
        cpu, wall = (b - a for a, b in zip((cpu, wall), clocks(), strict=True))
        w = np.array([model.w[j] for j in range(width)]) * model.get_labels()[0]

        def predict(test: Block) -> Floats:
            known = test.indices < width
            values = np.where(known, test.values, 0.0) * w[np.minimum(test.indices, width - 1)]
            sums = np.concatenate([[0.0], np.cumsum(values)])[test.indptr]
            return np.asarray(np.diff(sums))

        return cpu, wall, predict

    return fit


FITS: dict[str, Callable[[], Fit]] = {
    "bcw-1": lambda: ours("bcw", 1),
    "bcw": lambda: ours("bcw", 2),
    "dcd-hinge": lambda: ours("dcd", 1),
    "dcd-squared": lambda: ours("dcd", 1, loss="squared-hinge"),
    "liblinear-hinge": lambda: liblinear(3),
    "liblinear-squared": lambda: liblinear(1),
}


def error(score: Floats, y: Floats) -> float:
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
