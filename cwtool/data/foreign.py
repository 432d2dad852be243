"""What a file is that is no LIBSVM text, told by its first line, and the next step."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath

PACKED = (".gz", ".bz2", ".xz", ".zst")
FIRST_LINES = 3  # a fault further down is one of the line and not of the file
ENDINGS = {
    "csv": (".csv",), "tsv": (".tsv", ".tab"), "vw": (".vw",), "parquet": (".parquet", ".pq"),
    "urls": (".urls", ".url"),
}  # fmt: skip


class File:
    """The names of a file in commands: its own, that of its LIBSVM text, and that of a table."""

    def __init__(self, name: str) -> None:
        from shlex import quote

        path = PurePath("FILE" if name.startswith("<") else name)
        plain = path.with_suffix("") if path.suffix in PACKED else path
        self.ending = plain.suffix.lower()
        self.name = quote(str(path))
        self.out = quote(f"{plain.with_suffix('')}.{'rows.' * (self.ending == '.svm')}svm")
        self.table = quote(f"{plain.with_suffix('')}.csv")


NAMES = "`names=names.tsv`"  # the same ids and numbers of labels for all files


def _convert(form: str, *more: str, ids: str = NAMES) -> Callable[[File], str]:
    """The command that converts a file of this format, which its name may tell."""

    def command(file: File) -> str:
        told = file.ending in ENDINGS[form] and not more
        words = [file.name, *([] if told else [f"`from={form}`"]), *more, "-o", file.out, ids]
        return f"cwtool convert {' '.join(words)}"

    return command


def _from_table(how: str) -> Callable[[File], str]:
    then = "then cwtool convert {table} -o {out} `names=names.tsv`"
    return lambda file: f"{how}, {then}".format(**vars(file))


def _from_python(file: File) -> str:
    return (
        "write its rows in Python: from sklearn.datasets import dump_svmlight_file; "
        f"dump_svmlight_file(X, y, {file.out!r}, zero_based=False)"
    )


def _decompress(file: File) -> str:
    return f"decompress {file.name}; files of rows are read as they were written"


def _show(file: File) -> str:
    return f"give the data file instead; cwtool inspect {file.name} shows the model"


def _fetch(file: File) -> str:
    return f"fetch it again with curl -fL -o {file.name} URL, which fails if the server refuses"


def _unpack(file: File) -> str:
    if file.ending in (".npz", ".npy"):
        return _from_python(file)
    if file.ending in (".xlsx", ".ods"):
        return _from_table("save it as {table}")(file)
    return f"unpack it with unzip {file.name}, and give the files in it"


HASHED = "`hash_bits=22`"
# URLs with labels that are text
WITH_NAMES = rb"[^\s:]*[a-z][^\s:]*\s+[a-z][a-z0-9+.-]*://|[a-z][a-z0-9+.-]*://\S+\t[^\t]*[a-z]"
PANDAS = (
    "python -c \"import pandas; pandas.read_json('{name}', {how}).to_csv('{table}', index=False)\""
)
KINDS: tuple[tuple[bytes, str, Callable[[File], str]], ...] = (
    (rb"\x89cwrows", "a file of rows that was compressed", _decompress),
    (rb"CWTOOL\0", "a model file of cwtool", _show),
    (rb"PAR1", "a Parquet file", _convert("parquet")),
    (rb"PK\x03\x04", "a zip archive, as npz and xlsx files are", _unpack),
    (rb"\x93NUMPY", "a NumPy array", _from_python),
    (rb"\x80[\x02-\x05]", "a Python pickle", _from_python),
    (rb"\x89HDF", "an HDF5 file", _from_python),
    (rb"SQLite format 3", "an SQLite database", _from_table("write its rows to {table}")),
    (rb"\s*<[!?a-z]", "an HTML or XML page", _fetch),
    (rb'\s*\{\s*"', "JSON lines", _from_table(PANDAS.replace("{how}", "lines=True"))),
    (rb"\s*\[", "JSON", _from_table(PANDAS.replace(", {how}", ""))),
    (rb"[^|,\t#]*\|", "VW text", _convert("vw")),
    (WITH_NAMES, "a list of URLs", _convert("urls", ids=f"{HASHED} {NAMES}")),
    (rb"(\S+\s+)?[a-z][a-z0-9+.-]*://", "a list of URLs", _convert("urls", ids=HASHED)),
    (rb"[^:#]*[,;]", "a table (CSV)", _convert("csv")),
    (rb"[^:#\t]*\t[^:#]*$", "a table (TSV)", _convert("tsv")),
    (rb"[^:# ]+ +[^:# ]+ +[^:#]+$", "a table with blanks", _convert("csv", "`delimiter=' '`")),
)


def told(line: bytes, name: str) -> tuple[str, str] | None:
    """The kind of the file with this first line, and the next step for the user; None if the kind
    is not recognised."""
    for pattern, kind, next_step in KINDS:
        if re.match(pattern, line, re.IGNORECASE):
            return kind, next_step(File(name))
    return None
