"""Deterministic sparse text for benchmarks: LIBSVM rows and the same rows for Vowpal Wabbit.

Ids follow Zipf's law (P(id) proportional to 1/id, id < 10^6), about 115 of them in a row; half the
values are `1`, half are decimals of one to seven digits such as 0.0788382; the label is the sign
of a planted linear model plus noise.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cwtool.files import complete_bytes

IDS = 1_000_000
DRAWS_PER_ROW = 132  # about 115 are left when repeated ids are dropped
ROWS_PER_CHUNK = 10_000
STOP_WORDS = 100  # the most frequent ids have no weight, which keeps the classes balanced
NOISE = 2.0  # the scores themselves have a standard deviation near 6

TOKEN = np.dtype([("label", "S2"), ("id", "S8"), ("value", "S9"), ("end", "S1")])


def chunks(seed: int = 0) -> Iterator[bytes]:
    """Endless whole lines of LIBSVM text, ROWS_PER_CHUNK at a time."""
    rng = np.random.default_rng(seed)
    weights = np.where(np.arange(IDS) < STOP_WORDS, 0.0, rng.normal(size=IDS))
    id_text = np.array([b" %d:" % i for i in range(IDS)])
    digits = rng.integers(1, 8, 50_000)
    decimals = [f"{rng.integers(1, 10**d) / 10**d:.{d}f}" for d in digits.tolist()]
    value_text = np.array(["1"] * len(decimals) + decimals, dtype="S9")
    values = value_text.astype(np.float64)

    while True:
        row = np.repeat(np.arange(ROWS_PER_CHUNK), 1 + rng.poisson(DRAWS_PER_ROW, ROWS_PER_CHUNK))
        ids = np.exp(rng.random(row.size) * np.log(IDS)).astype(np.int64)
        cell = np.sort(row * IDS + ids)  # np.unique hashes here, seven times slower than a sort
        row, ids = np.divmod(cell[np.diff(cell, prepend=-1) > 0], IDS)
        value = rng.integers(0, values.size, ids.size)
        score = np.bincount(row, weights[ids] * values[value])
        positive = score + rng.normal(0.0, NOISE, score.size) > 0
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        ends = np.append(starts[1:], row.size) - 1
        yield format_tokens(
            np.where(positive, b"1", b"-1"), id_text[ids], value_text[value], starts, ends
        )


def format_tokens(
    labels: npt.NDArray[Any],
    ids: npt.NDArray[Any],
    values: npt.NDArray[Any],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> bytes:
    """Write every entry into a record of fixed width, then remove the padding."""
    tokens = np.zeros(ids.size, TOKEN)
    tokens["label"][starts] = labels
    tokens["id"] = ids
    tokens["value"] = values
    tokens["end"][ends] = b"\n"
    text = tokens.view(np.uint8)
    return bytes(text[text != 0])


def libsvm(size: int, seed: int = 0) -> Iterator[bytes]:
    """The first lines of `chunks` that fit in `size` bytes."""
    for chunk in chunks(seed):
        if len(chunk) >= size:
            yield chunk[: chunk.rfind(b"\n", 0, size) + 1]
            return
        size -= len(chunk)
        yield chunk


def vowpal(lines: bytes) -> bytes:
    """The same rows in Vowpal Wabbit's format, in which an id without a value means the value 1."""
    lines = re.sub(rb"^(-?1) ", rb"\1 | ", lines, flags=re.MULTILINE)
    return lines.replace(b":1 ", b" ").replace(b":1\n", b"\n")


def lines_of(path: Path, size: int = 1 << 24) -> Iterator[bytes]:
    """The file in pieces of about `size` bytes that end at a line end."""
    with path.open("rb") as file:
        while piece := file.read(size):
            yield piece + file.readline()


def write_once(path: Path, content: Callable[[], Iterable[bytes]]) -> None:
    """Write the file unless it exists; it appears under its name only when it is complete."""
    if path.exists():
        return
    with complete_bytes(path) as file:
        file.writelines(content())


def main() -> None:
    parser = argparse.ArgumentParser(description="Write PATH.svm and PATH.vw unless they exist.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--size", type=float, default=500, metavar="MB")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    svm, vw = args.path.with_suffix(".svm"), args.path.with_suffix(".vw")
    svm.parent.mkdir(parents=True, exist_ok=True)
    write_once(svm, lambda: libsvm(int(args.size * 1e6), args.seed))
    write_once(vw, lambda: map(vowpal, lines_of(svm)))


if __name__ == "__main__":
    main()
