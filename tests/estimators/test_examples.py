"""The scripts in examples/ run, and print what their comments promise."""

import runpy
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("sklearn")

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(
    name: str, args: list[str], capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
) -> str:
    patch.setattr(sys, "argv", [name, *args])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_text_pipeline(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = run("text_pipeline.py", [], capsys, monkeypatch)
    assert "'a cold front and wind': weather" in out
    assert float(out.split("right: ")[1].split()[0]) > 0.9


def test_daily_partial_fit(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [str(EXAMPLES / "sample" / f"day{k}.svm") for k in (1, 2)]
    first = run("daily_partial_fit.py", ["a.cw", days[0]], capsys, monkeypatch)
    assert "1,500 rows learned" in first
    second = run("daily_partial_fit.py", ["a.cw", days[1]], capsys, monkeypatch)
    assert "3,000 rows learned" in second and "rows are right before" in second
    run("daily_partial_fit.py", ["b.cw", *days], capsys, monkeypatch)
    assert (folder / "a.cw").read_bytes() == (folder / "b.cw").read_bytes()


@pytest.mark.slow
def test_select_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = run("select_columns.py", [], capsys, monkeypatch)
    assert {line.split(":")[0] for line in out.splitlines()[:3]} == {
        "column 10", "column 20", "column 30"
    }  # fmt: skip


def test_export_onnx(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    lines = run("export_onnx.py", [], capsys, monkeypatch).splitlines()
    assert lines[0] == "labels that differ: 0"
    assert all(float(line.split(": ")[1]) < 1e-6 for line in lines[1:])


def test_draw_feed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "days").mkdir()
    for k in (1, 2):
        shutil.copy(EXAMPLES / "sample" / f"day{k}.svm", f"days/day{k}.svm")
    out = run("draw_feed.py", ["days", "feed.svg"], capsys, monkeypatch)
    assert out.count("mean ") == 5
    drawn = ElementTree.parse("feed.svg")
    assert len(drawn.findall(".//{http://www.w3.org/2000/svg}polyline")) == 5


@pytest.mark.slow
def test_compare_algorithms(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, train, test in (("url", "day1", "day2"), ("topics", "topics", "topics_test")):
        (folder / "data" / name).mkdir(parents=True)
        for part, source in (("train", train), ("test", test)):
            text = (EXAMPLES / "sample" / f"{source}.svm").read_text().splitlines(True)[:200]
            (folder / "data" / name / f"{part}.svm").write_text("".join(text))
    shutil.copytree(folder / "data" / "url", folder / "data" / "days")
    (folder / "data" / "days" / "test.svm").rename(folder / "data" / "days" / "also.svm")
    out = run("compare_algorithms.py", ["data"], capsys, monkeypatch)
    rows = [line.split(" | ") for line in out.splitlines() if line.startswith("| url")]
    assert len(rows) == 4  # what it is, errors, times and features
    assert rows[0][1].startswith("200 rows")
    assert 10 < float(rows[1][4].strip("*")) < 50  # arow
    assert rows[2][4] == "1.0"
    assert rows[3][10] == "100"  # sbcw
