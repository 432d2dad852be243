"""Solvers of one optimum compared with LIBLINEAR, in memory: dcd and l1svm.

Each contender is a process of its own, `python -m cwtool.bench.optima NAME FILE...`, which reads
the files first. It solves for C = 1 in the random orders of the seeds 0, 1, ... and prints the mean
time. LIBLINEAR stops where it does by default. So does dcd, at a duality gap of 0.1 %; l1svm stops
at the violation of optimality that LIBLINEAR ends with, or a smaller one if its objective is more
than 0.1 % higher.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwtool.bench.duel import Contender, Duel, Target, faster

if TYPE_CHECKING:
    from cwtool.data.rows import Floats

C = 1.0
SEEDS = 5  # random orders, at most
SECONDS = 1.0  # of CPU time after which no further order is begun
FACTOR = 1.3  # how much faster than LIBLINEAR our solvers are meant to be
SETS = {
    "a9a": ["a9a/train.svm"],
    "mnist_evenodd": ["mnist_evenodd/train.svm.gz"],
    "reuters_earn": ["reuters_earn/train.svm.gz"],
    "news20_comp": ["news20_comp/train.svm"],
    "phishurl": [f"phishurl/day{day:02}.svm.gz" for day in range(5)],
}
# contenders by objective: ours, then those of LIBLINEAR
CONTENDERS = {
    "hinge": ("dcd hinge", "LIBLINEAR -s 3"),
    "squared": ("dcd squared", "LIBLINEAR -s 1", "LIBLINEAR -s 2"),
    "l1": ("l1svm", "LIBLINEAR -s 5"),
}


def data(*names: str) -> list[Path]:
    return [Path(os.environ.get("CWTOOL_DATA", "data")) / name for name in names]


def contender(label: str, module: str, name: str, files: list[Path]) -> Contender:
    """`python -m cwtool.bench.MODULE NAME FILE...`, if LIBLINEAR and the files are there."""
    missing = [file for file in files if not file.exists()]
    if missing:
        return Contender(label, absent=f"no {missing[0]}; set CWTOOL_DATA")
    try:
        version("liblinear-official")
    except PackageNotFoundError:
        return Contender(label, absent="absent (pip install liblinear-official)")
    command = (sys.executable, "-m", f"cwtool.bench.{module}", name, *map(str, files))
    return Contender(label, command, inside=True)


def duel(name: str, folder: Path, size: float) -> Duel:
    files = data(*SETS[name])
    targets = []
    for mine, *peers in CONTENDERS.values():
        for peer in peers:
            targets += [faster(mine, peer, "cpu", FACTOR), as_low(mine, peer)]
    labels = [label for labels in CONTENDERS.values() for label in labels]
    return Duel(
        title=f"Optima of {name}, C = {C:g}",
        timed="In memory, reading excluded. LIBLINEAR stops by its default, ours at an objective "
        "at most 0.1 % higher; the mean of several random orders.",
        reference=labels[0],
        contenders=[contender(label, "optima", label, files) for label in labels],
        targets=targets,
    )


def as_low(name: str, peer: str) -> Target:
    def judge(costs: Any) -> tuple[str, bool]:
        mine, other = (float(costs[n].facts["objective"]) for n in (name, peer))
        return f"{mine:.2f} against {other:.2f}", mine <= 1.001 * other

    return Target(f"{name}: objective at most 0.1 % above {peer}", (name, peer), judge)


DUELS = {f"optima-{name}": partial(duel, name) for name in SETS}


class Task:
    """Rows in memory, at the scale at which cwtool learns them."""

    def __init__(self, files: list[str]) -> None:
        from dataclasses import replace

        from liblinear.liblinear import problem
        from scipy.sparse import csr_matrix

        from cwtool.data.labels import Labels
        from cwtool.data.pipeline import ReadOptions
        from cwtool.model.scale import RowScale, slotted
        from cwtool.validation import read

        rows = read(files, Labels(), ReadOptions())
        scaled = RowScale("auto", of_batches=True).observe(slotted(rows, rows.indices))
        self.rows = replace(rows, values=rows.values * next(scaled).scale)
        self.y = self.rows.signs()
        shape = rows.n_rows, int(rows.indices.max()) + 1
        self.x = csr_matrix((self.rows.values, rows.indices, rows.indptr), shape)
        self.problem = problem(self.y, self.x)

    def ours(self, name: str, seed: int = 0, **params: Any) -> tuple[float, float, Floats]:
        """CPU and wall seconds, and the weights."""
        import numpy as np

        from cwtool.bench.trainers import timed
        from cwtool.model import Model
        from cwtool.run import Run

        model, run = Model.new(name, {**params, "prior": 1.0}), Run(seed, calibrate=False)
        cpu, wall, _ = timed(lambda: model.learn(self.rows, run))
        found, w = model.weights(), np.zeros(self.x.shape[1])
        w[found.ids] = found.weight
        return cpu, wall, w

    def peer(self, solver: int, C: float) -> tuple[float, float, Floats]:
        """The same of LIBLINEAR, whose loss xi^2 is twice ours."""
        import numpy as np
        from liblinear.liblinear import liblinear as library
        from liblinear.liblinear import parameter, toPyModel

        from cwtool.bench.trainers import timed

        options = parameter(f"-s {solver} -c {C if solver == 3 else C / 2} -q")
        cpu, wall, model = timed(lambda: toPyModel(library.train(self.problem, options)))
        w = np.ctypeslib.as_array(model.w, (self.x.shape[1],)) * float(model.get_labels()[0])
        return cpu, wall, w

    def objective(self, kind: str, w: Floats) -> float:
        import numpy as np

        xi = np.maximum(0, 1 - self.y * (self.x @ w))
        norm = np.abs(w).sum() if kind == "l1" else w @ w / 2
        return float(norm + (C * xi.sum() if kind == "hinge" else C / 2 * np.square(xi).sum()))

    def violation(self, w: Floats) -> float:
        """The violation of optimality with the l1 norm, as a share of that at w = 0."""
        import numpy as np

        def total(w: Floats) -> float:
            xi = np.maximum(0, 1 - self.y * (self.x @ w))
            g = -C * (self.x.T @ (self.y * xi))
            off = np.where(w == 0, np.maximum(np.abs(g) - 1, 0), np.abs(g + np.sign(w)))
            return float(off.sum())

        return total(w) / total(np.zeros(len(w)))

    def l1_tolerance(self) -> float:
        """The `tol` at which l1svm comes as low as LIBLINEAR."""
        w = self.peer(5, C)[2]
        tol, bound = self.violation(w), 1.001 * self.objective("l1", w)
        while self.objective("l1", self.ours("l1svm", features=0, C=C, tol=tol)[2]) > bound:
            tol /= 1.5
        return tol


Solve = Callable[[int], "tuple[float, float, Floats]"]  # of a seed


def solve_of(task: Task, name: str) -> Solve:
    if name.startswith("LIBLINEAR"):
        return lambda seed: task.peer(int(name[-1]), C)
    if name == "l1svm":
        tol = task.l1_tolerance()
        return lambda seed: task.ours("l1svm", seed, features=0, C=C, tol=tol)
    loss = "hinge" if name == "dcd hinge" else "squared-hinge"
    return lambda seed: task.ours("dcd", seed, C=C, loss=loss)


def mean_cost(task: Task, name: str) -> dict[str, float]:
    """The mean times and the mean objective over the seeds; a first solution is not counted."""
    kind = next(kind for kind, names in CONTENDERS.items() if name in names)
    solve = solve_of(task, name)
    found: list[tuple[float, float, float]] = []
    solve(0)
    while len(found) < SEEDS and sum(cpu for cpu, *_ in found) < SECONDS:
        cpu, wall, w = solve(len(found))
        found.append((cpu, wall, task.objective(kind, w)))
    cpu, wall, low = (sum(each) / len(found) for each in zip(*found, strict=True))
    return {"cpu": cpu, "wall": wall, "objective": low}


if __name__ == "__main__":
    print(json.dumps(mean_cost(Task(sys.argv[2:]), sys.argv[1])))
