"""What is said while a live line is shown."""

import io
import os
import sys

import pytest

from cwtool.console import LIVE, Console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2


@pytest.mark.parametrize("speak", ["note", "result"])
def test_a_line_does_not_join_the_live_one(speak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, screen)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((80, 24)))
    console = Console()
    with console.progress("arow") as progress:
        progress.shown -= 2 * LIVE
        progress.update(lambda: {"text": "busy"})
        getattr(console, speak)("day1.svm  3 rows")
        getattr(console, speak)("day2.svm  3 rows")
    live = "arow  busy"
    lines = "day1.svm  3 rows\nday2.svm  3 rows\n"
    assert screen.getvalue() == f"\r{live}\r{' ' * len(live)}\r{lines}"
