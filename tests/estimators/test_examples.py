"""The scripts in examples/ run, and print what their comments promise."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(
    name: str, args: list[str], capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
) -> str:
    patch.setattr(sys, "argv", [name, *args])
    runpy.run_path(str(EXAMPLES / name))
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
