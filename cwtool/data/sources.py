"""Where bytes come from: a path or stdin."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

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


class Growing(Handle):
    """A file that is read on and on: at its end, reading waits for what is added to it."""

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


_copies: dict[str, IO[bytes]] = {}  # of sources that can be read once, while they are kept


@contextmanager
def kept(paths: Iterable[str]) -> Iterator[None]:
    """Until the end, standard input and pipes among these sources can be read several times: they
    are copied to files without a name."""
    try:
        for path in filter(read_once, paths):
            _copies[path] = _copied(open_raw(path), path)
        yield
    finally:
        for copy in _copies.values():
            copy.close()
        _copies.clear()


def _copied(source: Handle | Stdin | Copy, path: str) -> IO[bytes]:
    from tempfile import TemporaryFile

    try:
        copy = TemporaryFile()  # noqa: SIM115
        while data := source.read(1 << 20):
            copy.write(data)
        copy.flush()
    except OSError as failure:
        why = os.strerror(failure.errno or errno.EIO)
        raise DataError(f"{display(path)}: cannot be copied to a temporary file: {why}") from None
    return copy


def read_once(path: str) -> bool:
    """Whether a source is no file that can be read again."""
    if path in _copies:
        return False
    return path == STDIN or (Path(path).exists() and not Path(path).is_file())


def open_raw(path: str) -> Handle | Stdin | Copy:
    """The bytes as they are stored; a sentence for what cannot be opened."""
    if path in _copies:
        return Copy(_copies[path])
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

    def __init__(self, head: bytes, rest: Handle | Stdin | Copy) -> None:
        self.head, self.rest = head, rest
        self.live = isinstance(rest, Growing) or _waits(rest)
        self.tap: Callable[[bytes], None] = lambda _: None  # sees all that is read

    @property
    def idle(self) -> bool:
        """Whether a live stream has nothing to be read just now."""
        if self.head or not self.live:
            return False
        if isinstance(self.rest, Growing):
            return self.rest.idle
        return not select.select([_descriptor(self.rest)], [], [], 0)[0]

    def read(self, size: int) -> bytes:
        if self.head:
            data, self.head = self.head[:size], self.head[size:]
        else:
            data = self.rest.read(size)
        self.tap(data)
        return data


def peek(raw: Handle | Stdin | Copy) -> tuple[bytes, Peeked]:
    """The first bytes, and a stream that still has them."""
    head = b""
    while len(head) < 6 and (more := raw.read(6 - len(head))):
        head += more
    return head, Peeked(head, raw)


def _descriptor(source: Handle | Stdin | Copy) -> int:
    """The file descriptor, or -1 where there is none."""
    if isinstance(source, Handle):
        return source.fd
    try:
        return sys.stdin.fileno() if isinstance(source, Stdin) else -1
    except io.UnsupportedOperation:
        return -1


def _waits(source: Handle | Stdin | Copy) -> bool:
    """Whether a source is a pipe, a socket or a terminal, whose writer may be slow."""
    descriptor = _descriptor(source)
    if descriptor < 0:
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)
