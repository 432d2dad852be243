"""Suites: what is shipped makes sense, and what makes none is said."""

import os
from pathlib import Path
from typing import Any

import pytest

from cwtool.bench import peers, runner, suite
from cwtool.bench.cells import Cell
from cwtool.bench.others import PROGRAMS, Program
from cwtool.bench.peers import DUELS
from cwtool.bench.report import parts
from cwtool.bench.sources import Source, resolve
from cwtool.errors import UsageError
from cwtool.messages.console import Console
from cwtool.parallel import Outcome
from cwtool.report.page import markdown

SMALL = """
title = "small"
repeats = 3
quick = { repeats = 1 }

[data.made]
make = "words"
rows = 100
quick = { rows = 50 }

[method.a]
algo = "arow"
grid = { r = [0.1, 1.0], quick = { r = [1.0] } }

[method.b]
algo = "cw"
sweep = { eta = [0.7, 0.9] }

[[experiment]]
task = "test"

[[table]]
title = "error"
metric = "error"

[[claim]]
text = "a is better"
rule = "a < b on error"
"""

FIGURE = """[[figure]]
title = "f"
x = "features"
y = "error"
panels.all = ["made", "other"]
[[table]]"""


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", suite.names())
def test_shipped(name: str, quick: bool) -> None:
    """Every name and every parameter is known, and there is something to do without files."""
    found = suite.load(name, quick=quick)
    places, absent = runner.places(found, None)
    assert places
    assert found.title
    assert {p.data for p in places}.isdisjoint(absent)
    for table in found.tables:
        for figures in table.paper.values():
            assert figures.keys() <= found.methods.keys()


def test_the_papers_are_covered() -> None:
    wanted = {"bcw-table2", "sbcw-fig1", "cwfact-synthetic", "cwfact-text", "cwfact-url"}
    wanted |= {"cwsparse", "stsgd-tables", "sdist-sim", "sdist-real", "peers"}
    wanted |= {"multiclass", "imbalance"}
    assert wanted <= set(suite.names())


def small(tmp_path: Path, text: str = SMALL, **how: Any) -> suite.Suite:
    path = tmp_path / "small.toml"
    path.write_text(text)
    return suite.load(str(path), **how)


def test_quick_replaces(tmp_path: Path) -> None:
    slow, quick = small(tmp_path), small(tmp_path, quick=True)
    assert (slow.repeats, quick.repeats) == (3, 1)
    assert (slow.data["made"]["rows"], quick.data["made"]["rows"]) == (100, 50)
    assert slow.methods["a"].grid == {"r": [0.1, 1.0]}
    assert quick.methods["a"].grid == {"r": [1.0]}


def test_places(tmp_path: Path) -> None:
    places, absent = runner.places(small(tmp_path), None)
    assert not absent
    assert len(places) == 3 + 2 * 3
    assert [p.point for p in places if p.seed == 0] == [{}, {"eta": 0.7}, {"eta": 0.9}]
    judges = [cell for p in places for _, cell in p.candidates(5) if p.method == "a"]
    assert len({cell.name for cell in judges}) == 2  # once for all orders
    assert {cell.task for cell in judges} == {"validation"}


def test_what_only_the_paper_has_is_not_run(tmp_path: Path) -> None:
    places, _ = runner.places(small(tmp_path, SMALL.replace('algo = "arow"', 'algo = ""')), None)
    assert {p.method for p in places} == {"b"}


def test_a_program_that_is_not_installed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Program(PROGRAMS["vw-oaa"].learn, "no_such_package", "such-package")
    monkeypatch.setitem(PROGRAMS, "vw-oaa", nowhere)
    text = SMALL.replace('algo = "arow"', 'algo = "vw-oaa"')
    found = runner.run(small(tmp_path, text, quick=True), None, Console(quiet=True))
    assert {record.method for record in found.records} == {"b"}
    assert found.missing == {"a": "pip install such-package"}
    assert "left out: a (pip install such-package)." in markdown(list(parts(found, {})))


def test_a_table_of_an_unknown_metric_names_the_known_ones(tmp_path: Path) -> None:
    text = SMALL.replace('metric = "error"', 'metric = "eror"')
    found = runner.run(small(tmp_path, text, quick=True), None, Console(quiet=True))
    said = markdown(list(parts(found, {})))
    assert "Nothing has the metric `eror`; there are auc, " in said and " error, " in said


def test_what_chooses(tmp_path: Path) -> None:
    """By the AUC the point with more errors wins."""
    text = 'choose_by = "auc"\n' + SMALL
    suites = small(tmp_path), small(tmp_path, text)
    grid = [({"r": 1.0}, Cell("a", Source(), "arow")), ({"r": 0.1}, Cell("b", Source(), "arow"))]
    worse, better = ({"error": [e], "auc": [e]} for e in (0.2, 0.1))
    judged = {cell.name: Outcome(o) for (_, cell), o in zip(grid, (worse, better), strict=True)}
    found = [runner._chosen(grid, judged, one.choose_by) for one in suites]
    assert found == [{"r": 0.1}, {"r": 1.0}]


def test_fresh_data_is_judged_for_each_repeat(tmp_path: Path) -> None:
    text = SMALL.replace("rows = 100", "rows = 100\nfresh = true")
    places, _ = runner.places(small(tmp_path, text), None)
    judges = [cell for p in places for _, cell in p.candidates(5) if p.method == "a"]
    assert len({cell.name for cell in judges}) == 6


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("repeats = 3", "repeat = 3", "'repeat' is unknown"),
        ('title = "small"', "", "'title' is missing"),
        ('algo = "arow"', 'algo = "arow"\nparam = {}', "method.a: 'param' is unknown"),
        ('algo = "arow"', 'algo = "liblinear"', "method a: there is no algorithm 'liblinear'"),
        ("r = [0.1", "R = [0.1", "method a: there is no parameter 'R'"),
        ("r = [0.1", "r = [-0.1", "method a: `r` is -0.1"),
        ('task = "test"', 'task = "tset"', "there is no 'tset'"),
        ('task = "test"', 'task = "test"\ndata = ["b"]', "there is no 'b' among made"),
        ('task = "test"', 'task = "test"\nmethods = ["c"]', "there is no 'c' among a, b"),
        ("a < b on error", "a < c on error", "there is no 'c' among a, b"),
        ("a < b on error", "a = b", "not of the form"),
        ('metric = "error"', 'metric = "error"\nexperiment = "x"', "there is no 'x' among test"),
        ("[[table]]", FIGURE, "figure 'f': there is no 'other' among made"),
        ("title", "title = ", "small.toml"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError) as failure:
        small(tmp_path, SMALL.replace(old, new, 1))
    assert said in str(failure.value)
    assert "small.toml" in str(failure.value)


def test_no_such_suite() -> None:
    with pytest.raises(UsageError, match="there is no suite 'x'") as failure:
        suite.load("x")
    assert "bcw-table2" in str(failure.value.hint)


def test_no_such_file_of_a_suite(tmp_path: Path) -> None:
    small(tmp_path)
    with pytest.raises(UsageError, match=r"smal\.toml: no such file") as failure:
        suite.load(str(tmp_path / "smal.toml"))
    assert str(failure.value.hint) == f"did you mean {tmp_path / 'small.toml'}?"


def test_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("Day10.svm", "Day2.svm.gz", "Day1.svm", "test.svm"):
        (tmp_path / "feed").mkdir(exist_ok=True)
        (tmp_path / "feed" / name).write_text("+1 1:1\n")
    found = resolve("feed", {"train": ["Day?.svm*", "Day1?.svm*"]}, tmp_path)
    assert found is not None
    assert [Path(p).name for p in found.train] == ["Day1.svm", "Day2.svm.gz", "Day10.svm"]
    assert [Path(p).name for p in found.test] == ["test.svm"]
    assert resolve("other", {}, tmp_path) is None
    with pytest.raises(UsageError, match="data feed: 'tests' is unknown"):
        resolve("feed", {"tests": "Day2.svm"}, tmp_path)
    with pytest.raises(UsageError, match="no generator 'x'"):
        resolve("made", {"make": "x"}, None)
    with pytest.raises(UsageError, match="words has no 'row'"):
        resolve("made", {"make": "words", "row": 3}, None)


def test_every_duel_is_in_the_suite_of_peers() -> None:
    assert {m.algo for m in suite.load("peers").methods.values()} == set(DUELS)


def test_programs_that_are_compared_have_one_blas_thread(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setattr(peers, "DUELS", {})
    monkeypatch.setattr("sys.argv", ["peers", "--dir", str(tmp_path)])
    peers.main()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
