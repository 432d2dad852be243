"""Tables as text: comma-separated, tab-separated and the like."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from cwtool.convert.lines import Lines, batches
from cwtool.convert.output import Text
from cwtool.convert.row import Bad, Input, Row
from cwtool.convert.table import LABELS, Columns
from cwtool.data.sources import display
from cwtool.data.writer import short
from cwtool.errors import DataError, UsageError

DELIMITERS = ",\t;|"
MOST_CELL = 1 << 20  # characters; a quote that is never closed would fill the memory


def read(lines: Lines, of: Input, delimiter: str | None = None) -> Iterator[list[Row]]:
    """The rows of a table."""
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return
    delimiter = delimiter or of.delimiter or most_frequent(first)
    yield from batches(rows_of(lines, first, delimiter, of), lines)


def rows_of(
    lines: Lines, first: str, delimiter: str, of: Input, *, only_url: bool = False
) -> Iterator[Row | None]:
    """The rows of a table whose first line was read already; None for lines that give none."""
    csv.field_size_limit(MOST_CELL)
    skipped = lines.number - 1
    cells = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    try:
        top = next(cells)
    except csv.Error as failure:
        raise DataError(f"{display(lines.path)}:{lines.number}: {failure}", QUOTES) from None
    header = is_header(top) if of.header is None else of.header
    if header:
        columns = Columns(_distinct(top, lines), of, lines.path, only_url=only_url)
        rows: Iterable[list[str]] = cells
    else:
        columns = Columns(*_numbered(len(top), of), lines.path, only_url=only_url)
        rows = chain([top], cells)
    found = iter(rows)
    while True:
        try:
            for row in found:
                yield columns.row(row) if row else None  # an empty line
            return
        except Bad as fault:
            of.bad(lines.path, skipped + cells.line_num, fault)
            yield None
        except csv.Error as failure:
            of.bad(lines.path, skipped + cells.line_num, Bad(1, f"{failure}", QUOTES))
            yield None


QUOTES = "is a quote not closed? A quote inside a cell in quotes is written twice"


def most_frequent(line: str) -> str:
    """The delimiter of a line of a table."""
    return max(DELIMITERS, key=line.count)


def is_header(cells: list[str]) -> bool:
    """Whether the first line has names: a usual name of labels, or no number at all."""
    small = [cell.strip().lower() for cell in cells]
    return any(cell in LABELS for cell in small) or not any(map(_is_number, small))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _distinct(names: list[str], lines: Lines) -> list[str]:
    names = [name.strip() for name in names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(
            f"{display(lines.path)}:{lines.number}: two columns have the name {twice or '(empty)'}",
            "give each column a different name, or use `no_header` if the first line has no names",
        )
    return names


def _numbered(n: int, of: Input) -> tuple[list[str], Input]:
    """Names of columns without a header, and the input with settings by these names. Settings
    give columns by their numbers in the line; features are numbered without the other columns."""
    label = "1" if of.label is None else of.label
    of = replace(of, label=label if of.labelled else None)
    settings = (of.label, of.weight, of.comment, of.url, *of.drop)
    special = {text for text in settings if text is not None}
    if strange := {*special, *of.categorical} - {str(k) for k in range(1, n + 1)}:
        raise UsageError(
            f"there is no column {min(strange)} in a table of {n} columns without a header",
            "give the number of a column, or use `header` if the first line has names",
        )
    free = (str(k) for k in range(1, n + 1))
    names = [f"column {k}" if str(k) in special else next(free) for k in range(1, n + 1)]
    return names, _by_name(of, names)


def _by_name(of: Input, names: list[str]) -> Input:
    def name(text: str | None) -> str | None:
        return None if text is None else names[int(text) - 1]

    return replace(
        of,
        label=name(of.label),
        weight=name(of.weight),
        comment=name(of.comment),
        url=name(of.url),
        drop=tuple(names[int(text) - 1] for text in of.drop),
        categorical=tuple(names[int(text) - 1] for text in of.categorical),
    )


class Writer:
    """A table with a column for each feature. Features that a row does not have are 0."""

    def __init__(
        self, out: Text, columns: list[str], delimiter: str, *, weights: bool, comments: bool
    ) -> None:
        self.text, self.out = out, csv.writer(out, delimiter=delimiter, lineterminator="\n")
        self.places = {name: k for k, name in enumerate(columns)}
        self.zeros, self.weights, self.comments = ["0"] * len(columns), weights, comments
        more = ["weight"] * weights + ["id"] * comments
        self.out.writerow(["label", *more, *columns])

    def write(self, rows: list[Row]) -> None:
        for row in rows:
            line = [row.label]
            if self.weights:
                line.append(short(row.weight))
            if self.comments:
                line.append(row.comment)
            cells = self.zeros.copy()
            for name, x in summed(row.entries).items():
                cells[self.places[name]] = short(x)
            self.out.writerow(line + cells)
            self.text.relieve()

    def close(self) -> None:
        """Do nothing: all rows are already written."""


def summed(entries: list[tuple[str, float]]) -> dict[str, float]:
    """Values by name; those of the same name are added."""
    values: dict[str, float] = {}
    for name, x in entries:
        values[name] = values.get(name, 0.0) + x
    return values
