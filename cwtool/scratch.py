"""Folders that last as long as a run. One that a killed run has left is removed by the next."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

NAME = re.compile(r"\.cwtool-\w+\.tmp")


class Scratch:
    """A new folder among the temporary files, which is removed by `close`, or with this object.

    The folder is locked as long as its process lives, by which the next run knows those that are
    in use."""

    def __init__(self) -> None:
        remove_left()
        self.name, lock = _made()
        self.close = weakref.finalize(self, _removed, self.name, lock)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *failure: object) -> None:
        self.close()


def remove_left() -> None:
    """Remove the folders whose processes have ended."""
    with os.scandir(tempfile.gettempdir()) as entries:
        left = [entry.path for entry in entries if NAME.fullmatch(entry.name)]
    for path in left:
        with suppress(OSError):  # in use, of another user, or gone
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
            finally:
                os.close(lock)


def _made() -> tuple[str, int]:
    """A new folder and its lock."""
    while True:
        path = tempfile.mkdtemp(prefix=".cwtool-", suffix=".tmp")
        with suppress(FileNotFoundError):
            lock = os.open(path, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks: no other run locks it either
                fcntl.flock(lock, fcntl.LOCK_EX)
            if Path(path).exists():
                return path, lock
            os.close(lock)  # another run took it for one that was left: make the next one


def _removed(path: str, lock: int) -> None:
    try:
        shutil.rmtree(path, ignore_errors=True)
    except BaseException:  # an interrupt: remove the rest before the run ends
        shutil.rmtree(path, ignore_errors=True)
        raise
    finally:
        os.close(lock)
