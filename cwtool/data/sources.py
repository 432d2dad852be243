"""Where bytes come from: a path or stdin."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from cwtool.errors import DataError

STDIN = "-"


def display(path: str) -> str:
    """The name of a source in messages and in the history."""
    if path == STDIN:
        return "<stdin>"
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Handle:
    """An open file that closes itself when the last chunk that needs it is gone."""

    def __init__(self, path: str) -> None:
        self.fd = -1
        try:
            self.fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            raise DataError(f"{path}: no such file", _near(path)) from None
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


def open_raw(path: str) -> Handle | Stdin:
    """The bytes as they are stored; a sentence for what cannot be opened."""
    return Stdin() if path == STDIN else Handle(path)


def _near(path: str) -> str | None:
    import difflib

    folder = Path(path).parent
    try:
        found = difflib.get_close_matches(Path(path).name, [p.name for p in folder.iterdir()], n=1)
    except OSError:
        return f"there is no folder {folder} either"
    return f"did you mean {folder / found[0]}?" if found else None


class Peeked:
    """A stream whose first bytes were looked at and are given back first."""

    def __init__(self, head: bytes, rest: Handle | Stdin) -> None:
        self.head, self.rest = head, rest
        self.tap: Callable[[bytes], None] = lambda _: None  # sees all that is read

    def read(self, size: int) -> bytes:
        if self.head:
            data, self.head = self.head[:size], self.head[size:]
        else:
            data = self.rest.read(size)
        self.tap(data)
        return data


def peek(raw: Handle | Stdin) -> tuple[bytes, Peeked]:
    """The first bytes, and a stream that still has them."""
    head = b""
    while len(head) < 6 and (more := raw.read(6 - len(head))):
        head += more
    return head, Peeked(head, raw)
