"""Where a conversion writes to: a file that is there when it is complete, or stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Protocol

from cwtool.convert.formats import packing
from cwtool.data.compression import ZSTD
from cwtool.data.sources import STDIN
from cwtool.files import complete_bytes

MOST_WAITING = 1 << 22  # characters


@contextmanager
def opened(path: str, sources: Iterable[str | Path]) -> Iterator[IO[bytes]]:
    """A stream of bytes to a file, compressed as its name says, or to stdout."""
    if path == STDIN:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with complete_bytes(Path(path), sources) as out:
        packed = _packed(packing(path), out)
        yield packed
        if packed is not out:
            packed.close()


def _packed(kind: str | None, out: IO[bytes]) -> Any:
    if kind == "gzip":
        return import_module("gzip").GzipFile("", "wb", 6, out, mtime=0)
    if kind == "bz2":
        return import_module("bz2").BZ2File(out, "wb")
    if kind == "xz":
        return import_module("lzma").LZMAFile(out, "wb")
    if kind == "zstd":
        return import_module(ZSTD).ZstdFile(out, "wb")
    return out


class Sink(Protocol):
    """A destination of bytes, such as an open file."""

    def write(self, data: bytes, /) -> Any: ...
    def flush(self) -> Any: ...


class Text:
    """Lines of UTF-8 text into a stream of bytes, where they are when they were flushed."""

    def __init__(self, out: Sink) -> None:
        self.out = out
        self.waiting: list[str] = []
        self.size = 0  # characters that wait

    def write(self, text: str) -> None:
        self.waiting.append(text)
        self.size += len(text)

    def flush(self) -> None:
        self.out.write("".join(self.waiting).encode("utf-8", "backslashreplace"))
        self.waiting.clear()
        self.size = 0
        self.out.flush()

    def relieve(self) -> None:
        """Let lines go that need no names in a file before them, if there are many."""
        if self.size > MOST_WAITING:
            self.flush()

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))
