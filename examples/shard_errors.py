"""The error of models that were trained in shards, against that of one pass.

    python examples/shard_errors.py DATA

DATA has a folder a data set, with train.svm and test.svm or day00.svm, day01.svm and so on, each
perhaps compressed. Two tables are printed: the error on test rows against shards and rounds, and
the error on the next day where each day is learned from the model of the day before.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cwtool.data.compression import compression, decompressed
from cwtool.data.pipeline import ReadOptions
from cwtool.data.sources import open_raw, peek
from cwtool.messages.console import Console
from cwtool.model import Model
from cwtool.predict import predict
from cwtool.shards import ShardOptions, new_trainer
from cwtool.train.trainer import TrainOptions

ALGORITHMS = ("cw", "arow", "scw1", "pa1")
SETS = ("reuters_earn", "a9a", "mnist_evenodd", "phishurl")
SHARDS = (4, 16)
LEARNED = 5  # days of phishurl that are learned; the next one is the test

PLANS = {  # name -> options besides the number of shards; the head has 1,000 rows
    "one round": {"rounds": 1},
    "4 rounds": {"rounds": 4},
    "doubling": {},
}


def plain(path: Path, folder: Path) -> str:
    """The name of a plain copy of a file: compressed files are not cut."""
    target = folder / f"{path.parent.name}-{path.name.removesuffix('.gz')}"
    if not target.exists():
        head, stream = peek(open_raw(str(path)))
        kind = compression(head)
        pieces = decompressed(kind, stream, str(path)) if kind else iter([path.read_bytes()])
        target.write_bytes(b"".join(pieces))
    return str(target)


def learned(model: Model, paths: list[str], sharding: ShardOptions | None) -> Model:
    """The model after these files."""
    trainer = new_trainer(model, TrainOptions(), Console(quiet=True), sharding=sharding)
    trainer.fit(paths)
    return trainer.model


def error(model: Model, paths: list[str]) -> float:
    """Per cent of the rows that the model predicts wrong."""
    found = predict(model, paths, ReadOptions(), (), None, evaluate=True)
    return 100 * found["error"]


def of_set(algorithm: str, train: list[str], test: list[str]) -> list[float]:
    """The errors in the order of the first table."""
    cells = [None] + [
        ShardOptions(shards, head=1, **options) for options in PLANS.values() for shards in SHARDS
    ]
    return [error(learned(Model.new(algorithm, {}), train, cell), test) for cell in cells]


def of_days(algorithm: str, days: list[str]) -> list[float]:
    """The mean errors on the next day in the order of the second table."""
    cells = [None] + [ShardOptions(s, head=1, rounds=r) for r in (1, 4) for s in SHARDS]
    found = []
    for cell in cells:
        first = replace(cell, rounds=0) if cell else None
        model = learned(Model.new(algorithm, {}), days[:1], first)
        errors = []
        for day in days[1:]:
            errors.append(error(model, [day]))
            model = learned(model, [day], cell)
        found.append(sum(errors) / len(errors))
    return found


def show(cells: list[object]) -> None:
    texts = [f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells]
    print(f"| {' | '.join(texts)} |", flush=True)


def of_sets(files: dict[str, list[str]], algorithms: Sequence[str]) -> None:
    """Print the first table."""
    show(["set", "algorithm", "one pass", *(f"{p}, {s}" for p in PLANS for s in SHARDS)])
    show(["---"] * (3 + len(PLANS) * len(SHARDS)))
    for name in SETS:
        test, train = files[name][:1], files[name][1:]
        if name == "phishurl":
            train, test = files[name][:LEARNED], files[name][LEARNED : LEARNED + 1]
        for algorithm in algorithms:
            show([name, algorithm, *of_set(algorithm, train, test)])
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with a folder a data set")
    parser.add_argument("--algo", nargs="*", default=ALGORITHMS, help="algorithms to try")
    parser.add_argument("--only", choices=["sets", "days"], help="print one of the tables")
    given = parser.parse_args()
    data, algorithms = given.data, given.algo
    with tempfile.TemporaryDirectory() as made:
        files = {
            name: [plain(path, Path(made)) for path in sorted((data / name).glob("*.svm*"))]
            for name in SETS
        }
        days = files["phishurl"]
        if given.only != "days":
            of_sets(files, algorithms)
        if given.only != "sets":
            show(["algorithm", "one pass", *(f"{r} a day, {s}" for r in (1, 4) for s in SHARDS)])
            show(["---"] * 6)
            for algorithm in algorithms:
                show([algorithm, *of_days(algorithm, days)])


if __name__ == "__main__":
    main()
