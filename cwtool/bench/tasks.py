"""What can be measured: a task turns a cell into a result, which is numbers by name and curves.

A suite names its tasks; a new one is a function of a cell and an entry of TASKS.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from cwtool.bench import accuracy, curves, learned
from cwtool.bench.accuracy import OF_MODEL, OTHER_PARAMS, Result
from cwtool.bench.designs import DESIGNS
from cwtool.bench.others import PROGRAMS
from cwtool.errors import CwtoolError
from cwtool.records import dataclass
from cwtool.scratch import Scratch

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell


def duel(cell: Cell, size: float = 500, rounds: int = 3) -> Result:
    """A comparison with other programs, in processes of its own (peers.py). The algorithm of the
    cell is the name of the comparison, which finds the files of the cell in the data folder."""
    files = cell.source.train
    where = {"CWTOOL_DATA": str(Path(files[0]).parent.parent)} if files else {}
    with Scratch() as folder:
        command = [sys.executable, "-m", "cwtool.bench.peers", "--only", cell.algo]
        command += ["--size", str(size), "--rounds", str(rounds), "--dir", folder]
        ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **where})
        if ended.returncode:
            raise CwtoolError(ended.stderr.strip().rpartition("\n")[2])
        found: Result = json.loads((Path(folder) / "peers.json").read_text())[cell.algo]
    return found


@dataclass(frozen=True)
class Task:
    function: Callable[..., Result]
    alone: bool = False  # it measures elapsed time: nothing else may run at the same time
    extra: tuple[str, ...] = ()  # parameters of cells that need not be those of an algorithm
    others: Collection[str] | None = ()  # what it measures besides algorithms; None: it checks that

    def work(self, cell: Cell) -> Result:
        return self.function(cell, **cell.options)


LEARNING = (*OF_MODEL, "multiclass")
TASKS = {
    "validation": Task(accuracy.validation, extra=LEARNING, others=PROGRAMS),
    "test": Task(accuracy.test, extra=LEARNING, others=PROGRAMS),
    "online": Task(curves.online, extra=LEARNING, others=DESIGNS),
    "select": Task(accuracy.selection, extra=OTHER_PARAMS),
    "trace": Task(curves.trace),
    "density": Task(accuracy.density),
    "effective-dimension": Task(curves.effective_dimension),
    "surface": Task(learned.surface),
    "images": Task(learned.images),
    "duel": Task(duel, alone=True, others=None),
}
