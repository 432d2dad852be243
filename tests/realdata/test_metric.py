"""sdist against plain nearest neighbours, with defaults: on planted and on real data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cwtool.bench.generators import of_arrays
from cwtool.bench.synthetic import hidden
from cwtool.cli import run
from cwtool.data.writer import write_rows


@pytest.fixture
def error(tmp_path, capsys):
    """Test error of an algorithm."""

    def measure(train: Path, test: Path, algo: str, *options: str) -> float:
        model = str(tmp_path / "m.cw")
        assert run(["train", str(train), "--algo", algo, *options, "-m", model, "-q"]) == 0
        assert run(["predict", str(test), "-m", model, "--evaluate", "--json"]) == 0
        return float(json.loads(capsys.readouterr().out.splitlines()[-1])["error"])

    return measure


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["xor", "ring"])
def test_two_columns_hidden_among_48(shape, error, tmp_path):
    x, y = hidden(shape, 2500, 50, 7)
    train, test = tmp_path / "train.svm", tmp_path / "test.svm"
    write_rows(train, of_arrays(x[:500], y[:500]))
    write_rows(test, of_arrays(x[500:], y[500:]))
    assert error(train, test, "knn") > 0.4
    assert error(train, test, "sdist") <= 0.25


@pytest.mark.parametrize(
    ("name", "most"),
    [pytest.param("madelon", 0.15, marks=pytest.mark.slow), ("uci_ionosphere", 0.12)],
)
def test_real_data(name, most, error, shared_data):
    (train,) = (shared_data / name).glob("train.svm*")
    assert error(train, shared_data / name / "test.svm", "sdist") <= most


def test_madelon_is_hard_for_plain_neighbours(error, shared_data):
    (train,) = (shared_data / "madelon").glob("train.svm*")
    assert error(train, shared_data / "madelon" / "test.svm", "knn", "--scale", "std") > 0.4


@pytest.mark.slow
def test_digits_no_worse_than_plain_neighbours(error, shared_data):
    (train,) = (shared_data / "zip_4v9").glob("train.svm*")
    test = shared_data / "zip_4v9" / "test.svm"
    assert error(train, test, "sdist") <= error(train, test, "knn")


@pytest.mark.slow
def test_stsgd_on_text_is_better_than_plain_neighbours(error, shared_data):
    (train,) = (shared_data / "skf_pcmac").glob("train.svm*")
    test = shared_data / "skf_pcmac" / "test.svm"
    plain = error(train, test, "knn")
    assert error(train, test, "sdist", "--engine", "stsgd", "--order", "1") < plain
