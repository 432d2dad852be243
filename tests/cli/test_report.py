"""cwtool report: one page of a feed that loads nothing, and the same as text."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cwtool.feed.report import FIGURES, Day, days_of, psi
from cwtool.messages.metrics_text import percent
from cwtool.model import Model
from cwtool.report import feed_page
from cwtool.report.svg import line_chart, reliability, sparkline

Run = Callable[..., str]


@pytest.fixture
def fed(ok: Run, cwtool: Callable, planted: Run) -> str:
    """Four days, one of them refused."""
    args = ["-m", "m.cw", "--log", "log.jsonl", "-q"]
    for k in (1, 2, 3):
        ok("feed", planted(f"day{k}.svm", k, 800), *args)
    text = Path(planted("day4.svm", 4, 800)).read_text()
    flipped = re.sub("(?m)^([-+])1", lambda m: {"-": "+1", "+": "-1"}[m[1]], text)
    Path("<bad>.svm").write_text(flipped)
    assert cwtool("feed", "<bad>.svm", *args).code == 5
    return "m.cw"


def test_the_page(ok: Run, fed: str) -> None:
    Path("names.tsv").write_text("".join(f"{k}\tname{k}&co\n" for k in range(1, 31)))
    args = ["--log", "log.jsonl", "-o", "feed.html", "--feature-names", "names.tsv"]
    assert ok("report", fed, *args) == ""
    page = Path("feed.html").read_text()
    assert "3 days learned, 1 refused" in page
    assert "&lt;bad&gt;.svm" in page
    assert "<bad>" not in page
    assert "name1&amp;co" in page or "name2&amp;co" in page
    assert not re.search(r"(src|href)=\"(?!data:,)", page), "it loads nothing"
    assert "<script" not in page
    charts = re.findall(r"<svg.*?</svg>", page)
    titles = re.findall(r"<figcaption>([^<]*)", page)
    assert len(charts) == len(titles)
    for title in ("Error", "AUC", "Share of the positive", "Share of unknown", "Calibration",
                  "Shift", "Rows", "Features", "Bytes", "Reliability"):  # fmt: skip
        assert any(found.startswith(title) for found in titles), title
    for chart in charts:
        ElementTree.fromstring(chart)  # well-formed
    assert charts[0].count('class="bad"') == 1
    assert charts[0].count('class="dot"') == 3


@pytest.mark.slow
def test_the_page_in_a_browser(ok: Run, fed: str, chromium: list[str]) -> None:
    ok("report", fed, "--log", "log.jsonl", "-o", "feed.html")
    shot = [
        "--enable-logging=stderr",
        "--screenshot=shot.png",
        "--window-size=390,1600",
        Path("feed.html").absolute().as_uri(),
    ]
    ended = subprocess.run([*chromium, *shot], capture_output=True, text=True)
    assert ended.returncode == 0
    assert "CONSOLE" not in ended.stderr
    assert Path("shot.png").stat().st_size > 10_000


def test_the_text(ok: Run, cwtool: Callable, fed: str) -> None:
    said = ok("report", fed, "--log", "log.jsonl", "--text")
    assert re.search(r"Error before learning +[▁-█]{4}  ", said)
    assert re.search(r"refused  \d{4}-\d\d-\d\d  <bad>.svm: ", said)
    assert "features whose weights changed most since m.cw.2" in said
    assert "refused  " not in ok("report", fed, "--text")
    assert cwtool("report", fed).code == 2
    Path("bad.jsonl").write_text("no\n")
    ended = cwtool("report", fed, "--text", "--log", "bad.jsonl")
    assert ended.code == 2
    assert "bad.jsonl:1: this is no JSON line" in ended.err


def test_a_day_that_is_refused_in_the_second_of_another_comes_after_it(fed: str) -> None:
    second = max(run["time"] for run in Model.load(Path(fed)).history).rstrip("Z")
    line = {"event": "refused", "time": f"{second}.001Z", "file": "late.svm", "why": "why"}
    Path("late.jsonl").write_text(json.dumps(line) + "\n")
    days = days_of(Model.load(Path(fed)), 1, [Path("late.jsonl")])
    assert [day.name for day in days][-1] == "late.svm"


def test_a_model_of_train(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 200), "-m", "t.cw")
    assert "1 day learned, 0 refused" in ok("report", "t.cw", "--text")


def test_an_older_model_of_other_classes(ok: Run, planted: Run, folder: Path) -> None:
    planted("a.svm", 1, 100)
    (folder / "b.svm").write_text("1 1:1\n2 2:1\n3 3:1\n")
    ok("train", "b.svm", "-m", "m.cw.1")
    ok("train", "a.svm", "-m", "m.cw")
    assert "features whose weights" not in ok("report", "m.cw", "--text")


def test_charts() -> None:
    chart = line_chart([1.0, None, 3.0], ["a", "b", "c"], percent, [False, False, True])
    root = ElementTree.fromstring(chart)
    circles = root.findall("circle")
    assert [c.get("class") for c in circles] == ["dot", "bad"]
    assert float(circles[0].get("cy", 0)) > float(circles[1].get("cy", 0))
    texts = [element.text for element in root.findall("text")]
    assert texts[:2] == ["110.00 %", "90.00 %"], "an axis has the unit of the values"
    ElementTree.fromstring(line_chart([2.0], ["a"], str, [False]))
    points = ElementTree.fromstring(reliability([[10, 1.0, 0.0], [0, 0, 0], [10, 9.0, 10.0]]))
    assert len(points.findall("circle")) == 2
    assert sparkline([0, 7, None, 3.5], [False] * 4) == "▁█ ▅"
    assert sparkline([0, 7, 90, 3.5], [False, False, True, False]) == "▁██▅"


def brief(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def test_days_that_were_refused_do_not_change_the_scale() -> None:
    values, bad = [1.0, 900.0, 3.0, None], [False, True, False, True]
    chart = line_chart(values, list("abcd"), brief, bad)
    plain = line_chart([1.0, 2.0, 3.0, 3.0], list("abcd"), brief, [False] * 4)
    ends = [re.findall(r"<text[^>]*>([^<]*)", one)[:2] for one in (chart, plain)]
    assert ends == [["3", "1"], ["3", "1"]]
    heights = re.findall(r'class="bad"[^>]*cy="([\d.]+)"', chart)
    assert heights == ["10.0", "128.0"], "at the upper edge, and below where there is no value"
    assert "1,650" in line_chart([1500.0], ["a"], brief, [False])


def test_psi() -> None:
    same = [[50.0, 5, 5], [50.0, 45, 45]]
    assert psi(same, [same, same]) == pytest.approx(0)
    assert psi(same, []) is None
    moved = psi([[90.0, 9, 9], [10.0, 9, 9]], [same])
    p, q = 90.5 / 101, 0.5
    from math import log

    expected = (p - q) * log(p / q) + (1 - p - q) * log((1 - p) / q)
    assert moved == pytest.approx(expected)


def test_of_very_many_days_the_latest_are_shown() -> None:
    days = [Day("", f"day {k}", figures={"error": 0.5}) for k in range(feed_page.DAYS + 5)]
    page, text = (draw("Feed", days, FIGURES, {}) for draw in (feed_page.page, feed_page.text))
    for shown in (page, text):
        assert "4,005 days learned" in shown and "; the latest 4,000 days are shown" in shown
    assert page.count("<circle") == feed_page.DAYS and ">day 5<" in page and ">day 4<" not in page
    assert text.count("▄") + text.count("▅") == feed_page.DAYS
