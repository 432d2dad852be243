"""The events that commands print as JSON are those that the reference describes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.cli import events

Run = Callable[..., Any]
SAMPLE = Path(__file__).parents[2] / "examples" / "sample"


@pytest.fixture
def said(cwtool: Run) -> Run:
    """Run a command with --json; its events, each of which is checked."""

    def run(*args: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in cwtool(*args, "--json").out.splitlines()]
        for event in found:
            name = event.pop("event")
            unknown = event.keys() - set(events.EVENTS[name].keys)
            assert not unknown, (name, unknown)
            for key, value in event.items():
                kind = events.KEYS[key].type
                assert value is None or fits(value, kind), (name, key, value, kind)
            event["event"] = name
        return found

    return run


def fits(value: Any, kind: str) -> bool:
    kinds = {"text": str, "whole number": int, "number": (int, float), "object": dict, "list": list}
    return any(
        isinstance(value, kinds[word]) and not isinstance(value, bool)
        for word in kind.split(" or ")
    )


def test_events_are_as_described(said: Run, planted: Run, cwtool: Run) -> None:
    a, b = planted("a.svm", 1, 600), planted("b.svm", 2, 600, first=3)
    seen = said("train", a, "-m", "m.cw", "--passes", "2", "--holdout", "0.2", "--trace", "200",
                "--threshold", "f1")  # fmt: skip
    shards = ("--shards", "2", "--engine", "inline", "--head", "8192", "--tail-rows", "100")
    seen += said("train", a, b, "-m", "s.cw", *shards)
    seen += said("train", a, "--resume", "m.cw", "-m", "m.cw")
    seen += said("train", a, "--algo", "dcd", "--batch-rows", "200", "-m", "d.cw")
    seen += said("predict", b, "-m", "m.cw", "--evaluate")
    seen += said("feed", a, "-m", "f.cw")
    seen += said("feed", b, "-m", "f.cw", "--reservoir", "100", "--accept")
    seen += said("feed", a, "-m", "f.cw", "--again", "--require", "auc > 1")
    seen += said("feed", "--undo", "-m", "f.cw")
    seen += said("tune", a, "--grid", "r=0.1,1", "-m", "t.cw")
    seen += said("select-features", a, "--features", "5", "--test", b, "--stability", "2")
    seen += said("train", b, "-m", "s.cw", "--shards", "2", "--algo", "bcw")
    seen += said("train", planted("d.svm", 4, 1500), "-m", "s.cw", "--shards", "2", "--head", "1kB")
    cwtool("train", a, "-m", "a.cw")
    cwtool("train", b, "-m", "b.cw")
    seen += said("merge", "a.cw", "b.cw", "-m", "ab.cw", "--tail", planted("c.svm", 3, 100))
    seen += said("convert", a, "-o", "a.vw")
    missing = events.EVENTS.keys() - {event["event"] for event in seen} - {"cell"}
    assert not missing


def test_events_of_several_classes(said: Run) -> None:
    for path in SAMPLE.glob("topics*"):
        shutil.copy(path, path.name)
    said("train", "topics.svm", "-m", "t.cw", "--holdout", "0.2")
    said("predict", "topics_test.svm", "-m", "t.cw", "--evaluate")
    said("tune", "topics.svm", "--grid", "r=0.1,1", "-m", "t.cw", "--cv", "2")
    said("select-features", "topics.svm", "--features", "5", "--per-class")


def test_every_key_is_described_and_used() -> None:
    used = {key for event in events.EVENTS.values() for key in event.keys}
    assert used == events.KEYS.keys()
