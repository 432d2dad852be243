"""The latest rows, which the offset of probabilities is fitted to."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from cwtool.data.rows import BIAS, Rows
from cwtool.errors import Damage
from cwtool.model import Model, latest
from cwtool.model.latest import Latest, offset
from cwtool.run import Run


def drawn(seed: int, n: int, *, weighted: bool = False) -> Rows:
    random = np.random.default_rng(seed)
    lists = [
        [(2 * j, float(x)) for j, x in enumerate(random.normal(size=k))]
        for k in random.integers(0, 5, n)
    ]
    rows = Rows.from_lists(lists, random.integers(0, 2, n).tolist())
    return rows.weighing(random.integers(1, 4, n).astype(float)) if weighted else rows


def same(a: Rows, b: Rows) -> None:
    for name in ("indptr", "indices", "values", "y", "weight"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Room for few rows."""
    monkeypatch.setattr(latest, "ROWS", 20)
    monkeypatch.setattr(latest, "ENTRIES", 30)
    return None


@pytest.mark.parametrize("step", [1, 7, 300])
def test_any_blocks_give_the_same(step: int, small: None) -> None:
    rows, whole, parts = drawn(1, 300), Latest(), Latest()
    whole.add(rows)
    for start in range(0, 300, step):
        parts.add(rows.slice(start, min(start + step, 300)))
    same(parts.rows(), whole.rows())
    found = whole.rows()
    same(found, rows.slice(300 - found.n_rows, 300))
    assert found.n_rows <= 20 and found.nnz <= 30
    assert found.n_rows == 20 or rows.slice(299 - found.n_rows, 300).nnz > 30


def test_rows_of_weight_0_are_left_out() -> None:
    rows, found = drawn(2, 50), Latest()
    weight = np.where(np.arange(50) % 3, 2.0, 0.0)
    found.add(Rows(rows.indptr, rows.indices, rows.values, rows.y, weight))
    same(found.rows(), rows.weighing(weight))


@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_kept_in_a_file(weighted: bool) -> None:
    found = Latest()
    found.add(drawn(3, 80, weighted=weighted))
    found.add(Rows.from_lists([[(3, 0.1), (BIAS, 1.0)], []], [1, 0]))
    same(Latest.unpack(found.pack()).rows(), found.rows())
    assert Latest().pack() == {}
    assert Latest.unpack({}).rows().n_rows == 0


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_damage_is_found(place: int, byte: int) -> None:
    """A changed byte gives rows that can be, or Damage."""
    kept = Latest()
    kept.add(drawn(4, 30))
    arrays = kept.pack()
    data = arrays["latest"].copy()
    data[place % len(data)] = byte
    try:
        rows = Latest.unpack({**arrays, "latest": data}).rows()
    except Damage:
        return
    assert np.isin(rows.y, (0, 1)).all() and np.isfinite(rows.values).all()
    assert (np.diff(rows.indptr) >= 0).all() and rows.nnz == len(rows.indices)
    for sizes in ([0, 0], [30], [30, 1 << 40], [31, 5]):
        with pytest.raises(Damage):
            Latest.unpack({**arrays, "latest.size": np.array(sizes)})


@given(st.integers(0, 10**6), st.floats(-3, 3), st.sampled_from([0.0, 0.3]), st.booleans())
def test_offset(seed: int, shift: float, b: float, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 100).astype(np.int32)
    t = 4.0 * y - 2 + random.normal(size=100) + shift
    h = random.uniform(0.5, 2, 100) if weighted else np.ones(100)

    def loss(d: float) -> float:
        own = h @ np.logaddexp(0, -np.where(y == 1, 1, -1) * (t + d))
        return float(own + np.logaddexp(0, d) / 2 + np.logaddexp(0, -d) / 2)

    best = minimize_scalar(loss, bounds=(-30, 30), method="bounded", options={"xatol": 1e-9})
    gained = 2 * (loss(0.0) - best.fun)
    found = offset(t, y, h if weighted else None, b)
    if abs(gained - 3.84) > 1e-6:
        want = b + best.x if b != 0 or gained > 3.84 else b
        assert found == pytest.approx(want, abs=1e-4)


def test_a_model_that_its_last_rows_have_shifted_has_an_offset() -> None:
    """The perceptron of a constant feature is shifted by its last mistakes; its earlier scores do
    not tell in which direction. A model that goes on after it was saved is the same."""
    random = np.random.default_rng(6)
    n = 3000
    y = random.integers(0, 2, n).astype(np.int32)
    x = 2.0 * y - 1 + random.normal(size=n)
    lists = [[(0, float(v)), (1, 6.0)] for v in x]
    rows = Rows.from_lists(lists, y.tolist())
    model, again = Model.new("perceptron", {}), Model.new("perceptron", {})
    model.learn(rows, Run())
    for start in range(0, n, 500):
        again.learn(rows.slice(start, start + 500), Run())
        again = Model.from_bytes(again.to_bytes())
    assert model.to_bytes() == again.to_bytes()
    score, variance, _ = model.scores(rows)
    model.calibrate()
    p = model.probability(score, variance)
    assert p.mean() == pytest.approx(y.mean(), abs=0.03)
    without = Model.new("perceptron", {})
    without.learn(rows, Run(calibrate=False))
    without.calibrate()
    assert abs(without.probability(score, variance).mean() - y.mean()) > 0.05
