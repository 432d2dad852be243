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


def new(half_life: int | str, covariance: str = "diag") -> Model:
    given = {"half_life": half_life, "prior": 1.0, "r": 0.1, "covariance": covariance}
    return Model.new("arow", given, labels=Labels(-1.0, 1.0))


def learned(
    model: Model, X: np.ndarray, y: np.ndarray, cuts: list[int], day: int = 0
) -> np.ndarray:
    """The scores before learning, of rows that come in several parts."""
    parts = zip([0, *cuts], [*cuts, len(y)], strict=True)
    return np.concatenate([model.learn(rows(X[a:b], y[a:b]), Run(day=day)).score for a, b in parts])


@pytest.mark.parametrize("half_life", [5, 200])
@pytest.mark.parametrize("cuts", [[], [1, 150, 151]])
def test_against_numpy(half_life: int, cuts: list[int]) -> None:
    X, y = data(400)
    found = learned(new(half_life), X, y, cuts)
    np.testing.assert_allclose(found, oracle(X, y, half_life), rtol=1e-9, atol=1e-12)


def test_rows_of_weight_zero_do_not_count() -> None:
    X, y = data(300)
    weight = (np.arange(300) % 3 != 1).astype(float)
    mixed, alone = new(100), new(100)
    mixed.learn(rows(X, y, weight), Run())
    alone.learn(rows(X[weight > 0], y[weight > 0]), Run())
    assert mixed.state.table.tobytes() == alone.state.table.tobytes()
    assert mixed.state.numbers == alone.state.numbers


def test_a_factored_covariance_is_refused() -> None:
    with pytest.raises(UsageError, match="`half_life` is not for `covariance=factored`"):
        Model.new("arow", {"half_life": 10, "covariance": "factored"})
    with pytest.raises(UsageError, match="half_life"):
        Model.new("cw-fact", {"half_life": 10})


@pytest.mark.parametrize("cuts", [[], [1, 150, 151]])
def test_a_full_covariance_against_numpy(cuts: list[int]) -> None:
    X, y = data(300)
    model = new(50, covariance="full")
    found = learned(model, X, y, cuts)
    mu, P, r, scores = np.zeros(12), np.zeros((12, 12)), 0.1, []
    for k, (x, sign) in enumerate(zip(X, np.where(y == 1, 1.0, -1.0), strict=True), 1):
        sigma = np.linalg.inv(np.eye(12) + P)
        scores.append(mu @ x)
        if sign * scores[-1] < 1:
            mu = mu + (1 - sign * scores[-1]) / (x @ sigma @ x + r) * sign * sigma @ x
            P += np.outer(x, x) / r
        if k % 6 == 0:
            P *= 2.0 ** (-6 / 50)
    np.testing.assert_allclose(found, scores, rtol=1e-7, atol=1e-9)


DAYS = [738_000, 738_000, 738_003, 738_001, 738_040]


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_days(covariance: str) -> None:
    """Before the first rows of a later day p <- p 2^(-days / 30); a day that is not later, or not
    known, changes nothing."""
    X, y = data(500)
    model, by_hand = new("30d", covariance=covariance), new(0, covariance=covariance)
    last, found, want = 0, [], []
    for k, day in enumerate([*DAYS, 0]):
        part = slice(80 * k, 80 * k + 80)
        found.append(learned(model, X[part], y[part], [30], day))
        model = model.copy()
        if 0 < last < day:
            by_hand.algorithm.covariance.forget(by_hand.state, 2.0 ** (-(day - last) / 30))
        last = max(last, day)
        want.append(learned(by_hand, X[part], y[part], [30]))
    assert np.concatenate(found).tobytes() == np.concatenate(want).tobytes()
    assert model.state.numbers["day"] == max(DAYS)
    plain = learned(new(0, covariance=covariance), X[:480], y[:480], [])
    assert np.concatenate(found).tobytes() != plain.tobytes()


@pytest.mark.parametrize(
    ("given", "kept"), [("30d", "30d"), ("0.5d", "0.5d"), ("7.0d", "7d"), ("20000", 20_000)]
)
def test_settings(given: str, kept: int | str) -> None:
    assert new(given).algorithm.params.half_life == kept
    with pytest.raises(UsageError, match="half_life"):
        new(f"-{given}")


@pytest.mark.parametrize("given", ["0d", "d", "xd", "nand", "infd", "30 days", "1.5"])
def test_settings_that_are_none(given: str) -> None:
    with pytest.raises(UsageError, match="half_life"):
        new(given)


def test_weights_follow_a_change() -> None:
    """The labels turn round in the middle: with precision that is forgotten, fewer errors."""
    X, y = data(4000)
    y[2000:] = 1 - y[2000:]
    wrong = []
    for half_life in (0, 200):
        score = new(half_life).learn(rows(X, y), Run()).score
        wrong.append(np.mean((score[2500:] >= 0) != (y[2500:] == 1)))
    assert wrong[1] < 0.7 * wrong[0]
