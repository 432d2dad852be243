"""A cell: one task on one source with one algorithm, its parameters and a seed. Each result is kept
in a file, so that a run that was stopped can go on, and a second run has nothing to do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, field
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from cwtool import __version__, registry
from cwtool.bench.sources import Source
from cwtool.bench.tasks import TASKS
from cwtool.files import complete_text
from cwtool.messages.console import Console
from cwtool.parallel import KILLED, Engine, Local, Outcome, attempt
from cwtool.records import dataclass


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
        """All that the result depends on, with the default values of parameters: a default that
        changes makes another cell."""
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


class Store:
    """A folder of results with a file for each cell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.name}.json"

    def read(self, cell: Cell) -> Outcome | None:
        """The stored result of a cell; None where there is none, or a failure, or a damaged file,
        so that the cell is tried again."""
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


def perform(cell: Cell, store: Store | None = None) -> Outcome:
    """Do the work of a cell and store what comes of it, also if that is a failure."""
    return _stored(cell, store, attempt(lambda: TASKS[cell.task].work(cell)))


def _stored(cell: Cell, store: Store | None, outcome: Outcome) -> Outcome:
    if store is not None:
        store.write(cell, outcome)
    return outcome


def run(
    cells: Iterable[Cell],
    console: Console,
    *,
    store: Store | None = None,
    engine: Engine | None = None,
    again: bool = False,
    title: str = "cells",
) -> dict[str, Outcome]:
    """Outcomes by the names of cells: those that are stored, and the others by work on the engine,
    or in this process. Tasks that measure elapsed time run afterwards, here, one after the
    other."""
    wanted = {cell.name: cell for cell in cells}
    found: dict[str, Outcome] = {}
    if store is not None and not again:
        stored = {name: store.read(cell) for name, cell in wanted.items()}
        found = {name: outcome for name, outcome in stored.items() if outcome is not None}
    todo = [cell for name, cell in wanted.items() if name not in found]
    known = len(found)

    def status() -> dict[str, Any]:
        done = len(found) - known
        return {"text": f"{done:,} of {len(todo):,} cells", "done": done / len(todo)}

    with console.progress(title) as progress:
        for alone in (False, True):
            some = [cell for cell in todo if TASKS[cell.task].alone == alone]
            work, killed = partial(perform, store=store), partial(_killed, store=store)
            here = Local(1) if alone or engine is None else engine
            for number, outcome in here.each(work, some, killed):
                found[some[number].name] = outcome
                progress.update(status)
    return found


def _killed(cell: Cell, store: Store | None) -> Outcome:
    """The outcome of a cell that ended its process."""
    return _stored(cell, store, KILLED)
