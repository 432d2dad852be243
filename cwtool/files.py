"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from cwtool.errors import CwtoolError, UsageError, WriteError

MAGIC = b"CWTOOL\0"  # the first bytes of a model file
# errors of a disk that has no room or does not answer, rather than of a path
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def is_model(path: Path) -> bool:
    """Whether the file begins with the magic bytes of a model file."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def check_kept(path: Path, sources: Iterable[str | Path]) -> None:
    """Refuse to replace one of the files that the result comes from, or a model."""
    if not path.is_file():
        return
    if any(Path(s).exists() and path.samefile(s) for s in sources):
        raise UsageError(f"{path} is read here; it will not be replaced", "choose another name")
    if is_model(path):
        raise UsageError(
            f"{path} is a model; it will not be replaced",
            "choose another name, or remove the file",
        )


def cannot_write(path: Path, failure: OSError) -> CwtoolError:
    """The error for a file other than a model that cannot be written."""
    kind = WriteError if failure.errno in FULL else UsageError
    return kind(f"{path}: cannot write: {os.strerror(failure.errno or 0)}")


@contextmanager
def complete_text(path: Path, sources: Iterable[str | Path] = ()) -> Iterator[TextIO]:
    """Write text to a file that replaces `path` at the end, if nothing was raised. None of
    `sources`, the files that the text comes from, is replaced. Failures are UsageErrors, those of
    the disk WriteErrors."""
    with _with_sentences(path, "w", sources) as out:
        yield cast(TextIO, out)


@contextmanager
def complete_bytes(path: Path, sources: Iterable[str | Path] = ()) -> Iterator[BinaryIO]:
    """The same as `complete_text` for bytes."""
    with _with_sentences(path, "wb", sources) as out:
        yield cast(BinaryIO, out)


@contextmanager
def _with_sentences(path: Path, mode: str, sources: Iterable[str | Path]) -> Iterator[IO[Any]]:
    check_kept(path, sources)
    try:
        with replacing(path, mode) as out:
            yield out
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise cannot_write(path, failure) from None


@contextmanager
def replacing(path: Path, mode: str = "wb", *, durable: bool = False) -> Iterator[IO[Any]]:
    """Write beside `path` under a temporary name, and take its name at the end; whatever is raised
    leaves `path` as it was. A file that is replaced keeps its permissions, and a symbolic link its
    place: the file that it points to is replaced. Pipes and devices are written to directly.

    Temporary files that killed processes have left are removed first: the others are locked by the
    processes that write them. `durable`: return only when the file is on disk.
    """
    if path.exists() and not path.is_file():
        with path.open(mode) as out:
            yield out
        return
    target = Path(os.path.realpath(path))
    _remove_left(target)
    aside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with aside.open(mode) as out:
            fcntl.flock(out.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if target.exists():
                os.fchmod(out.fileno(), stat.S_IMODE(target.stat().st_mode))
            yield out
            if durable:
                out.flush()
                os.fsync(out.fileno())
        aside.replace(target)
        if durable:
            _sync_folder(target.parent)
    finally:
        aside.unlink(missing_ok=True)


def _remove_left(target: Path) -> None:
    """Remove the temporary files of this name, and of the old models of this name, that no process
    has locked."""
    beside: list[str] = []
    with suppress(OSError):
        beside = os.listdir(target.parent)  # noqa: PTH208 - names, of which there may be many
    for name in beside:
        if not _is_temporary(name, target.name):
            continue
        left = target.with_name(name)
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink(missing_ok=True)


def _is_temporary(name: str, of: str) -> bool:
    """Whether a name is .OF.PROCESS.tmp, or .OF.K.PROCESS.tmp as of old models."""
    if not (name.startswith(f".{of}.") and name.endswith(".tmp")):
        return False
    numbers = name[len(of) + 2 : -len(".tmp")].split(".")
    return len(numbers) <= 2 and all(number.isdecimal() for number in numbers)


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
