"""The log of a feed: a file of JSON lines, to which each run appends."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from cwtool.errors import UsageError
from cwtool.files import cannot_write


def check_log(path: Path, model: Path) -> None:
    """Refuse to append to the model, or to a file that does not begin as a log does."""
    same = os.path.realpath(path) == os.path.realpath(model)
    if same or (path.is_file() and _first_byte(path) not in (b"", b"{")):
        raise UsageError(
            f"{path} is not a log of cwtool; nothing is appended to it", "choose another name"
        )


def _first_byte(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(1)
    except OSError as failure:
        raise cannot_write(path, failure) from None


def append_line(path: Path, line: str) -> None:
    """Add a line to a log, at once and whole, so that several runs can write the same one."""
    text = line.encode() + b"\n"
    try:
        with path.open("ab", buffering=0) as out:
            if (got := out.write(text)) < len(text):  # the disk is full
                out.truncate(out.tell() - got)
                raise OSError(errno.ENOSPC, "")
    except OSError as failure:
        raise cannot_write(path, failure) from None
