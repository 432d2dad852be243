"""Random settings on small files end with an exit code and a sentence, and write models that can be
read; `make fuzz` tries more of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from random_settings import fault, trial

TRIALS = 120
PARTS = 8  # each a test, so that they run at the same time


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_random_settings(part: int, folder: Path, cwtool: Callable[..., Any]) -> None:
    for seed in range(part, TRIALS, PARTS):
        for left in folder.glob("*.*"):
            left.unlink()
        train, others = trial(seed, folder)
        commands = [train, *others]
        for command in commands:
            ended = cwtool(*command)
            wrong = fault(ended.code, ended.err)
            assert not wrong, f"seed {seed}: {wrong}: {' '.join(command)}\n{ended.err[-2000:]}"
            if command is train and ended.code:
                break
