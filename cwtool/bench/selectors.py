"""Feature selection compared with LIBLINEAR -s 5: sbcw and l1svm for a number of features.

Each contender is a process of its own, `python -m cwtool.bench.selectors NAME FILE...`, which reads
the files first and times the selection alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cwtool.bench.duel import Duel, faster
from cwtool.bench.optima import Task, contender, data

if TYPE_CHECKING:
    from cwtool.data.rows import Floats

FEATURES = 200
TRIES = 60


def selection(title: str, files: list[Path]) -> Duel:
    ours = contender(f"sbcw, {FEATURES} features", "selectors", "sbcw", files)
    l1svm = contender(f"l1svm, {FEATURES} features", "selectors", "l1svm-path", files)
    path = contender(
        f"LIBLINEAR -s 5, path to {FEATURES} features", "selectors", "liblinear-path", files
    )
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


DUELS = {"select-reuters": reuters, "select-phishurl": phishurl}


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
        seconds, waited, w = task.peer(5, C)
        cpu, wall, n, tries = cpu + seconds, wall + waited, int((w != 0).sum()), tries + 1
        low, high = (C, high) if n < FEATURES else (low, C)
    return {"cpu": cpu, "wall": wall, "chosen": n, "solutions": tries, "price": C}


RUNS: dict[str, Callable[[Task], dict[str, float]]] = {
    "sbcw": lambda task: chosen(*task.ours("sbcw", features=FEATURES)),
    "l1svm-path": lambda task: chosen(*task.ours("l1svm", features=FEATURES)),
    "liblinear-path": path,
}


if __name__ == "__main__":
    print(json.dumps(RUNS[sys.argv[1]](Task(sys.argv[2:]))))
