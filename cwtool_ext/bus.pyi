# Generated from bus.pyx by tools/stubs.py.

from typing import Any

def install() -> Any: ...
