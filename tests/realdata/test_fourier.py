"""rff-markov on measurements that a linear model does not tell apart well."""

import json

import pytest

from cwtool.cli import run


@pytest.mark.slow
def test_ionosphere(shared_data, tmp_path, capsys):
    """A third of the default iterations in half of the chains; 105 test rows."""
    data, model = shared_data / "uci_ionosphere", str(tmp_path / "m.cw")
    options = ["--algo", "rff-markov", "--iterations", "100000", "--chains", "2"]
    assert run(["train", str(data / "train.svm"), *options, "-q", "-m", model]) == 0
    capsys.readouterr()
    assert run(["predict", str(data / "test.svm"), "-m", model, "--evaluate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] <= 0.12
