"""The worked feed of examples/."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "feed_of_days.py"


def test_the_feed_of_a_week(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SCRIPT))["main"](folder / "week")
    out, err = capsys.readouterr()
    assert "7 days learned, 1 refused" in out
    assert "day5-damaged.svm is refused" in err
    names = {path.name for path in (folder / "week").iterdir()}
    assert {"feed.cw", "feed.cw.6", "feed.cw.recent", "daily.jsonl", "feed.html"} <= names
    assert "day5-damaged.svm" in (folder / "week" / "feed.html").read_text()
