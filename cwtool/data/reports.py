"""What was met in the files that were read, and the errors of bad lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from cwtool.data.chunks import Endless, endless
from cwtool.data.faults import FAILED
from cwtool.data.foreign import FIRST_LINES, told
from cwtool.data.known import RowSample
from cwtool.data.parse import Fault, Parsed
from cwtool.data.sources import display
from cwtool.data.spans import Span
from cwtool.errors import DataError
from cwtool.records import dataclass


@dataclass
class FileReport:
    """Counts and faults of one source."""

    name: str
    bytes: int = 0
    rows: int = 0
    nnz: int = 0
    lines: int = 0
    qids: int = 0
    bad_lines: int = 0
    first_bad: str = ""
    unlabelled: bool = False  # whether its rows seem to have no labels, though they are read
    doubtful: str = ""  # the first item, if it is read as label:weight and could be a feature
    digest: str = ""  # of the text; known when the file is finished
    stored: str = ""  # digest of a compressed file as it is stored: what cwtool 0.1 kept
    sample: RowSample = field(default_factory=RowSample)  # filled if `ReadOptions.sampled`
    span: Span | None = None  # the part of the file that was read, if it was not all of it
    cells: bytearray = field(default_factory=bytearray)  # of the digest
    stored_cells: bytearray = field(default_factory=bytearray)  # of the digest `stored`

    @classmethod
    def of(cls, source: str | Span) -> FileReport:
        """The report of a source of which nothing was read yet."""
        span = source if isinstance(source, Span) else None
        path = source.path if isinstance(source, Span) else source
        return cls(span.name if span and span.name else display(path), span=span)

    def place(self, line: int, column: int = 0) -> str:
        """The file, line and column for messages; `line` counts from the start of what was read,
        and the column 0 is left out."""
        before = self.span.lines_before() if self.span else 0
        return f"{self.name}:{before + line}" + (f":{column}" if column else "")

    @property
    def skipped(self) -> str:
        """The number of bad lines that were left out, as text."""
        return f"{self.bad_lines:,} bad line{'s' if self.bad_lines != 1 else ''} skipped"

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests under which a model may have stored the file."""
        return (self.digest, self.stored) if self.stored else (self.digest,)


@dataclass
class ReadReport:
    """Counts and faults of the whole input; filled while blocks are read."""

    files: list[FileReport] = field(default_factory=list)
    size: int = 0  # bytes of all sources; 0: not known

    @property
    def bytes(self) -> int:
        return sum(f.bytes for f in self.files)

    @property
    def bad_lines(self) -> int:
        return sum(f.bad_lines for f in self.files)

    @property
    def qids(self) -> int:
        return sum(f.qids for f in self.files)

    @property
    def names(self) -> str:
        return ", ".join(f.name for f in self.files)

    def endless(self, failure: Endless, paths: Sequence[str | Span]) -> Endless:
        """The failure with the number of its line, in the file that was begun last or, if that is
        finished, in the next one of those that are read."""
        begun = [file for file in self.files if not file.digest]
        file = begun[-1] if begun else FileReport.of(paths[len(self.files)])
        return endless(file.place(file.lines + failure.lines + 1), longest=failure.longest)

    def nothing(self, purpose: str) -> DataError:
        """The error for files without rows; one of no bytes is mostly a download that failed."""
        empty = [f.name for f in self.files if f.bytes == 0]
        if not empty:
            return DataError(f"{self.names}: no rows to {purpose}")
        return DataError(
            f"{', '.join(empty)}: no rows to {purpose}; the file is empty",
            "if it was downloaded, fetch it again; curl -f fails where the server has no file",
        )


def count(parsed: Parsed, current: FileReport, report: ReadReport, max_bad_lines: int) -> None:
    """Count what a chunk of the current file held; too many bad lines are an error."""
    if parsed.fault is not None:
        place = current.place(current.lines + 1 + parsed.fault.line, parsed.fault.column)
        current.first_bad = current.first_bad or f"{place}: {parsed.fault.message}"
        failed = parsed.fault.text.endswith(FAILED)  # rows are missing, which is not to be skipped
        if failed or report.bad_lines + parsed.n_faults > max_bad_lines:
            if max_bad_lines and not failed:
                raise DataError(
                    f"more than {max_bad_lines:,} bad lines; the first in this file is "
                    f"{current.first_bad}",
                    "look at the file, or raise `max_bad_lines`",
                )
            raise _bad_line(parsed.fault, place, current)
    if parsed.hashes is not None:
        current.sample.add(parsed.hashes)
    current.cells += parsed.cells
    current.stored_cells += parsed.chunk.stored
    current.bytes += parsed.chunk.n_bytes
    current.rows += parsed.block.n_rows
    current.nnz += len(parsed.block.values)
    current.lines += parsed.n_lines
    current.qids += parsed.n_qids
    current.bad_lines += parsed.n_faults


def _bad_line(fault: Fault, place: str, current: FileReport) -> DataError:
    """The error for a bad line. If it is one of the first lines, the error names the format of the
    file, if that is recognised."""
    strange = told(fault.text, current.name) if current.lines + fault.line < FIRST_LINES else None
    if strange is None:
        return DataError(f"{place}: {fault.message}", fault.hint)
    what, hint = strange
    why = fault.message.partition(";")[0]
    return DataError(f"{place}: this is {what}, not LIBSVM text ({why})", hint)
