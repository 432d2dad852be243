"""The cost of one command: CPU time, wall time and peak memory of its process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from cwtool.records import dataclass


@dataclass(frozen=True)
class Cost:
    cpu: float  # seconds, user + system, all threads
    wall: float  # seconds
    rss: float  # peak resident memory, 10^6 bytes
    facts: dict[str, Any] = field(default_factory=dict)  # last JSON object on stdout


class CommandFailed(Exception):
    """The command did not end as expected."""


def measure(command: Sequence[str], refusal: str = "", inside: bool = False) -> Cost:
    """Run `command` to its end. It must succeed; if `refusal` is given, it must fail with this text
    in its last line. `inside`: take the times that the command prints, without its imports.

    On Linux the peak memory of a new process includes that of the process that started it, so the
    caller must stay small: it must not import NumPy.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        words = last_line(err.fileno())
        if bool(child.returncode) != bool(refusal) or refusal not in words:
            raise CommandFailed(f"exit code {child.returncode}: {words}")
        facts = last_object(last_line(out.fileno()))
    cpu = usage.ru_utime + usage.ru_stime
    if inside:
        cpu, wall = facts["cpu"], facts["wall"]
    rss = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return Cost(cpu, wall, rss, facts)


def last_line(descriptor: int, tail: int = 65536) -> str:
    size = os.fstat(descriptor).st_size
    text = os.pread(descriptor, tail, max(0, size - tail)).decode(errors="replace").strip()
    return text.rpartition("\n")[2]


def last_object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
