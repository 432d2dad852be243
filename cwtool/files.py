"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from cwtool.errors import UsageError


def check_kept(path: Path, sources: Iterable[str | Path]) -> None:
    """Refuse to replace one of the files that the result comes from."""
    if path.is_file() and any(Path(s).exists() and path.samefile(s) for s in sources):
        raise UsageError(f"{path} is read here; it will not be replaced", "choose another name")


@contextmanager
def complete_text(path: Path, sources: Iterable[str | Path] = ()) -> Iterator[TextIO]:
    """Write beside `path`, and take its name at the end; pipes and devices are written to, and
    none of the files that the text comes from is replaced by it."""
    with _complete(path, "w", sources) as out:
        yield cast(TextIO, out)


@contextmanager
def complete_bytes(path: Path) -> Iterator[BinaryIO]:
    """The same for what is no text."""
    with _complete(path, "wb") as out:
        yield cast(BinaryIO, out)


@contextmanager
def _complete(path: Path, mode: str, sources: Iterable[str | Path] = ()) -> Iterator[IO[Any]]:
    check_kept(path, sources)
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    special = path.exists() and not path.is_file()
    try:
        with (path if special else aside).open(mode) as out:
            yield out
        if not special:
            aside.replace(path)
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise UsageError(f"{path}: cannot write: {os.strerror(failure.errno or 0)}") from None
    finally:
        aside.unlink(missing_ok=True)
