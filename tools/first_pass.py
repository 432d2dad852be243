"""Compare a first pass of stsgd with one of sgd: `python tools/first_pass.py FOLDER [SET ...]`.

FOLDER has a folder for each data set, with train.svm or a file for each day, of which the first
four count. All training rows are in memory. Both learners take turns, each with a new model, and
the fastest of the runs counts, in CPU time of the process. For each set and loss the milliseconds
of sgd and of stsgd and their ratio are printed three times: `learn` is Model.new and Model.learn
without a sample for probabilities, `fit` is the fit of the estimator, and `proba` is that and the
fit of the probabilities. With --parts the CPU time of the parts of stsgd follows.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import numpy as np
from scipy.sparse import csr_array

from cwtool.algorithms import stsgd
from cwtool.algorithms.stabilized_descent import column_spread, first_pass
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Rows
from cwtool.estimators import SGDClassifier, STSGDClassifier
from cwtool.metrics.calibration import Calibration
from cwtool.metrics.tally import Tally
from cwtool.model import Model
from cwtool.model.sample import Sample
from cwtool.run import Run
from cwtool.state import FeatureIndex, State
from cwtool.validation import read

PARTS = {  # a part of a first pass, and the functions that do it
    "look-up of ids": [(FeatureIndex, "observe")],
    "room in tables": [(State, "reserve"), (State, "__init__")],
    "shares of the rows": [(stsgd, "drawn")],
    "rows and columns": [(first_pass, "_prepared")],
    "paths and bursts": [(first_pass, "_learned")],
    "scale of columns": [(column_spread, "fit")],
    "end of stages": [(stsgd, "end_stage")],
    "begin of stages": [(stsgd.Stsgd, "begin")],
    "sample for probabilities": [(Sample, "add")],
    "metrics": [(Calibration, "add"), (Tally, "add")],
}


def learners(rows: Rows, labels: Labels, loss: str) -> dict[str, list[Callable[[], object]]]:
    """What is measured, of sgd and of stsgd."""
    width = int(rows.indices.max()) + 1
    X = csr_array((rows.values, rows.indices, rows.indptr), shape=(rows.n_rows, width))

    def learn(name: str) -> Callable[[], object]:
        return lambda: learned(name, loss, rows, labels)

    def fit(kind: Any) -> Callable[[], object]:
        return lambda: kind(loss=loss).fit(X, rows.y)

    def proba(kind: Any) -> Callable[[], object]:
        return lambda: kind(loss=loss).fit(X, rows.y).predict_proba(X[:1])

    kinds = SGDClassifier, STSGDClassifier
    return {
        "learn": [learn("sgd"), learn("stsgd")],
        "fit": [fit(kind) for kind in kinds],
        "proba": [proba(kind) for kind in kinds],
    }


def learned(name: str, loss: str, rows: Rows, labels: Labels) -> Model:
    """A new model that has learned the rows."""
    model = Model.new(name, {"loss": loss}, labels=labels)
    model.learn(rows, Run(calibrate=False))
    return model


def fastest(works: list[Callable[[], object]], times: int) -> list[float]:
    """The CPU time of each, the fastest of several runs by turns."""
    best = [float("inf")] * len(works)
    for _ in range(times):
        for k, work in enumerate(works):
            start = process_time()
            work()
            best[k] = min(best[k], process_time() - start)
    return best


@contextmanager
def timed(spent: dict[str, float]) -> Iterator[None]:
    """Within it, the CPU time of the parts is added to what was spent."""
    patches = [
        mock.patch.object(owner, name, _counted(getattr(owner, name), part, spent))
        for part, functions in PARTS.items()
        for owner, name in functions
    ]
    for patch in patches:
        patch.start()
    yield
    for patch in patches:
        patch.stop()


def _counted(work: Callable[..., Any], part: str, spent: dict[str, float]) -> Callable[..., Any]:
    def counted(*args: Any, **settings: Any) -> Any:
        start = process_time()
        found = work(*args, **settings)
        spent[part] += process_time() - start
        return found

    return counted


def parts(rows: Rows, labels: Labels, loss: str, times: int) -> dict[str, float]:
    """The CPU time of each part of stsgd in the fastest of its runs, and of what is left."""
    best: dict[str, float] = {}
    for _ in range(times):
        spent: dict[str, float] = defaultdict(float)
        with timed(spent):
            start = process_time()
            learned("stsgd", loss, rows, labels)
            total = process_time() - start
        spent["other"] = total - sum(spent.values())
        if not best or total < sum(best.values()):
            best = dict(spent)
    return best


def files_of(folder: Path) -> list[str]:
    """The training rows of a data set."""
    found = sorted(folder.glob("train.svm*")) or sorted(folder.glob("[dD]ay*[0-3].svm*"))[:4]
    return [str(path) for path in found]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--only", nargs="*", default=["learn", "fit", "proba"])
    given = parser.parse_args()
    np.empty(1 << 21)[:] = 0  # freed at once: the C library then keeps arrays of up to 16 MB
    for name in given.sets or sorted(path.name for path in given.folder.iterdir() if path.is_dir()):
        labels = Labels()
        rows = read(files_of(given.folder / name), labels, ReadOptions())
        for loss in ("hinge", "logistic"):
            line = f"{name:22} {loss:9}"
            for what, works in learners(rows, labels, loss).items():
                if what in given.only:
                    a, b = fastest(works, given.times)
                    line += f" {what} {1e3 * a:8.2f} {1e3 * b:8.2f} {b / a:5.2f} "
            print(line, flush=True)
            if given.parts and labels.several is None:
                for part, seconds in parts(rows, labels, loss, given.times).items():
                    print(f"    {part:26} {1e3 * seconds:8.2f} ms")


if __name__ == "__main__":
    main()
