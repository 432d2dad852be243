"""The daily recipe on real feeds: yesterday's model plus today's file, day after day."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cwtool.cli import run
from cwtool.model import file as modelfile

RECIPE = Path(__file__).parents[2] / "examples" / "daily.sh"


def day(model: Path, file: Path, **variables: str) -> list[dict]:
    """What one run of the recipe said."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **variables}
    done = subprocess.run(
        ["sh", str(RECIPE), str(model), str(file), str(log := model.with_suffix(".jsonl"))],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in log.read_text().splitlines()]
    log.unlink()
    return said


@pytest.mark.parametrize(
    ("feed", "pattern", "algo", "most"),
    [
        pytest.param("phishurl", "day0[0-4].svm.gz", "arow", 0.055, marks=pytest.mark.slow),
        pytest.param("url_mini", "Day[0-3].svm", "cw-fact", 0.06, marks=pytest.mark.slow),
    ],
)
def test_day_after_day(shared_data, tmp_path, feed, pattern, algo, most) -> None:
    files = sorted((shared_data / feed).glob(pattern))
    model = tmp_path / "feed.cw"
    for number, file in enumerate(files):
        said = day(model, file, CWTOOL_FEED_ALGO=algo)
        assert [e["event"] for e in said][-1] == "feed"
        if number:
            assert said[0]["event"] == "evaluate"
            # what was predicted by yesterday's model is near what was predicted row by row
            assert said[0]["error"] < 2.5 * most
    again = day(model, files[-1])
    assert [e["event"] for e in again] == ["skipped"]
    header, arrays = modelfile.load(model)
    assert sum(r["rows"] for r in header["history"]) == header["rows"]
    assert header["history"][-1]["error"] < most
    together = str(tmp_path / "together.cw")
    assert run(["train", "-a", algo, *map(str, files), "-m", together, "-q"]) == 0
    for name, array in modelfile.load(Path(together))[1].items():
        assert array.tobytes() == arrays[name].tobytes(), name


@pytest.mark.slow
def test_bcw_on_a_feed_needs_folded_ids(shared_data, tmp_path, capsys) -> None:
    """420,000 features squared do not fit; 2^10 folded ones do."""
    days = sorted(map(str, (shared_data / "phishurl").glob("day0[01].svm.gz")))
    model = str(tmp_path / "m.cw")
    assert run(["train", "-a", "bcw", *days, "-m", model]) == 2
    refused = capsys.readouterr().err
    assert "features needs" in refused
    assert "cw-fact" in refused
    assert not Path(model).exists()
    assert run(["train", "-a", "bcw", "--hash-bits", "10", *days, "-m", model, "--json"]) == 0
    errors = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    files_ = [e["error"] for e in errors if e["event"] == "file"]
    assert max(files_[1:]) < 0.13  # measured: 12.2 %, where arow has 4.4 %
