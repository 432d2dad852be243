"""Compressed data, told by content and not by name, as plain pieces of bounded size."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from cwtool.data.sources import Peeked, display
from cwtool.errors import DataError

if TYPE_CHECKING:
    from bz2 import BZ2Decompressor
    from lzma import LZMADecompressor

READ = 1 << 16  # compressed bytes at a time
MOST = 1 << 19  # plain bytes at a time, whatever they expand to
# the module of the standard library, or the same for older ones
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


class Member(ABC):
    """One compressed stream; several may follow one another in a file."""

    finished = False
    rest = b""  # what came behind its end

    @abstractmethod
    def expand(self, data: bytes) -> Iterator[bytes]:
        """The decompressed bytes, in pieces."""


class Gzip(Member):
    def __init__(self) -> None:
        import zlib

        self.inner = zlib.decompressobj(wbits=31)

    def expand(self, data: bytes) -> Iterator[bytes]:
        full = True
        while (data or full) and not self.inner.eof:
            out = self.inner.decompress(data, MOST)
            data, full = self.inner.unconsumed_tail, len(out) == MOST
            yield out
        self.finished, self.rest = self.inner.eof, self.inner.unused_data


class Blocked(Member):
    """bz2, xz and zstd."""

    def __init__(self, module: str, name: str) -> None:
        self.inner: BZ2Decompressor | LZMADecompressor = getattr(import_module(module), name)()

    def expand(self, data: bytes) -> Iterator[bytes]:
        yield self.inner.decompress(data, MOST)
        while not self.inner.eof and not self.inner.needs_input:
            yield self.inner.decompress(b"", MOST)
        if self.inner.eof:
            self.finished, self.rest = True, self.inner.unused_data


KINDS: dict[str, tuple[bytes, Callable[[], Member], bool]] = {  # magic, member, zeros may follow
    "gzip": (b"\x1f\x8b", Gzip, True),
    "bz2": (b"BZh", lambda: Blocked("bz2", "BZ2Decompressor"), False),
    "xz": (b"\xfd7zXZ\x00", lambda: Blocked("lzma", "LZMADecompressor"), True),
    "zstd": (b"\x28\xb5\x2f\xfd", lambda: Blocked(ZSTD, "ZstdDecompressor"), False),
}


def compression(head: bytes) -> str | None:
    return next((kind for kind, (magic, _, _) in KINDS.items() if head.startswith(magic)), None)


def decompressed(kind: str, stream: Peeked, path: str) -> Iterator[bytes]:
    """The text inside; data that ends early or is damaged is an error, never a short file."""
    _, start, padded = KINDS[kind]
    try:
        yield from _members(stream, start, padded)
        return
    except EOFError:
        why = "ends in the middle: the file is truncated"
    except DataError:
        raise
    except ModuleNotFoundError as failure:
        raise DataError(
            f"{display(path)}: {kind} data needs the package {failure.name}",
            f"pip install {failure.name}, or decompress the file",
        ) from None
    except Exception as failure:  # each library has an error class of its own
        why = f"is damaged: {failure}"
    raise DataError(f"{display(path)}: the {kind} data {why}", "fetch or compress it again")


def _members(stream: Peeked, start: Callable[[], Member], padded: bool) -> Iterator[bytes]:
    """What the members hold; EOFError when the last one is not finished."""
    data = stream.read(READ)
    while data:
        member = start()
        yield from member.expand(data)
        while not member.finished:
            data = stream.read(READ)
            if not data:
                raise EOFError
            yield from member.expand(data)
        data = member.rest or stream.read(READ)
        while padded and data and not (data := data.lstrip(b"\0")):
            data = stream.read(READ)


def first_text(head: bytes) -> bytes:
    """The decompressed beginning of a source, as far as its first bytes allow."""
    kind = compression(head)
    if kind is None:
        return head
    try:
        return next(iter(KINDS[kind][1]().expand(head)))
    except Exception:  # damage, which is told when the source is read
        return b""
