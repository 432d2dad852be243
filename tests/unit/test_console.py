"""What is said: settings as options, and lines beside a live one."""

import io
import os
import sys
from typing import Any

import pytest

from cwtool.messages.console import LIVE, Console, Progress, complain, with_options
from cwtool.messages.width import folded


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2


def shown_on(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Where both streams go; set in the test, for pytest puts its own there before each."""
    terminal = Terminal()
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, terminal)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((80, 24)))
    return terminal


def show(progress: Progress, **state: Any) -> None:
    progress.shown -= 2 * LIVE
    progress.update(lambda: state)


@pytest.mark.parametrize("speak", ["note", "result"])
def test_a_line_does_not_join_the_live_one(speak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = shown_on(monkeypatch)
    console = Console()
    with console.progress("arow") as progress:
        show(progress, text="busy")
        getattr(console, speak)("day1.svm  3 rows")
        getattr(console, speak)("day2.svm  3 rows")
    live = "arow  busy"
    lines = "day1.svm  3 rows\nday2.svm  3 rows\n"
    assert screen.getvalue() == f"\r{live}\r{' ' * len(live)}\r{lines}"


def test_a_line_within_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner one takes the place of the outer one, which comes back after it."""
    screen = shown_on(monkeypatch)
    console = Console()
    with console.progress("rows") as outer:
        show(outer)
        with console.progress("fit") as inner:
            show(inner)
        show(outer)
        console.note("done")
    assert screen.getvalue() == "\rrows\r    \r\rfit\r   \r\rrows\r    \rdone\n"


def test_time_left_is_that_of_the_part(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = shown_on(monkeypatch)
    with Console().progress("fit") as progress:
        progress.started -= 1000
        show(progress, text="fold", done=0.5)
        assert "50%  1,000 s left" in screen.getvalue()
        show(progress, text="step", done=0.1)
    assert screen.getvalue().split("step")[1].startswith("  10%  4 s left")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`batch_rows` is 0", "--batch-rows is 0"),
        ("use `carry=keep`, or `passes=1`", "use --carry keep, or --passes 1"),
        ("`C` is 'much'", "-C is 'much'"),
        ("raise `C=2`", "raise -C 2"),
        ("set `batch_rows=`", "set --batch-rows"),
        ("`require` is 'x>=0.9'", "--require is 'x>=0.9'"),
        ("`prior=auto` or `r=0.1`", "--prior auto or -r 0.1"),
        ("a path with a `quote and = sign", "a path with a `quote and = sign"),
        ("`two words` and `1st` and ``", "`two words` and `1st` and ``"),
        ("value --1 of feature 2", "value --1 of feature 2"),
        ("", ""),
    ],
)
def test_settings_are_shown_as_options(text: str, shown: str) -> None:
    assert with_options(text) == shown


def test_every_way_to_people_shows_options(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(verbose=True)
    console.note("lower `holdout`")
    console.warn("lower `holdout`")
    console.detail("lower `holdout`")
    complain("`C` is 0", "raise `max_bad_lines`")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "lower --holdout",
        "warning: lower --holdout",
        "lower --holdout",
        "error: -C is 0",
        "hint: raise --max-bad-lines",
    ]


def test_results_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Console().result("a`b`.svm")
    assert capsys.readouterr().out == "a`b`.svm\n"


def test_an_event_reaches_a_pipe_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe))
    Console(json=True).event("round", {"round": 1})
    assert pipe.getvalue() == b'{"event": "round", "round": 1}\n'


def test_long_lines_of_results_are_broken_between_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    assert folded("error 1 %  AUC 0.9  F1 0.8", 20) == "error 1 %  AUC 0.9\n  F1 0.8"
    assert folded("error 1 %  AUC 0.9", 18) == "error 1 %  AUC 0.9"
    assert folded("one long field", 5) == "one long field"
    assert folded("        12      3", 10) == "        12\n  3"
    screen = shown_on(monkeypatch)
    Console().event("winner", {"metric": "error", "algo": "x" * 55, "params": {"C": 1, "eta": 0.9}})
    assert screen.getvalue() == f"best error: {'x' * 55} with C 1\n  eta 0.9\n"
