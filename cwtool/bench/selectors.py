"""Feature selection compared with LIBLINEAR -s 5: sbcw for a number of features, l1svm also for
equal C and equal accuracy.

Each contender is a process of its own, `python -m cwtool.bench.selectors NAME FILE...`, which reads
the files first and times the selection alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwtool.bench.duel import Contender, Duel, Target, faster

if TYPE_CHECKING:
    from cwtool.data.rows import Floats

FEATURES = 200
PRICES = (1.0, 10.0)  # C of the comparison at equal C
TRIES = 60


def contender(label: str, name: str, files: list[Path]) -> Contender:
    missing = [file for file in files if not file.exists()]
    if missing:
        return Contender(label, absent=f"no {missing[0]}; set CWTOOL_DATA")
    try:
        version("liblinear-official")
    except PackageNotFoundError:
        return Contender(label, absent="absent (pip install liblinear-official)")
    command = (sys.executable, "-m", "cwtool.bench.selectors", name, *map(str, files))
    return Contender(label, command, inside=True)


def data(*names: str) -> list[Path]:
    return [Path(os.environ.get("CWTOOL_DATA", "data")) / name for name in names]


def selection(title: str, files: list[Path]) -> Duel:
    ours = contender(f"sbcw, {FEATURES} features", "sbcw", files)
    l1svm = contender(f"l1svm, {FEATURES} features", "l1svm-path", files)
    path = contender(f"LIBLINEAR -s 5, path to {FEATURES} features", "liblinear-path", files)
    return Duel(
        title=title,
        timed="In memory, reading excluded. The path doubles C from where the first weight "
        f"appears, then halves the interval until there are {FEATURES} weights.",
        reference=ours.name,
        contenders=[ours, l1svm, path],
        targets=[faster(ours.name, path.name, "cpu", 5), faster(l1svm.name, path.name, "cpu", 1)],
    )


def reuters(folder: Path, size: float) -> Duel:
    return selection("Features of reuters_earn", data("reuters_earn/train.svm.gz"))


def phishurl(folder: Path, size: float) -> Duel:
    days = data(*(f"phishurl/day{day:02}.svm.gz" for day in range(5)))
    return selection("Features of phishurl, days 0 to 4", days)


def l1(folder: Path, size: float) -> Duel:
    files = data("reuters_earn/train.svm.gz")
    ours = contender("l1svm", "l1svm", files)
    peer = contender("LIBLINEAR -s 5", "liblinear", files)
    prices = ", ".join(f"{C:g}" for C in PRICES)
    return Duel(
        title=f"The l1 norm on reuters_earn, C = {prices}",
        timed="In memory, reading excluded. l1svm stops at the violation of optimality that "
        "LIBLINEAR ends with by default.",
        reference=ours.name,
        contenders=[ours, peer],
        targets=[faster(ours.name, peer.name, "cpu", 1), as_low(ours.name, peer.name)],
    )


def as_low(name: str, peer: str) -> Target:
    def judge(costs: Any) -> tuple[str, bool]:
        mine, other = (float(costs[n].facts["objective"]) for n in (name, peer))
        return f"{mine:.2f} against {other:.2f}", mine <= 1.001 * other

    return Target(f"{name}: objective at most 0.1 % above {peer}", (name, peer), judge)


DUELS = {"select-reuters": reuters, "select-phishurl": phishurl, "l1": l1}


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

    def ours(self, name: str, **params: Any) -> tuple[float, float, Floats]:
        """CPU and wall seconds, and the weights."""
        import numpy as np

        from cwtool.bench.trainers import timed
        from cwtool.model import Model
        from cwtool.run import Run

        model = Model.new(name, {**params, "prior": 1.0})
        cpu, wall, _ = timed(lambda: model.learn(self.rows, Run(calibrate=False)))
        found, w = model.weights(), np.zeros(self.x.shape[1])
        w[found.ids] = found.weight
        return cpu, wall, w

    def peer(self, C: float) -> tuple[float, float, Floats]:
        """The same of LIBLINEAR, whose loss xi^2 is twice ours."""
        import numpy as np
        from liblinear.liblinear import liblinear as library
        from liblinear.liblinear import parameter, toPyModel

        from cwtool.bench.trainers import timed

        options = parameter(f"-s 5 -c {C / 2} -q")
        cpu, wall, model = timed(lambda: toPyModel(library.train(self.problem, options)))
        w = np.ctypeslib.as_array(model.w, (self.x.shape[1],)) * float(model.get_labels()[0])
        return cpu, wall, w

    def objective(self, w: Floats, C: float) -> float:
        import numpy as np

        xi = np.maximum(0, 1 - self.y * (self.x @ w))
        return float(np.abs(w).sum() + C / 2 * np.square(xi).sum())

    def violation(self, w: Floats, C: float) -> float:
        """The violation of optimality, as a share of that at w = 0."""
        import numpy as np

        def total(w: Floats) -> float:
            xi = np.maximum(0, 1 - self.y * (self.x @ w))
            g = -C * (self.x.T @ (self.y * xi))
            off = np.where(w == 0, np.maximum(np.abs(g) - 1, 0), np.abs(g + np.sign(w)))
            return float(off.sum())

        return total(w) / total(np.zeros(len(w)))


def at_equal_c(task: Task, fit: Callable[[float], tuple[float, float, Floats]]) -> dict[str, float]:
    found = {"cpu": 0.0, "wall": 0.0, "objective": 0.0}
    for C in PRICES:
        cpu, wall, w = fit(C)
        found["cpu"] += cpu
        found["wall"] += wall
        found["objective"] += task.objective(w, C)
    return found


def chosen(cpu: float, wall: float, w: Floats) -> dict[str, float]:
    return {"cpu": cpu, "wall": wall, "chosen": int((w != 0).sum())}


def path(task: Task) -> dict[str, float]:
    """The C that gives FEATURES weights: doubled from where the first weight appears, then by
    bisection of log C."""
    import numpy as np

    cpu = wall = 0.0
    low, high = float(1 / np.abs(task.x.T @ task.y).max()), np.inf
    C, n, tries = low, 0, 0
    while n != FEATURES and tries < TRIES:
        C = 2 * low if np.isinf(high) else (low * high) ** 0.5
        seconds, waited, w = task.peer(C)
        cpu, wall, n, tries = cpu + seconds, wall + waited, int((w != 0).sum()), tries + 1
        low, high = (C, high) if n < FEATURES else (low, C)
    return {"cpu": cpu, "wall": wall, "chosen": n, "solutions": tries, "price": C}


RUNS: dict[str, Callable[[Task], dict[str, float]]] = {
    "sbcw": lambda task: chosen(*task.ours("sbcw", features=FEATURES)),
    "l1svm-path": lambda task: chosen(*task.ours("l1svm", features=FEATURES)),
    "liblinear-path": path,
    "liblinear": lambda task: at_equal_c(task, task.peer),
    "l1svm": lambda task: at_equal_c(
        task,
        lambda C: task.ours("l1svm", features=0, C=C, tol=task.violation(task.peer(C)[2], C)),
    ),
}


if __name__ == "__main__":
    print(json.dumps(RUNS[sys.argv[1]](Task(sys.argv[2:]))))
