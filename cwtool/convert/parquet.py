"""Parquet files, with a column for each feature."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import IO, Any

import numpy as np

from cwtool import memory
from cwtool.convert.csv_text import summed
from cwtool.convert.row import Bad, Input, Row
from cwtool.convert.table import Columns
from cwtool.convert.url_features import url_entries
from cwtool.data.handles import Handle
from cwtool.data.sources import copied, display, open_raw
from cwtool.data.writer import short
from cwtool.errors import DataError, UsageError

READ = 1000  # rows that are read together
COLUMN = 12_000  # bytes that pyarrow takes for a column, whatever the number of rows, measured
COPIES = 2  # of a row group: as it is stored, and its values
CELL_READ = 250  # bytes of a cell of these: in the table, as an object, and in its row
CELLS, ENTRIES = 1 << 24, 1 << 20  # of a row group, at most: cells, and those that are not 0
CELL, ENTRY = 24, 200  # bytes of these: in two tables and packed, and in a row that waits


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            "pyarrow, which reads and writes Parquet files, is not installed",
            "pip install 'cwtool[parquet]'",
        ) from None
    return pyarrow


def read(path: str, of: Input) -> Iterator[list[Row]]:
    """The rows of a file. Numbers and truth values are numbers, text makes features of its own,
    and null is no entry."""
    pyarrow = _pyarrow()
    raw = open_raw(path)
    plain = isinstance(raw, Handle) and raw.regular
    try:
        file = pyarrow.parquet.ParquetFile(path if plain else copied(raw, path))
    except (pyarrow.ArrowException, OSError) as failure:
        raise DataError(f"{display(path)}: {_first_line(failure)}", "is it Parquet?") from None
    together = _rows_at_once(file, of.read.max_memory, path)
    columns = Columns(file.schema_arrow.names, of, path)
    _check_types(columns, file.schema_arrow, pyarrow, path)
    number = 0
    try:
        for batch in file.iter_batches(batch_size=together):
            cells = [column.to_pylist() for column in batch.columns]
            yield list(_rows(zip(*cells, strict=True), columns, of, number))
            number += batch.num_rows
    except (pyarrow.ArrowException, OSError) as failure:
        raise DataError(f"{display(path)}: {_first_line(failure)}", "fetch it again") from None


def _rows_at_once(file: Any, limit: int, path: str) -> int:
    """How many rows are read together beside the largest row group, which is in memory as a whole;
    `limit` is in bytes, 0 for none."""
    if not limit:
        return READ
    groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
    largest = max((group.total_byte_size for group in groups), default=0)
    columns = len(file.schema_arrow.names)
    fixed, each = COPIES * largest + COLUMN * columns, CELL_READ * max(1, columns)
    memory.check(
        f"{display(path)} with {columns:,} columns and row groups of {memory.words(largest)}",
        fixed + each,
        limit,
        "write the file with smaller row groups or as text",
    )
    return min(READ, (limit - fixed) // each)


def _rows(
    lines: Iterator[tuple[Any, ...]], columns: Columns, of: Input, done: int
) -> Iterator[Row]:
    for number, cells in enumerate(lines, done + 1):
        try:
            yield _row(cells, columns)
        except Bad as fault:
            of.bad(columns.path, number, fault)


def _row(cells: tuple[Any, ...], columns: Columns) -> Row:
    entries: list[tuple[str, float]] = []
    for j, name, text in columns.features:
        cell = cells[j]
        if cell is None:
            continue
        if isinstance(cell, str) or text:
            word = str(cell).strip()
            if word.lower() not in columns.missing:
                entries.append((f"{name}={word}", 1.0))
        elif isfinite(cell):
            entries.append((name, float(cell)))
        elif cell == cell:
            raise Bad(
                j + 1,
                f"value {cell} of column {name} is not finite",
                "use null for what is unknown",
            )
    if columns.url is not None:
        entries += url_entries(_text(cells[columns.url]), columns.of.ngrams)
    return columns.complete([_text(cell) for cell in cells], entries)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    return short(cell) if isinstance(cell, float) else str(cell)


def _check_types(columns: Columns, schema: Any, pyarrow: Any, path: str) -> None:
    types = pyarrow.types
    known = (
        types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null,
        types.is_string, types.is_large_string,
    )  # fmt: skip
    for j, name, text in columns.features:
        kind = schema.types[j]
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if not text and not any(is_kind(kind) for is_kind in known):
            raise DataError(
                f"{display(path)}: column {name} has the type {kind}: no number and no text",
                f"leave it out with `drop={name}`, or take it as text with `categorical={name}`",
            )


def _first_line(failure: Exception) -> str:
    return str(failure).split("\n")[0].rstrip(".")


class UntilClosed:
    """Takes bytes to a stream, and drops them after that was closed: a writer of pyarrow that was
    left before its end writes the end of the file when it is deleted."""

    closed = False

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out

    def write(self, data: bytes) -> int:
        return len(data) if self.out.closed else self.out.write(data)

    def flush(self) -> None:
        if not self.out.closed:
            self.out.flush()


class Writer:
    """A table of doubles with a column for each feature. Labels are numbers if all of them are."""

    def __init__(
        self, out: IO[bytes], columns: list[str], limit: int, *, weights: bool, comments: bool,
        numbers: bool,
    ) -> None:  # fmt: skip
        """Row groups have as many rows as `limit` bytes have room for; 0: no limit."""
        pyarrow = self.pyarrow = _pyarrow()
        self.places, self.numbers = {name: k for k, name in enumerate(columns)}, numbers
        fields = [("label", pyarrow.float64() if numbers else pyarrow.string())]
        fields += [("weight", pyarrow.float64())] * weights + [("id", pyarrow.string())] * comments
        self.more = [name for name, _ in fields[1:]]
        self.schema = pyarrow.schema([*fields, *((name, pyarrow.float64()) for name in columns)])
        self.cells_of_group, self.entries_of_group = CELLS, ENTRIES
        if limit:
            fixed = COLUMN * len(self.schema)
            memory.check(
                f"a Parquet file of {len(self.schema):,} columns",
                fixed + CELL * len(self.schema),
                limit,
                "write LIBSVM or VW text",
            )
            self.cells_of_group = min(CELLS, (limit - fixed) // (2 * CELL))
            self.entries_of_group = min(ENTRIES, (limit - fixed) // (2 * ENTRY))
        self.out = pyarrow.parquet.ParquetWriter(UntilClosed(out), self.schema)
        self.waiting: list[Row] = []
        self.entries = 0  # of these rows

    def write(self, rows: list[Row]) -> None:
        for row in rows:
            self.waiting.append(row)
            self.entries += len(row.entries)
            cells = len(self.waiting) * len(self.schema)
            if cells >= self.cells_of_group or self.entries >= self.entries_of_group:
                self._write_group()

    def _write_group(self) -> None:
        rows = self.waiting
        label = [float(row.label or 0) if self.numbers else row.label for row in rows]
        special = {"weight": [row.weight for row in rows], "id": [row.comment for row in rows]}
        values = np.zeros((len(self.places), len(rows)))
        for k, row in enumerate(rows):
            for name, x in summed(row.entries).items():
                values[self.places[name], k] = x
        arrays = [label, *(special[name] for name in self.more), *values]
        found = zip(arrays, self.schema.types, strict=True)
        table = self.pyarrow.Table.from_arrays(
            [self.pyarrow.array(array, kind) for array, kind in found], schema=self.schema
        )
        self.out.write_table(table)
        self.waiting, self.entries = [], 0

    def close(self) -> None:
        """Write the remaining rows and the end of the file."""
        if self.waiting:
            self._write_group()
        self.out.close()
