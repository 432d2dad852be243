"""The settings of one run of a command that are not part of the model."""

from __future__ import annotations

from collections.abc import Callable

from cwtool.parallel import EngineOptions
from cwtool.records import dataclass

Progress = Callable[[str, float], None]  # what is being done, and the share of it that is done
Note = Callable[[str], None]  # a line of detail for people


def no_progress(what: str, done: float) -> None:
    """The progress callback of runs that show no progress."""


def no_note(line: str) -> None:
    """Note callback that does nothing."""


@dataclass(frozen=True)
class Run:
    """The settings of a run. None of them is saved; only the seed and the day may change a
    result."""

    seed: int = 0
    jobs: int = 1  # threads that an algorithm may use
    max_memory: int = 0  # bytes that an algorithm may use; 0 allows most of what is free
    engine: EngineOptions | None = None  # for parts of an algorithm that can run elsewhere
    calibrate: bool = True  # whether probabilities of the model are asked for
    progress: Progress = no_progress
    note: Note = no_note
    day: int = 0  # the date, as days from the year 1; 0: none
    warn: Note = no_note  # of what makes a result worse than it could be
