# Generated from cells.pyx by tools/stubs.py.

from typing import Any

def named_entries(cells: list[Any], features: list[Any], missing: Any) -> tuple[list[Any], int]: ...
