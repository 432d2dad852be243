"""cwtool bench"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.bench import suite
from cwtool.bench.sources import _parts
from cwtool_ext import libsvm

Run = Callable[..., Any]

SMALL = """
title = "A small suite"
paper = "Nobody 2000"
repeats = 2
folds = 2

[data.made]
make = "words"
rows = 100
features = 300
[data.real]
[data.missing]

[method.a]
label = "AROW"
algo = "arow"
grid = { r = [0.1, 1.0] }
[method.b]
label = "CW"
algo = "cw"

[[experiment]]
name = "first"
task = "test"
[[experiment]]
name = "second"
task = "online"

[[table]]
title = "Test error, %"
metric = "error"
scale = 100
paper.missing = { a = 12.5, b = 20.0 }
paper.made = { a = 0.0, b = 1.0 }

[[claim]]
text = "AROW is better than CW."
rule = "a < b on error"
"""
FIGURE = """
[[figure]]
title = "Mistakes"
experiment = "second"
x = "rows"
y = "mistakes"
"""  # takes longer to draw than all cells


@pytest.fixture
def small(folder: Path, planted: Callable[..., str]) -> list[str]:
    """A suite of one's own, and a folder that has one of its two sets."""
    Path("small.toml").write_text(SMALL)
    Path("data/real").mkdir(parents=True)
    for name, seed in (("train", 1), ("test", 2)):
        planted(f"data/real/{name}.svm", seed, 120)
    return ["bench", "small.toml", "--data", "data", "-o", "out", "--jobs", "1"]


def cells() -> dict[str, float]:
    return {p.name: p.stat().st_mtime_ns for p in Path("out/cells").glob("*.json")}


@pytest.mark.parametrize("named", [pytest.param(False, marks=pytest.mark.slow), True])
def test_rows_are_parsed_once(
    cwtool: Run, small: list[str], named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By all cells of a run, and with --cache by all runs; results do not depend on it."""
    parsed, plain = [], libsvm.parse
    monkeypatch.setattr(libsvm, "parse", lambda *given: (parsed.append(1), plain(*given))[1])
    texts = []
    for out in "first", "second":
        _parts.cache_clear()
        cache = ["--cache", "rows"] if named else []
        ended = cwtool(*small[:-4], "-o", out, *small[-2:], *cache)
        assert ended.code == 0, ended.err
        texts.append(Path(out, "small", "report.md").read_text())
    assert texts[0] == texts[1]
    assert len(parsed) == (2 if named else 4)  # a file of training rows and one of test rows
    assert Path("rows").exists() == named


def test_a_suite(cwtool: Run, small: list[str]) -> None:
    pytest.importorskip("matplotlib")
    Path("small.toml").write_text(SMALL + FIGURE)
    ended = cwtool(*small)
    assert ended.code == 0
    assert "A small suite" in ended.out
    assert "| made | " in ended.out
    assert "| real | " in ended.out
    assert "| missing | – | 12.50 |" in ended.out
    assert "**AROW is better than CW.** " in ended.out
    assert "small: not in the folder data: missing" in ended.err
    assert ended.out == Path("out/small/report.md").read_text() + "\n"
    page = Path("out/report.html").read_text()
    assert "A small suite" in page
    assert "<figure" in page
    # 2 sets x (2 points judged + 2 tasks x 2 methods x 2 orders)
    assert len(cells()) == 2 * (2 + 2 + 8 - 2)


def test_again_is_instant(ok: Run, small: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = ok(*small)
    before = cells()
    monkeypatch.setattr("cwtool.bench.cells.perform", lambda cell, store: 1 / 0)  # never called
    assert ok(*small) == first
    assert cells() == before


def test_json(ok: Run, small: list[str]) -> None:
    found = [json.loads(line) for line in ok(*small, "--json").splitlines()]
    kept = [json.loads(line) for line in Path("out/small/cells.jsonl").read_text().splitlines()]
    more = ("event", "suite", "time", "command", "version")
    assert [{k: v for k, v in f.items() if k not in more} for f in found] == kept
    assert {f["suite"] for f in found} == {"small"}
    chosen = {str(f["chosen"]) for f in found if f["method"] == "a"}
    assert chosen <= {"{'r': 0.1}", "{'r': 1.0}"}
    assert {f["cell"] + ".json" for f in found} <= cells().keys()


def test_a_cell_that_fails(cwtool: Run, small: list[str]) -> None:
    Path("data/real/test.svm").write_text("nonsense\n")
    ended = cwtool(*small)
    assert ended.code == 3
    assert "8 cells failed" in ended.err
    assert "test.svm:1:1" in ended.err
    assert "Cells that failed" in ended.out
    assert "| made | " in ended.out


def test_several_suites_share_a_page(ok: Run, small: list[str]) -> None:
    ok(*small, "-q")
    Path("other.toml").write_text(SMALL.replace("A small suite", "Another one"))
    ok("bench", "other.toml", "-o", "out", "-j", "1", "-q")
    page = Path("out/report.html").read_text()
    assert "A small suite" in page
    assert "Another one" in page


def test_list(ok: Run) -> None:
    shown = ok("bench", "--list")
    assert [line.split()[0] for line in shown.splitlines()] == suite.names()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "no suite is given"),
        (["nonsense"], "there is no suite 'nonsense'"),
        (["nonsense.toml"], "nonsense.toml: no such file"),
        (["peers", "--data", "nowhere"], "nowhere"),
    ],
)
def test_usage(cwtool: Run, args: list[str], said: str) -> None:
    ended = cwtool("bench", *args)
    assert (ended.code, said in ended.err) == (2, True)


@pytest.mark.slow
def test_stopped_and_resumed(
    process: Callable[..., subprocess.Popen[bytes]], small: list[str], ok: Run
) -> None:
    """Ctrl-C goes to all processes; what is finished stays, and is not done again."""
    Path("small.toml").write_text(SMALL.replace("repeats = 2", "repeats = 300"))
    command = [*small[:-1], "2"]
    running = process(*command, start_new_session=True)
    while len(cells()) < 20:
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"finished cells are stored in out/cells" in said
    assert b"Traceback" not in said
    done = cells()
    assert len(done) < 2 * (2 + 4 * 300)
    for path in Path("out/cells").glob("*.json"):
        assert json.loads(path.read_text())["failure"] == ""
    Path("small.toml").write_text(SMALL.replace("repeats = 2", "repeats = 3"))
    ok(*small)
    after = cells()
    assert {name: after[name] for name in done} == done


@pytest.mark.slow
def test_the_page_in_a_browser(
    ok: Run, small: list[str], folder: Path, chromium: list[str]
) -> None:
    """The page opens without a network, and nothing on it is wider than the window."""
    Path("small.toml").write_text(SMALL + FIGURE)
    ok(*small, "-q")
    page = Path("out/report.html")
    measure = """<script>onload = () => { const wide = [...document.querySelectorAll("*")]
      .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".wide"));
      document.title = [wide.length, document.querySelectorAll("tbody tr").length,
      document.querySelectorAll("figure svg").length,
      document.documentElement.scrollWidth <= innerWidth].join(" "); }</script>"""
    page.write_text(page.read_text().replace("</body>", measure + "</body>"))
    command = [*chromium, "--dump-dom"]
    command += [f"--user-data-dir={folder / 'profile'}", "--window-size=900,900"]
    command.append(page.resolve().as_uri())
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    title = shown.partition("<title>")[2].partition("</title>")[0]
    # tables of errors: three sets; of choices: one method on two sets in two experiments
    assert title == "0 7 1 true"


@pytest.mark.parametrize("place", ["/proc/out", "/dev/null/out"])
def test_a_folder_that_cannot_be_made(place: str, cwtool: Run, small: list[str]) -> None:
    ended = cwtool(*small, "-o", place)
    assert ended.code == 74
    assert f"cannot write {place}" in ended.err and "Traceback" not in ended.err
