"""Reports: means, the paper's figures beside them, and words that follow from the numbers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.bench import report, suite
from cwtool.bench.cells import Cell
from cwtool.bench.claims import judge
from cwtool.bench.results import Record, Results
from cwtool.bench.sources import Source
from cwtool.parallel import Outcome
from cwtool.report import charts
from cwtool.report.claims import Finding, Verdict, Wording, told
from cwtool.report.page import Grid, Words, assemble

TEXT = """
title = "a & b"
paper = "Somebody"

[data]
x = {}
y = {}
z = {}

[method.a]
label = "A"
algo = "arow"
[method.b]
label = "B"
algo = "cw"

[[experiment]]
task = "test"

[[table]]
title = "error, %"
metric = "error"
scale = 100
paper.x = { a = 9.0, b = 11.0 }
paper.z = { a = 5.0, b = 4.0 }

[[table]]
title = "kappa"
metric = "kappa"

[[figure]]
title = "curve"
x = "rows"
y = "error"

[[claim]]
text = "A is better than B."
rule = "a < b on error"
"""


@pytest.fixture
def found(tmp_path: Path) -> Results:
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    results = Results(suite.load(str(path)), absent=["z"])
    errors = {
        ("x", "a"): [0.13, 0.15, 0.14],
        ("x", "b"): [0.10, 0.12, 0.10],
        ("y", "a"): [0.1, 0.3, 0.2],
        ("y", "b"): [0.3, 0.1, 0.2],
    }
    for (data, method), values in errors.items():
        for seed, value in enumerate(values):
            result = {
                "error": value,
                "support": [1, 2 + seed],
                "features": 10,
                "curve": {"rows": [1, 2], "error": [value, value / 2]},
            }
            cell = Cell("test", Source(), "arow")
            results.add(Record("test", data, method, {}, seed, cell, Outcome(result)))
    failed = Outcome(failure="no <memory>")
    results.add(Record("test", "y", "b", {}, 3, cell, failed))
    return results


def test_table(found: Results) -> None:
    made = report.comparison(found.suite.tables[0], found).grid()
    assert made is not None
    assert made.heads == ["data", "A", "paper", "difference", "B", "paper", "difference"]
    x, y, z = made.rows
    assert x == ["x", "14.00 ± 1.00", "9.00", "+5.00", "**10.67** ± 1.15", "11.00", "−0.33"]
    assert y[:4] == ["y", "**20.00** ± 10.00", "", ""]
    assert z == ["z", "–", "5.00", "", "–", "4.00", ""]


def test_what_only_the_paper_has_gets_one_column(found: Results) -> None:
    table = found.suite.tables[0]
    found.suite.data["z2"] = {}
    for name in ("c", "d", "e", "untold"):
        found.suite.methods[name] = suite.Method("arow", name)
        table.paper["x"][name] = 1.0
    del table.paper["x"]["untold"]
    made = report.comparison(table, found).grid()
    assert made is not None
    assert made.heads == ["method", "x", "paper", "difference", "y", "z, paper"]
    assert made.rows[0][-1] == "5.00"
    assert made.rows[2] == ["c", "–", "1.00", "", "–", ""]
    assert [row[0] for row in made.rows] == ["A", "B", "c", "d", "e"]


def test_kappa_is_of_all_repeats(found: Results) -> None:
    made = report.comparison(found.suite.tables[1], found).grid()
    assert made is not None
    # supports {1, 2}, {1, 3}, {1, 4} of 10: observed 0.8, chance 0.68
    assert made.rows[0][1] == f"**{(0.8 - 0.68) / 0.32:.2f}**"


def test_verdicts(found: Results) -> None:
    verdicts = {v.data: v for v in judge(found.suite.claims[0], found)}
    assert (verdicts["x"].ours, verdicts["x"].paper) == ("fails", "holds")
    assert verdicts["x"].difference == pytest.approx(0.1 / 3)
    assert (verdicts["y"].ours, verdicts["y"].paper) == ("even", "unknown")
    assert (verdicts["z"].ours, verdicts["z"].paper) == ("unknown", "fails")


def test_slack(found: Results) -> None:
    claim = found.suite.claims[0]
    for slack, ours, paper in ((0.015, "fails", "holds"), (0.0333, "even", "holds")):
        verdict = judge(replace(claim, slack=slack), found)[0]
        assert (verdict.ours, verdict.paper) == (ours, paper)
    far = replace(claim, slack=0.06)
    assert judge(far, found)[0].ours == "holds"
    assert judge(far, found)[-1].paper == "holds"  # 5.0 against 4.0 %
    other = replace(claim, rule="b > a on error", slack=0.06)
    assert judge(other, found)[0].ours == "holds"


def test_the_edge_of_a_grid() -> None:
    assert report.at_edge(1, [1, 2, 3])
    assert not report.at_edge(2, [1, 2, 3])
    assert not report.at_edge("l2", ["kl", "l2", "none"])
    assert not report.at_edge(1, [1, 2])


def test_words(found: Results) -> None:
    (part,) = report.judged(found.suite.claims[0], found)
    assert isinstance(part, Words)
    said = part.text
    assert said.startswith("**A is better than B.** Our numbers contradict it in 1 of 2")
    assert "x against B (+3.33 ± 0.33)" in said
    assert "No significant difference: y against B" in said
    assert "By the numbers printed in the paper it holds in 1 of 2." in said
    assert "On the paper's own data we find the reverse: x against B." in said


def test_many_comparisons_make_a_table() -> None:
    wording = Wording({"b": "B", "c": "C"}, 100, 1)
    ours: dict[tuple[str, str], tuple[Finding, float]] = {
        ("x", "b"): ("holds", -0.02),
        ("x", "c"): ("fails", 0.01),
        ("y", "b"): ("even", 0.001),
        ("z", "b"): ("fails", 0.03),
        ("z", "c"): ("holds", 0.0),
        ("u", "b"): ("unknown", 0.0),
    }
    verdicts = [Verdict(*at, which, "unknown", gap, 0.002) for at, (which, gap) in ours.items()]
    words, table = told("A is better.", verdicts, wording)
    counted = (
        "Our numbers confirm it in 2 of 5 comparisons and contradict it in 2; in 1 there is no "
        "significant difference."
    )
    assert words == Words(f"**A is better.** {counted}")
    assert isinstance(table, Grid)
    assert table.heads == ["data", "against B", "against C"]
    assert table.rows == [
        ["x", "\N{MINUS SIGN}2.0 ± 0.2", "**+1.0 ± 0.2**"],
        ["y", "(+0.1 ± 0.2)", "–"],
        ["z", "**+3.0 ± 0.2**", "+0.0 ± 0.2"],
    ]
    all_hold = [replace(v, ours="holds") for v in verdicts]
    words, _ = told("A is better.", all_hold, wording)
    assert words == Words("**A is better.** Our numbers confirm it in all 6 comparisons.")
    (words,) = told("A is better.", all_hold[:1], wording)
    assert words == Words(
        "**A is better.** Our numbers confirm it: x against B (\N{MINUS SIGN}2.0 ± 0.2)."
    )


def test_a_claim_along_a_curve(tmp_path: Path) -> None:
    text = TEXT.replace('algo = "arow"', 'algo = "arow"\nsweep = { r = [1.0, 2.0] }')
    text = text.replace('algo = "cw"', 'algo = "cw"\nsweep = { eta = [0.7, 0.9] }')
    text = text.replace('"a < b on error"', '"a < b on error"\nalong = "share"')
    table = '\nalong = "share"\nat = [0.1, 0.5, 0.95]\nscale = 100\npaper.x'
    text = text.replace("\nscale = 100\npaper.x", table)
    path = tmp_path / "small.toml"
    path.write_text(text)
    results = Results(suite.load(str(path)))
    lines = {"a": [(0.2, 0.1), (0.6, 0.3)], "b": [(0.4, 0.4), (1.0, 0.7)]}
    cell = Cell("test", Source(), "arow")
    for method, line in lines.items():
        points = results.suite.methods[method].points
        for point, (share, error) in zip(points, line, strict=True):
            outcome = Outcome({"share": share, "error": error})
            results.add(Record("test", "x", method, point, 0, cell, outcome))
    (verdict,) = [v for v in judge(results.suite.claims[0], results) if v.ours != "unknown"]
    assert verdict.ours == "holds"
    # over 0.4 .. 0.6: a from 0.2 to 0.3, b from 0.4 to 0.5
    assert verdict.difference == pytest.approx(0.25 - 0.45)
    made = report.comparison(results.suite.tables[0], results).grid()
    assert made is not None
    assert made.rows[0][:2] == ["x, share 0.5", "**25.00**"]
    assert made.rows[1][:2] == ["x, share 0.95", "–"]  # b alone gets there
    assert len(made.rows) == 2  # and neither method reaches 0.1


def test_files(found: Results, tmp_path: Path) -> None:
    text = report.write(found, tmp_path / "out")
    here = tmp_path / "out" / "small"
    assert (here / "report.md").read_text() == text
    assert "no <memory>" in text
    assert "Not in the data folder, and left out: z." in text
    rows = (here / "tables.csv").read_text().splitlines()
    assert rows[0].startswith("table,data,method,metric,mean,sd,repeats,paper,difference")
    assert '"error, %",x,a,error,14,1,3,9,5' in rows
    assert len((here / "cells.jsonl").read_text().splitlines()) == 13
    page = assemble(tmp_path / "out").read_text()
    assert "a &amp; b" in page
    assert "no &lt;memory&gt;" in page
    assert "**" not in page
    assert "<td>14.00 ± 1.00<br><small>paper 9.00</small><small>, +5.00</small></td>" in page
    for outside in ("src=", "@import", "url(http", "<script", "<link"):
        assert outside not in page
    if charts.available():
        assert page.count("<svg") == 1
        assert (here / "figure-1.png").read_bytes()[1:4] == b"PNG"
        assert (here / "figure-1.svg").read_text().startswith("<?xml")


def test_without_matplotlib(
    found: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "available", lambda: False)
    text = report.write(found, tmp_path)
    assert "Plots were left out" in text
    assert "cwtool[report]" in text
    assert not list((tmp_path / "small").glob("figure*"))


def test_curves(found: Results) -> None:
    x, y, sd = found.series(found.suite.figures[0], "x", "a") or ([], [], [])
    assert x == [1, 2]
    assert y == pytest.approx([0.14, 0.07])
    assert sd == pytest.approx([np.std([0.13, 0.15, 0.14]), np.std([0.065, 0.075, 0.07])])


def test_sets_of_one_panel_make_one_line(found: Results) -> None:
    pytest.importorskip("matplotlib")
    figure = replace(found.suite.figures[0], panels={"both": ["x", "y", "z"]}, scale=100)
    (axes,) = report.picture(figure, found).axes
    assert axes.get_title() == "both"
    a, b = axes.lines
    assert list(a.get_xdata()) == list(b.get_xdata()) == [1, 2, 1, 2]
    assert list(a.get_ydata()) == pytest.approx([14, 7, 20, 10])


def test_many_lines_can_be_told_apart() -> None:
    pytest.importorskip("matplotlib")
    lines = [charts.Line(f"line {k}", [1, 2], [k, k + 1]) for k in range(20)]
    (axes,) = charts.chart([charts.Panel("t", lines)]).axes
    looks = {(one.get_color(), one.get_marker(), one.get_linestyle()) for one in axes.lines}
    assert len(looks) == 20


def test_maps(found: Results) -> None:
    """A row for each data set and method, of the first repeat."""
    pytest.importorskip("matplotlib")
    for record in found.records:
        grid = [[1.0, 2.0], [3.0, 4.0 + record.seed]]
        one, two = {"title": "p", "grid": grid}, {"title": "q", "grid": grid, "marks": [[0, 1, 1]]}
        record.outcome.result["maps"] = [one, two]
    figure = replace(found.suite.figures[0], maps=True)
    axes = report.picture(figure, found).axes
    assert [a.get_title() for a in axes] == ["x: p", "x: q"] * 2 + ["y: p", "y: q"] * 2
    assert axes[0].images[0].get_array().tolist() == [[1, 2], [3, 4]]
    assert axes[1].collections[0].get_offsets().tolist() == [[0, 1]]
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("rows", "error")


PANEL = charts.Panel("t", [charts.Line("a", [1, 2], [3, 4]), charts.Line("b", [1, 2], [4, 4])])
MAP = charts.Map("m", [[0, 1], [2, 3]], marks=[(0, 1, 0.5)])


@pytest.mark.parametrize("suffix", ["svg", pytest.param("png", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "made", [lambda: charts.chart([PANEL]), lambda: charts.maps([[MAP]])], ids=["chart", "maps"]
)
def test_the_same_figure_has_the_same_bytes(
    made: Callable[[], Any], suffix: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    one, two = (tmp_path / f"{k}.{suffix}" for k in "ab")
    for path in (one, two):
        charts.save(made(), path)
    assert one.read_bytes() == two.read_bytes()
