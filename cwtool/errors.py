"""Every failure a user can meet, each with the exit code that cron sees."""

from __future__ import annotations


class CwtoolError(Exception):
    """A sentence that says what is wrong, and a hint that says what to do next."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(CwtoolError):
    """The command asks for something that cannot be."""

    exit_code = 2


class DataError(CwtoolError):
    """The input is not what it should be; no model was touched."""

    exit_code = 3


class ModelError(CwtoolError):
    """A model is missing, damaged, or of another kind."""

    exit_code = 4


class QualityError(CwtoolError):
    """The new model did not pass its gate and does not replace the old one."""

    exit_code = 5


class LockedError(CwtoolError):
    """Another run holds the model."""

    exit_code = 75
