"""The worked example of CONTRIBUTING.md is a complete algorithm."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click import Context

from cwtool import registry
from cwtool.cli import COMMANDS, group
from cwtool.model import Model

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture
def centroid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the algorithm of the example in CONTRIBUTING.md for one test. The commands are
    imported first, because a command keeps the options of all algorithms it finds at its import."""
    for name in COMMANDS:
        group.get_command(Context(group), name)
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    module = ModuleType("cwtool.algorithms.centroid")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry.MODULES, "centroid", "centroid")
    exec(compile(code, str(GUIDE), "exec"), module.__dict__)


def test_the_example_works(
    centroid: None, ok: Callable[..., str], planted: Callable[..., str]
) -> None:
    a, b = planted("a.svm", 1, 300), planted("b.svm", 2, 200, first=20)
    ok("train", "--algo", "centroid", "--smoothing", "2", a, b, "-m", "long.cw")
    ok("train", "--algo", "centroid", "--smoothing", "2", a, "-m", "day1.cw")
    ok("train", "--resume", "day1.cw", b, "-m", "day2.cw")
    long, resumed = Model.load(Path("long.cw")), Model.load(Path("day2.cw"))
    assert np.array_equal(long.weights().weight, resumed.weights().weight)
    assert long.progress.error is not None
    assert long.progress.error < 0.4  # 0.5 is chance
    assert len(ok("inspect", "long.cw", "--weights", "-").splitlines()) == 49
    assert "--smoothing" in ok("train", "--algo", "centroid", "--help")
    ok("select-features", a, "--algo", "centroid", "--features", "5", "--test", b)
