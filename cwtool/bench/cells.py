"""A cell: one task on one source with one algorithm, its parameters and a seed. Its result is
kept in a file of its own, so that a run can be stopped and go on, and a second one is instant."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from cwtool import __version__, registry
from cwtool.bench.sources import Source
from cwtool.bench.tasks import TASKS
from cwtool.console import Console
from cwtool.errors import CwtoolError
from cwtool.files import complete_text
from cwtool.parallel import WorkerDied, in_processes


@dataclass(frozen=True)
class Cell:
    task: str
    source: Source
    algo: str
    params: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> dict[str, Any]:
        """All that the result depends on; a default that changes makes another cell."""
        known = self.algo in registry.names()
        defaults = asdict(registry.algorithm(self.algo).Params()) if known else {}
        return {
            "task": self.task,
            "data": self.source.identity(),
            "algo": self.algo,
            "params": {**defaults, **self.params},
            "seed": self.seed,
            "options": self.options,
            "version": __version__,
        }

    @cached_property
    def name(self) -> str:
        return sha256(json.dumps(self.key, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Outcome:
    """What came of a cell: a result, or why there is none."""

    result: dict[str, Any] = field(default_factory=dict)
    failure: str = ""


class Store:
    """A folder of results, a file for each cell. A file is there and whole, or not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.name}.json"

    def read(self, cell: Cell) -> Outcome | None:
        """What is known of a cell; a failure or a damaged file is nothing: it is tried again."""
        try:
            found = json.loads(self.path(cell).read_text())
            return None if found["failure"] else Outcome(found["result"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, cell: Cell, outcome: Outcome) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        found = {"key": cell.key, "result": outcome.result, "failure": outcome.failure}
        with complete_text(self.path(cell)) as out:
            out.write(json.dumps(found) + "\n")


def perform(cell: Cell, store: Store | None = None) -> tuple[str, Outcome]:
    """Do the work of a cell and keep what comes of it, also if that is a failure."""
    try:
        outcome = Outcome(TASKS[cell.task].work(cell))
    except CwtoolError as failure:
        outcome = Outcome(failure=str(failure))
    except Exception as failure:  # a bug or no memory: the other cells go on
        outcome = Outcome(failure=f"{type(failure).__name__}: {failure}")
    if store is not None:
        store.write(cell, outcome)
    return cell.name, outcome


def run(
    cells: Iterable[Cell],
    console: Console,
    *,
    store: Store | None = None,
    jobs: int = 1,
    again: bool = False,
    title: str = "cells",
) -> dict[str, Outcome]:
    """Outcomes by the names of cells: those that are stored, and the others by work in
    `jobs` processes. Those that measure time alone on the machine run one after the other."""
    wanted = {cell.name: cell for cell in cells}
    found: dict[str, Outcome] = {}
    if store is not None and not again:
        stored = {name: store.read(cell) for name, cell in wanted.items()}
        found = {name: outcome for name, outcome in stored.items() if outcome is not None}
    todo = [cell for name, cell in wanted.items() if name not in found]
    known = len(found)
    with console.progress(title) as progress:

        def take(results: Iterable[tuple[str, Outcome]]) -> None:
            for name, outcome in results:
                found[name] = outcome
                done = len(found) - known
                cells = f"{done:,} of {len(todo):,} cells"
                progress.update(lambda: {"text": cells, "done": done / len(todo)})  # noqa: B023

        work = partial(perform, store=store)
        shared = [cell for cell in todo if not TASKS[cell.task].alone]
        try:
            take(in_processes(work, shared, jobs))
        except WorkerDied:  # which cell it was is known when each has a process of its own
            for cell in shared:
                if cell.name not in found:
                    take([_isolated(cell, store)])
        take(map(work, (cell for cell in todo if TASKS[cell.task].alone)))
    return found


def _isolated(cell: Cell, store: Store | None) -> tuple[str, Outcome]:
    """The same in a process of its own, whose end is survived."""
    try:
        return next(in_processes(partial(perform, store=store), [cell], 2))
    except WorkerDied:
        outcome = Outcome(failure="its process was killed, perhaps for want of memory")
        if store is not None:
            store.write(cell, outcome)
        return cell.name, outcome
