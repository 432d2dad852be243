"""The working folder, the finished tasks and the file reports of the driver of a sharded run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from cwtool.data.digest import hexdigest
from cwtool.data.reports import FileReport
from cwtool.data.spans import Span
from cwtool.errors import CwtoolError, DataError, UsageError
from cwtool.parallel import Engine
from cwtool.scratch import Scratch
from cwtool.shards.change import Piece
from cwtool.shards.task import Task, perform


@contextmanager
def folder_of(given: str) -> Iterator[Path]:
    """The folder for what the shards exchange; a temporary one is removed."""
    if given:
        folder = Path(given).absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise UsageError(f"{given}: cannot be made: {failure.strerror}") from None
        yield folder
        return
    with Scratch() as name:
        yield Path(name)


class Work(Protocol):
    """A task, as far as it matters here who does it."""

    @property
    def name(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def learn(self) -> Sequence[Span]: ...
    @property
    def tail(self) -> Sequence[Span]: ...


W = TypeVar("W", bound=Work)


def run(engine: Engine, tasks: Sequence[Task]) -> None:
    """Have all shards of a round learned that are not."""
    run_all(engine, perform, tasks)


def run_all(engine: Engine, perform: Callable[[W], CwtoolError | None], tasks: Sequence[W]) -> None:
    """Have all tasks done that are not. Of several faults the first in the order of the data is
    raised, as soon as all shards before it are done."""
    done: dict[int, CwtoolError | None] = {}
    todo = [task for task in tasks if not Path(task.target).exists()]
    first = 0
    for number, failure in engine.each(perform, todo, _killed):
        done[number] = failure
        while first in done:
            if (fault := done[first]) is not None:
                raise fault
            first += 1


def _killed(task: Work) -> CwtoolError | None:
    """The error for a shard that ends its process each time."""
    first, last = (*task.learn, *task.tail)[0], (*task.learn, *task.tail)[-1]
    end = "the end" if last.stop is None else f"{last.stop:,}"
    place = f"{first.name}, bytes {first.start:,} to {end}"
    if last.name != first.name:
        place += f" of {last.name}"
    return DataError(
        f"{task.name} ({place}) ended its process each time it was tried",
        "memory may be too small: start dask worker with a larger memory limit, or use more "
        "`shards`",
    )


def joined(name: str, parts: Sequence[Piece]) -> FileReport:
    """The report of a file from those of its parts, in their order."""
    found = FileReport(name)
    for part in parts:
        found.bytes += part.size
        for count in ("rows", "nnz", "qids", "bad_lines"):
            setattr(found, count, getattr(found, count) + getattr(part, count))
        found.first_bad = found.first_bad or part.first_bad
        found.stored = part.stored
        found.cells += part.cells
        found.sample += part.sample
    found.digest = hexdigest(bytes(found.cells))
    return found
