"""Measure the probabilities of every algorithm on rows of test files, beside Platt scaling:

    python tools/probabilities.py FOLDER [--algo NAME,NAME] [--data NAME,NAME] [--passes N]

FOLDER holds a folder for each data set of two classes, with train.svm and test.svm, or the same
with .gz. For every algorithm with its default parameters: the log loss of its probabilities on the
test rows divided by that of Platt scaling, minus 1, in percent. Platt scaling fits a sigmoid to the
scores of half of the test rows and is measured on the other half, for both halves; so it uses test
rows, which the probabilities never see. The last lines are markdown.
"""

import argparse
from pathlib import Path

import numpy as np

from cwtool import read_libsvm, registry
from cwtool.algorithms.base import Batch
from cwtool.calibration import Calibration, Reliability, probability
from cwtool.data.matrix import block_of
from cwtool.data.rows import Rows
from cwtool.errors import CwtoolError
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.run import Run
from cwtool.validation import fit

SLOW = {"sdist": 600, "rff-markov": 600}  # rows that these learn, at most


def log_loss(y: np.ndarray, p: np.ndarray) -> float:
    quality = Reliability()
    quality.add(y, p)
    return float(quality.summary()["log_loss"])


def platt(y: np.ndarray, score: np.ndarray, variance: np.ndarray) -> float:
    """The log loss of a sigmoid that was fitted to the other half of these rows."""
    half = permutation(len(y), 0) % 2
    p = np.empty(len(y))
    for k in (0, 1):
        known, rest = half != k, half == k
        calibration = Calibration()
        calibration.add(y[known], score[known], variance[known], at_once=True)
        a, b = calibration.line()
        p[rest] = probability(a, score[rest], variance[rest], b)
    return log_loss(y, p)


def rows_of(path: Path, model: Model, most: int = 0) -> Rows:
    X, y = read_libsvm(path)
    some = np.sort(permutation(len(y), 0)[:most]) if most else np.arange(len(y))
    return model.labels.encode(block_of(X[some], y[some], None, model.reading))


def excess(name: str, folder: Path, passes: int) -> float | None:
    """By how much the log loss is above that of Platt scaling; None where there is no answer."""
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
    found = log_loss(rows.y, model.probability(score, variance))
    return found / platt(rows.y, score, variance) - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algo", default=",".join(registry.names()))
    parser.add_argument("--data", default="")
    parser.add_argument("--passes", type=int, default=1)
    given = parser.parse_args()
    sets = sorted(path.parent for path in given.folder.glob("*/test.svm*"))
    sets = [s for s in sets if not given.data or s.name in given.data.split(",")]
    table: dict[str, list[float | None]] = {}
    for name in given.algo.split(","):
        table[name] = []
        for folder in sets:
            table[name].append(excess(name, folder, given.passes))
            print(name, folder.name, table[name][-1], flush=True)
    used = [k for k in range(len(sets)) if any(line[k] is not None for line in table.values())]
    print("| algorithm |", " | ".join(sets[k].name for k in used), "| above 3 % |")
    print("|---|", "---|" * (len(used) + 1), sep="")
    for name, line in table.items():
        cells = ["-" if line[k] is None else f"{100 * line[k]:+.1f}" for k in used]
        high = sum(v > 0.03 for v in line if v is not None)
        print(f"| {name} |", " | ".join(cells), f"| {high} of {len(cells) - cells.count('-')} |")


if __name__ == "__main__":
    main()
