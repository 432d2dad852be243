"""One conversion: rows of several files, each of its own kind, into one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from pathlib import Path
from typing import IO, Any, Protocol

from cwtool.convert import (
    csv_text,
    formats,
    libsvm_text,
    output,
    parquet,
    rows_file,
    urls,
    vw_text,
)
from cwtool.convert.classes import Classes, number_text
from cwtool.convert.lines import Lines
from cwtool.convert.naming import Dictionary, Hashing, Naming
from cwtool.convert.row import Input, Met, Row
from cwtool.data.faults import FAILED
from cwtool.data.sources import STDIN, kept
from cwtool.errors import DataError, UsageError
from cwtool.lock import locked
from cwtool.records import dataclass

WIDE = ("csv", "tsv", "parquet")  # formats with a column for each feature


class Writer(Protocol):
    def write(self, rows: list[Row]) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Target:
    """The output of a conversion: file, format and naming of features."""

    path: str = STDIN
    format: str | None = None  # None: as its name says
    names: Path | None = None
    hash_bits: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    max_columns: int = 10_000


@dataclass
class Survey:
    """What tables need to know of all rows before the first one is written."""

    columns: dict[str, None] = field(default_factory=dict)
    weights: bool = False
    comments: bool = False
    numbers: bool = True  # whether all labels are numbers

    def add(self, rows: list[Row]) -> None:
        for row in rows:
            self.columns.update(dict.fromkeys([name for name, _ in row.entries]))
            self.weights |= row.weight != 1
            self.comments |= bool(row.comment)
            self.numbers &= number_text(row.label or "0") is not None


def convert(
    paths: Sequence[str], source_format: str | None, of: Input, target: Target
) -> dict[str, Any]:
    """Convert the sources; the number of rows and of names, and the bad lines."""
    form = target.format or formats.of_target(target.path)
    _check(form, target)
    paths = [os.fspath(path) for path in paths]
    lock: AbstractContextManager[None] = nullcontext()
    if target.names is not None:
        if not target.names.absolute().parent.is_dir():
            raise UsageError(
                f"{target.names}: there is no folder {target.names.parent}", "create it"
            )
        lock = locked(target.names, wait=True)
    with lock, kept(paths if form in WIDE else ()):
        known = [source_format or formats.of_source(path) for path in paths]
        return Conversion(paths, known, of, target, form).run()


def _check(form: str, target: Target) -> None:
    if form not in formats.WITH_IDS and target.hash_bits:
        raise UsageError(
            f"`hash_bits` gives ids for LIBSVM text and files of rows, and {form} files have names",
            "leave out `hash_bits`",
        )
    if form in formats.PACKED_INSIDE and formats.packing(target.path):
        raise UsageError(
            f"{formats.PACKED_INSIDE[form]} are compressed inside",
            "leave out the ending of the compression",
        )


class Conversion:
    """The work of `convert`, with the format of each source and that of the target."""

    def __init__(
        self, paths: list[str], known: list[str], of: Input, target: Target, form: str
    ) -> None:
        self.sources = list(zip(paths, known, strict=True))
        self.target, self.form = target, form
        self.naming: Naming = (
            Hashing(target.names, target.hash_bits, of.read.max_memory)
            if target.hash_bits
            else Dictionary(target.names, of.read.max_memory)
        )
        ids = form in formats.WITH_IDS
        if target.names is not None and not ids and not self.naming.exists:
            raise UsageError(
                f"{target.names}: no such file", "the names of LIBSVM ids are read there"
            )
        labels = {number: name for name, number in self.naming.names.labels.items()}
        of = replace(of, label_of=lambda number: labels.get(number, number))
        read = set(formats.WITH_IDS) & set(known)
        if isinstance(self.naming, Dictionary) and self.naming.exists and read:
            names = self.naming.known()
            of = replace(of, name_of=lambda j: names.get(j) or str(j))
        self.of = of
        self.classes = Classes(target.labels, self.naming, of.tell)
        self.n_rows = 0

    def run(self) -> dict[str, Any]:
        survey = self._survey() if self.form in WIDE else Survey()
        inputs = [path for path, _ in self.sources]
        names = [self.target.names] if self.target.names else []
        with output.opened(self.target.path, [*inputs, *names]) as out:
            try:
                if self._plain:
                    self._copy(out)
                else:
                    self._write(out, survey)
                if self.n_rows == 0:
                    raise DataError("there are no rows in the input", "look at the files")
            except BaseException:
                if self.form == "libsvm" and self.target.path == STDIN:
                    out.write(FAILED + b"\n")  # the reader must not take the rows as complete
                    out.flush()
                raise
        self.classes.tell_new(self.n_rows)
        given = self.naming.given
        if given and self.target.names is None and not self.target.hash_bits:
            self.of.tell(
                f"{given:,} names of features got ids; `names` keeps the ids in a file, so that "
                "the next file gets the same ones"
            )
        return {"rows": self.n_rows, "bad_lines": self.of.met.bad_lines, "new_names": given}

    @property
    def _plain(self) -> bool:
        """Whether features keep their ids."""
        forms = {self.form, *(known for _, known in self.sources)}
        return forms <= set(formats.WITH_IDS) and not (self.target.names or self.target.hash_bits)

    def _rows(self, of: Input) -> Iterator[list[Row]]:
        for path, known in self.sources:
            yield from rows_of(path, known, of)

    def _survey(self) -> Survey:
        """Read everything once, for the columns of a table."""
        survey = Survey()
        for rows in self._rows(replace(self.of, met=Met(), tell=lambda _: None)):
            survey.add(rows)
            if len(survey.columns) > self.target.max_columns:
                raise UsageError(
                    f"the rows have more than {self.target.max_columns:,} features, and a table "
                    "has a column for each",
                    "write LIBSVM or VW text, or raise `max_columns`",
                )
        if self.naming.exists or all(name.isdecimal() for name in survey.columns):
            order = sorted(survey.columns, key=self.naming.id_of)
            survey.columns = dict.fromkeys(order)
        return survey

    def _copy(self, out: IO[bytes]) -> None:
        if self.form == "cwrows":
            self.n_rows = rows_file.copied([path for path, _ in self.sources], self.of, out)
            return
        for path, _ in self.sources:
            for text, n_rows in libsvm_text.copied(path, self.of):
                out.write(text.encode())
                self.n_rows += n_rows

    def _write(self, out: IO[bytes], survey: Survey) -> None:
        """Names are in their file before the first row that needs them is in a pipe, and in a file
        before that file has its name."""
        sink = rows_file.FromText(out, self.of.read.block_bytes) if self.form == "cwrows" else None
        text = output.Text(sink or out)
        writer = self._writer(out, text, survey)
        for rows in self._rows(self.of):
            self.n_rows += len(rows)
            writer.write(rows)
            if self.target.path == STDIN:
                self.naming.save()
            text.flush()
        writer.close()
        self.naming.save()
        text.flush()
        if sink is not None:
            sink.finish()

    def _writer(self, out: IO[bytes], text: output.Text, survey: Survey) -> Writer:
        columns, special = (
            list(survey.columns),
            {"weights": survey.weights, "comments": survey.comments},
        )
        if self.form in formats.WITH_IDS:
            return libsvm_text.Writer(text, self.naming, self.classes)
        if self.form == "vw":
            return vw_text.Writer(text, self.classes)
        if self.form == "parquet":
            return parquet.Writer(
                out, columns, self.of.read.max_memory, numbers=survey.numbers, **special
            )
        delimiter = "\t" if self.form == "tsv" else self.of.delimiter or ","
        return csv_text.Writer(text, columns, delimiter, **special)


def rows_of(path: str, known: str, of: Input) -> Iterator[list[Row]]:
    """The rows of a source of a known format."""
    if known in formats.WITH_IDS:
        return libsvm_text.read(path, of)
    if known == "parquet":
        return parquet.read(path, of)
    lines = Lines(path, of.read.cutting)
    if known == "vw":
        return vw_text.read(lines, of)
    if known == "urls":
        return urls.read(lines, of)
    return csv_text.read(lines, of, "\t" if known == "tsv" else None)
