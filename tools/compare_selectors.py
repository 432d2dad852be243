"""Compare the algorithms that select features by cross-validation on training rows:

    python tools/compare_selectors.py FOLDER NAME [NAME ...] [--normalize none|l2] [--rows N]

FOLDER holds a folder for each data set of two classes, with train.svm or train.svm.gz; test files
are not read. For every set and number of features: the error of the weights of the selected
features, in percent, mean of three folds of at most --rows rows, for sbcw, fgm and l1svm with their
default parameters. The lines are those of a markdown table.
"""

import argparse
from pathlib import Path

import numpy as np

from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.data.pipeline import ReadOptions, read_all
from cwtool.data.rows import Rows, joined
from cwtool.order import permutation
from cwtool.run import Run
from cwtool.select.choosing import SelectOptions, selections
from cwtool.select.judging import Judge
from cwtool.validation import folds

SIZES = (10, 20, 50, 100, 200)
ALGORITHMS = ("sbcw", "fgm", "l1svm")


def errors(rows: Rows, labels: Labels, options: SelectOptions) -> np.ndarray:
    """The error in percent for each number of features, mean of three folds."""
    found = []
    for train, check in folds(rows.y, 3):
        judge = Judge(rows.take(train), rows.take(check), Run(calibrate=False))
        chosen = selections(judge.train, labels, options)
        found.append([100 * (judge.weights(selection)["error"] or 0.0) for selection in chosen])
    return np.mean(found, axis=0)


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("folder", type=Path)
    ask.add_argument("names", nargs="+")
    ask.add_argument("--normalize", default="none")
    ask.add_argument("--rows", type=int, default=3000)
    given = ask.parse_args()
    read = ReadOptions(Reading(normalize=given.normalize))
    print("| set |", " | ".join(str(size) for size in SIZES), "|")
    print("|---" * (len(SIZES) + 1) + "|")
    behind = []
    for name in given.names:
        labels = Labels()
        path = next((given.folder / name).glob("train.svm*"))
        rows = joined(read_all([str(path)], labels, read))
        rows = rows.take(permutation(rows.n_rows, 0)[: given.rows])
        table = np.array([errors(rows, labels, SelectOptions(SIZES, a)) for a in ALGORITHMS])
        behind.append(table[0] - table[1:].min(axis=0))
        print(f"| {name} |", " | ".join(", ".join(f"{e:.1f}" for e in at) for at in table.T), "|")
    print("sbcw less the better of the others, at most:", np.max(behind, axis=0).round(1).tolist())


if __name__ == "__main__":
    main()
