"""Other classifiers, for the tasks `test` and `validation`: scikit-learn, LIBLINEAR and Vowpal
Wabbit, which are linear, and metrics that other methods learn (other_metrics.py). A method of a
suite names one as its algorithm, and gives parameters.

All learn without an intercept of their own, from rows that are divided by their typical norm as
ours are: rows that shall have a constant get it by `bias` in the table of the data."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from shutil import which
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from cwtool.bench.classes import metrics_of, n_classes
from cwtool.bench.other_metrics import METHODS, learned_metric
from cwtool.data import writer
from cwtool.data.rows import Floats, Ints, Rows
from cwtool.errors import DataError
from cwtool.order import permutation
from cwtool.records import dataclass
from cwtool.scratch import Scratch
from cwtool.validation import folds

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell

Predict = Callable[[Rows], Ints]


@dataclass(frozen=True)
class Job:
    """What a program has to learn: rows in the order in which they are to be visited."""

    rows: Rows
    params: dict[str, Any]
    passes: int
    seed: int


@dataclass(frozen=True)
class Program:
    learn: Callable[[Job], Predict]
    package: str  # the Python package that it needs
    install: str
    command: str = ""  # a program that does as well

    @property
    def absent(self) -> str:
        """How to install the program; empty if it is installed."""
        there = find_spec(self.package) or (self.command and which(self.command))
        return "" if there else f"pip install {self.install}"


def test(cell: Cell, train: Rows, check: Rows, passes: int) -> dict[str, Any]:
    """Learn the training rows in a random order and measure on the test rows."""
    mixed = train.take(permutation(train.n_rows, cell.seed))
    answers, seconds = _answers(cell, mixed, check, passes)
    return {**metrics_of(check.y, answers, n_classes(train)), "seconds": seconds}


def validation(cell: Cell, rows: Rows, n: int, passes: int) -> dict[str, Any]:
    """The metrics on each fold of the rows, as those of our own algorithms are judged."""
    found = []
    for learned, checked in folds(rows.y, n, cell.seed):
        order, check = learned[permutation(len(learned), cell.seed, 0)], rows.take(checked)
        answers, _ = _answers(cell, rows.take(order), check, passes)
        found.append(metrics_of(check.y, answers, n_classes(rows)))
    return {name: [one[name] for one in found] for name in found[0]}


def _answers(cell: Cell, train: Rows, check: Rows, passes: int) -> tuple[Ints, float]:
    """What is said of the rows to check, and the CPU seconds of learning in this process."""
    if train.weight is not None or check.weight is not None:
        raise DataError(f"{cell.source.name} has row weights, which {cell.algo} is not given")
    norm = _typical_norm(train)
    near, far = (replace(rows, values=rows.values / norm) for rows in (train, check))
    started = process_time()
    predict = PROGRAMS[cell.algo].learn(Job(near, cell.params, passes, cell.seed))
    seconds = process_time() - started
    return predict(far), seconds


def _typical_norm(rows: Rows) -> float:
    """The geometric mean norm of the rows that have entries."""
    number = np.repeat(rows.order, np.diff(rows.indptr))
    squares = np.bincount(number, rows.values**2, rows.n_rows)
    return float(np.exp(np.log(squares[squares > 0]).mean() / 2))


class Columns:
    """The features of the training rows as columns 0 .. n-1; others are left out."""

    def __init__(self, rows: Rows) -> None:
        self.ids = np.unique(rows.indices)

    def matrix(self, rows: Rows) -> Any:
        at = np.minimum(np.searchsorted(self.ids, rows.indices), len(self.ids) - 1)
        values = np.where(self.ids[at] == rows.indices, rows.values, 0.0)
        return csr_matrix((values, at, rows.indptr), (rows.n_rows, len(self.ids)))


def _estimator(job: Job, estimator: Any) -> Predict:
    """A classifier of scikit-learn."""
    import warnings

    columns = Columns(job.rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a limit of iterations that was reached
        estimator.fit(columns.matrix(job.rows), job.rows.y)
    return lambda rows: np.asarray(estimator.predict(columns.matrix(rows)), dtype=np.int32)


def linear_svc(job: Job) -> Predict:
    from sklearn.svm import LinearSVC

    return _estimator(job, LinearSVC(fit_intercept=False, random_state=job.seed, **job.params))


def sgd(job: Job) -> Predict:
    from sklearn.linear_model import SGDClassifier

    fixed = {"max_iter": job.passes, "tol": None, "fit_intercept": False}
    return _estimator(job, SGDClassifier(random_state=job.seed, **fixed, **job.params))


def liblinear(job: Job, solver: int) -> Predict:
    """-s 1 one class against the rest, squared hinge; -s 4 Crammer and Singer's joint margin."""
    from liblinear.liblinear import liblinear as library
    from liblinear.liblinear import parameter, problem, toPyModel

    columns = Columns(job.rows)
    task = problem(job.rows.y.astype(float), columns.matrix(job.rows))
    model = toPyModel(library.train(task, parameter(f"-s {solver} -c {job.params['C']} -q")))
    labels: Ints = np.array(model.get_labels(), dtype=np.int32)
    weight = _weights(model, len(columns.ids), len(labels))

    def predict(rows: Rows) -> Ints:
        score: Floats = columns.matrix(rows) @ weight
        at = score[:, 0] < 0 if score.shape[1] == 1 else score.argmax(axis=1)
        found: Ints = labels[at.astype(int)]
        return found

    return predict


def _weights(model: Any, n: int, classes: int) -> Floats:
    """One column per class, or one column for two classes unless they were solved jointly."""
    width = 1 if classes == 2 and model.param.solver_type != 4 else classes
    weight: Floats = np.ctypeslib.as_array(model.w, (n * width,)).reshape(n, width).copy()
    return weight


def vowpal(job: Job) -> Predict:
    """--oaa: one class against all; the program itself if it is installed, or that of the Python
    package."""
    native = which("vw")
    program = [native] if native else [sys.executable, "-m", "vowpalwabbit"]
    folder = Scratch()
    here, columns = Path(folder.name), Columns(job.rows)
    bits = max(18, int(np.log2(len(columns.ids) * n_classes(job.rows))) + 2)
    args = ["--oaa", str(n_classes(job.rows)), "-b", str(bits), "--noconstant"]
    args += [word for name, value in job.params.items() for word in (f"--{name}", str(value))]
    args += ["--passes", str(job.passes), "--holdout_off", "-k", "--cache_file", str(here / "c")]

    def run(rows: Rows, *more: str) -> None:
        (here / "rows").write_text("".join(_vowpal_lines(rows, columns)))
        command = [*program, "--quiet", "-d", str(here / "rows"), *more]
        subprocess.run(command, check=True, capture_output=True)

    run(job.rows, *args, "-f", str(here / "model"))

    def predict(rows: Rows) -> Ints:
        run(rows, "-t", "-i", str(here / "model"), "-p", str(here / "answers"))
        answers: Ints = np.loadtxt(here / "answers", dtype=np.int32, ndmin=1) - 1
        folder.close()
        return answers

    return predict


def _vowpal_lines(rows: Rows, columns: Columns) -> list[str]:
    """The rows in the format of Vowpal Wabbit, with classes from 1."""
    matrix = columns.matrix(rows)
    pairs = list(zip(matrix.indices.tolist(), matrix.data.tolist(), strict=True))
    ends = pairwise(rows.indptr.tolist())
    return [
        f"{y + 1} | {writer.features(pairs[a:b])}\n"
        for y, (a, b) in zip(rows.y.tolist(), ends, strict=True)
    ]


def metric(job: Job, method: str) -> Predict:
    """The nearest rows in a metric of other_metrics.py."""
    columns = Columns(job.rows)

    def rows_of(rows: Rows) -> csr_array:
        return csr_array(columns.matrix(rows))

    kind = job.rows.y.astype(np.int32)
    predict = learned_metric(method, rows_of(job.rows), kind, job.seed, **job.params)
    return lambda rows: predict(rows_of(rows))


PROGRAMS = {
    "sklearn-svc": Program(linear_svc, "sklearn", "scikit-learn"),
    "sklearn-sgd": Program(sgd, "sklearn", "scikit-learn"),
    "liblinear-1": Program(partial(liblinear, solver=1), "liblinear", "liblinear-official"),
    "liblinear-4": Program(partial(liblinear, solver=4), "liblinear", "liblinear-official"),
    "vw-oaa": Program(vowpal, "vowpalwabbit", "vowpalwabbit", "vw"),
    **{name: Program(partial(metric, method=name), "numpy", "numpy") for name in METHODS},
}
