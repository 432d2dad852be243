"""One reader for each raw format: paths in, rows out, a line at a time where lines are rows."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cwtool.data import writer
from cwtool.data.compression import compression
from cwtool.errors import DataError
from data_scripts.rows import DIGITS, Reader, Row, Rows, pairs

T = TypeVar("T")
OPEN: dict[str | None, Callable[..., Any]] = {
    None: open, "gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open,
}  # fmt: skip
AGAIN = "delete the raw file, with the .sha256 file beside it, and run again"
PIXEL = [f"{grey / 255:.6g}" for grey in range(256)]
MISSING = 0.1  # columns of SECOM that lack more than this share are dropped


def opened(path: Path, mode: str) -> IO[Any]:
    """Plain, gzip, bz2 or xz, told by content. Latin-1 takes any byte and keeps words apart."""
    with path.open("rb") as file:
        kind = compression(file.read(6))
    encoding = None if "b" in mode else "latin-1"
    stream: IO[Any] = OPEN[kind](path, mode, encoding=encoding)
    return stream


def parsed(place: str, text: Iterable[str], parse: Callable[[str], T]) -> Iterator[T]:
    """What every line that is not blank holds; one that does not parse is named by its number."""
    for number, line in enumerate(text, 1):
        if line.isspace():
            continue
        try:
            found = parse(line)
        except (ValueError, IndexError) as why:
            raise DataError(f"{place}:{number}: not as expected: {why}", AGAIN) from None
        yield found


def each_line(path: Path, parse: Callable[[str], T]) -> Iterator[T]:
    with opened(path, "rt") as text:
        yield from parsed(str(path), text, parse)


def plain(number: str) -> str:
    """A label such as +1, 6.0000 or -1.0 in its shortest form."""
    return f"{float(number):g}"


def libsvm_line(line: str) -> Row:
    label, _, features = line.partition(" ")
    return plain(label), features.strip()


def columns(line: str) -> list[str]:
    return line.replace(",", " ").split()


def label_last(line: str) -> Row:
    *values, label = columns(line)
    return label, pairs(map(float, values))


def name_first(line: str) -> Row:
    label, *values = columns(line)
    return label, pairs(map(float, values))


def label_first(line: str) -> Row:
    label, features = name_first(line)
    return plain(label), features


def label_only(line: str) -> str:
    return plain(line.split()[0])  # SECOM has a date behind it


def dense_line(line: str) -> str:
    return pairs(floats(line))


def sparse_line(line: str) -> str:
    found = [(int(j), float(v)) for j, v in (pair.split(":") for pair in line.split())]
    return writer.features(sorted(found), DIGITS)


def binary_line(line: str) -> str:
    return writer.features((j, 1) for j in sorted({int(j) for j in line.split()}))


def lines(parse: Callable[[str], Row]) -> Reader:
    """The reader of a format that has label and features in one line; files follow each other."""

    def read(*paths: Path) -> Rows:
        for path in paths:
            yield from each_line(path, parse)

    return read


def with_labels(features: Callable[[str], str]) -> Reader:
    """The reader of a format that has the labels in a second file, line by line."""

    def read(data: Path, labels: Path) -> Rows:
        return side_by_side(data, labels, features)

    return read


def side_by_side(data: Path, labels: Path, parse: Callable[[str], T]) -> Iterator[tuple[str, T]]:
    try:
        yield from zip(each_line(labels, label_only), each_line(data, parse), strict=True)
    except DataError:
        raise
    except ValueError:  # of zip
        raise DataError(f"{data} and {labels} differ in length", AGAIN) from None


def secom(data: Path, labels: Path) -> Rows:
    """Sensors with NaN where a value is missing. As in Ma (2017): columns that are constant or
    lack more than a tenth of their values go, then every row that still lacks one. The columns
    left are numbered anew."""
    names, values = zip(*side_by_side(data, labels, floats), strict=True)
    x = np.array(values)
    missing = np.isnan(x)
    low, high = np.where(missing, np.inf, x).min(axis=0), np.where(missing, -np.inf, x).max(axis=0)
    x = x[:, (missing.mean(axis=0) <= MISSING) & (low < high)]
    for label, row, bad in zip(names, x.tolist(), np.isnan(x).any(axis=1), strict=True):
        if not bad:
            yield label, pairs(row)


def floats(line: str) -> list[float]:
    return [float(v) for v in line.split()]


def idx(images: Path, labels: Path) -> Rows:
    """MNIST: a header of big-endian numbers, then one byte a pixel; grey / 255 to six digits."""
    pixels, digits = idx_array(images, 3), idx_array(labels, 1)
    if len(pixels) != len(digits):
        raise DataError(f"{images} and {labels} differ in length", AGAIN)
    for image, digit in zip(pixels.reshape(len(pixels), -1), digits.tolist(), strict=True):
        at = np.flatnonzero(image)
        grey = image[at].tolist()
        pairs = zip((at + 1).tolist(), grey, strict=True)
        yield str(digit), writer.features(pairs, PIXEL.__getitem__)


def idx_array(path: Path, dimensions: int) -> NDArray[np.uint8]:
    with opened(path, "rb") as file:
        content: bytes = file.read()
    start = 4 + 4 * dimensions
    shape: list[int] = np.frombuffer(content[4:start], dtype=">u4").tolist()
    if content[:4] != bytes([0, 0, 8, dimensions]) or len(content) != start + np.prod(shape):
        raise DataError(f"{path} is not an idx file of {dimensions} dimensions", AGAIN)
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
