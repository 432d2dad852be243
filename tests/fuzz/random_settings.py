"""Random parameters, options and small files of unusual values, for every algorithm and command."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import NamedTuple

from cwtool import registry
from cwtool.params import AUTO, Param, declared

SIZES = (2, 5, 30, 120)  # rows of a file
WIDTHS = (1, 3, 20, 300)  # features
FIRST = (1, 1, 1, 0, 100_000, 2**31 - 400)  # the smallest feature id
LABELS = (("-1", "+1"), ("0", "1"), ("1", "2"), ("5", "-3.5"))
WEIGHTS = ("0", "1", "2.5", "1e-5", "1e6")
NUMBERS = (0, 1e-100, 1e-20, 1e-8, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1, 2, 10, 100, 1e4, 1e20, 1e100)
COUNTS = (5, 10, 50)
ENDS = (0, 2, 3, 4, 5)  # exit codes: done, or a sentence about the command, the data or the model
SLOW = {"chains", "runs", "iterations", "steps", "d_max", "bursts", "cv"}  # left at their defaults
MODEL = "m.cw"


class Trial(NamedTuple):
    """A command that trains a model, and commands that use this model."""

    train: list[str]
    others: list[list[str]]


def value_of(draw: random.Random, param: Param) -> str:
    """A value that the parameter allows, mostly a usual one."""
    if param.choices:
        return draw.choice(param.choices)
    if param.auto and draw.random() < 0.3:
        return AUTO
    least = param.low if param.low > -math.inf else 0
    if param.kind is int:
        near = [least, least + 1, least + 2, *COUNTS]
        return str(int(draw.choice([n for n in near if least <= n <= param.high])))
    allowed = [
        x
        for x in NUMBERS
        if (x > least if param.open_low else x >= least) and x <= min(param.high, 1e100)
    ]
    usual = [x for x in allowed if 0.001 <= x <= 100]
    return repr(float(draw.choice(usual if usual and draw.random() < 0.7 else allowed)))


def parameters(draw: random.Random, algo: str) -> list[str]:
    """Options for some of the parameters of an algorithm."""
    options: list[str] = []
    for param in declared(registry.algorithm(algo).Params):
        if param.name in SLOW or draw.random() < 0.65:
            continue
        name = param.name.replace("_", "-")
        if param.kind is bool:
            options.append(draw.choice([f"--{name}", f"--no-{name}"]))
        else:
            options += [f"--{name}", value_of(draw, param)]
    return options


def values(draw: random.Random, kind: str, n: int) -> list[float]:
    """n values of a row."""
    if kind in ("one", "zero"):
        return [float(kind == "one")] * n
    low, high = {"usual": (0, 0), "huge": (0, 300), "tiny": (-300, 0), "far": (-20, 20)}[kind]
    return [draw.gauss(0, 1) * 10.0 ** draw.randint(low, high) for _ in range(n)]


def write_rows(draw: random.Random, path: Path, classes: int) -> None:
    """A file of rows, with row weights or without."""
    kind = draw.choice(["usual", "one", "huge", "tiny", "far", "zero"])
    n, width, first = draw.choice(SIZES), draw.choice(WIDTHS), draw.choice(FIRST)
    labels = draw.choice(LABELS) if classes == 2 else [str(k) for k in range(classes)]
    weighted, lines = draw.random() < 0.2, []
    for _ in range(n):
        ids = sorted(draw.sample(range(width), draw.randint(0, min(width, 30))))
        x = values(draw, kind, len(ids))
        class_ = (
            int(sum(x) > 0) if classes == 2 and draw.random() < 0.8 else draw.randrange(classes)
        )
        weight = f":{draw.choice(WEIGHTS)}" if weighted else ""
        entries = [f" {first + j}:{v!r}" for j, v in zip(ids, x, strict=True)]
        lines.append(labels[class_] + weight + "".join(entries))
    path.write_text("\n".join(lines) + "\n")


def options(draw: random.Random) -> list[str]:
    """Options that all algorithms have, or most."""
    some = [
        ["--bias"],
        ["--hash-bits", draw.choice(["1", "4", "18"])],
        ["--normalize", draw.choice(["none", "l2", "columns"])],
        ["--class-weight", "balanced"],
        ["--threshold", draw.choice(["f1", "balanced", "0.3", "precision=0.9"])],
        ["--multiclass", draw.choice(["rival", "ovr", "no"])],
        ["--max-memory", draw.choice(["1M", "20M", "200M"])],
        draw.choice([["--passes", "2"], ["--holdout", "0.3"], ["--shards", "2"]]),
    ]
    return [word for words in some if draw.random() < 0.12 for word in words]


def trial(seed: int, folder: Path) -> Trial:
    """The commands of this seed, whose files are written to the folder as a.svm and b.svm."""
    draw = random.Random(seed)
    algo, classes = draw.choice(registry.names()), draw.choice([2, 2, 2, 3, 6])
    write_rows(draw, folder / "a.svm", classes)
    write_rows(draw, folder / "b.svm", classes)
    again = draw.choice(["a.svm", "b.svm"])
    given = parameters(draw, algo)
    form = draw.choice(["json", "liblinear", "sql", "python", "tsv"])
    output = draw.choice(["label", "score", "probability", "variance", "all"])
    others = [
        ["predict", again, "-m", MODEL, "--output", output],
        ["predict", again, "-m", MODEL, "--evaluate"],
        ["train", again, "--resume", MODEL, "-m", "n.cw", "--again"],
        ["inspect", MODEL, "--json"],
        ["inspect", MODEL, "--weights", "w.tsv"],
        ["feed", again, "-m", MODEL, "--log", "l.jsonl"],
        ["export", MODEL, "--format", form, "-o", "e.out"],
        ["merge", MODEL, MODEL, "-m", "x.cw"],
        ["report", MODEL, "-o", "r.html"],
        ["select-features", "a.svm", "--algo", algo, "--features", "1,5", *given],
    ]
    train = ["train", "a.svm", "--algo", algo, "-m", MODEL, *given, *options(draw)]
    return Trial(train, draw.sample(others, 3))


def fault(code: int, said: str) -> str:
    """What is wrong with the end of a command, or nothing."""
    if code not in ENDS:
        return f"exit code {code}"
    for words in ("Traceback", "Warning", "is damaged"):
        if words in said:
            return words
    return ""
