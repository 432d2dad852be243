"""Rows on their way from a raw file to LIBSVM text."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cwtool.data import writer

Row = tuple[str, str]  # the label as the publisher writes it, and "id:value id:value ..."
Rows = Iterator[Row]
Reader = Callable[..., Rows]  # of one or more paths
Part = tuple[str, Rows]  # the name of a file to write, and what belongs into it
Parts = Callable[[Sequence[Path]], Iterator[Part]]

DIGITS = "{:.15g}".format  # keeps every decimal that publishers print
LARGE = 4_000_000  # bytes; files above are gzipped


def pairs(values: Iterable[float]) -> str:
    """Dense values, numbered from 1; zeros are left out."""
    return writer.features(((j, v) for j, v in enumerate(values, 1) if v), DIGITS)


def write_part(folder: Path, stem: str, rows: Rows, labels: Mapping[str, str]) -> int:
    """Write STEM.svm, or STEM.svm.gz if that is large; the number of rows. Rows with a label
    that is not in `labels` are left out."""
    count = 0
    with SvmFile(folder / f"{stem}.svm") as out:
        for label, features in rows:
            if label in labels:
                out.write(writer.line(labels[label], features).encode("ascii"))
                count += 1
    return count


class SvmFile:
    """A file that is kept in memory while small and becomes a gzip file once it is large."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = io.BytesIO()
        self.out: io.BytesIO | gzip.GzipFile = self.head

    def write(self, line: bytes) -> None:
        self.out.write(line)
        if self.out is self.head and self.head.tell() > LARGE:
            path = self.path.with_name(self.path.name + ".gz")
            # level 2 is five times faster than 6 for 10 % more; no time: the same bytes always
            self.out = gzip.GzipFile(path, "wb", 2, mtime=0)
            self.out.write(self.head.getvalue())
            self.head = io.BytesIO()

    def __enter__(self) -> SvmFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.out is self.head and kind is None:
            self.path.write_bytes(self.head.getvalue())
        self.out.close()
