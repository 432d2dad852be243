"""A folder of parsed rows, so that a file that is read again need not be parsed again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from cwtool.data.chunks import Chunk, is_rows
from cwtool.data.handles import Handle
from cwtool.data.line_parts import has_labels
from cwtool.data.rowfile import LAST, ROWS, VERSION, Last, Writer, frames_of, last_of
from cwtool.data.sources import absolute, display, first_bytes, read_once
from cwtool.errors import DataError
from cwtool.files import replacing
from cwtool.records import dataclass

ENDING = ".cwrows"


def untold(warning: str) -> None:
    """Warning callback that does nothing."""


@dataclass(frozen=True)
class Cache:
    """The folder. An entry has the name of a file and of the settings that change what is parsed,
    as a digest; what tells whether the file is still the same, and its own digest, are in it."""

    folder: str
    warn: Callable[[str], None] = field(default=untold, compare=False)

    def __reduce__(self) -> tuple[type[Cache], tuple[str]]:
        """For another process, which cannot warn on this one's console."""
        return Cache, (self.folder,)

    def entry(self, path: str, zero_based: bool) -> CacheEntry | None:
        """That of a file; None for pipes and URLs, which cannot be found again, and for files that
        have rows already."""
        if read_once(path) or not Path(path).is_file():
            return None
        if is_rows(first_bytes(path, 8)):
            return None
        key = f"{VERSION} {zero_based:d} {os.path.realpath(absolute(path))}"
        name = sha256(os.fsencode(key)).hexdigest()[:32] + ENDING
        return CacheEntry(path, Path(self.folder) / name, _told(path), self.warn)


def _told(path: str) -> tuple[int, int, int]:
    """The path, size, modification time and inode by which an unchanged file is recognised."""
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


@dataclass(frozen=True)
class CacheEntry:
    """The entry of one file."""

    path: str
    file: Path
    source: tuple[int, int, int]
    warn: Callable[[str], None]

    def chunks(self, labelled: bool | None, labels: tuple[float, ...]) -> Iterator[Chunk] | None:
        """The rows of the file, if they are in the cache and still its rows."""
        if not self.file.exists():
            return None
        try:
            last = last_of(str(self.file))
        except DataError as failure:
            self.warn(f"{failure}; {display(self.path)} is read instead")
            return None
        if last.source != self.source:
            self.warn(
                f"{display(self.path)} has changed since its rows were cached; it is parsed again"
            )
            return None
        if labelled is None and not has_labels(last.first, labels):
            return None
        handle = Handle(str(self.file))
        return frames_of(self.path, handle, str(self.file), self.source[0])

    def keeper(self, first: bytes) -> CacheKeeper:
        return CacheKeeper(self, first)


class CacheKeeper:
    """Writes an entry. If it cannot be written, there is one warning, and the run continues."""

    def __init__(self, entry: CacheEntry, first: bytes) -> None:
        self.entry, self.first = entry, first
        self.writing: AbstractContextManager[IO[Any]] | None = None
        self.writer: Writer | None = None
        self.failed = False

    def add(self, frame: bytes) -> None:
        if not self.failed:
            self._try(self._add, frame)

    def _add(self, frame: bytes) -> None:
        if self.writer is None:
            self.entry.file.parent.mkdir(parents=True, exist_ok=True)
            writing = replacing(self.entry.file)
            self.writer = Writer(writing.__enter__())
            self.writing = writing
        self.writer.frame(ROWS, frame)

    def finish(
        self, cells: bytes, stored: bytes, rows: int, lines: int, qids: int, *, whole: bool
    ) -> None:
        entry = self.entry
        if self.failed or not whole or _told(entry.path) != entry.source:
            self.abandon()
            return
        last = Last(cells, stored, rows, lines, qids, self.first, entry.source)
        self._try(self._finish, last.packed())

    def _finish(self, last: bytes) -> None:
        assert self.writer is not None
        assert self.writing is not None
        self.writer.frame(LAST, last)
        writing, self.writing = self.writing, None
        writing.__exit__(None, None, None)

    def _try(self, step: Callable[[bytes], None], data: bytes) -> None:
        try:
            step(data)
        except OSError as failure:
            self.failed = True
            self.abandon()
            self.entry.warn(
                f"{self.entry.file.parent}: the rows of {display(self.entry.path)} cannot be "
                f"cached: {os.strerror(failure.errno or 0)}"
            )

    def abandon(self) -> None:
        """Leave the folder as it was."""
        writing, self.writing, self.failed = self.writing, None, True
        if writing is not None:
            given_up = OSError("given up")
            try:
                writing.__exit__(OSError, given_up, None)
            except OSError:  # the disk may fail once more when what it has not taken is flushed
                return
