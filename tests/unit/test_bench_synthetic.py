"""Hidden shapes: what is in them."""

import numpy as np
import pytest

from cwtool.bench.synthetic import hidden, probability


@pytest.mark.parametrize("shape", ["xor", "ring"])
def test_shapes(shape):
    x, y = hidden(shape, 40_000, 6, 3)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(x.std(axis=0), 1, atol=0.03)
    assert abs(y.mean()) < 0.03
    assert np.abs(np.corrcoef(x.T, y)[-1, :-1]).max() < 0.03  # no line helps
    p = probability(shape, x[:, :2])
    assert np.mean((p > 0.5) != (y > 0)) == pytest.approx(0.15, abs=0.01)  # the Bayes error
    sure = p > 0.9
    assert np.mean(y[sure] > 0) == pytest.approx(p[sure].mean(), abs=0.02)


def test_informative_columns_repeat_the_first_two():
    x, _ = hidden("ring", 20_000, 8, 1, informative=5)
    found = np.corrcoef(x.T)
    for j in range(2, 5):
        assert found[j, j % 2] == pytest.approx(1 / np.sqrt(1.25), abs=0.02)
    assert np.abs(found[:5, 5:]).max() < 0.03
