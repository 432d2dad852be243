"""The results of every algorithm are those that are frozen in this folder, bit for bit where they
are made of + - * / and square roots, otherwise to TOLERANCE; see golden.py and freeze.py."""

from pathlib import Path
from typing import Any

import golden
import pytest

FROZEN = golden.stored(golden.CASES)
CONTINUED = golden.stored(golden.CONTINUED)


def named(cases: list[dict[str, Any]]) -> list[Any]:
    """The cases by name; five of six run with the slow tests."""
    assert len({case["name"] for case in cases}) == len(cases)
    return [
        pytest.param(case, id=case["name"], marks=[pytest.mark.slow] * (k % 6 > 0))
        for k, case in enumerate(cases)
    ]


def complaint(case: dict[str, Any], found: list[str]) -> str:
    shown = found[:12] + ["..."] * (len(found) > 12)
    return "\n  ".join([f"{case['name']}: not as frozen", *shown])


@pytest.mark.parametrize("file", ["cases", "continued"])
def test_data_are_as_they_were(file: str) -> None:
    """If this fails, all others say nothing of the algorithms."""
    for name, recipe in {"cases": FROZEN, "continued": CONTINUED}[file]["data"].items():
        assert golden.digest(golden.text_of(recipe)) == recipe["sha256"], name


@pytest.mark.parametrize("case", named(FROZEN["cases"]))
def test_trained(case: dict[str, Any], ok: golden.Run, folder: Path) -> None:
    got = golden.run_case(ok, case, FROZEN["data"], folder)
    found = golden.differences(case["result"], got, exact=case["exact"])
    assert not found, complaint(case, found)


@pytest.mark.parametrize("case", named(CONTINUED["cases"]))
def test_continued(case: dict[str, Any], ok: golden.Run, folder: Path) -> None:
    """A model of an older file format says what it said, and goes on as it would have."""
    assert (golden.MODELS / case["model"]).read_bytes()[7] == case["format"]
    got = golden.run_continued(ok, case, CONTINUED["data"], folder)
    for when in ("before", "after"):
        found = golden.differences(case["result"][when], got[when], exact=case["exact"])
        assert not found, f"{when} going on: {complaint(case, found)}"
