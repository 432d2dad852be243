"""Lines of results that fit into a terminal."""

from __future__ import annotations

import os
from typing import TextIO


def fitted(text: str, out: TextIO) -> str:
    """The text; on a terminal, lines that are too long for it are broken between fields."""
    if not out.isatty():
        return text
    width = os.get_terminal_size(out.fileno()).columns or 80
    return "\n".join(folded(line, width) for line in text.split("\n"))


def folded(line: str, width: int) -> str:
    """The line, broken where two blanks separate its fields; what follows is indented."""
    parts = []
    while len(line) > width and (at := line.rfind("  ", 3, width + 2)) > 0 and line[:at].strip():
        parts.append(line[:at].rstrip())
        line = "  " + line[at:].lstrip()
    return "\n".join([*parts, line])
