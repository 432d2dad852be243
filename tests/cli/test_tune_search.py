"""cwtool tune: random points, successive halving, plots and progress."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.data.labels import Labels
from cwtool.data.lines import count_lines
from cwtool.data.pipeline import ReadOptions
from cwtool.messages import console as console_module
from cwtool.messages.console import Console
from cwtool.model import Model
from cwtool.order import permutation
from cwtool.validation import evaluate, fit, folds, read

Run = Callable[..., Any]


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def data(planted: Callable[..., str]) -> str:
    return planted("a.svm", 3, 900)


def test_random_points(ok: Run, data: str) -> None:
    command = ["tune", data, "--grid", "r=0.01..100", "--grid", "projection=kl,l2", "--json"]
    *points, winner = objects(ok(*command, "--random", 6, "-j", 1, "--cv", 2))
    assert len(points) == 6
    assert all(0.01 <= p["params"]["r"] <= 100 for p in points)
    assert {p["params"]["projection"] for p in points} == {"kl", "l2"}
    assert winner["params"] == min(points, key=lambda p: p["error"])["params"]
    again = objects(ok(*command, "--random", 6, "-j", 2, "--cv", 2))
    assert again == [*points, winner]
    other = objects(ok(*command, "--random", 6, "-j", 1, "--cv", 2, "--seed", 1))
    assert other[0]["params"] != points[0]["params"]


def test_the_edge_of_a_range_is_told(cwtool: Run, data: str) -> None:
    """With so large an r little is learned, so that smaller values are better."""
    ended = cwtool("tune", data, "--grid", "r=10..1e5", "--random", 30, "--cv", 2, "--json")
    winner = objects(ended.out)[-1]
    said = (
        f"the best -r, {winner['params']['r']:g}, is near the low end of 10..100000; widen the grid"
    )
    assert said in ended.err
    assert said in winner["warnings"]


def rungs_of(points: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    numbers = dict.fromkeys(p["rung"] for p in points)
    return [[p for p in points if p["rung"] == n] for n in numbers]


def next_of(rung: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """The parameters of the best n of a rung, in their order."""
    best = sorted(rung, key=lambda p: p["error"])[:n]
    return [p["params"] for p in rung if p in best]


@pytest.mark.parametrize("by", ["folds", "time", "progressive"])
def test_the_best_of_a_rung_go_on(ok: Run, data: str, by: str) -> None:
    grid = ["--grid", "r=0.001,0.01,0.1,1,10,100,1000", "--halving", 2, "--by", by]
    command = ["tune", data, *grid, "--cv", 3, "--json"]
    *points, winner = objects(ok(*command, "-j", 1))
    first, second, third = rungs_of(points)
    assert [len(rung) for rung in (first, second, third)] == [7, 4, 2]
    assert [rung[0]["rows"] for rung in (first, second, third)] == [225, 450, 900]
    assert [p["params"] for p in second] == next_of(first, 4)
    assert [p["params"] for p in third] == next_of(second, 2)
    assert winner["params"] == next_of(third, 1)[0]
    assert objects(ok(*command, "-j", 2)) == [*points, winner]


def test_a_rung_of_folds_has_a_share_of_the_rows(ok: Run, data: str) -> None:
    grid = ["--grid", "r=0.1,1,10,100", "--halving", 3, "--cv", 3]
    point = objects(ok("tune", data, *grid, "--json", "-j", 1))[1]
    rows = read([data], Labels(), ReadOptions())
    some = rows.take(np.sort(permutation(900, 0)[:300]))
    errors = []
    for learned, checked in folds(some.y, 3):
        model = fit(Model.new("arow", {"r": 1.0}), some.take(learned))
        errors.append(evaluate(model, some.take(checked))["error"])
    assert (point["params"], point["rows"]) == ({"r": 1.0}, 300)
    assert point["error"] == pytest.approx(np.mean(errors))


@pytest.mark.parametrize("block", [1 << 16, 3 << 19])
def test_a_rung_of_a_pass_is_its_first_rows(ok: Run, planted: Any, block: int) -> None:
    """Wherever blocks and files end; the last rung has the numbers of the whole pass."""
    files = [planted("a.svm", 1, 2500), planted("b.svm", 2, 500)]
    Path("head.svm").write_text("".join(Path("a.svm").read_text().splitlines(keepends=True)[:1000]))
    how = ["--by", "progressive", "--json", "--block-size", block]
    halved = objects(ok("tune", *files, "--grid", "r=0.1,1,10,100", "--halving", 3, *how))
    whole = objects(ok("tune", *files, "--grid", "r=0.1,1,10,100", *how))
    head = objects(ok("tune", "head.svm", "--grid", "r=0.1,1,10,100", *how))
    first = [p for p in halved if p.get("rung") == 1]
    last = [p for p in halved if p.get("rung") == 2]
    assert [p["error"] for p in first] == [p["error"] for p in head[:-1]]
    assert [p["rows"] for p in (*first, *last)] == [1000] * 4 + [3000] * 2
    errors = {p["params"]["r"]: p["error"] for p in whole[:-1]}
    assert all(p["error"] == errors[p["params"]["r"]] for p in last)


def test_lines_are_counted(ok: Run, planted: Any) -> None:
    import gzip

    text = Path(planted("a.svm", 1, 1234)).read_bytes()
    Path("a.svm.gz").write_bytes(gzip.compress(text))
    assert count_lines(["a.svm", "a.svm.gz"]) == 2468


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--grid", "r=0.1..10"], "such as --random 20"),
        (["--grid", "r=10..0.1", "--random", 3], "from a number to a greater one"),
        (["--grid", "r=0.1..", "--random", 3], "must be a number"),
        (["--grid", "r=0..1", "--random", 3], "must be above 0"),
        (["--grid", "projection=kl..l2", "--random", 3], "a range has numbers"),
        (["--grid", "r=1,2", "--random", 0], "--random"),
        (["--grid", "r=1,2", "--halving", 1], "--halving"),
        (["--grid", "r=1,2", "--plot", "a.pdf"], "must end in .png or .svg"),
    ],
)
def test_mistakes(cwtool: Run, data: str, args: list[Any], said: str) -> None:
    ended = cwtool("tune", data, *args)
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_rungs_of_a_pass_need_rows_and_files(cwtool: Run, data: str) -> None:
    how = ["--by", "progressive", "--halving", 2]
    for ended in (
        cwtool("tune", data, "-a", "dcd", "--grid", "C=0.1,1,10", *how),
        cwtool("tune", "-", "--grid", "r=0.1,1,10", *how, stdin=Path(data).read_bytes()),
    ):
        assert (ended.code, "--halving with --by progressive" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("args", "titles"),
    [
        (["--grid", "r=0.01,1,100"], {"r": ["arow"]}),
        (["-a", "scw1", "--grid", "C=0.1,1", "--grid", "eta=0.7,0.9"],
         {"C": ["eta 0.7", "eta 0.9"], "eta": ["C 0.1", "C 1.0"]}),
        (["--grid", "algo=arow,cw", "--grid", "r=0.1,1", "--grid", "eta=0.7,0.9"],
         {"r": ["arow"], "eta": ["cw"]}),
        (["--grid", "algo=arow,cw"], {"algo": ["arow", "cw"]}),
        (["--grid", "algo=arow,arow", "--grid", "r=0.1..10", "--random", "4"], {"r": ["arow"]}),
    ],
)  # fmt: skip
def test_what_a_plot_shows(
    ok: Run, data: str, monkeypatch: pytest.MonkeyPatch, args: list[str], titles: dict[str, Any]
) -> None:
    pytest.importorskip("matplotlib")
    from cwtool.report import charts

    drawn: list[Any] = []
    chart = charts.chart
    monkeypatch.setattr(charts, "chart", lambda panels: drawn.append(panels) or chart(panels))
    ok("tune", data, *args, "--cv", 2, "--plot", "p.svg", "-j", 1)
    assert "<svg" in Path("p.svg").read_text()
    (panels,) = drawn
    assert {p.title: [line.label for line in p.lines] for p in panels} == titles
    wide = {"r", "C"} & titles.keys()
    assert {p.title for p in panels if p.log_x} == wide
    assert all(line.joined != ("--random" in args) for p in panels for line in p.lines)


def test_the_points_of_a_plot(ok: Run, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from cwtool.report import charts

    drawn: list[Any] = []
    monkeypatch.setattr(charts, "chart", drawn.append)
    monkeypatch.setattr(charts, "save", lambda figure, path: None)
    command = ["tune", data, "--grid", "r=1,0.01,100", "--cv", 2, "--plot", "p.svg", "--json"]
    *points, _ = objects(ok(*command))
    (((panel,),)) = drawn
    ordered = sorted(points, key=lambda p: p["params"]["r"])
    assert panel.lines[0].x == [0.01, 1.0, 100.0]
    assert panel.lines[0].y == pytest.approx([100 * p["error"] for p in ordered])
    assert panel.lines[0].sd == pytest.approx([100 * p["error_sd"] for p in ordered])


def test_progress_comes_before_the_first_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal at once, elsewhere after FIRST seconds, without any call of the worker."""
    from threading import Event

    shown = Event()

    class Screen:
        def __init__(self, live: bool) -> None:
            self.live, self.text = live, ""

        def isatty(self) -> bool:
            return self.live

        def fileno(self) -> int:
            return 2

        def write(self, text: str) -> None:
            self.text += text
            shown.set()

        def flush(self) -> None:
            pass

    monkeypatch.setattr(console_module, "FIRST", 0.01)
    monkeypatch.setattr("os.get_terminal_size", lambda _: __import__("os").terminal_size((80, 24)))
    for live in (True, False):
        screen = Screen(live)
        monkeypatch.setattr(sys, "stderr", screen)
        shown.clear()
        console = Console()
        with console.progress("tune") as progress, progress.ticking(lambda: {"text": "0 of 9"}):
            assert shown.wait(60)
        assert "tune  0 of 9" in screen.text
    monkeypatch.undo()


@pytest.mark.parametrize("labels", [("-1", "+1"), ("-1:0", "+1"), ("1", "2")])
@pytest.mark.parametrize("first", [1, 1 << 22])
def test_models_of_a_pass_share_their_features(
    ok: Run, planted: Any, first: int, labels: tuple[str, str]
) -> None:
    """To the bit they are those of runs of their own: with rows of weight 0, whose features stay
    unknown, with several classes, and with ids that are hashed."""
    text = Path(planted("a.svm", 1, 1500, first=first, labels=labels)).read_text()
    if labels == ("-1:0", "+1"):
        text = text.replace("-1:0", "-1", 700)
    if labels == ("1", "2"):
        text = text.replace("\n1 ", "\n3 ", 300)
    Path("a.svm").write_text(text)
    grid = ["--grid", "algo=narow,arow,pa1,cw-fact", "--by", "progressive", "--block-size", 1 << 16]
    *points, winner = objects(ok("tune", "a.svm", *grid, "--json", "-j", 1))
    assert objects(ok("tune", "a.svm", *grid, "--json", "-j", 3)) == [*points, winner]
    for point in points:
        trained = objects(
            ok("train", "a.svm", "-a", point["params"]["algo"], "-m", "m.cw", "--json")
        )[-1]
        names = ("error", "macro_f1") if labels == ("1", "2") else ("error", "auc", "f1")
        assert [point[k] for k in names] == [trained[k] for k in names]
