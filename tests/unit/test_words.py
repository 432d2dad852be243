"""The library names settings as Python does; only the command line knows options."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import cwtool

PACKAGE = Path(cwtool.__file__).parent
COMMAND_LINE = ("cli", "bench")
OPTION = re.compile(r"--[A-Za-z]")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every piece of text in a file, docstrings and parts of f-strings too, with its line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_text_of_the_library_names_an_option() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in COMMAND_LINE
        for line, text in texts(path)
        if OPTION.search(text)
    ]
    assert found == []


def test_the_search_would_find_one() -> None:
    train = PACKAGE / "cli" / "train.py"
    assert any(OPTION.search(text) for _, text in texts(train))
