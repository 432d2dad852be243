"""Where bytes come from: a path, stdin or a URL."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cwtool.data.handles import Begun, Copy, Growing, Handle, Source, Stdin
from cwtool.data.remote import Remote, is_url, shown
from cwtool.errors import DataError

STDIN = "-"


def display(path: str) -> str:
    """The name of a source in messages and in the history."""
    if path == STDIN:
        return "<stdin>"
    if is_url(path):
        return shown(path)
    return os.fsencode(path).decode("utf-8", "backslashreplace")


_copies: dict[str, IO[bytes]] = {}  # of sources that can be read once, while they are kept
_begun: dict[str, Begun] = {}  # sources that can be read once and were looked at


@contextmanager
def kept(paths: Iterable[str]) -> Iterator[None]:
    """Context in which standard input, pipes and URLs among these sources can be read several
    times: they are copied to temporary files."""
    try:
        for path in filter(read_once, paths):
            _copies[path] = copied(open_raw(path), path)
        yield
    finally:
        for copy in _copies.values():
            copy.close()
        _copies.clear()
        _begun.clear()


def copied(source: Source, path: str) -> IO[bytes]:
    """The bytes of a source in a file without a name."""
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
    """Whether a source is no file that can be read again at once."""
    if path in _copies:
        return False
    return path == STDIN or is_remote(path) or (Path(path).exists() and not Path(path).is_file())


def is_remote(path: str) -> bool:
    """Whether a path is a URL, and not a file with such a name."""
    return is_url(path) and not Path(path).exists()


def absolute(path: str) -> str:
    """The path as it can be opened from any folder."""
    return path if is_remote(path) else str(Path(path).absolute())


def open_raw(path: str) -> Source:
    """The bytes as they are stored; a sentence for what cannot be opened."""
    if path in _copies:
        return Copy(_copies[path])
    if path in _begun:
        return _begun.pop(path)
    if is_remote(path):
        return Remote(path)
    return Stdin() if path == STDIN else Handle(path)


def forget_begun() -> None:
    """Forget sources that were looked at and not opened."""
    _begun.clear()


def first_bytes(path: str, most: int) -> bytes:
    """The first bytes of a source, which can be opened afterwards as if nothing had been read. Of
    a pipe they end with what was read together with the first line."""
    source, once, head = open_raw(path), read_once(path), b""
    while len(head) < most and b"\n" not in head and (more := source.read(most - len(head))):
        head += more
    if once:
        _begun[path] = Begun(head, source)
    return head


class Peeked:
    """A stream whose first bytes were looked at and are given back first."""

    def __init__(self, head: bytes, rest: Source) -> None:
        self.head, self.rest = head, rest
        self.live = isinstance(rest, Growing) or _waits(rest)
        self.tap: Callable[[bytes], None] = lambda _: None  # sees all that is read

    @property
    def idle(self) -> bool:
        """Whether a live stream has no bytes to read at the moment."""
        if self.head or not self.live or (isinstance(self.rest, Begun) and self.rest.head):
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


def peek(raw: Source) -> tuple[bytes, Peeked]:
    """The first bytes, and a stream that still has them."""
    head = b""
    while len(head) < 6 and (more := raw.read(6 - len(head))):
        head += more
    return head, Peeked(head, raw)


def _descriptor(source: Source) -> int:
    """The file descriptor, or -1 where there is none."""
    if isinstance(source, Begun):
        return _descriptor(source.rest)
    if isinstance(source, Handle):
        return source.fd
    try:
        return sys.stdin.fileno() if isinstance(source, Stdin) else -1
    except io.UnsupportedOperation:
        return -1


def _waits(source: Source) -> bool:
    """Whether a source is a pipe, a socket or a terminal, whose writer may be slow."""
    descriptor = _descriptor(source)
    if descriptor < 0:
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)
