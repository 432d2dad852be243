"""One pass with defaults on real data stays where it was measured, with a little slack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cwtool.cli import run

# progressive error %, test error %: upper bounds
BOUNDS = {
    ("news20_comp", "arow"): (17.0, 15.0),
    ("news20_comp", "cw"): (17.7, 13.6),
    ("news20_comp", "scw1"): (18.0, 14.0),
    ("reuters_earn", "arow"): (2.4, 1.6),
    ("reuters_earn", "cw"): (2.4, 1.7),
    ("reuters_earn", "scw1"): (2.4, 1.7),
    ("a9a", "arow"): (15.8, 15.4),
    ("a9a", "scw1"): (17.1, 17.5),
    ("a9a", "bcw"): (76.0, 15.15),  # the only batch is predicted by an empty model
    ("zip_4v9", "bcw"): (60.0, 3.3),
    ("a9a", "dcd"): (76.0, 15.3),
    ("mnist_6v7", "bcw"): (52.0, 0.5),
}

# days 0, 4, 9, 14 of the phishing feed, progressive error %, from an independent implementation
PHISHING = {
    "cw": (5.8, 3.4, 3.1, 3.0),
    "scw1": (5.8, 3.4, 3.1, 3.0),
    "arow": (6.1, 3.5, 3.3, 3.1),
    "pa1": (6.5, 4.1, 3.8, 3.5),
    "perceptron": (8.6, 5.2, 4.8, 4.4),
}


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def only(folder: Path, pattern: str) -> str:
    (found,) = folder.glob(pattern)
    return str(found)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "algo"), BOUNDS)
def test_one_pass(shared_data, tmp_path, capsys, name, algo):
    model = str(tmp_path / "m.cw")
    folder = shared_data / name
    assert run(["train", "-a", algo, only(folder, "train.svm*"), "-m", model, "--json"]) == 0
    progressive = events(capsys.readouterr().out)[-1]["error"]
    command = ["predict", only(folder, "test.svm*"), "-m", model, "--evaluate", "--json"]
    assert run(command) == 0
    found = events(capsys.readouterr().out)[-1]
    most, most_test = BOUNDS[name, algo]
    assert 100 * progressive <= most
    assert 100 * found["error"] <= most_test
    if most < 50:  # slopes are fitted on scores of a model that had learned something
        assert found["ece"] < 0.08
        assert found["log_loss"] < 0.45


@pytest.mark.parametrize("batch_rows", ["0", "3000", "100"])
def test_bcw_in_batches_is_as_good_as_at_once(shared_data, tmp_path, capsys, batch_rows):
    """Measured: 15.04, 15.02 and 15.08 %; with 100 rows the printed algorithm has 16.17 %."""
    model, folder = str(tmp_path / "m.cw"), shared_data / "a9a"
    batches = ["--batch-rows", batch_rows]
    assert run(["train", "-a", "bcw", *batches, only(folder, "train.svm*"), "-m", model]) == 0
    capsys.readouterr()
    command = ["predict", only(folder, "test.svm*"), "-m", model, "--evaluate", "--json"]
    assert run(command) == 0
    found = events(capsys.readouterr().out)[-1]
    assert 100 * found["error"] <= 15.15
    assert found["ece"] <= 0.02


@pytest.mark.parametrize(
    "algo",
    [pytest.param(a, marks=[pytest.mark.slow] * (a != "arow")) for a in PHISHING],
)
def test_fifteen_days_of_phishing(shared_data, tmp_path, capsys, algo):
    days = sorted(map(str, (shared_data / "phishurl").glob("day*.svm.gz")))
    assert run(["train", "-a", algo, *days, "-m", str(tmp_path / "m.cw"), "--json"]) == 0
    found = [e["error"] for e in events(capsys.readouterr().out) if e["event"] == "file"]
    for day, expected in zip((0, 4, 9, 14), PHISHING[algo], strict=True):
        assert 100 * found[day] <= expected + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["news20_comp", "reuters_earn", "skf_pcmac", "spambase"])
def test_defaults_do_not_depend_on_the_scale_of_the_rows(shared_data, tmp_path, capsys, name):
    def error(lines: list[str]) -> float:
        data = tmp_path / "data.svm"
        data.write_text("\n".join(lines) + "\n")
        assert run(["train", str(data), "-m", str(tmp_path / "m.cw"), "--json"]) == 0
        return events(capsys.readouterr().out)[-1]["error"]

    lines = Path(only(shared_data / name, "train.svm*")).read_bytes()
    if lines[:2] == b"\x1f\x8b":
        import gzip

        lines = gzip.decompress(lines)
    rows = lines.decode().splitlines()

    def scaled(factor: float) -> list[str]:
        return [
            " ".join([label, *(f"{j}:{float(x) * factor!r}" for j, x in pairs)])
            for label, *pairs in (
                [w.split(":") if ":" in w else w for w in r.split()] for r in rows
            )
        ]

    assert abs(error(scaled(1000.0)) - error(rows)) < 0.01


@pytest.mark.parametrize(
    ("algo", "least", "most"), [("cw", 4.6, 5.6), ("cw-fact", 2.5, 4.2)], ids=str
)
def test_malicious_urls_in_time_order(shared_data, tmp_path, capsys, algo, least, most):
    days = sorted(map(str, (shared_data / "url_mini").glob("Day*.svm")))
    assert run(["train", "-a", algo, *days, "-m", str(tmp_path / "m.cw"), "--json"]) == 0
    assert least <= 100 * events(capsys.readouterr().out)[-1]["error"] <= most
