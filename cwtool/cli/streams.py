"""The streams of the process, so that none of them ends a run that has a model to write."""

from __future__ import annotations

import io
import os
import sys


def prepare_streams() -> None:
    """Prepare the standard streams so that a closed, full or broken one does not end a run."""
    _open_closed()
    _buffer_stdout()
    _unfailing_stderr()


def _open_closed() -> None:
    """Open standard streams that were closed before this process started on the null device.
    Otherwise the next file that is opened would take the place of one, and messages would be
    written into it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def _buffer_stdout() -> None:
    """Buffer stdout until it is flushed, also with PYTHONUNBUFFERED, because unbuffered Python does
    not report it if a full disk takes only part of a text."""
    raw: object = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            line_buffering=raw.isatty(),
        )


class Unfailing(io.FileIO):
    """A file whose write errors are ignored; text that cannot be written is lost."""

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        try:
            return super().write(data) or 0
        except OSError:
            return memoryview(data).nbytes


def _unfailing_stderr() -> None:
    """Let a run continue if stderr cannot be written, because its disk is full or its reader has
    closed it: notes are not part of the result."""
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(Unfailing(2, "w", closefd=False)),
        encoding=sys.stderr.encoding,
        errors=sys.stderr.errors,
        line_buffering=True,
    )
