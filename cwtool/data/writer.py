"""Rows as LIBSVM text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from cwtool.data.labels import written
from cwtool.data.parse import Block
from cwtool.data.rows import Rows
from cwtool.files import complete_text
from cwtool_ext import text

SIGNS = ("-1", "+1")  # the usual labels of class 0 and class 1
Number = Callable[[Any], str]  # how a value is written; repr loses nothing


def features(pairs: Iterable[tuple[Any, Any]], number: Number = repr) -> str:
    """The features of a row from their ids and values: id:value id:value ..."""
    return " ".join([f"{j}:{number(x)}" for j, x in pairs])


def short(x: float) -> str:
    """A number without loss, and whole ones without a point."""
    digits = repr(x)
    return digits[:-2] if digits.endswith(".0") else digits


def line(label: str, features: str, weight: float = 1.0, comment: str = "") -> str:
    """A row: its label, its weight unless that is 1, what `features` gave, and a comment, with a
    line end."""
    if weight != 1:
        label = f"{label}:{weight!r}"
    row = f"{label} {features}".rstrip()
    return f"{row} # {comment}\n" if comment else f"{row}\n"


def block_lines(block: Block) -> Iterator[str]:
    """The rows of a block of a file, with its labels, weights and comments."""
    texts = {label: written(label) for label in set(block.labels.tolist())}
    texts_of_features = text.csr_features(block.indptr, block.indices, block.values, 1)
    weight = [1.0] * block.n_rows if block.weight is None else block.weight.tolist()
    comments = block.comments or [""] * block.n_rows
    rows = zip(block.labels.tolist(), texts_of_features, weight, comments, strict=True)
    for label, entries, h, comment in rows:
        yield line(texts[label], entries, h, comment)


def lines(
    rows: Rows,
    labels: Sequence[str] = SIGNS,
    ids: Sequence[Any] | None = None,
    number: Number = repr,
) -> Iterator[str]:
    """The rows with the labels of class 0 and class 1. The feature with the 0-based number j is
    written as ids[j], or as j + 1 if no ids are given."""
    at = rows.indices.tolist()
    names = [ids[j] for j in at] if ids is not None else [j + 1 for j in at]
    pairs = list(zip(names, rows.values.tolist(), strict=True))
    weight = [1.0] * rows.n_rows if rows.weight is None else rows.weight.tolist()
    ends = pairwise(rows.indptr.tolist())
    for y, h, (a, b) in zip(rows.y.tolist(), weight, ends, strict=True):
        yield line(labels[y], features(pairs[a:b], number), h)


def write_rows(
    path: Path,
    rows: Rows,
    labels: Sequence[str] = SIGNS,
    ids: Sequence[Any] | None = None,
    *,
    number: Number = repr,
    sources: Iterable[str | Path] = (),
) -> None:
    """Write the rows to a file that is there when it is complete. None of `sources`, the files
    that the rows come from, is replaced."""
    with complete_text(path, sources) as out:
        out.writelines(lines(rows, labels, ids, number))
