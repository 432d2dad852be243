"""Every failure that a user can meet, each with the exit code of the command line.

Messages and hints name a setting by its Python name in backticks, as in `batch_rows` or
`carry=keep`; the command line shows it as an option, with its value if there is one.
"""

from __future__ import annotations


class CwtoolError(Exception):
    """A sentence that says what is wrong, and a hint that says what to do next."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(CwtoolError, ValueError):
    """A setting, or a combination of settings, that cannot be."""

    exit_code = 2


class WriteError(UsageError):
    """A result cannot be written because the disk is full or broken."""

    exit_code = 74


class DataError(CwtoolError, ValueError):
    """The input is not what it should be; no model was touched."""

    exit_code = 3


class ModelError(CwtoolError):
    """A model is missing, damaged, or of another kind."""

    exit_code = 4


class Damage(ValueError):
    """What is wrong in a model file, without the name of the file; it becomes a ModelError."""


class QualityError(CwtoolError):
    """The new model did not pass its gate and does not replace the old one."""

    exit_code = 5


class LockedError(CwtoolError):
    """Another run holds the model."""

    exit_code = 75


class UnavailableError(CwtoolError):
    """A cluster does not answer, or no longer; what was finished is kept."""

    exit_code = 75
