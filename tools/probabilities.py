"""Measure the probabilities of every algorithm on rows of test files, beside Platt scaling:

    python tools/probabilities.py FOLDER [--algo NAME,NAME] [--data NAME,NAME] [--passes N]
        [--folds N]

FOLDER holds a folder for each data set of two classes, with train.svm and test.svm, or the same
with .gz. For every algorithm with its default parameters: the log loss of its probabilities on the
test rows divided by that of Platt scaling, minus 1, in percent. Platt scaling fits a sigmoid to the
scores of half of the test rows and is measured on the other half, for both halves and five ways to
cut them; so it uses test rows, which the probabilities never see. The last lines are markdown;
their last column counts what is more than 3 % above, and how much of that by more than two standard
errors of the test rows. A second table has the expected calibration error with ten bins, in
percent.

A single test file may have few rows. With --folds N, training and test rows together, at most
6,000, are divided into N folds, and each row is a test row once, of the model of the other folds.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cwtool import read_libsvm, registry
from cwtool.algorithms.base import Batch
from cwtool.data.matrix import block_of
from cwtool.data.rows import Rows, joined
from cwtool.errors import CwtoolError
from cwtool.metrics.calibration import joint_fit
from cwtool.metrics.sigmoid import probability, standardized
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.run import Run
from cwtool.validation import fit, folds

SPLITS = 5  # of the test rows in halves
BINS = 10  # of probabilities
MOST = 6000  # rows of a set in folds
SLOW = {"sdist": 600, "rff-markov": 600}  # rows that these learn, at most


class Found(NamedTuple):
    """By how much the log loss is above that of Platt scaling, whether it is more than 3 % above by
    more than two standard errors, and the expected calibration error."""

    share: float
    surely: bool
    ece: float


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


def calibration_error(y: np.ndarray, p: np.ndarray) -> float:
    """The mean difference between the mean probability in a bin and its share of positive rows."""
    of = np.minimum((BINS * p).astype(int), BINS - 1)
    return float(np.abs(np.bincount(of, p - y, BINS)).sum() / len(y))


def rows_of(path: Path, model: Model, most: int = 0) -> Rows:
    X, y = read_libsvm(path)
    some = np.sort(permutation(len(y), 0)[:most]) if most else np.arange(len(y))
    return model.labels.encode(block_of(X[some], y[some], None, model.reading))


def pairs(name: str, folder: Path, n_folds: int) -> Iterator[tuple[Model, Rows, Rows]]:
    """Untrained models, each with the rows to learn and the rows to predict."""
    train, test = (next(folder.glob(f"{part}.svm*")) for part in ("train", "test"))
    if not n_folds:
        model = Model.new(name, {})
        learned = rows_of(train, model, SLOW.get(name, 0))
        yield model, learned, rows_of(test, model)
        return
    model = Model.new(name, {})
    rows = joined([rows_of(path, model) for path in (train, test)])
    rows = rows.take(permutation(rows.n_rows, 0)[: SLOW.get(name, MOST)])
    for learn, check in folds(rows.y, n_folds):
        yield Model.new(name, {}, labels=model.labels), rows.take(learn), rows.take(check)


def found_on(name: str, folder: Path, passes: int, n_folds: int) -> Found | None:
    """Of the algorithm on the data of the folder; None where there is no answer."""
    ys, ps, of_platt = [], [], []
    try:
        for model, train, test in pairs(name, folder, n_folds):
            if len(model.labels.values) > 2 or (passes > 1 and isinstance(model.algorithm, Batch)):
                return None
            fit(model, train, Run(), passes)
            score, variance, _ = model.scores(test)
            model.calibrate()
            ys.append(test.y)
            ps.append(model.probability(score, variance))
            of_platt.append(platt(test.y, score, variance))
    except CwtoolError:
        return None  # too large for this algorithm
    y, p, theirs = map(np.concatenate, (ys, ps, of_platt))
    ours = losses(y, p)
    above = ours - 1.03 * theirs
    surely = above.mean() > 2 * above.std() / len(above) ** 0.5
    return Found(ours.mean() / theirs.mean() - 1, surely, calibration_error(y, p))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algo", default=",".join(registry.names()))
    parser.add_argument("--data", default="")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--folds", type=int, default=0)
    given = parser.parse_args()
    sets = sorted(path.parent for path in given.folder.glob("*/test.svm*"))
    sets = [s for s in sets if not given.data or s.name in given.data.split(",")]
    table: dict[str, list[Found | None]] = {}
    for name in given.algo.split(","):
        table[name] = []
        for folder in sets:
            table[name].append(found_on(name, folder, given.passes, given.folds))
            print(name, folder.name, table[name][-1], flush=True)
    used = [k for k in range(len(sets)) if any(line[k] is not None for line in table.values())]
    head = f"| algorithm | {' | '.join(sets[k].name for k in used)} |"
    print(head, "above 3 % (surely) |")
    print("|---|", "---|" * (len(used) + 1), sep="")
    for name, line in table.items():
        cells = ["-" if line[k] is None else f"{100 * line[k].share:+.1f}" for k in used]
        known = [cell for cell in line if cell is not None]
        high, surely = sum(c.share > 0.03 for c in known), sum(c.surely for c in known)
        print(f"| {name} |", " | ".join(cells), f"| {high} ({surely}) of {len(known)} |")
    print(f"{head}\n|---|", "---|" * len(used), sep="")
    for name, line in table.items():
        cells = ["-" if line[k] is None else f"{100 * line[k].ece:.1f}" for k in used]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
