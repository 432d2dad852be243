"""Cells: what they are known by, how they are kept, and that none of them loses the others."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cwtool import parallel
from cwtool.algorithms.arow import Arow
from cwtool.bench import cells as work
from cwtool.bench.cells import Cell, Store, perform, run
from cwtool.bench.sources import Source
from cwtool.bench.tasks import TASKS, Task
from cwtool.errors import DataError
from cwtool.messages.console import Console
from cwtool.parallel import Local, Outcome, WorkerDied

QUIET = Console(quiet=True)
MADE = Source(make="words", args={"rows": 60, "features": 200})
CELL = Cell("test", MADE, "arow")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """A task that only counts its cells, and fails for an odd seed if asked to."""
    seen: list[Cell] = []

    def count(cell: Cell, fail: bool = False) -> dict[str, Any]:
        seen.append(cell)
        if fail and cell.seed % 2:
            raise DataError("odd") if cell.seed % 4 == 1 else ZeroDivisionError("three")
        return {"error": cell.seed / 10}

    monkeypatch.setitem(TASKS, "count", Task(count))
    return seen


def counting(n: int, **options: Any) -> list[Cell]:
    return [Cell("count", MADE, "arow", seed=k, options=options) for k in range(n)]


@pytest.mark.parametrize(
    "other",
    [
        {"task": "online"},
        {"algo": "cw"},
        {"params": {"r": 1.0}},
        {"seed": 1},
        {"options": {"passes": 2}},
        {"source": replace(MADE, args={"rows": 61, "features": 200})},
        {"source": replace(MADE, split=0.5)},
    ],
)
def test_all_that_matters_is_in_the_key(other: dict[str, Any]) -> None:
    assert replace(CELL, **other).name != CELL.name


def test_the_key_knows_the_defaults() -> None:
    default = Arow.Params().r
    assert replace(CELL, params={"r": default}).name == CELL.name
    assert CELL.key["params"]["r"] == default


def test_the_key_knows_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = replace(CELL).name
    monkeypatch.setattr(work, "__version__", "999")
    assert replace(CELL).name != before


def test_the_order_of_parameters_does_not_matter() -> None:
    one = replace(CELL, params={"r": 1.0, "prior": 1.0})
    assert one.name == replace(CELL, params={"prior": 1.0, "r": 1.0}).name


def test_files_are_known_by_what_is_in_them(tmp_path: Path) -> None:
    for name, text in (("a", "+1 1:1\n"), ("b", "+1 1:1\n"), ("c", "+1 1:2\n")):
        (tmp_path / name).write_text(text)
    names = [replace(CELL, source=Source((str(tmp_path / n),))).name for n in "abc"]
    assert names[0] == names[1] != names[2]


def test_a_second_run_does_nothing(tmp_path: Path, counted: list[Cell]) -> None:
    store = Store(tmp_path / "cells")
    first = run(counting(4), QUIET, store=store)
    assert [first[c.name].result for c in counting(4)] == [{"error": k / 10} for k in range(4)]
    assert len(counted) == 4
    assert run(counting(5), QUIET, store=store).keys() > first.keys()
    assert [c.seed for c in counted] == [0, 1, 2, 3, 4]
    run(counting(5), QUIET, store=store, again=True)
    assert len(counted) == 10


def test_the_same_cell_is_done_once(counted: list[Cell]) -> None:
    assert len(run(counting(2) + counting(2), QUIET)) == 2
    assert len(counted) == 2


def test_a_failure_loses_no_other_cell(tmp_path: Path, counted: list[Cell]) -> None:
    store = Store(tmp_path)
    cells = counting(5, fail=True)
    found = run(cells, QUIET, store=store)
    said = ["", "odd", "", "ZeroDivisionError: three", ""]
    assert [found[c.name].failure for c in cells] == said
    kept = json.loads(store.path(cells[1]).read_text())
    assert (kept["failure"], kept["key"]["seed"]) == ("odd", 1)
    run(cells, QUIET, store=store)  # only what failed is tried again
    assert [c.seed for c in counted] == [0, 1, 2, 3, 4, 1, 3]


def test_a_run_that_is_stopped_goes_on(
    tmp_path: Path, counted: list[Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    real = store.write

    def stop(cell: Cell, outcome: Outcome) -> None:
        if cell.seed == 2:
            raise KeyboardInterrupt
        real(cell, outcome)

    monkeypatch.setattr(store, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        run(counting(4), QUIET, store=store)
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.undo()
    monkeypatch.setitem(TASKS, "count", Task(lambda cell: {"error": cell.seed}))
    assert len(run(counting(4), QUIET, store=store)) == 4
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("text", ["", "{", "[]", '{"failure": ""}', "null"])
def test_a_damaged_file_is_done_again(tmp_path: Path, counted: list[Cell], text: str) -> None:
    store = Store(tmp_path)
    (cell,) = counting(1)
    store.path(cell).write_text(text)
    assert run([cell], QUIET, store=store)[cell.name].result == {"error": 0.0}
    assert store.read(cell) == Outcome({"error": 0.0})


def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    cells = [replace(CELL, seed=k) for k in range(3)]
    one = run(cells, QUIET)
    two = run(cells, QUIET, store=Store(tmp_path), engine=Local(2))
    for name, outcome in one.items():
        assert {**outcome.result, "seconds": 0} == {**two[name].result, "seconds": 0}
    assert len(list(tmp_path.iterdir())) == 3


def test_a_cell_that_kills_its_process_loses_no_other(
    tmp_path: Path, counted: list[Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(function: Callable[..., Any], items: Any, jobs: int) -> Any:
        for item in list(items):
            cell = item[1] if isinstance(item, tuple) else item
            if cell.seed == 1:
                raise WorkerDied
            yield function(item)

    monkeypatch.setattr(parallel, "in_processes", killed)
    store = Store(tmp_path)
    cells = counting(3)
    found = run(cells, QUIET, store=store, engine=Local(2))
    assert "killed" in found[cells[1].name].failure
    assert [found[c.name].result for c in cells] == [{"error": 0.0}, {}, {"error": 0.2}]
    assert store.read(cells[2]) is not None


@pytest.mark.parametrize("task", ["test", "online", "trace", "density"])
def test_tasks_are_deterministic(task: str) -> None:
    cell = Cell(task, MADE, "stsgd", {"burst": 2})
    one, two = perform(cell), perform(cell)
    assert not one.failure
    assert {**one.result, "seconds": 0} == {**two.result, "seconds": 0}
