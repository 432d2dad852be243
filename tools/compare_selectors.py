"""Compare the algorithms that select features by cross-validation on training rows:

    python tools/compare_selectors.py FOLDER NAME [NAME ...] [--normalize none|l2] [--rows N]

FOLDER holds a folder for each data set of two classes, with train.svm or train.svm.gz; test files
are not read. For every set and number of features: the error of the weights of the selected
features, in percent, mean of three folds of at most --rows rows, for sbcw, fgm and l1svm with their
default parameters. The lines are those of a markdown table.

With --divisions N the test files are read as well. All rows of a set, at most --rows, are divided N
times at random; three quarters are learned and the rest is predicted. A second table has the error
of sbcw less that of the better of the others, with the standard error of the mean.
"""

import argparse
from collections.abc import Iterable
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


Parts = Iterable[tuple[np.ndarray, np.ndarray]]  # rows to learn and rows to check


def errors(rows: Rows, labels: Labels, options: SelectOptions, parts: Parts) -> list[list[float]]:
    """The error in percent for each of the parts and numbers of features."""
    found = []
    for learn, check in parts:
        judge = Judge(rows.take(learn), rows.take(check), Run(calibrate=False))
        chosen = selections(judge.train, labels, options)
        found.append([100 * (judge.weights(selection)["error"] or 0.0) for selection in chosen])
    return found


def line(name: str, cells: Iterable[str]) -> str:
    """A line of a markdown table."""
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("folder", type=Path)
    ask.add_argument("names", nargs="+")
    ask.add_argument("--normalize", default="none")
    ask.add_argument("--rows", type=int, default=3000)
    ask.add_argument("--divisions", type=int, default=0)
    given = ask.parse_args()
    read = ReadOptions(Reading(normalize=given.normalize))
    head = [line("set", map(str, SIZES)), "|---" * (len(SIZES) + 1) + "|"]
    print(*head, sep="\n")
    differences = {}
    for name in given.names:
        labels, patterns = Labels(), ["train.svm*", "test.svm*"][: 2 if given.divisions else 1]
        paths = [str(next((given.folder / name).glob(pattern))) for pattern in patterns]
        rows = joined(read_all(paths, labels, read))
        rows = rows.take(permutation(rows.n_rows, 0)[: given.rows])
        if given.divisions:
            parts = [next(folds(rows.y, 4, seed)) for seed in range(given.divisions)]
        else:
            parts = list(folds(rows.y, 3))
        found = [errors(rows, labels, SelectOptions(SIZES, a), parts) for a in ALGORITHMS]
        table = np.array(found)  # by algorithm, part and number of features
        mean = table.mean(axis=1)
        better = 1 + mean[1:].argmin(axis=0)
        differences[name] = table[0] - table[better, :, np.arange(len(SIZES))].T
        print(line(name, (", ".join(f"{e:.1f}" for e in at) for at in mean.T)), flush=True)
    worst = np.max([part.mean(axis=0) for part in differences.values()], axis=0)
    print("sbcw less the better of the others, at most:", worst.round(1).tolist())
    if given.divisions:
        print(*head, sep="\n")
    for name, part in differences.items() if given.divisions else ():
        spread = part.std(axis=0, ddof=1) / np.sqrt(len(part))
        each = zip(part.mean(axis=0), spread, strict=True)
        print(line(name, (f"{mean:.1f} ± {se:.1f}" for mean, se in each)))


if __name__ == "__main__":
    main()
