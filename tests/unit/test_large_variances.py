"""Scores of rows that are too long for their variances."""

from typing import Any

import numpy as np
import pytest

from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.export.scorer import scorer_of
from cwtool.model import Model
from cwtool.run import Run

X = np.random.default_rng(1).normal(size=(60, 6))
X[:, 1] = 0.7 * (X[:, 0] + X[:, 1])  # so that covariances are below 0
Y = (X[:, 0] > 0).astype(int).tolist()


@pytest.mark.parametrize(
    ("algo", "params"),
    [
        ("sbcw", {"features": 6, "group_size": 6}),
        ("bcw", {}),
        ("bcw", {"precision_divisor": 10}),
        ("cw", {"covariance": "full"}),
        ("arow", {}),
    ],
)
def test_a_variance_that_overflows_is_large_and_not_0(algo: str, params: dict[str, Any]) -> None:
    def rows(x: np.ndarray) -> Rows:
        return Rows.from_lists([[(j, float(v)) for j, v in enumerate(row)] for row in x], Y)

    model = Model.new(algo, params)
    model.learn(rows(X), Run())
    for size in (1e155, 1e200):
        assert (model.scores(rows(size * np.abs(X))).variance > 1e305).all()


@pytest.mark.filterwarnings("error")
def test_variances_of_two_classes_whose_sum_overflows_are_exported() -> None:
    rows = Rows.from_lists([[(3, 1.7e-262)], []] * 60, [0, 1] * 60)
    labels = Labels(multiclass="ovr")
    labels.several = [1.0, 2.0]
    model = Model.new("scw1", {"projection": "l2"}, labels=labels)
    model.settle()
    model.learn(rows, Run())
    variance = scorer_of(model).variance
    assert variance is not None
    assert np.isfinite(variance).all()
