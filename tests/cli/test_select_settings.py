"""cwtool select-features: constant features, hashed ids, and limits of memory"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import memory

METRICS = memory.bytes_of_counts(1, 401)  # of 400 rows

Run = Callable[..., str]


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def shifted(folder: Path) -> str:
    """+1 where feature 1, which is 0 to 3, is above 1: it takes a constant to say so."""
    rng = np.random.default_rng(6)
    x = rng.random((400, 3)) * 3 - [0, 1.5, 1.5]
    lines = [
        f"{'+1' if a > 1 else '-1'} 1:{a:.4f} 100:{b:.4f} 1000000:{c:.4f}" for a, b, c in x.tolist()
    ]
    Path("shifted.svm").write_text("\n".join(lines) + "\n")
    return "shifted.svm"


@pytest.mark.parametrize("algo", ["sbcw", "l1svm", "spar-dca", "arow"])
def test_a_bias_can_be_chosen(algo: str, ok: Run, shifted: str) -> None:
    command = ["select-features", shifted, "--test", shifted, "--features", "2", "--algo", algo]
    (without,) = objects(ok(*command, "--json"))
    (found,) = objects(ok(*command, "--bias", "--project", "out", "--json"))
    assert set(found["selected"]) == {1, "bias"}
    assert found["refit_error"] < 0.5 * without["refit_error"]
    rows = Path("out/train.2.svm").read_text().splitlines()
    assert len(rows) == 400
    assert all(len(row.split()) == 2 for row in rows)


def test_hashed_ids(ok: Run, shifted: str) -> None:
    command = ["select-features", shifted, "--features", "9", "--json"]
    (found,) = objects(ok(*command, "--hash-bits", "5"))
    assert 1 <= len(found["selected"]) <= 3
    assert max(found["selected"]) <= 32


def test_a_batch_too_large_for_the_memory_allowed(shifted: str, cwtool: Callable[..., Any]) -> None:
    for algo in ("sbcw", "fgm"):
        for command, more in ((["select-features"], 0), (["train", "-m", "m.cw"], METRICS)):
            limit = f"{more + 50_000}B"
            ended = cwtool(*command, shifted, "--algo", algo, "--max-memory", limit)
            assert ended.code == 2
            assert "50 kB may be used" in ended.err
            if command == ["select-features"]:
                assert "the rows, which are kept in memory, need" in ended.err
            else:
                assert f"{algo} needs" in ended.err or "a batch of" in ended.err
                assert "--batch-rows" in ended.err
            assert not Path("m.cw").exists()
            assert cwtool(*command, shifted, "--algo", algo, "--max-memory", "9MB").code == 0
            Path("m.cw").unlink(missing_ok=True)
