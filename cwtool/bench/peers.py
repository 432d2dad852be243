"""cwtool compared with LIBLINEAR, XGBoost, scikit-learn and Vowpal Wabbit: `make bench-peers`.

A new comparison is a function that returns a `Duel`, and an entry of DUELS.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cwtool.bench import descents, optima, selectors
from cwtool.bench.duel import (
    Contender,
    Duel,
    faster,
    markdown,
    memory_under,
    no_worse,
    record,
    run,
    within,
)
from cwtool.parallel import one_blas_thread

PYTHON = sys.executable
SCRIPTS = Path(PYTHON).parent
THREADS = 2


def reader(label: str, *args: str) -> Contender:
    return Contender(label, (PYTHON, "-m", "cwtool.bench.readers", *args), inside=True)


def peer_reader(label: str, package: str, *args: str) -> Contender:
    try:
        return reader(f"{label} {version(package)}", *args)
    except PackageNotFoundError:
        return Contender(label, absent=f"absent (pip install {package})")


def cwtool(label: str, *args: str) -> Contender:
    command = shutil.which("cwtool", path=str(SCRIPTS)) or shutil.which("cwtool")
    if command is None:
        return Contender(label, absent="absent (pip install .)")
    return Contender(label, (command, *args))


def liblinear_reader(path: Path) -> Contender:
    """LIBLINEAR checks its options after reading, so that a negative tolerance makes it read the
    file and then stop."""
    label = "LIBLINEAR liblinear-train"
    command = shutil.which("liblinear-train")
    if command is None:
        return Contender(label, absent="absent (apt install liblinear-tools)")
    return Contender(label, (command, "-e", "-1", str(path), "/dev/null"), refusal="eps <= 0")


def vowpal(path: Path, model: Path) -> Contender:
    """The native program if it is installed, otherwise the same program from its Python wheel."""
    # 20 bits hold every id of the corpus: integer names are their own hash.
    args = ("--quiet", "--loss_function", "hinge", "-b", "20", "-d", str(path), "-f", str(model))
    if native := shutil.which("vw"):
        shown = subprocess.run([native, "--version"], capture_output=True, text=True).stdout
        return Contender(f"Vowpal Wabbit {shown.partition(' ')[0]} (native vw)", (native, *args))
    try:
        name = f"Vowpal Wabbit {version('vowpalwabbit')} (wheel)"
    except PackageNotFoundError:
        return Contender("Vowpal Wabbit", absent="absent (pip install vowpalwabbit)")
    return Contender(name, (PYTHON, "-m", "vowpalwabbit", *args))


def corpus(folder: Path, size: float) -> Path:
    """Write an .svm file and the same rows as a .vw file. Another process does it, because the
    memory of this one would count as that of the programs that it measures."""
    path = folder / f"rows-{size:g}mb.svm"
    print(f"corpus: {path}", file=sys.stderr)
    command = [PYTHON, "-m", "cwtool.bench.corpus", str(path), "--size", str(size)]
    subprocess.run(command, check=True)
    return path


def parse(folder: Path, size: float) -> Duel:
    svm = corpus(folder, size)
    one = reader("cwtool, 1 thread", "cwtool-keep", str(svm), "1")
    two = reader(f"cwtool, {THREADS} threads", "cwtool-keep", str(svm), str(THREADS))
    linear = liblinear_reader(svm)
    boost = peer_reader("XGBoost", "xgboost", "xgboost", str(svm))
    scikit = peer_reader("scikit-learn", "scikit-learn", "sklearn", str(svm))
    return Duel(
        title=f"Parsing {size:g} MB into memory",
        timed="The read alone, imports excluded; for liblinear-train the whole process, which "
        "stops at an impossible option right after its reader.",
        reference=one.name,
        contenders=[one, two, linear, boost, scikit],
        targets=[
            faster(one.name, linear.name, "cpu", 5),
            faster(one.name, boost.name, "cpu", 3),
            faster(one.name, scikit.name, "cpu", 10),
            faster(two.name, one.name, "wall", 1.6),
        ],
    )


def arow(folder: Path, size: float) -> Duel:
    svm = corpus(folder, size)
    model, jobs = folder / "arow.cw", str(THREADS)
    args = ("train", "--algo", "arow", str(svm), "-m", str(model), "--jobs", jobs, "-q", "--json")
    ours = cwtool(f"cwtool arow, {THREADS} threads", *args)
    alone = Contender(
        f"cwtool parsing alone, {THREADS} threads",
        (PYTHON, "-m", "cwtool.bench.readers", "cwtool-stream", str(svm), jobs),
    )
    hinge = vowpal(svm.with_suffix(".vw"), folder / "hinge.vw")
    return Duel(
        title=f"One pass over {size:g} MB: parse, learn, save",
        timed="Whole processes; Vowpal Wabbit learns with the hinge loss from its own format.",
        reference=ours.name,
        contenders=[ours, alone, hinge],
        targets=[
            faster(ours.name, hinge.name, "wall", 2),
            within(ours.name, alone.name, "wall", 1.8),
            memory_under(ours.name, base=150, per_feature=32),
        ],
    )


def startup(folder: Path, size: float) -> Duel:
    svm, one_row, model = corpus(folder, 1), folder / "one_row.svm", folder / "startup.cw"
    with svm.open() as rows:
        one_row.write_text(rows.readline())
    train = cwtool("train", "train", "--algo", "arow", str(svm), "-m", str(model), "-q")
    if not train.absent:
        # if this fails, so does the contender that predicts
        subprocess.run(train.command, stdout=subprocess.DEVNULL, check=False)
    show = cwtool("cwtool --version", "--version")
    predict = cwtool("cwtool predict, one row", "predict", str(one_row), "-m", str(model))
    click = Contender("import click", (PYTHON, "-c", "import click"))
    numpy = Contender("import numpy", (PYTHON, "-c", "import numpy"))
    return Duel(
        title="Start-up",
        timed="Whole processes.",
        reference=show.name,
        contenders=[show, click, predict, numpy],
        targets=[
            within(show.name, click.name, "wall", 1.5),
            within(predict.name, numpy.name, "wall", 2),
        ],
        rounds=15,
    )


def trainer(label: str, name: str, train: Path, test: Path, *cs: str) -> Contender:
    if name.startswith("liblinear"):
        try:
            version("liblinear-official")
        except PackageNotFoundError:
            return Contender(label, absent="absent (pip install liblinear-official)")
    command = (PYTHON, "-m", "cwtool.bench.trainers", name, str(train), str(test), *cs)
    return Contender(label, command, inside=True)


def batch(title: str, train: Path, test: Path, points: float, factor: float) -> Duel:
    """BCW and DCD compared with LIBLINEAR: at the best C of each, and at C = 1."""

    def pair(label: str, name: str) -> list[Contender]:
        return [
            trainer(f"{label}", name, train, test),
            trainer(f"{label}, C = 1", name, train, test, "1"),
        ]

    ours = pair("bcw", "bcw")
    hinge, squared = (
        pair("LIBLINEAR -s 3", "liblinear-hinge"),
        pair("LIBLINEAR -s 1", "liblinear-squared"),
    )
    dcd = [
        trainer("dcd hinge, C = 1", "dcd-hinge", train, test, "1"),
        trainer("dcd squared, C = 1", "dcd-squared", train, test, "1"),
    ]
    return Duel(
        title=title,
        timed="Training in memory, reading excluded; C by validation unless it is named.",
        reference=ours[0].name,
        contenders=[*ours, *hinge, *squared, *dcd],
        targets=[
            no_worse(ours[0].name, (hinge[0].name, squared[0].name), points),
            faster(ours[0].name, hinge[0].name, "wall", factor),
            faster(ours[0].name, squared[0].name, "wall", factor),
            faster(ours[1].name, squared[1].name, "wall", 10 if factor > 1 else 1),
            within(dcd[0].name, hinge[1].name, "cpu", 1.2),
            within(dcd[1].name, squared[1].name, "cpu", 1.2),
        ],
    )


def covtype(folder: Path, size: float) -> Duel:
    train, test = folder / "covtype.train.svm", folder / "covtype.test.svm"
    if not test.exists():
        command = [PYTHON, "-m", "cwtool.bench.covtype", str(folder / "covtype")]
        subprocess.run(command, check=True)
    return batch("450,000 rows shaped like covtype", train, test, 0.2, 3)


def mnist(folder: Path, size: float) -> Duel:
    data = Path(os.environ.get("CWTOOL_DATA", "data")) / "mnist_evenodd"
    train, test = data / "train.svm.gz", data / "test.svm.gz"
    duel = batch("MNIST, even against odd", train, test, 0.3, 1)
    if train.exists():
        return duel
    missing = [replace(c, absent=f"no {train}; set CWTOOL_DATA") for c in duel.contenders]
    return replace(duel, contenders=missing)


DUELS = {"parse": parse, "arow": arow, "startup": startup, "covtype": covtype, "mnist": mnist}
DUELS["descent"] = descents.duel
DUELS |= selectors.DUELS | optima.DUELS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m cwtool.bench.peers", description=__doc__)
    parser.add_argument("--size", type=float, default=500, metavar="MB", help="size of the corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=DUELS, help="run one comparison")
    parser.add_argument("--dir", type=Path, default=Path("bench-out"), help="corpus and results")
    args = parser.parse_args()
    one_blas_thread()  # of every contender, so that their CPU times tell of their work alone
    args.dir.mkdir(parents=True, exist_ok=True)
    records = {}
    for name in [args.only] if args.only else DUELS:
        outcome = run(DUELS[name](args.dir, args.size), args.rounds)
        print(markdown(outcome), end="\n\n", flush=True)
        records[name] = record(outcome)
    (args.dir / "peers.json").write_text(json.dumps(records, indent=2) + "\n")


if __name__ == "__main__":
    main()
