"""Models that go to LIBLINEAR and come back, on real data."""

import shutil
import subprocess
from pathlib import Path

import pytest

import cwtool
from cwtool.cli import run


@pytest.mark.parametrize("name", ["a9a", "letter"])
def test_liblinear_predicts_the_same_labels(
    name: str, shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("liblinear-predict") is None:
        pytest.skip("needs liblinear-predict of the package liblinear-tools")
    pytest.importorskip("sklearn")
    train, test = (str(shared_data / name / f"{part}.svm") for part in ("train", "test"))
    model, text, out = (str(tmp_path / file) for file in ("m.cw", "m.model", "out.txt"))
    assert run(["train", train, "-m", model, "--bias", "--quiet"]) == 0
    assert run(["export", model, "--format", "liblinear", "-o", text]) == 0
    subprocess.run(["liblinear-predict", test, text, out], check=True, capture_output=True)
    capsys.readouterr()
    assert run(["predict", test, "-m", model]) == 0
    ours = capsys.readouterr().out.split()
    theirs = Path(out).read_text().split()
    assert [int(label) for label in ours] == [int(label) for label in theirs]
    back = str(tmp_path / "back.cw")
    assert run(["import", text, "-m", back]) == 0
    X, y = cwtool.read_libsvm(test)
    assert (cwtool.load(back).predict(X) == cwtool.load(model).predict(X)).mean() > 0.9999
    assert cwtool.load(model).score(X, y) > 0.5
