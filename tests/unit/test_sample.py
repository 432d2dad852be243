"""The sample of rows that probabilities are fitted to."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from cwtool.data.rows import BIAS, Rows, joined
from cwtool.errors import Damage
from cwtool.model import Model, sample
from cwtool.model.sample import Sample, fitted
from cwtool.order import ranks
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
    monkeypatch.setattr(sample, "ROWS", 20)
    monkeypatch.setattr(sample, "ENTRIES", 30)
    return None


@pytest.fixture
def some_rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Room for a part of the rows of these tests."""
    monkeypatch.setattr(sample, "ROWS", 1000)
    return None


def kept(rows: Rows) -> np.ndarray:
    """The numbers of the rows that are kept, one after the other in the order of their ranks."""
    rank, found, nnz = ranks(0, rows.n_rows), [], 0
    for k in np.argsort(rank, kind="stable"):
        nnz += int(rows.indptr[k + 1] - rows.indptr[k])
        if len(found) == 20 or nnz > 30:
            break
        found.append(k)
    return np.sort(np.array(found, dtype=np.int64))


@pytest.mark.parametrize("step", [1, 7, 300])
@pytest.mark.parametrize("saved", [False, True])
def test_any_blocks_give_the_same(step: int, saved: bool, small: None) -> None:
    rows, parts = drawn(1, 300), Sample()
    for start in range(0, 300, step):
        parts.add(rows.slice(start, min(start + step, 300)))
        if saved:
            parts = Sample.unpack(parts.pack())
    same(parts.rows(), rows.take(kept(rows)))


def test_all_rows_are_kept_as_long_as_they_are_few(small: None) -> None:
    rows, found = drawn(1, 300), Sample()
    few = int(np.searchsorted(rows.indptr, 30, side="right")) - 1  # rows of up to 30 entries
    for n in range(few):
        found.add(rows.slice(n, n + 1))
        assert found.complete
        found = Sample.unpack(found.pack())
        same(found.rows(), rows.slice(0, n + 1))
    found.add(rows.slice(few, few + 1))
    assert not found.complete
    same(found.rows(), rows.slice(0, few + 1).take(kept(rows.slice(0, few + 1))))


def test_a_smaller_sample_of_an_earlier_version_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of later rows those below its bound are kept, as many as there is room for now: a sample of
    all rows."""
    rows, found = drawn(1, 900), Sample()
    monkeypatch.setattr(sample, "ROWS", 20)
    found.add(rows.slice(0, 300))
    arrays = found.pack()
    monkeypatch.setattr(sample, "ROWS", 40)
    found = Sample.unpack(arrays)
    bound = found.bound
    found.add(rows.slice(300, 900))
    low = np.flatnonzero(ranks(0, 900) < bound)
    assert len(low) > 40
    first = low[np.argsort(ranks(0, 900)[low], kind="stable")[:40]]
    same(found.rows(), rows.take(np.sort(first)))


def test_a_row_without_room_is_left_out_and_known(small: None) -> None:
    """What is below the rank of a row that there was no room for goes on to be kept alone."""
    wide = Rows.from_lists([[(k, 1.0) for k in range(31)]], [1])
    found, whole = Sample(), Sample()
    found.add(wide)
    found = Sample.unpack(found.pack())
    assert found.rows().n_rows == 0 and found.bound == ranks(0, 1)[0]
    found.add(drawn(5, 40))
    whole.add(joined([wide, drawn(5, 40)]))
    same(found.rows(), whole.rows())


def test_ranks_are_of_splitmix() -> None:
    """The same as SplitMix64 in Python, and about as many in each quarter."""

    def mixed(state: int) -> int:
        z = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    base = mixed(0)
    want = [mixed((base + k * 0xD1342543DE82EF95) % 2**64) >> 33 for k in range(5, 25)]
    assert ranks(5, 20).tolist() == want
    counts = np.bincount(ranks(0, 40_000) >> 29, minlength=4)
    assert (abs(counts - 10_000) < 500).all()


def test_rows_of_weight_0_are_left_out() -> None:
    rows, found = drawn(2, 50), Sample()
    weight = np.where(np.arange(50) % 3, 2.0, 0.0)
    found.add(Rows(rows.indptr, rows.indices, rows.values, rows.y, weight))
    same(found.rows(), rows.weighing(weight))
    assert found.seen == np.count_nonzero(weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_kept_in_a_file(weighted: bool) -> None:
    found = Sample()
    found.add(drawn(3, 80, weighted=weighted))
    found.add(Rows.from_lists([[(3, 0.1), (BIAS, 1.0)], []], [1, 0]))
    same(Sample.unpack(found.pack()).rows(), found.rows())
    assert Sample().pack() == {}
    assert Sample.unpack({}).rows().n_rows == 0


def test_the_latest_rows_of_earlier_versions_are_the_first() -> None:
    found = Sample()
    found.add(drawn(3, 80))
    arrays = found.pack()
    old = {"latest": arrays["sample"], "latest.size": arrays["sample.size"][:2]}
    assert Sample.unpack(old).pack().keys() == arrays.keys()
    for name, values in Sample.unpack(old).pack().items():
        np.testing.assert_array_equal(values, arrays[name])


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_damage_is_found(place: int, byte: int) -> None:
    """A changed byte gives rows that can be, or Damage."""
    found = Sample()
    found.add(drawn(4, 30))
    arrays = found.pack()
    data = arrays["sample"].copy()
    data[place % len(data)] = byte
    try:
        rows = Sample.unpack({**arrays, "sample": data}).rows()
    except Damage:
        return
    assert np.isin(rows.y, (0, 1)).all() and np.isfinite(rows.values).all()
    assert (np.diff(rows.indptr) >= 0).all() and rows.nnz == len(rows.indices)


@pytest.mark.parametrize(
    "sizes",
    [[0, 0, 30, 2**31], [30], [30, 2**40, 30, 2**31], [31, 5, 31, 2**31], [30, None, 29, 2**31],
     [30, None, 30, 0], [30, None, 30, 2**31 + 1], [30, None, 30, 5]],
)  # fmt: skip
def test_sizes_that_cannot_be(sizes: list[int | None]) -> None:
    found = Sample()
    found.add(drawn(4, 30))
    arrays, nnz = found.pack(), found.rows().nnz
    size = np.array([nnz if value is None else value for value in sizes])
    with pytest.raises(Damage):
        Sample.unpack({**arrays, "sample.size": size})
    with pytest.raises(Damage):
        Sample.unpack({**arrays, "sample.rank": arrays["sample.rank"][1:]})


@given(
    st.integers(0, 10**6), st.floats(-3, 3), st.sampled_from([0.3, 1.0, 3.0]),
    st.sampled_from([0.0, 0.3]), st.booleans(),
)  # fmt: skip
def test_fit(seed: int, shift: float, steep: float, b: float, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    t = 3 * random.normal(size=100)
    y = (random.uniform(size=100) < 1 / (1 + np.exp(-steep * t - shift))).astype(np.int32)
    h = random.uniform(0.5, 2, 100) if weighted else np.ones(100)
    more = np.abs(t).mean() * np.array([0, 1, -1])
    p, held = 1 / (1 + np.exp(-more - b)), np.array([4, 0.5, 0.5])

    def loss(at: np.ndarray) -> float:
        c, d = at
        own = h @ np.logaddexp(0, -np.where(y == 1, 1, -1) * (c * t + d))
        low, high = np.logaddexp(0, -c * more - d), np.logaddexp(0, c * more + d)
        return float(own + held @ (p * low + (1 - p) * high))

    bounds = [(1e-9, 1.0), (-60.0, 60.0)]
    joint = minimize(loss, [0.5, 0.0], bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9})
    alone = minimize(lambda c: loss(np.array([c[0], 0.0])), [0.5], bounds=bounds[:1])
    gained = 2 * (alone.fun - joint.fun)
    if b == 0 and abs(gained - 3.84) < 1e-3:
        return
    want = joint.x if b != 0 or gained > 3.84 else np.array([alone.x[0], 0.0])
    found = fitted(t, y, h if weighted else None, b)
    assert loss(np.array(found)) == pytest.approx(loss(want), abs=1e-5)
    assert found == pytest.approx(tuple(want), abs=0.01)
    assert found[0] <= 1


def test_neighbours_that_are_alike_do_not_make_probabilities_too_steep(some_rows: None) -> None:
    """Rows come in runs of one class; a model that follows the last rows is right on the next one
    of the run, and wrong on others."""
    random = np.random.default_rng(7)
    n = 4000
    y = np.repeat(random.integers(0, 2, n // 20), 20).astype(np.int32)
    x = 0.7 * (2 * y - 1) + random.normal(size=n)
    rows = Rows.from_lists([[(0, float(v)), (1, 1.0)] for v in x], y.tolist())
    model = Model.new("perceptron", {})
    model.learn(rows, Run())
    score, variance, _ = model.scores(rows)
    model.calibrate()

    def loss() -> float:
        p = model.probability(score, variance)
        return float(-np.log(np.where(y == 1, p, 1 - p)).mean())

    with_sample = loss()
    model.sample = Sample()
    model.calibrate()
    assert with_sample < 0.8 * loss()


def test_a_model_that_its_last_rows_have_shifted_has_an_offset(some_rows: None) -> None:
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


@pytest.mark.parametrize("true", [0.5, 1.0, 1.2, 3.0])
def test_a_slope_is_raised_as_far_as_rows_reject_it(true: float) -> None:
    """The bound is below the best factor, by about two standard errors, and at least 1."""
    random = np.random.default_rng(2)
    t = random.normal(size=1000)
    y = (random.random(1000) < 1 / (1 + np.exp(-(true * t + 0.5)))).astype(np.int32)
    found = sample.steeper(t, y, None)
    best = minimize(
        lambda at: np.log1p(np.exp(-(2 * y - 1) * (at[0] * t + at[1]))).sum(), [1.0, 0.0]
    ).x[0]
    assert 1.0 <= found <= max(1.0, best)
    if true == 3.0:
        assert best - 0.5 < found < best - 0.2
    heavy = sample.steeper(t, y, np.full(1000, 100.0))
    assert found <= heavy <= max(1.0, best)


def test_the_slope_of_many_rows_follows_fold_models(some_rows: None) -> None:
    """Columns of different units move the scores of a perceptron with each row, so that those given
    before learning are worse than those of the last model."""
    random = np.random.default_rng(1)
    x = random.normal(size=(14_000, 5))
    y = (x.sum(axis=1) + random.logistic(size=14_000) > 0).astype(np.int32)
    lists = [list(enumerate(row)) for row in ((x + 1.5) * [1, 20, 3, 8, 0.5]).tolist()]
    rows = Rows.from_lists(lists, y.tolist())
    model = Model.new("perceptron", {})
    model.learn(rows.slice(0, 8000), Run())
    model.calibrate()
    score, _, _ = model.scores(rows.slice(8000, 14_000))
    own = y[8000:]

    def loss(at: np.ndarray) -> float:
        return float(np.log1p(np.exp(-(2 * own - 1) * (at[0] * score + at[1]))).mean())

    best = minimize(loss, [model.slope, model.offset], method="Nelder-Mead").fun
    assert loss(np.array([model.slope, model.offset])) < 1.02 * best
