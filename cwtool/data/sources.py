"""Where bytes come from: a path or stdin, plain or compressed (told by content, not by name)."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from cwtool.errors import DataError

STDIN = "-"
MAGIC = {
    "gzip": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
}
PIECE = 1 << 16  # compressed bytes at a time: what they expand to stays bounded too


class Decompressor(Protocol):
    """What zlib, bz2, lzma and zstandard have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def display(path: str) -> str:
    """The name of a source in messages and in the history."""
    return "<stdin>" if path == STDIN else path


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


def compression(head: bytes) -> str | None:
    return next((name for name, magic in MAGIC.items() if head.startswith(magic)), None)


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


def decompressed(kind: str, stream: Peeked, path: str) -> Iterator[bytes]:
    """The text inside; data that ends early or is damaged is an error, never a short file."""
    import zlib

    def broken(why: str) -> DataError:
        return DataError(
            f"{display(path)}: the {kind} data {why}", "fetch or compress the file again"
        )

    failures: tuple[type[Exception], ...] = (zlib.error,)
    try:
        if kind == "gzip":
            # like gzip -d: members may follow one another, zero padding may follow the last
            yield from _members(stream, lambda: zlib.decompressobj(wbits=31), padding=True)
        elif kind == "bz2":
            import bz2

            yield from _members(stream, bz2.BZ2Decompressor)
        elif kind == "xz":
            import lzma

            failures = (lzma.LZMAError,)
            yield from _members(stream, lzma.LZMADecompressor, padding=True)
        else:
            import zstandard

            failures = (zstandard.ZstdError,)
            yield from _members(stream, lambda: zstandard.ZstdDecompressor().decompressobj())
    except EOFError:
        raise broken("ends in the middle: the file is truncated") from None
    except OSError as failure:
        raise broken(f"cannot be read: {failure}") from None
    except failures as failure:
        raise broken(f"is damaged: {failure}") from None


def _members(
    stream: Peeked, start: Callable[[], Decompressor], *, padding: bool = False
) -> Iterator[bytes]:
    """Decompress streams that follow one another; EOFError when the last one is not finished."""
    data = stream.read(PIECE)
    while data:
        member = start()
        while True:
            yield member.decompress(data)
            if member.eof:
                break
            data = stream.read(PIECE)
            if not data:
                raise EOFError
        data = member.unused_data or stream.read(PIECE)
        if padding:
            while data and not (data := data.lstrip(b"\0")):
                data = stream.read(PIECE)
