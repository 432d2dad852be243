"""The worked feed of examples/."""

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "feed_of_days.py"


def shown(page: str) -> list[str]:
    """What the page has, without its numbers."""
    return re.findall(r"<h\d>[^<]*|<figcaption>[^<]*|<p>[^<]*|<th[^>]*>[^<]*", page)


def test_the_feed_of_several_days(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SCRIPT))["main"](folder / "days")
    out, err = capsys.readouterr()
    assert "10 days learned, 2 refused, 2026-03-02 to 2026-03-11" in out
    assert "day5-damaged.svm is refused" in err
    assert "day8-damaged.svm:1:" in err
    names = {path.name for path in (folder / "days").iterdir()}
    assert {"feed.cw", "feed.cw.7", "feed.cw.recent", "daily.jsonl", "feed.html"} <= names
    page = (folder / "days" / "feed.html").read_text()
    assert "day5-damaged.svm" in page
    assert shown(page) == shown((SCRIPT.parent / "feed.html").read_text()), "make it anew"
