"""CPU time of learning in memory: that of LIBLINEAR -s 1, -s 2 and -s 3 divided by that of bcw,
with the same C, and the test error of all four.

    OPENBLAS_NUM_THREADS=1 CWTOOL_DATA=DIR python tools/compare_liblinear.py SET [--C 0.01,1,100]

SET is covtype-like, w8a-like, or a folder of DIR; with --unit all rows have length 1. All learn in
turn, and the best of several rounds counts. Probabilities are not asked for.

With --divisions N no time is measured. Instead, all rows, training and test rows together but at
most --rows, are divided N times at random; three quarters are learned with the C that has the
fewest errors in five-fold cross-validation on them, and the rest is predicted. The lines are the
mean error and the mean difference to bcw with its standard error.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from cwtool.bench import covtype, trainers
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.data.rows import Rows, joined
from cwtool.order import permutation
from cwtool.validation import folds, read

SOLVERS = (1, 2, 3)
LONG = 3.0  # CPU seconds: who takes longer than that learns twice at most


def like_w8a(n: int, seed: int) -> Rows:
    """n rows of about 12 of 300 yes-or-no features, some frequent and most rare, and a constant
    one; 3 % are positive. The weights that decide the labels are the same for all seeds."""
    rng, shape = np.random.default_rng(seed), np.random.default_rng(5)
    often = np.arange(1, 301) ** -0.8
    for _ in range(2):
        often = np.minimum(often * 11.65 / often.sum(), 0.5)
    weight = shape.normal(size=300) * np.where(np.arange(300) < 10, 0.4, 1.2)
    x = rng.random((n, 300)) < np.minimum(0.9, rng.gamma(2, 0.5, size=(n, 1)) * often)
    score = x @ weight
    y = score - np.quantile(score, 0.97) + rng.logistic(0, 0.4, n) > 0
    x = np.column_stack([x, np.ones(n, dtype=bool)])
    ends, ids = np.cumsum(x.sum(axis=1)), np.nonzero(x)[1].astype(np.int32)
    return Rows(np.append(0, ends), ids, np.ones(len(ids)), y.astype(np.int32))


def parts(name: str, unit: bool) -> tuple[Rows, Rows]:
    """Training and test rows."""
    if name == "covtype-like":
        return covtype.made(450_000, 1), covtype.made(90_000, 2)
    if name == "w8a-like":
        return like_w8a(50_000, 1), like_w8a(20_000, 2)
    folder, labels = Path(os.environ.get("CWTOOL_DATA", "data")) / name, Labels()
    paths = [next(folder.glob(f"{part}.svm*")) for part in ("train", "test")]
    train, test = (read([str(path)], labels, ReadOptions()) for path in paths)
    return (unit_rows(train), unit_rows(test)) if unit else (train, test)


def unit_rows(rows: Rows) -> Rows:
    """The rows with length 1."""
    sums = np.append(0, np.cumsum(rows.values**2))[rows.indptr]
    length = np.sqrt(np.maximum(np.diff(sums), 1e-300))
    return replace(rows, values=rows.values / np.repeat(length, np.diff(rows.indptr)))


def compare(train: Rows, test: Rows, C: float, rounds: int) -> str:
    """A line of the table."""
    fits = [trainers.ours("bcw", 1), *map(trainers.liblinear, SOLVERS)]
    best, errors = [np.inf] * len(fits), [""] * len(fits)
    for turn in range(rounds):
        for k, fit in enumerate(fits):
            if turn > 1 and best[k] > LONG:
                continue
            cpu, _, predict = fit(train, C)
            best[k] = min(best[k], cpu)
            if turn == 0:
                errors[k] = f"{100 * trainers.error(predict(test), test.y):.2f}"
    ratios = ", ".join(f"{cpu / best[0]:.1f}" for cpu in best[1:])
    return f"| {C:g} | {1e3 * best[0]:.1f} | {ratios} | {', '.join(errors)} |"


def error_by_cross_validation(
    fit: trainers.Fit, train: Rows, test: Rows, grid: list[float]
) -> float:
    """The error on the test rows in percent, with the C that cross-validation on the training rows
    chooses."""

    def error(learned: Rows, checked: Rows, C: float) -> float:
        return 100 * trainers.error(fit(learned, C)[2](checked), checked.y)

    parts = [(train.take(learn), train.take(check)) for learn, check in folds(train.y, 5)]
    chosen = min(grid, key=lambda C: sum(error(*part, C) for part in parts))
    return error(train, test, chosen)


def compare_errors(rows: Rows, grid: list[float], divisions: int) -> None:
    """Print the errors of bcw and of LIBLINEAR over random divisions of the rows."""
    fits = {"bcw": trainers.ours("bcw", 1)}
    fits |= {f"-s {solver}": trainers.liblinear(solver) for solver in SOLVERS}
    found: dict[str, list[float]] = {name: [] for name in fits}
    for seed in range(divisions):
        learn, check = next(folds(rows.y, 4, seed))
        for name, fit in fits.items():
            error = error_by_cross_validation(fit, rows.take(learn), rows.take(check), grid)
            found[name].append(error)
    print("| | error, % | bcw less this | standard error |")
    print("|---|---:|---:|---:|")
    for name, errors in found.items():
        less = np.subtract(found["bcw"], errors)
        spread = less.std(ddof=1) / np.sqrt(divisions)
        print(f"| {name} | {np.mean(errors):.2f} | {less.mean():.2f} | {spread:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set")
    parser.add_argument("--C", default="0.01,0.1,1,10,100")
    parser.add_argument("--unit", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--divisions", type=int, default=0)
    parser.add_argument("--rows", type=int, default=6000)
    args = parser.parse_args()
    train, test = parts(args.set, args.unit)
    norm = float(np.sqrt((train.values**2).sum() / train.n_rows))
    train, test = trainers.normalised(train, norm), trainers.normalised(test, norm)
    if args.divisions:
        both = joined([train, test])
        both = both.take(permutation(both.n_rows, 0)[: args.rows])
        compare_errors(both, [float(C) for C in args.C.split(",")], args.divisions)
        return
    print("| C | bcw, ms | -s 1, -s 2, -s 3 | test error of bcw, -s 1, -s 2, -s 3, % |")
    print("|---|---|---|---|")
    for C in args.C.split(","):
        print(compare(train, test, float(C), args.rounds), flush=True)


if __name__ == "__main__":
    main()
