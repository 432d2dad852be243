"""Text of the program as Markdown, for the pages that are made from it."""

from __future__ import annotations

import inspect

MADE = "<!-- made by tools/reference.py; `make reference` writes it anew -->"


def cell(text: str) -> str:
    """Text in a table of Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


def sentences(text: str) -> str:
    """Paragraphs of a docstring as Markdown; what click keeps as it stands becomes a block."""
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.startswith("\b"):
            parts.append("```text\n" + part.removeprefix("\b\n") + "\n```")
        else:
            parts.append(cell(part))
    return "\n\n".join(parts)
