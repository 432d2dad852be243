"""What kind of file a source is, told by its name or else by its first lines."""

from __future__ import annotations

import re
from pathlib import PurePath

from cwtool.data.chunks import is_rows
from cwtool.data.compression import first_text
from cwtool.data.sources import STDIN, display, first_bytes
from cwtool.errors import DataError, UsageError

READ = ("libsvm", "cwrows", "csv", "tsv", "vw", "parquet", "urls")
WRITTEN = READ[:-1]
WITH_IDS = ("libsvm", "cwrows")  # formats whose features have ids and no names
PACKED_INSIDE = {"parquet": "Parquet files", "cwrows": "files of rows"}
SUFFIXES = {
    ".svm": "libsvm", ".libsvm": "libsvm", ".svmlight": "libsvm",
    ".cwrows": "cwrows", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".vw": "vw", ".parquet": "parquet", ".pq": "parquet",
    ".urls": "urls", ".url": "urls",
}  # fmt: skip
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}
PLAIN = ("", ".txt", ".dat", ".data", ".train", ".test")  # endings that say nothing
HEAD = 1 << 12

LIBSVM = re.compile(r"\s*[+-]?[0-9.]\S*(\s+qid:\d+)?(\s+\d+:\S+)*\s*(#.*)?")
VW = re.compile(r"[^|,\t]*\|")
URL = re.compile(r"(\S+\s+)?([A-Za-z][A-Za-z0-9+.-]*://|www\.)\S*(\t\S+)?\s*")


def suffix_of(path: str) -> str:
    """The ending of a name, in small letters and without that of compression."""
    name = PurePath(path.split("?")[0].lower() if "://" in path else path.lower())
    return name.with_suffix("").suffix if name.suffix in PACKED else name.suffix


def packing(path: str) -> str | None:
    """The kind of compression that the name of a file asks for."""
    return PACKED.get(PurePath(path.lower()).suffix)


def of_target(path: str) -> str:
    """The format of a file to be written."""
    suffix = suffix_of(path)
    if path == STDIN or suffix in PLAIN:
        return "libsvm"
    found = SUFFIXES.get(suffix)
    if found not in WRITTEN:
        raise UsageError(
            f"{path}: the name does not tell the format", f"use `to` with one of {_or(WRITTEN)}"
        )
    return found


def of_source(path: str) -> str:
    """The format of a file to be read."""
    named = SUFFIXES.get(suffix_of(path)) if path != STDIN else None
    return named or _told(first_bytes(path, HEAD), path)


def _told(head: bytes, path: str) -> str:
    if head[:4] == b"PAR1":
        return "parquet"
    if is_rows(head):
        return "cwrows"
    text = first_text(head)[:HEAD].decode("utf-8-sig", "replace")
    lines = [line for line in text.split("\n") if line.strip() and line[0] != "#"]
    line = lines[0] if lines else ""
    pairs = line if len(lines) > 1 else line[: line.rfind(" ") + 1] or line  # it may be cut
    if not line or (LIBSVM.fullmatch(pairs) and "," not in line):
        return "libsvm"
    if URL.fullmatch(line):
        return "urls"
    if VW.match(line):
        return "vw"
    if "\t" in line:
        return "tsv"
    if "," in line or ";" in line:
        return "csv"
    raise DataError(
        f"{display(path)}: neither the name nor the first line tells the format",
        f"use `from` with one of {_or(READ)}",
    )


def _or(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
