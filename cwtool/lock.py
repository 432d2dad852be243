"""A lock file beside a model, so that only one run at a time writes it.

The lock is a `flock` of the system, which ends with the process, so that a kill leaves no stale
lock. Its holder removes the file, and a process that waited for it sees by its inode that it
is gone. The package filelock uses the same `flock`. It is not used here because its import takes
several hundred times as long, it polls where this waits, its file stays in the folder, and on file
systems without `flock` it changes to files whose presence is the lock, which outlive a kill.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cwtool.errors import LockedError, ModelError


@contextmanager
def locked(model: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the lock file beside `model`; the lock ends with this process, also if it is killed. An
    interrupt that comes after the model was written says so in its `args`."""
    target = Path(os.path.realpath(model))
    path = target.parent / f".{target.name}.lock"
    descriptor = _acquire(path, model, wait)
    before = _version(target)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if _version(target) != before:  # it came between the new model and the end of the run
            interrupt.args = (f"{model} was already written",)
        raise
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(path: Path, model: Path, wait: bool) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            raise ModelError(f"{model}: there is no folder {model.parent}", "create it") from None
        except OSError as failure:
            raise ModelError(
                f"{model}: cannot write there: {os.strerror(failure.errno or 0)}",
                "choose another place for the model",
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(descriptor)
            raise LockedError(
                f"{model} is being written by another run", "try later, or use `lock=wait`"
            ) from None
        except OSError as failure:  # such as a network file system without locks
            os.close(descriptor)
            raise ModelError(
                f"{model}: cannot be locked: {os.strerror(failure.errno or 0)}",
                "put the model on a file system that has locks",
            ) from None
        if _is_current(descriptor, path):
            return descriptor
        os.close(descriptor)  # its holder removed it just now: take the next one


def _is_current(descriptor: int, path: Path) -> bool:
    try:
        return os.fstat(descriptor).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _version(path: Path) -> tuple[int, int] | None:
    """What differs after a file was replaced; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
