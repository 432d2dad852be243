"""Where the rows of a cell come from: files of a data folder, or a generator."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import asdict, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cwtool import memory
from cwtool.bench.generators import MAKERS
from cwtool.bench.kinds import check_kinds
from cwtool.bench.scaling import ranged
from cwtool.data.cache import Cache
from cwtool.data.known import file_digests
from cwtool.data.labels import OTHER, Labels
from cwtool.data.parse import Reading
from cwtool.data.pipeline import ReadOptions
from cwtool.data.reading_memory import beside_reading
from cwtool.data.rows import Rows, joined
from cwtool.errors import DataError, UsageError
from cwtool.order import permutation
from cwtool.records import dataclass
from cwtool.validation import read


@dataclass(frozen=True)
class Source:
    """Files, or the name of a generator with its arguments, and what is done with their rows.
    Paths are absolute because processes may start in another folder."""

    train: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    make: str = ""
    args: dict[str, Any] = field(default_factory=dict)  # of the generator
    rows: int = 0  # largest number of training rows, drawn at random; 0: all
    split: float = 0.0  # share of the training rows, drawn at random, that is the test part
    fresh: bool = False  # every repeat draws its own rows or its own split
    ranged: bool = False  # columns are brought to [-1, 1] by their range in the training rows
    reading: Reading = field(default_factory=Reading)
    max_bad_lines: int = 0
    cache: str = ""  # folder of parsed rows, on which no row depends

    def identity(self) -> dict[str, Any]:
        """What the rows depend on, for the key of a cell: contents of files, not their names."""
        known = {k: v for k, v in asdict(self).items() if k not in ("train", "test", "cache")}
        return {
            **known,
            "args": {**defaults(self.make), **self.args},
            "train": [digest(path) for path in self.train],
            "test": [digest(path) for path in self.test],
        }

    def training(self, seed: int = 0) -> Rows:
        """The training rows. Files with test rows are not opened."""
        return _parts(self._text(test=False), seed if self.fresh else 0)[0]

    def both(self, seed: int = 0) -> tuple[Rows, Rows]:
        """Training rows and test rows."""
        train, test = _parts(self._text(test=True), seed if self.fresh else 0)
        if test is None or test.n_rows == 0:
            raise DataError(f"{self.name} has no test rows")
        return train, test

    def everything(self, seed: int = 0) -> Rows:
        """Training and test rows as one, for tasks that predict each row before learning it."""
        train, test = _parts(self._text(test=True), seed if self.fresh else 0)
        return train if test is None else joined([train, test])

    @property
    def name(self) -> str:
        return self.make or ", ".join(self.train)

    def _text(self, *, test: bool) -> str:
        """The source as text, the key of the cache of rows; without test files if they are not
        wanted."""
        return json.dumps(asdict(self) | ({} if test else {"test": []}), sort_keys=True)


def defaults(maker: str) -> dict[str, Any]:
    """The default values of the arguments of a generator."""
    if not maker:
        return {}
    taken = inspect.signature(MAKERS[maker]).parameters.values()
    return {p.name: p.default for p in taken if p.default is not p.empty}


@cache
def digest(path: str) -> str:
    """A digest of the content of a file; its path if it cannot be read."""
    return (file_digests(path) or (path,))[-1]


@lru_cache(maxsize=2)
def _parts(text: str, seed: int) -> tuple[Rows, Rows | None]:
    """Training and test rows of a source, which is given as text."""
    known = json.loads(text)
    source = Source(**known | {"reading": Reading(**known["reading"])})
    train: Rows
    test: Rows | None
    if source.make:
        train, test = MAKERS[source.make](seed, **source.args)
    else:
        train, test = _read(source)
    if source.split:
        mixed = permutation(train.n_rows, seed)
        cut = round(source.split * train.n_rows)
        # both parts keep the order of the file
        train, test = train.take(np.sort(mixed[cut:])), train.take(np.sort(mixed[:cut]))
    if 0 < source.rows < train.n_rows:
        train = train.take(np.sort(permutation(train.n_rows, seed)[: source.rows]))
    if source.ranged:
        return ranged(train, test, constant=source.reading.bias)
    return train, test


def _read(source: Source) -> tuple[Rows, Rows | None]:
    """Training and test rows of files. Several classes are numbered by ascending label."""
    labels, reading = Labels(), source.reading
    if source.ranged:
        reading = replace(reading, bias=False)  # the constant comes after the columns are scaled
    store = Cache(source.cache) if source.cache else None
    options = ReadOptions(reading, source.max_bad_lines, store=store)
    if memory.limited():
        options = replace(options, max_memory=memory.of_process())
        options = beside_reading(options, [*source.train, *source.test])
        options = replace(options, max_memory=options.max_memory * memory.BOUNDS.processes)
    train = read(list(source.train), labels, options)
    trained = list(labels.several or [])
    test = read(list(source.test), labels, options) if source.test else None
    if trained:
        train, test = _by_label(train, trained), test and _by_label(test, trained)
    return train, test


def _by_label(rows: Rows, labels: list[float]) -> Rows:
    """The rows with the numbers of their classes by ascending label; a label that no training row
    has is OTHER."""
    ranks = np.append(np.argsort(np.argsort(labels)), OTHER)  # the last one also for OTHER = -1
    known = np.where(rows.y < len(labels), rows.y, OTHER)
    return replace(rows, y=ranks[known].astype(np.int32))


OF_ALL = ("split", "fresh", "ranged", "normalize", "bias")  # keys of every data table
OF_FILES = ("folder", "train", "test", "rows")


class Named:
    """The types of these keys."""

    make: str
    split: float
    fresh: bool
    ranged: bool
    normalize: str
    bias: bool
    folder: str
    train: str | list[str]
    test: str | list[str]


def resolve(
    name: str, table: dict[str, Any], folder: Path | None, cache: str = ""
) -> Source | None:
    """The source that a suite calls `name`; None if its files do not exist."""
    check_kinds(Named, table, f"data {name}")
    reading = Reading(normalize=table.get("normalize", "none"), bias=table.get("bias", False))
    kept = {k: table[k] for k in ("split", "fresh", "ranged") if k in table}
    if "make" in table:
        maker = table["make"]
        if maker not in MAKERS:
            raise UsageError(
                f"data {name}: no generator {maker!r}; choose one of {', '.join(MAKERS)}"
            )
        args = {k: v for k, v in table.items() if k not in (*OF_ALL, "make")}
        _check_args(name, maker, args)
        return Source(make=maker, args=args, reading=reading, **kept)
    if wrong := sorted(table.keys() - {*OF_ALL, *OF_FILES}):
        known = ", ".join((*OF_FILES, *OF_ALL, "make"))
        raise UsageError(f"data {name}: {wrong[0]!r} is unknown; choose one of {known}")
    if folder is None:
        return None
    at = folder / table.get("folder", name)
    train = _found(at, table.get("train", "train.svm*"))
    test = () if "split" in table else _found(at, table.get("test", "test.svm*"))
    if not train:
        return None
    rows = table.get("rows", 0)
    return Source(train, test, rows=rows, reading=reading, cache=cache, **kept)


def _found(folder: Path, patterns: str | list[str]) -> tuple[str, ...]:
    """The files that match, in the order of the numbers in their names: Day2 before Day10."""
    listed = [patterns] if isinstance(patterns, str) else patterns
    paths = {str(path.absolute()) for pattern in listed for path in folder.glob(pattern)}
    return tuple(sorted(paths, key=_by_numbers))


def _by_numbers(path: str) -> list[tuple[int, str]]:
    return [(int(word), "") if word.isdigit() else (0, word) for word in re.split(r"(\d+)", path)]


def _check_args(name: str, maker: str, args: dict[str, Any]) -> None:
    known = list(inspect.signature(MAKERS[maker]).parameters)[1:]
    if wrong := sorted(args.keys() - set(known)):
        raise UsageError(
            f"data {name}: {maker} has no {wrong[0]!r}; choose one of {', '.join(known)}"
        )
    check_kinds(MAKERS[maker], args, f"data {name}")
