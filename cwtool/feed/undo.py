"""Undoing the last day of a feed."""

from __future__ import annotations

from pathlib import Path

from cwtool.data.sources import display
from cwtool.feed import recent
from cwtool.messages.console import Console
from cwtool.model import Model, generations


def undo(target: Path, console: Console) -> None:
    """Put the last old model back, and say which data it forgets."""
    old = generations.kept(target)
    present = Model.load(target)
    before = Model.load(old[0]) if old else None
    generations.put_back(target)
    assert before is not None
    names = {f["digest"]: f["name"] for run in before.history for f in run["files"]}
    gone = [
        {"name": f["name"], "digest": f["digest"], "time": run.get("time", "")}
        for run in present.history
        for f in run["files"]
        if f["digest"] not in names
    ]
    recent.forget(target, {f["digest"] for f in gone})
    console.event(
        "undo",
        {
            "forgotten": gone,
            "rows": before.rows,
            "undone": display(f"{target}.undone"),
        },
    )
