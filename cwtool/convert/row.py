"""A row between two files, and how files are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import NamedTuple

from cwtool.data.pipeline import ReadOptions
from cwtool.data.sources import display
from cwtool.errors import DataError
from cwtool.records import dataclass


class Row(NamedTuple):
    """One example. Entries are names of features with their values; the value 0 means the same as
    no entry, but makes the feature known."""

    label: str  # as it is written; empty if there is none
    entries: list[tuple[str, float]]
    weight: float = 1.0
    comment: str = ""  # the id of the row


class Bad(Exception):
    """A line that gives no row: where in the line, what is wrong, and what to do."""

    def __init__(self, column: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.column, self.hint = column, hint


@dataclass
class Met:
    """Counts of what was read so far."""

    bad_lines: int = 0


@dataclass(frozen=True)
class Input:
    """How the sources of one conversion are read."""

    read: ReadOptions = field(default_factory=ReadOptions)
    label: str | None = None  # column of a table
    labelled: bool = True
    classes: frozenset[str] = frozenset()  # labels whose numbers were given
    weight: str | None = None
    comment: str | None = None  # column whose cells become the ids of rows
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    url: str | None = None
    delimiter: str | None = None
    header: bool | None = None  # None: told by the first row
    missing: tuple[str, ...] = ()  # more cells that mean: not known
    ngrams: int = 3
    name_of: Callable[[int], str] = str  # of the ids of LIBSVM files
    label_of: Callable[[str], str] = str  # of the numbers of classes in LIBSVM and VW files
    tell: Callable[[str], None] = lambda _: None  # notes for the user
    met: Met = field(default_factory=Met)

    def bad(self, path: str, line: int, fault: Bad) -> None:
        """Count a bad line, or stop because of it."""
        place = f"{display(path)}:{line}:{fault.column}: {fault}"
        most = self.read.max_bad_lines
        self.met.bad_lines += 1
        if self.met.bad_lines <= most:
            return
        if most:
            raise DataError(
                f"more than {most:,} bad lines; the last is {place}",
                "look at the file, or raise `max_bad_lines`",
            )
        raise DataError(place, fault.hint)
