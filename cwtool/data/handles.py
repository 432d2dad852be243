"""The sources of bytes: files, standard input, and copies of what can be read only once."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import time
from pathlib import Path
from typing import IO, Protocol

from cwtool.errors import DataError


class Source(Protocol):
    """A file, pipe or URL that bytes are read from. Its size is in bytes, or 0 if not known."""

    @property
    def regular(self) -> bool: ...
    @property
    def size(self) -> int: ...
    def read(self, size: int) -> bytes: ...


class Handle:
    """An open file that closes itself when the last chunk that needs it is gone."""

    fd = -1  # also where an interrupt comes before __init__ begins

    def __init__(self, path: str) -> None:
        try:
            self.fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            raise DataError(f"{path}: no such file", near(path)) from None
        except OSError as failure:
            raise DataError(f"{path}: {os.strerror(failure.errno or errno.EIO)}") from None
        status = os.fstat(self.fd)
        if stat.S_ISDIR(status.st_mode):
            raise DataError(
                f"{path} is a directory, not a data file", f"name its files: {path.rstrip('/')}/*"
            )
        self.regular = stat.S_ISREG(status.st_mode)
        self.size = status.st_size

    def read(self, size: int) -> bytes:
        return os.read(self.fd, size)

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)


class Stdin:
    """Standard input, as a handle."""

    regular = False
    size = 0

    def __init__(self) -> None:
        if sys.stdin is None or sys.stdin.closed:
            raise DataError("stdin is closed", "pipe the data in, or name a file")

    def read(self, size: int) -> bytes:
        try:  # past the buffer, whose lock a reading thread would hold while we are interrupted
            return os.read(sys.stdin.fileno(), size)
        except io.UnsupportedOperation:  # not a real file
            return sys.stdin.buffer.read(size)


class Copy:
    """A source that could be read once, as a handle that begins at its start again."""

    regular = False
    size = 0

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.at = file, 0

    def read(self, size: int) -> bytes:
        data = os.pread(self.file.fileno(), size, self.at)
        self.at += len(data)
        return data


class Begun:
    """A source whose first bytes were looked at, as a handle that gives them once more."""

    regular = False
    size = 0

    def __init__(self, head: bytes, rest: Source) -> None:
        self.head, self.rest = head, rest

    def read(self, size: int) -> bytes:
        if not self.head:
            return self.rest.read(size)
        data, self.head = self.head[:size], self.head[size:]
        return data


class Growing(Handle):
    """A file that grows: at its end, reading waits for appended bytes."""

    PAUSE = 0.05  # seconds between two looks at it

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.at = 0

    def read(self, size: int) -> bytes:
        while not (data := os.read(self.fd, size)):
            time.sleep(self.PAUSE)
        self.at += len(data)
        return data

    @property
    def idle(self) -> bool:
        return self.at >= os.fstat(self.fd).st_size


def near(path: str) -> str | None:
    """A hint with the name of an existing file that is spelled much like this path, or None."""
    import difflib

    folder = Path(path).parent
    try:
        found = difflib.get_close_matches(Path(path).name, [p.name for p in folder.iterdir()], n=1)
    except OSError:
        return f"there is no folder {folder} either"
    return f"did you mean {folder / found[0]}?" if found else None
