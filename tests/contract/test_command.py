"""One variant of each algorithm through the command line: train, resume, predict, inspect."""

import json
from pathlib import Path
from typing import Any

import pytest
from contract import FIRST, Variant, essence

from cwtool.model import Model

READINGS = {
    "hashed with bias": ["--hash-bits", "10", "--bias"],
    "normalized from 0": ["--zero-based", "--normalize", "l2"],
}
Run = Any


@pytest.mark.parametrize(
    ("variant", "reading"),
    [
        pytest.param(
            variant,
            reading,
            id=f"{variant.algo} {name}",
            marks=[pytest.mark.slow] * ((number + at) % 2),  # one of them for each algorithm
        )
        for number, variant in enumerate(FIRST)
        for at, (name, reading) in enumerate(READINGS.items())
    ],
)
def test_train_resume_predict_inspect(
    variant: Variant, reading: list[str], brief: Run, ok: Run, planted: Run
) -> None:
    a, b = planted("a.svm", 1, 120), planted("b.svm", 2, 80, first=1020)
    words = [*brief(variant.algo), *reading, "-q"]
    ok("train", *words, a, b, "--jobs", "2", "-m", "long.cw")
    ok("train", *words, a, "--jobs", "1", "-m", "m.cw")
    ok("train", "--resume", "m.cw", b, "-m", "m.cw", "-q")
    day2, whole = Model.load(Path("m.cw")), Model.load(Path("long.cw"))
    assert len(day2.history) == 2
    day2.history, whole.history = [], []
    assert essence(day2) == essence(whole)
    before = Path("m.cw").read_bytes()
    lines = ok("predict", a, b, "-m", "m.cw", "--output", "all", "-q").splitlines()
    assert lines[0].split("\t") == ["label", "score", "variance", "probability", "file", "line"]
    assert len(lines) == 201
    alone = ok("predict", b, "-m", "m.cw", "--output", "all", "-q").splitlines()
    assert alone[1:] == lines[121:]
    found = json.loads(ok("inspect", "m.cw", "--json"))
    assert found["algorithm"] == variant.algo
    assert found["rows"] == 200
    assert found["params"].items() >= variant.given.items()
    assert Path("m.cw").read_bytes() == before


@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("variant", FIRST, ids=lambda v: v.algo)
def test_blocks_are_predicted_in_threads(
    variant: Variant, several: bool, brief: Run, ok: Run, planted: Run
) -> None:
    """The rows of several files are blocks of their own: with any number of threads they come out
    in their order and with the same bits."""
    a = Path(planted("a.svm", 1, 90))
    if several:
        a.write_text(a.read_text().replace("\n-1 ", "\n3 ", 15))
    ok("train", *brief(variant.algo), a, "-m", "m.cw", "-q")
    files = [planted(f"{k}.svm", k, 10 + 3 * k) for k in range(12)]
    command = ["predict", *files, "-m", "m.cw", "--output", "all", "-q"]
    one = ok(*command, "-j", 1)
    assert len(one.splitlines()) == 1 + sum(10 + 3 * k for k in range(12))
    assert ok(*command, "-j", 4) == one


@pytest.mark.parametrize("variant", FIRST, ids=lambda v: v.algo)
def test_two_classes_are_needed(
    variant: Variant, brief: Run, cwtool: Run, ok: Run, planted: Run
) -> None:
    Path("one.svm").write_text("+1 1:1 2:0.5\n+1 2:1\n")
    ended = cwtool("train", *brief(variant.algo), "one.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "two classes are needed" in ended.err
    assert not Path("m.cw").exists()
    ok("train", *brief(variant.algo), planted("a.svm", 1, 60), "-m", "m.cw")
    ok("train", "--resume", "m.cw", "one.svm", "-m", "m.cw")
    assert Model.load(Path("m.cw")).rows == 62
