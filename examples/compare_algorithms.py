"""Compare algorithms on a folder of data sets, and print the tables of docs/guides/algorithms.md.

    python examples/compare_algorithms.py DATA [SET ...]

A set is a folder with train.svm and test.svm, or with a file for each day, whose names sort in the
order of the days; all files may be compressed. Every algorithm has its defaults. A set with test
rows is learned in one pass and judged by its test error. A feed is learned day by day, and each day
is judged by the model of the days before it. Times are CPU time of learning rows in memory, with
one thread, as multiples of that of arow on the same set.
"""

import sys
import time
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cwtool
from cwtool import estimators
from cwtool.errors import CwtoolError

METHODS = {
    "perceptron": estimators.PerceptronClassifier(average=True),
    "pa1": estimators.PassiveAggressive1Classifier(average=True),
    "sgd": estimators.SGDClassifier(),
    "arow": estimators.ArowClassifier(),
    "cw": estimators.CWClassifier(),
    "scw1": estimators.SCW1Classifier(),
    "cw-fact": estimators.CWFactClassifier(),
    "bcw": estimators.BCWClassifier(),
    "dcd": estimators.DCDClassifier(),
    "sbcw": estimators.SBCWClassifier(features=100),
    "l1svm": estimators.L1SVMClassifier(features=100),
    "cw-sparse": estimators.CWSparseClassifier(),
    "knn": estimators.KNNClassifier(),
    "sdist": estimators.SDistClassifier(),
}
MOST_ROWS = {"knn": 15_000, "sdist": 5_000}  # sets that have too many rows for a method,
MOST_COLUMNS = {"bcw": 5_000, "sdist": 1_000}  # or have too many columns,
LEAST_COLUMNS = {"sbcw": 300, "l1svm": 300, "cw-sparse": 300}  # or too few, are left out


class Set(NamedTuple):
    """Rows and labels, part by part: train and test, or the days of a feed."""

    name: str
    parts: list[tuple[Any, Any]]
    feed: bool

    @property
    def kind(self) -> str:
        rows = sum(X.shape[0] for X, _ in self.parts[: None if self.feed else 1])
        labels = len(np.unique(np.concatenate([y for _, y in self.parts])))
        what = f"{rows:,} rows, {self.parts[0][0].shape[1]:,} features"
        return what + (f", {labels} classes" if labels > 2 else "")


class Result(NamedTuple):
    error: float
    seconds: float
    features: int | None  # that have a weight


def read(folder: Path) -> Set:
    paths = sorted(path for path in folder.iterdir() if ".svm" in path.suffixes)
    feed = not any(path.name.startswith("test.") for path in paths)
    if not feed:
        paths = [
            path for name in ("train.", "test.") for path in paths if path.name.startswith(name)
        ]
    parts = [cwtool.read_libsvm(path) for path in paths]
    width = max(X.shape[1] for X, _ in parts)
    for X, _ in parts:
        X.resize(X.shape[0], width)
    return Set(folder.name, parts, feed)


def suits(name: str, data: Set) -> bool:
    X, y = data.parts[0]
    return (
        X.shape[0] <= MOST_ROWS.get(name, X.shape[0])
        and LEAST_COLUMNS.get(name, 0) <= X.shape[1] <= MOST_COLUMNS.get(name, X.shape[1])
        and not (data.feed and name in ("knn", "sdist"))
        and not (name == "sdist" and len(np.unique(y)) > 2)
    )


def measure(method: Any, data: Set) -> Result:
    """The error on test rows, or on each day by the model of the days before it."""
    model = type(method)(**method.get_params())
    classes = np.unique(np.concatenate([y for _, y in data.parts]))
    seconds, wrong, rows = 0.0, 0, 0
    for k, (X, y) in enumerate(data.parts):
        if k:
            wrong, rows = wrong + int((model.predict(X) != y).sum()), rows + len(y)
        if data.feed or k == 0:
            start = time.process_time()
            model.partial_fit(X, y, classes=classes)
            seconds += time.process_time() - start
    used = int((model.coef_ != 0).any(axis=0).sum()) if hasattr(model, "coef_") else None
    return Result(100 * wrong / rows, seconds, used)


def table(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *lines])


def shown(found: dict[str, Result], field: str) -> list[str]:
    """The cells of a set: errors, times as multiples of arow, or numbers of features."""
    cells = []
    best = min(result.error for result in found.values())
    for name in METHODS:
        result = found.get(name)
        if result is None:
            cells.append("")
        elif field == "error":
            text = f"{result.error:.2f}"
            cells.append(f"**{text}**" if result.error == best else text)
        elif field == "seconds":
            cells.append(f"{result.seconds / found['arow'].seconds:.1f}")
        else:
            cells.append("" if result.features is None else f"{result.features:,}")
    return cells


def summary(results: dict[str, dict[str, Result]], field: str) -> list[str]:
    """The geometric mean over the sets of a method of its error, or time, as a multiple of that of
    arow. An error below 0.05 % counts as 0.05 %."""
    cells = []
    for name in METHODS:
        ratios = [
            log(max(getattr(found[name], field), least) / max(getattr(found["arow"], field), least))
            for found in results.values()
            if name in found
            for least in [0.05 if field == "error" else 0.0]
        ]
        cells.append(f"{exp(sum(ratios) / len(ratios)):.2f}" if ratios else "")
    return cells


def compare(data: Set) -> dict[str, Result]:
    found = {}
    measure(METHODS["arow"], data)  # what is slow only once
    for name, method in METHODS.items():
        if not suits(name, data):
            continue
        try:
            found[name] = measure(method, data)
        except CwtoolError as refused:
            print(f"{data.name}, {name}: {refused}", file=sys.stderr)
            continue
        print(f"{data.name}, {name}: {found[name]}", file=sys.stderr, flush=True)
    return found


def main(folder: Path, names: list[str]) -> None:
    chosen = names or sorted(path.name for path in folder.iterdir() if path.is_dir())
    results, kinds = {}, []
    for data in map(read, (folder / name for name in chosen)):
        results[data.name] = compare(data)
        kinds.append([data.name, data.kind])
    print(table(["set", "what it is"], kinds))
    for field, title in (("error", "Error, %"), ("seconds", "CPU time"), ("features", "Features")):
        lines = [[name, *shown(found, field)] for name, found in results.items()]
        if field != "features":
            lines.append(["mean", *summary(results, field)])
        print(f"\n{title}:\n\n{table(['set', *METHODS], lines)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
