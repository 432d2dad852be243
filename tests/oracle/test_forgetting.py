"""AROW that forgets precision, against plain NumPy."""

import numpy as np
import pytest

from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.errors import UsageError
from cwtool.model import Model
from cwtool.run import Run


def data(n: int, width: int = 12) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    X = random.normal(size=(n, width)) * (random.random((n, width)) < 0.5)
    return X, (X @ random.normal(size=width) + random.normal(size=n) > 0).astype(np.int32)


def rows(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Rows:
    from scipy.sparse import csr_array

    return Rows.from_csr(csr_array(X), y, weight)


def oracle(X: np.ndarray, y: np.ndarray, half_life: int, r: float = 0.1) -> np.ndarray:
    """mu += a y s x, p += x^2 / r, s = 1 / (1 + p), a = (1 - m) / (v + r), where m < 1; and after
    every `step` rows p <- p 2^(-step / half_life)."""
    mu, p, scores = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    step = max(1, half_life // 8)
    for k, (x, sign) in enumerate(zip(X, np.where(y == 1, 1.0, -1.0), strict=True), 1):
        s = 1 / (1 + p)
        m, v = sign * (mu @ x), x @ (s * x)
        scores.append(mu @ x)
        if m < 1:
            mu += (1 - m) / (v + r) * sign * s * x
            p += x * x / r
        if k % step == 0:
            p *= 2.0 ** (-step / half_life)
    return np.array(scores)


def new(half_life: int) -> Model:
    given = {"half_life": half_life, "prior": 1.0, "r": 0.1}
    return Model.new("arow", given, labels=Labels(-1.0, 1.0))


@pytest.mark.parametrize("half_life", [5, 200])
@pytest.mark.parametrize("cuts", [[], [1, 150, 151]])
def test_against_numpy(half_life: int, cuts: list[int]) -> None:
    X, y = data(400)
    model, found = new(half_life), []
    for a, b in zip([0, *cuts], [*cuts, 400], strict=True):
        found.append(model.learn(rows(X[a:b], y[a:b]), Run()).score)
        model = model.copy()  # as if it were saved and continued
    np.testing.assert_allclose(
        np.concatenate(found), oracle(X, y, half_life), rtol=1e-9, atol=1e-12
    )


def test_rows_of_weight_zero_do_not_count() -> None:
    X, y = data(300)
    weight = (np.arange(300) % 3 != 1).astype(float)
    mixed, alone = new(100), new(100)
    mixed.learn(rows(X, y, weight), Run())
    alone.learn(rows(X[weight > 0], y[weight > 0]), Run())
    assert mixed.state.table.tobytes() == alone.state.table.tobytes()
    assert mixed.state.numbers == alone.state.numbers


@pytest.mark.parametrize("covariance", ["full", "factored"])
def test_other_covariances_are_refused(covariance: str) -> None:
    with pytest.raises(UsageError, match="half_life"):
        Model.new("arow", {"half_life": 10, "covariance": covariance})


def test_weights_follow_a_change() -> None:
    """The labels turn round in the middle: with precision that is forgotten, fewer errors."""
    X, y = data(4000)
    y[2000:] = 1 - y[2000:]
    wrong = []
    for half_life in (0, 200):
        score = new(half_life).learn(rows(X, y), Run()).score
        wrong.append(np.mean((score[2500:] >= 0) != (y[2500:] == 1)))
    assert wrong[1] < 0.7 * wrong[0]
