"""Compressed data, told by content and not by name, as plain pieces of bounded size."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cwtool import memory
from cwtool.data.sources import Peeked, display
from cwtool.errors import DataError, UsageError

if TYPE_CHECKING:
    from bz2 import BZ2Decompressor
    from lzma import LZMADecompressor

READ = 1 << 16  # compressed bytes at a time
MOST = 1 << 19  # plain bytes at a time, whatever they expand to
REFUSED = re.compile("emory usage limit|too much memory")  # what xz and zstd say
# the module of the standard library, or the same for older ones
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


class Member(ABC):
    """One compressed stream; several may follow one another in a file."""

    finished = False
    rest = b""  # what came behind its end

    @abstractmethod
    def expand(self, data: bytes, most: int = MOST) -> Iterator[bytes]:
        """The decompressed bytes, in pieces of at most so many."""


class Gzip(Member):
    def __init__(self) -> None:
        import zlib

        self.inner = zlib.decompressobj(wbits=31)

    def expand(self, data: bytes, most: int = MOST) -> Iterator[bytes]:
        full = True
        while (data or full) and not self.inner.eof:
            out = self.inner.decompress(data, most)
            data, full = self.inner.unconsumed_tail, len(out) == most
            yield out
        self.finished, self.rest = self.inner.eof, self.inner.unused_data


class Blocked(Member):
    """A stream of bz2, xz or zstd data, which is decompressed in blocks."""

    def __init__(self, inner: BZ2Decompressor | LZMADecompressor) -> None:
        self.inner = inner

    def expand(self, data: bytes, most: int = MOST) -> Iterator[bytes]:
        yield self.inner.decompress(data, most)
        while not self.inner.eof and not self.inner.needs_input:
            yield self.inner.decompress(b"", most)
        if self.inner.eof:
            self.finished, self.rest = True, self.inner.unused_data


def _bz2() -> Member:
    return Blocked(import_module("bz2").BZ2Decompressor())


def _xz() -> Member:
    return Blocked(import_module("lzma").LZMADecompressor(memlimit=memory.BOUNDS.unpacking))


def _zstd() -> Member:
    zstd: Any = import_module(ZSTD)
    log = min(max(memory.BOUNDS.unpacking.bit_length() - 1, 10), 31)
    return Blocked(zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: log}))


KINDS: dict[str, tuple[bytes, Callable[[], Member], bool]] = {  # magic, member, zeros may follow
    "gzip": (b"\x1f\x8b", Gzip, True),
    "bz2": (b"BZh", _bz2, False),
    "xz": (b"\xfd7zXZ\x00", _xz, True),
    "zstd": (b"\x28\xb5\x2f\xfd", _zstd, False),
}


def compression(head: bytes) -> str | None:
    return next((kind for kind, (magic, _, _) in KINDS.items() if head.startswith(magic)), None)


def decompressed(kind: str, stream: Peeked, path: str, most: int = MOST) -> Iterator[bytes]:
    """The text inside, in pieces of at most so many bytes; data that ends early or is damaged is an
    error, never a short file."""
    _, start, padded = KINDS[kind]
    try:
        yield from _members(stream, start, padded, most)
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
        if REFUSED.search(str(failure)):
            raise too_far_back(kind, path) from None
        why = f"is damaged: {failure}"
    raise DataError(f"{display(path)}: the {kind} data {why}", "fetch or compress it again")


def too_far_back(kind: str, path: str) -> UsageError:
    """The error for xz or zstd data whose window, the unpacked text that has to be kept in memory,
    is larger than allowed."""
    return UsageError(
        f"{display(path)}: to unpack the {kind} data, more than "
        f"{memory.words(memory.BOUNDS.unpacking)} of the text before have to be kept in memory",
        "raise `max_memory`, or unpack the data with another program, which writes to a pipe",
    )


def _members(
    stream: Peeked, start: Callable[[], Member], padded: bool, most: int
) -> Iterator[bytes]:
    """What the members hold; EOFError when the last one is not finished."""
    data = stream.read(READ)
    while data:
        member = start()
        yield from member.expand(data, most)
        while not member.finished:
            data = stream.read(READ)
            if not data:
                raise EOFError
            yield from member.expand(data, most)
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
