"""Measure the probabilities of every algorithm on rows of test files, beside Platt scaling:

    python tools/probabilities.py FOLDER [--algo NAME,NAME] [--data NAME,NAME] [--passes N]

FOLDER holds a folder for each data set of two classes, with train.svm and test.svm, or the same
with .gz. For every algorithm with its default parameters: the log loss of its probabilities on the
test rows divided by that of Platt scaling, minus 1, in percent. Platt scaling fits a sigmoid to the
scores of half of the test rows and is measured on the other half, for both halves and five ways to
cut them; so it uses test rows, which the probabilities never see. The last lines are markdown;
their last column counts what is more than 3 % above, and how much of that by more than two standard
errors of the test rows.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cwtool import read_libsvm, registry
from cwtool.algorithms.base import Batch
from cwtool.data.matrix import block_of
from cwtool.data.rows import Rows
from cwtool.errors import CwtoolError
from cwtool.metrics.calibration import joint_fit
from cwtool.metrics.sigmoid import probability, standardized
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.run import Run
from cwtool.validation import fit

SPLITS = 5  # of the test rows in halves
SLOW = {"sdist": 600, "rff-markov": 600}  # rows that these learn, at most


class Excess(NamedTuple):
    """By how much the log loss is above that of Platt scaling, and whether it is more than 3 %
    above by more than two standard errors."""

    share: float
    surely: bool


def losses(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The log loss of each row."""
    return -np.log(np.clip(np.where(y == 1, p, 1 - p), 1e-15, 1))


def platt(y: np.ndarray, score: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The log loss of each row by a sigmoid that was fitted to the other half of these rows: the
    mean over several ways to cut them in halves."""
    p, z = np.empty((SPLITS, len(y))), standardized(score, variance)
    for split in range(SPLITS):
        half = permutation(len(y), split) % 2
        for k in (0, 1):
            known, rest = half != k, half == k
            a, b = line(y[known], z[known])
            p[split, rest] = probability(a, z[rest], b)
    mean: np.ndarray = losses(y, p).mean(axis=0)
    return mean


def line(y: np.ndarray, z: np.ndarray) -> tuple[float, float]:
    """Slope and offset by maximum likelihood, with half a wrong row more of each class."""
    typical = np.abs(z).mean() or 1.0
    n = np.column_stack([np.stack([y == 0, y == 1]), [0.5, 0.0], [0.0, 0.5]])
    a, b = joint_fit(np.append(z / typical, [1.0, -1.0]), n)
    return a / typical, b


def rows_of(path: Path, model: Model, most: int = 0) -> Rows:
    X, y = read_libsvm(path)
    some = np.sort(permutation(len(y), 0)[:most]) if most else np.arange(len(y))
    return model.labels.encode(block_of(X[some], y[some], None, model.reading))


def excess(name: str, folder: Path, passes: int) -> Excess | None:
    """Of the algorithm on the data of the folder; None where there is no answer."""
    train, test = (next(folder.glob(f"{part}.svm*")) for part in ("train", "test"))
    model = Model.new(name, {})
    if passes > 1 and isinstance(model.algorithm, Batch):
        return None
    try:
        fit(model, rows_of(train, model, SLOW.get(name, 0)), Run(), passes)
    except CwtoolError:
        return None  # too large for this algorithm
    if model.several is not None:
        return None
    rows = rows_of(test, model)
    score, variance, _ = model.scores(rows)
    model.calibrate()
    found = losses(rows.y, model.probability(score, variance))
    of_platt = platt(rows.y, score, variance)
    above = found - 1.03 * of_platt
    surely = above.mean() > 2 * above.std() / len(above) ** 0.5
    return Excess(found.mean() / of_platt.mean() - 1, surely)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algo", default=",".join(registry.names()))
    parser.add_argument("--data", default="")
    parser.add_argument("--passes", type=int, default=1)
    given = parser.parse_args()
    sets = sorted(path.parent for path in given.folder.glob("*/test.svm*"))
    sets = [s for s in sets if not given.data or s.name in given.data.split(",")]
    table: dict[str, list[Excess | None]] = {}
    for name in given.algo.split(","):
        table[name] = []
        for folder in sets:
            table[name].append(excess(name, folder, given.passes))
            print(name, folder.name, table[name][-1], flush=True)
    used = [k for k in range(len(sets)) if any(line[k] is not None for line in table.values())]
    print("| algorithm |", " | ".join(sets[k].name for k in used), "| above 3 % (surely) |")
    print("|---|", "---|" * (len(used) + 1), sep="")
    for name, line in table.items():
        cells = ["-" if line[k] is None else f"{100 * line[k].share:+.1f}" for k in used]
        known = [cell for cell in line if cell is not None]
        high, surely = sum(c.share > 0.03 for c in known), sum(c.surely for c in known)
        print(f"| {name} |", " | ".join(cells), f"| {high} ({surely}) of {len(known)} |")


if __name__ == "__main__":
    main()
