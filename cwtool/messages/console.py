"""The only place that prints: results to stdout, everything else to stderr.

What the library calls a setting, as in `batch_rows` or `carry=keep`, is shown as an option.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from cwtool.clock import now
from cwtool.messages.event_text import TEXT
from cwtool.messages.metrics_text import about, percent
from cwtool.messages.width import fitted

LIVE = 0.2  # seconds between two states of the live line on a terminal
PLAIN = 30.0  # seconds between two plain lines elsewhere
FIRST = 1.0  # seconds after which the first plain line of a long wait comes

SETTING = r"`([A-Za-z]\w*)(?:=([^`]*))?`"


def with_options(text: str) -> str:
    """The text with its settings as options: `C=2` is -C 2, and longer names have two dashes."""

    def option(found: re.Match[str]) -> str:
        name, value = found[1].replace("_", "-"), found[2]
        dashes = "-" if len(name) == 1 else "--"
        return f"{dashes}{name}" + (f" {value}" if value else "")

    return re.sub(SETTING, option, text) if "`" in text else text


class Progress:
    """One live line on a terminal, a plain line now and then elsewhere."""

    def __init__(self, title: str, out: TextIO | None) -> None:
        self.title, self.out = title, out
        self.live = out is not None and out.isatty()
        self.started = self.shown = time.monotonic()
        self.width = 0
        self.done = 0.0

    def update(self, status: Callable[[], dict[str, Any]]) -> None:
        if self.out is None:
            return
        now = time.monotonic()
        if now - self.shown < (LIVE if self.live else PLAIN):
            return
        self.show(status)

    def show(self, status: Callable[[], dict[str, Any]]) -> None:
        """Show the state, whenever the last one was shown."""
        if self.out is None:
            return
        state, now = status(), time.monotonic()
        done = state.get("done") or 0.0
        if done < self.done:  # another part of the work
            self.started = self.shown
        self.shown, self.done = now, done
        line = self._line(state, now - self.started)
        if self.live:
            width = (os.get_terminal_size(self.out.fileno()).columns or 80) - 1
            self.out.write("\r" + line[:width].ljust(min(self.width, width)))
            self.width = len(line[:width])
        else:
            self.out.write(line + "\n")
        self.out.flush()

    @contextmanager
    def ticking(self, status: Callable[[], dict[str, Any]]) -> Iterator[None]:
        """Update the progress line regularly while the work inside continues or waits. No other
        message may be printed meanwhile."""
        if self.out is None:
            yield
            return
        from threading import Event, Thread

        ended = Event()

        def tick() -> None:
            wait = 0.0 if self.live else FIRST
            while not ended.wait(wait):
                self.show(status)
                wait = LIVE if self.live else PLAIN

        ticker = Thread(target=tick, name="cwtool-progress", daemon=True)
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join()

    def _line(self, s: dict[str, Any], seconds: float) -> str:
        parts = [self.title]
        if "text" in s:
            parts.append(s["text"])
        if "rows" in s:
            parts += [f"{s['rows']:,} rows", f"{s['rows'] / seconds:,.0f} rows/s"]
        if "error" in s:
            parts.append(f"error {percent(s['error'])}")
        if "auc" in s:
            parts.append(about(s["auc"]))
        if "features" in s:
            parts += [f"features {s['features']:,}"]
        if s.get("done"):
            left = seconds * (1 - s["done"]) / s["done"]
            parts += [f"{s['done']:.0%}", f"{left:,.0f} s left"]
        return "  ".join(parts)

    def clear(self) -> None:
        if self.live and self.width and self.out is not None:
            self.out.write("\r" + " " * self.width + "\r")
            self.out.flush()
            self.width = 0


class Console:
    """The messages of a command, as text or as JSON lines."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, json: bool = False) -> None:
        self.quiet, self.verbose, self.json = quiet, verbose, json
        self._progress: Progress | None = None
        self.stamp: dict[str, Any] = {}  # what every event says besides
        self.log: Path | None = None  # a file that events are appended to
        self.warnings: list[str] = []  # that were given, each once

    def event(
        self, kind: str, data: dict[str, Any], *, aside: bool = False, asked: bool = False
    ) -> None:
        """Print a part of the result. `aside`: as text it goes to stderr, not among rows or tables
        on stdout. `asked`: it is the purpose of the command, and is printed even with `quiet`."""
        if self.json or self.log is not None:
            said = {"event": kind, **self.stamped(), **data}
            line = json.dumps(said, allow_nan=False)
            if self.log is not None:
                from cwtool.messages.log_file import append_line

                append_line(self.log, line)
        if self.json:
            self.result(line, at_once=True)  # readers of a pipe get an event when it happens
        elif aside:
            self.note(fitted(TEXT[kind](data), sys.stderr))
        elif (asked or not self.quiet) and kind in TEXT:
            self.result(fitted(TEXT[kind](data), sys.stdout))

    def concerns(self, **what: str) -> None:
        """Add these fields to all later events, if events are stamped."""
        if self.stamp:
            self.stamp |= what

    def stamped(self) -> dict[str, Any]:
        """The time, if the events of this command have one, and what else they say."""
        if not self.stamp:
            return {}
        return {"time": now("milliseconds"), **self.stamp}

    def result(self, line: str, *, at_once: bool = False) -> None:
        try:
            self._say(line, sys.stdout)
            if at_once:
                sys.stdout.flush()
        except BrokenPipeError:  # a reader that has enough does not end the run
            unheard(sys.stdout)

    def warn(self, message: str) -> None:
        """Print a warning, each text only once."""
        if message not in self.warnings:
            self.warnings.append(message)
            self.note(f"warning: {message}")

    def told(self, *notices: str | None) -> dict[str, list[str]]:
        """Print these notices, and return them with the warnings so far as a field of an event."""
        for notice in filter(None, notices):
            self.note(notice)
        found = [with_options(text) for text in (*self.warnings, *notices) if text]
        return {"warnings": found} if found else {}

    def note(self, message: str) -> None:
        if not self.quiet:
            self._say(with_options(message), sys.stderr)

    def detail(self, message: str) -> None:
        if self.verbose:
            self._say(with_options(message), sys.stderr)

    def _say(self, line: str, out: TextIO) -> None:
        if self._progress is not None:
            self._progress.clear()  # the live line may be on the same terminal
        out.write(line + "\n")

    @contextmanager
    def progress(self, title: str) -> Iterator[Progress]:
        """A live line; while it is there, it takes the place of one around it."""
        outer, progress = self._progress, Progress(title, None if self.quiet else sys.stderr)
        if outer is not None:
            outer.clear()
        self._progress = progress
        try:
            yield progress
        finally:
            progress.clear()
            self._progress = outer


def unheard(out: TextIO) -> None:
    """Redirect a stream to os.devnull: everything written to it from now on is discarded."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def complain(message: str, hint: str | None = None) -> None:
    """Print an error, and a hint that says what to do about it."""
    red, plain = ("\x1b[31m", "\x1b[0m") if _colour(sys.stderr) else ("", "")
    print(f"{red}error:{plain} {with_options(message)}", file=sys.stderr)
    if hint:
        print(f"hint: {with_options(hint)}", file=sys.stderr)


def _colour(out: TextIO) -> bool:
    return out.isatty() and "NO_COLOR" not in os.environ
