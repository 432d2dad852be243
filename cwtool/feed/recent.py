"""A bounded sample of recent rows in a file beside the model, to judge a new model by.

Half of the sample is of the last day, a quarter of the day before, and so on. Rows stand there as
in their file, each with the digest of the file behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from pathlib import Path
from zlib import crc32

from cwtool.data.chunk_text import load
from cwtool.data.chunks import chunks_of
from cwtool.data.cutting import Cutting
from cwtool.files import complete_bytes

STEP = 1 << 18  # bytes that a file is read in
MARK = b" # "


def place(model: Path) -> Path:
    return model.with_name(f"{model.name}.recent")


def _lines(path: str) -> Iterator[bytes]:
    for chunk in chunks_of(path, Cutting(STEP)):
        text, start, stop, _ = load(chunk)
        for line in text[start:stop].tobytes().splitlines():
            row = line.split(b"#")[0].strip()
            if row:
                yield row


def add(model: Path, data: str, digest: str, most: int) -> None:
    """Put a sample of the rows of a file into the sample of the model, `most` rows together."""
    target = place(model)
    old = target.read_bytes().splitlines() if target.exists() else []
    room = most // 2 if old else most
    rows = nsmallest(room, _lines(data), key=lambda row: (crc32(row), row))
    rows.sort(key=lambda row: crc32(row[::-1]))  # so that the first ones are a sample as well
    new = [row + MARK + digest.encode() for row in rows]
    with complete_bytes(target) as out:
        out.writelines(line + b"\n" for line in [*new, *_halved(old, most - len(new))])


def _halved(lines: list[bytes], most: int) -> list[bytes]:
    """At most so many of the lines: where there are too many, the first half of each file goes on,
    until there are few enough."""
    while len(lines) > most:
        by_file: dict[bytes, list[bytes]] = {}
        for line in lines:
            by_file.setdefault(line.rpartition(MARK)[2], []).append(line)
        lines = [line for part in by_file.values() for line in part[: len(part) // 2]]
    return lines


def forget(model: Path, digests: set[str]) -> None:
    """Remove the rows of these files from the sample."""
    target = place(model)
    if not target.exists():
        return
    gone = {digest.encode() for digest in digests}
    lines = [x for x in target.read_bytes().splitlines() if x.rpartition(MARK)[2] not in gone]
    with complete_bytes(target) as out:
        out.writelines(line + b"\n" for line in lines)
