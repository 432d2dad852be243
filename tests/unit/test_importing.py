"""Importing the library does nothing to the process that imports it."""

import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys
from importlib import import_module
before, handler = dict(os.environ), signal.getsignal(signal.SIGTERM)
for module in sys.argv[1:]:
    import_module(module)
changed = {k for k in before.keys() | os.environ if before.get(k) != os.environ.get(k)}
print(sorted(changed), signal.getsignal(signal.SIGTERM) is handler)
"""


@pytest.mark.parametrize(
    "modules",
    [("cwtool",), ("cwtool.model",), ("cwtool.train.run", "cwtool.predict"), ("cwtool.cli",)],
    ids=" ".join,
)
def test_the_environment_stays_as_it_is(modules: tuple[str, ...]) -> None:
    out = subprocess.run(
        [sys.executable, "-c", SCRIPT, *modules], capture_output=True, text=True, check=True
    )
    assert out.stdout.split() == ["[]", "True"]
