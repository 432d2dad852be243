"""Measure the probabilities of every algorithm on rows of test files, beside Platt scaling:

    python tools/probabilities.py FOLDER [--algo NAME,NAME] [--data NAME,NAME] [--passes N]
        [--folds N] [--multiclass rival|ovr] [--normalize columns]

FOLDER holds a folder for each data set, with train.svm and test.svm, or the same with .gz. For
every algorithm with its default parameters: the log loss of its probabilities on the test rows
divided by that of Platt scaling, minus 1, in percent. Platt scaling fits a sigmoid to the scores of
half of the test rows and is measured on the other half, for both halves and five ways to cut them;
so it uses test rows, which the probabilities never see. The last lines are markdown; their last
column counts what is more than 3 % above, and how much of that by more than two standard errors of
the test rows. A second table has the expected calibration error with ten bins, in percent.

With --multiclass the data sets of more than two classes are measured, learned in this way. Platt
scaling is then a softmax with one slope for all classes and an offset for each. Two more tables
have the log loss of a softmax with a slope for each class too, and of the shares of the classes in
training, in the same way in percent of that of Platt scaling. --normalize columns standardizes
columns and adds a bias, as `train --normalize columns --bias` does.

A single test file may have few rows. With --folds N, training and test rows together, at most
6,000, are divided into N folds, and each row is a test row once, of the model of the other folds.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from cwtool import read_libsvm, registry
from cwtool.algorithms.base import Batch
from cwtool.data.columns import FIRST_ROWS, Columns
from cwtool.data.labels import Labels
from cwtool.data.matrix import block_of
from cwtool.data.parse import Reading
from cwtool.data.rows import Rows, joined
from cwtool.errors import CwtoolError
from cwtool.metrics import softmax_fit
from cwtool.metrics.calibration import joint_fit
from cwtool.metrics.sigmoid import probability
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.run import Run
from cwtool.validation import fit, folds

SPLITS = 5  # of the test rows in halves
BINS = 10  # of probabilities
MOST = 6000  # rows of a set in folds
SLOW = {"sdist": 600, "rff-markov": 600}  # rows that these learn, at most
SLOW_CLASSES = {"spar-dca": 600}  # the same of several classes


class Found(NamedTuple):
    """By how much the log loss is above that of Platt scaling, whether it is more than 3 % above by
    more than two standard errors, the expected calibration error, and by how much the log loss of a
    slope for each class and of the shares of the classes is above."""

    share: float
    surely: bool
    ece: float
    slopes: float
    shares: float


def losses(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The log loss of each row; p has a column for each class."""
    return -np.log(np.clip(p[np.arange(len(y)), y], 1e-15, 1))


def columns(p: np.ndarray) -> np.ndarray:
    """The probabilities of both classes, or of all."""
    return p if p.ndim > 1 else np.column_stack([1 - p, p])


def halved(y: np.ndarray, z: np.ndarray, fitted: Callable[..., np.ndarray]) -> np.ndarray:
    """The log loss of each row by probabilities that were fitted to the other half of these rows:
    the mean over several ways to cut them in halves."""
    found = np.empty((SPLITS, len(y)))
    for split in range(SPLITS):
        half = permutation(len(y), split) % 2
        for k in (0, 1):
            rest = half == k
            found[split, rest] = losses(y[rest], fitted(y[~rest], z[~rest], z[rest]))
    mean: np.ndarray = found.mean(axis=0)
    return mean


def platt(y: np.ndarray, z: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Probabilities of the rows with the scores `rest`, by slope and offsets of maximum likelihood:
    of two classes with half a wrong row more of each class."""
    if z.ndim > 1:
        a, b = softmax_fit.joint_fit(softmax_fit.Scored.of(z, y, None))
        return np.exp(log_softmax(a * rest + b, axis=1))
    typical = np.abs(z).mean() or 1.0
    n = np.column_stack([np.stack([y == 0, y == 1]), [0.5, 0.0], [0.0, 0.5]])
    a, b = joint_fit(np.append(z / typical, [1.0, -1.0]), n)
    return columns(probability(a / typical, rest, b))


def by_slopes(y: np.ndarray, z: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """As `platt`, with a slope for each class."""
    if z.ndim == 1:
        return platt(y, z, rest)
    known, classes = np.isfinite(z), z.shape[1]
    typical = np.abs(z[known]).mean()
    Z, own = np.where(known, z / typical, 0.0), np.eye(classes)[y]

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = at.reshape(2, classes)
        log_p = log_softmax(np.where(known, a * Z + b, -np.inf), axis=1)
        away = np.exp(log_p) - own
        g = np.append((away * Z).sum(axis=0), away.sum(axis=0) + b)
        return float(b @ b / 2 - log_p[np.arange(len(y)), y].sum()), g

    a, b = minimize(loss, np.repeat([1.0, 0.0], classes), jac=True).x.reshape(2, classes)
    return np.exp(log_softmax(a / typical * rest + b, axis=1))


def calibration_error(y: np.ndarray, p: np.ndarray) -> float:
    """The mean difference between the mean probability in a bin and its share of rows of the class:
    the positive one of two, and the most probable one of several."""
    class_ = np.ones(len(y), dtype=int) if p.shape[1] == 2 else p.argmax(axis=1)
    top = p[np.arange(len(y)), class_]
    of = np.minimum((BINS * top).astype(int), BINS - 1)
    return float(np.abs(np.bincount(of, top - (y == class_), BINS)).sum() / len(y))


class Setting(NamedTuple):
    """How rows are read and learned."""

    passes: int
    folds: int
    several: str  # rival, ovr, or nothing: two classes
    columns: bool

    def model(self, name: str, model: Model | None, X: object) -> Model:
        """A model that has learned nothing, for rows like X, with the labels of another one."""
        if model is not None:
            return Model.new(name, {}, model.reading, labels=model.labels)
        reading, labels = Reading(), Labels(multiclass=self.several or "auto")
        if self.columns:
            found = Rows.from_csr(X[:FIRST_ROWS], np.zeros(min(FIRST_ROWS, X.shape[0]), np.int32))
            measured = Columns.measured(found.indptr, found.indices, found.values)
            reading = Reading(normalize="columns", bias=True, columns=measured)
        made = Model.new(name, {}, reading, labels=labels)
        if self.several:
            labels.several = []
        return made


def pairs(name: str, folder: Path, setting: Setting) -> Iterator[tuple[Model, Rows, Rows]]:
    """Untrained models, each with the rows to learn and the rows to predict."""
    paths = [next(folder.glob(f"{part}.svm*")) for part in ("train", "test")]
    files = [read_libsvm(path) for path in paths]
    model = setting.model(name, None, files[0][0])
    slow = SLOW | SLOW_CLASSES if setting.several else SLOW
    if not setting.folds and name in slow:
        X, y = files[0]
        some = np.sort(permutation(len(y), 0)[: slow[name]])
        files[0] = X[some], y[some]
    parts = [model.labels.encode(block_of(X, y, None, model.reading)) for X, y in files]
    if not setting.folds:
        yield model, *parts
        return
    rows = joined(parts)
    rows = rows.take(permutation(rows.n_rows, 0)[: slow.get(name, MOST)])
    for learn, check in folds(rows.y, setting.folds):
        yield setting.model(name, model, None), rows.take(learn), rows.take(check)


def measured(model: Model, train: Rows, test: Rows, passes: int) -> list[np.ndarray]:
    """The class of each test row, its log loss, that of Platt scaling, of a slope for each class
    and of the shares of the classes in training, and its probabilities."""
    fit(model, train, Run(), passes)
    score, variance, _ = model.scores(test)
    model.calibrate()
    p = columns(model.probability(score, variance))
    known = test.y < p.shape[1]  # of a class that has had a row
    if score.ndim > 1:
        known[known] = score[known, test.y[known]] > -np.inf
    y, p, z = test.y[known], p[known], (score.T / np.sqrt(1 + variance)).T[known]
    shares = np.bincount(train.y, minlength=p.shape[1]) / train.n_rows
    log_losses = [losses(y, p), halved(y, z, platt), halved(y, z, by_slopes), -np.log(shares[y])]
    return [y, *log_losses, p]


def found_on(name: str, folder: Path, setting: Setting) -> Found | None:
    """Of the algorithm on the data of the folder; None where there is no answer."""
    parts = []
    try:
        for model, train, test in pairs(name, folder, setting):
            of_batches = isinstance(model.algorithm, Batch)
            few = setting.several and len(model.labels.values) < 3
            if few or (setting.passes > 1 and of_batches):
                return None
            parts.append(measured(model, train, test, setting.passes))
    except CwtoolError:
        return None  # too large for this algorithm, or of another number of classes
    y, ours, theirs, slopes, shares, p = map(np.concatenate, zip(*parts, strict=True))
    above = ours - 1.03 * theirs
    surely = above.mean() > 2 * above.std() / len(above) ** 0.5
    of_platt = [float(found.mean() / theirs.mean() - 1) for found in (ours, slopes, shares)]
    return Found(of_platt[0], surely, calibration_error(y, p), *of_platt[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algo", default=",".join(registry.names()))
    parser.add_argument("--data", default="")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--multiclass", choices=("rival", "ovr"), default="")
    parser.add_argument("--normalize", choices=("columns",))
    given = parser.parse_args()
    setting = Setting(given.passes, given.folds, given.multiclass, given.normalize == "columns")
    sets = sorted(path.parent for path in given.folder.glob("*/test.svm*"))
    sets = [s for s in sets if not given.data or s.name in given.data.split(",")]
    table: dict[str, list[Found | None]] = {}
    for name in given.algo.split(","):
        table[name] = []
        for folder in sets:
            table[name].append(found_on(name, folder, setting))
            print(name, folder.name, table[name][-1], flush=True)
    table = {name: line for name, line in table.items() if any(line)}
    used = [k for k in range(len(sets)) if any(line[k] for line in table.values())]
    head = f"| algorithm | {' | '.join(sets[k].name for k in used)} |"
    print(head, "above 3 % (surely) |")
    print("|---|", "---|" * (len(used) + 1), sep="")
    for name, line in table.items():
        cells = ["-" if line[k] is None else f"{100 * line[k].share:+.1f}" for k in used]
        known = [cell for cell in line if cell is not None]
        high, surely = sum(c.share > 0.03 for c in known), sum(c.surely for c in known)
        print(f"| {name} |", " | ".join(cells), f"| {high} ({surely}) of {len(known)} |")
    for what in ("ece", *(("slopes", "shares") if given.multiclass else ())):
        print(f"{what}\n{head}\n|---|", "---|" * len(used), sep="")
        for name, line in table.items():
            cells = [
                "-" if line[k] is None else f"{100 * getattr(line[k], what):.1f}" for k in used
            ]
            print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
