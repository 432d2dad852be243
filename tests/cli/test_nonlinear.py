"""Second-order learners whose score is not linear in the row have importances, not weights."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool import params, registry
from cwtool.algorithms.base import Linear, Ranks

Run = Callable[..., Any]
second_order = pytest.mark.parametrize("algo", ["sop", "narow"])
covariances = pytest.mark.parametrize("covariance", ["diag", "full"])


@second_order
@covariances
def test_they_are_not_linear(algo: str, covariance: str) -> None:
    kind = registry.algorithm(algo)
    made = kind(params.build(kind.Params, {"covariance": covariance}))
    assert not isinstance(made, Linear)
    assert isinstance(made, Ranks)


@pytest.mark.parametrize("algo", ["arow", "cw", "scw1", "nherd", "pa1", "perceptron", "sgd", "bcw"])
def test_these_are(algo: str) -> None:
    kind = registry.algorithm(algo)
    made = kind(params.build(kind.Params, {}))
    assert isinstance(made, Linear)
    assert not isinstance(made, Ranks)


@second_order
@covariances
def test_inspect_writes_no_weights_of_them(
    algo: str, covariance: str, cwtool: Run, ok: Run, planted: Run
) -> None:
    data = planted("a.svm", 1, 60)
    ok("train", "--algo", algo, "--covariance", covariance, data, "-m", "m.cw")
    for where in ("w.tsv", "-"):
        ended = cwtool("inspect", "m.cw", "--weights", where)
        assert ended.code == 2
        assert f"{algo} is not a linear model and has no weights" in ended.err
        assert "leave out --weights" in ended.err
        assert ended.out == ""
        assert not Path("w.tsv").exists()
    found = json.loads(ok("inspect", "m.cw", "--json"))
    assert found["measure"] == "importance"
    assert found["intercept"] == 0
    sizes = [row["importance"] for row in found["top"]]
    assert sizes
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 0
