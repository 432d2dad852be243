"""bcw by the curvature of the loss against dense text-book versions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as generic
from scipy.sparse import csr_array
from shards_in_memory import InMemory

from cwtool.algorithms.batch import curvature, posterior, row_space
from cwtool.algorithms.batch import gram as gram_of
from cwtool.algorithms.bcw import BCW, BcwParams
from cwtool.algorithms.dcd import DCD, DcdParams
from cwtool.data.rows import Rows, SlotRows
from cwtool.model import Model
from cwtool.model.scale import slotted
from cwtool.run import Run
from cwtool.state import State
from cwtool_ext import gram, hinge

SCALE = 0.7
descended = curvature._descended
both = pytest.mark.parametrize("squared", [False, True])


def slow_loss(m: Any, squared: bool) -> tuple[Any, Any, Any]:
    """The loss at the margins m, minus its derivative, and its second derivative."""
    xi = np.maximum(0, 1 - m)
    far = (xi > 1) & (not squared)
    loss = np.where(far, xi - 0.5, xi**2 / 2)
    return loss, np.where(far, 1, xi), ((xi > 0) & ~far).astype(float)


def slow_optimum(x: Any, y: Any, cost: Any, squared: bool, mu0: Any, P0: Any) -> Any:
    """The least 1/2 (mu - mu0)'P0(mu - mu0) + sum of cost l, by a generic solver, and the
    precision there."""

    def value(mu: Any) -> tuple[float, Any]:
        loss, pull, _ = slow_loss(y * (x @ mu), squared)
        away = P0 @ (mu - mu0)
        return (mu - mu0) @ away / 2 + cost @ loss, away - x.T @ (cost * pull * y)

    found = generic(value, mu0, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    curved = slow_loss(y * (x @ found.x), squared)[2]
    return found.x, P0 + (x.T * (cost * curved)) @ x, found.fun


def made(seed: int, n: int, p: int, *, weighted: bool = False) -> tuple[Any, SlotRows]:
    """Rows with some zeros, and one without entries, as a matrix and as SlotRows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.6)
    x[0], x[1] = 1, 0
    rows = Rows.from_csr(csr_array(x), x @ rng.normal(size=p) + rng.normal(size=n) > 0)
    h = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    return SCALE * x, SlotRows(rows.indptr, rows.indices, rows.values, rows.y, h, SCALE)


def costs(rows: SlotRows, C: float) -> Any:
    return C * (np.ones(rows.n_rows) if rows.weight is None else rows.weight)


def learned(parts: list[SlotRows], **params: Any) -> tuple[BCW, State]:
    algorithm = BCW(BcwParams(prior=1.0, **params))
    state = algorithm.new_state()
    for part in parts:
        state.index.observe(part.indices)
        state.reserve()
        algorithm.learn(state, part, part.order, Run())
    return algorithm, state


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optima to rounding errors, so that results can be compared."""
    monkeypatch.setattr(curvature, "TOLERANCE", 1e-13)
    monkeypatch.setattr(posterior, "TOLERANCE", 1e-13)


@both
@pytest.mark.parametrize("alike", [False, True])
def test_losses_and_their_derivatives(squared: bool, alike: bool) -> None:
    x, rows = made(1, 60, 7, weighted=True)
    if alike:
        x = np.where(x != 0, SCALE * -1.3, 0)
        rows = replace(rows, values=np.full(rows.nnz, -1.3))
    y, cost, mu = rows.signs(), costs(rows, 0.3), np.linspace(-1, 1, 7)
    loss, pull, curved = slow_loss(y * (x @ mu), squared)
    parts = np.where(curved == 0, np.where(pull > 0, hinge.STEEP, hinge.FLAT), hinge.CURVED)
    before = np.random.default_rng(2).integers(0, 3, 60).astype(np.int8)
    expected = np.choose(before, [np.zeros(60), 1 - y * (x @ mu), np.ones(60)])
    pulled, score, pulls, found = np.ones(7), np.full(60, 9.0), np.empty(60), np.ones(60)
    assert 0 < curved.sum() < 60
    for some in (np.ones(60, dtype=bool), np.arange(60) % 7 < 2):
        bent, numbers = np.full(60, 5, dtype=np.int8), np.flatnonzero(some)
        each = rows.csr, alike, y, cost, squared, numbers
        total = hinge.of_rows(*each, mu, np.zeros(60, dtype=np.int8), pulled, score, bent)
        assert total == pytest.approx(cost[some] @ loss[some], rel=1e-13)
        np.testing.assert_allclose(pulled, x.T @ (some * cost * pull * y), atol=1e-12)
        assert hinge.of_rows(*each, mu, before, pulled, score, bent) == total
        beyond = some * cost * (pull - expected) * y
        np.testing.assert_allclose(pulled, x.T @ beyond, atol=1e-12)
        np.testing.assert_allclose(score[some], (x @ mu)[some], atol=1e-13)
        np.testing.assert_array_equal(bent, np.where(some, parts, 5))
    total = hinge.of_scores(x @ mu, y, cost, squared, pulls, found)
    assert total == pytest.approx(cost @ loss, rel=1e-13)
    np.testing.assert_allclose(pulls, cost * pull * y, atol=1e-14)
    np.testing.assert_array_equal(found, curved)


@both
@pytest.mark.parametrize("stride", [1, 3])
def test_a_step_that_leads_too_far_is_shortened_to_the_minimum(squared: bool, stride: int) -> None:
    rng = np.random.default_rng(11)
    f, cost, y = rng.normal(size=90), rng.uniform(0.5, 2, 90), rng.choice([-1.0, 1.0], 90)
    g = f + 5 * y + rng.normal(size=90)
    slope, bend, some = -3.0, 40.0, np.arange(0, 90, stride)

    def derivative(t: float) -> float:
        q = (g - f)[some]
        pull = slow_loss((y * (f + t * (g - f)))[some], squared)[1]
        return float(slope + bend * t - (cost * y)[some] @ (pull * q))

    assert derivative(0) < 0 < derivative(1)
    t = hinge.shorter(f, g, y, cost, squared, some, slope, bend, 1e-6)
    assert 0 < t < 1
    assert abs(derivative(t)) <= 2e-6


@pytest.mark.parametrize("scattered", [0.0, 1e9])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_added_to_a_matrix_and_subtracted(
    monkeypatch: pytest.MonkeyPatch, scattered: float, weighted: bool
) -> None:
    monkeypatch.setattr(gram_of, "SCATTERED", scattered)
    x, rows = made(12, 70, 9, weighted=weighted)
    mixed = np.random.default_rng(0).permutation(9).astype(np.int32)
    rows = replace(rows, indices=mixed[rows.indices])
    x[:, mixed] = x.copy()
    counts = np.random.default_rng(1).integers(-1, 2, 70).astype(np.int8)
    found, products = np.tril(np.ones((9, 9))), gram_of.Products(rows, 9, 1)
    products.add(found, counts)
    np.testing.assert_allclose(
        np.tril(found), np.tril(1 + (x.T * (counts * costs(rows, 1))) @ x), atol=1e-12
    )


@pytest.mark.parametrize("heavy", [[], [4], [0, 2, 3, 8], list(range(9)), list(range(0, 130, 2))])
@pytest.mark.parametrize("n", [50, 900, 2000])
def test_tiles_multiply_heavy_columns(heavy: list[int], n: int) -> None:
    """In no tile, in parts of several tiles and in several times as many, of one slab and of two.
    Of the rows some are added and some subtracted. A second time the sums begin at 0."""
    width = 9 if len(heavy) < 10 else 130
    x, rows = made(13, n, width, weighted=True)
    pairs = gram.PairSums(rows.csr, width, costs(rows, 1), np.array(heavy, dtype=np.int32))
    signs = np.random.default_rng(2).integers(-1, 2, n).astype(np.int8)
    found = np.tril(np.ones((width, width)))
    for _ in range(2):
        pairs.add(signs, found)
    expected = 1 + 2 * (x.T * (signs * costs(rows, 1))) @ x
    np.testing.assert_allclose(found, np.tril(expected), atol=1e-10)


def test_heavy_columns_ascend() -> None:
    _, rows = made(13, 20, 9)
    for wrong in ([3, 1], [2, 2], [-1], [9]):
        with pytest.raises(ValueError, match="heavy columns ascend"):
            columns = np.array(wrong, dtype=np.int32)
            gram.PairSums(rows.csr, 9, costs(rows, 1), columns)


def test_a_matrix_or_signs_that_do_not_fit_the_pairs_are_refused() -> None:
    _, rows = made(13, 20, 9)
    pairs = gram.PairSums(rows.csr, 9, costs(rows, 1), np.empty(0, dtype=np.int32))
    signs = np.ones(20, dtype=np.int8)
    with pytest.raises(ValueError, match="no place for 9 columns"):
        pairs.add(signs, np.zeros((9, 8)))
    with pytest.raises(ValueError, match="signs has 19 entries for 20 rows"):
        pairs.add(signs[1:], np.zeros((9, 9)))


def test_frequent_columns_of_long_rows_are_heavy() -> None:
    """Of 400 columns, 100 are in almost every row and the others in few."""
    share = np.where(np.arange(400) % 4 == 1, 0.9, 0.02)
    x = np.random.default_rng(3).random((2000, 400)) < share
    rows = Rows.from_csr(csr_array(x.astype(float)), np.ones(2000))
    assert gram_of.heavy_columns(slotted(rows, rows.indices), 400).tolist() == list(
        range(1, 400, 4)
    )
    short = Rows.from_csr(csr_array(x[:, :100].astype(float)), np.ones(2000))
    assert len(gram_of.heavy_columns(slotted(short, short.indices), 100)) == 0


@both
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [(80,), (12, 9), (12, 9, 60), (80, 50)])
def test_batches_are_optima_with_the_curvature_of_those_before(
    exact: None, sizes: tuple[int, ...], squared: bool, weighted: bool
) -> None:
    """By rows, by pairs of features, and from the one to the other."""
    p, C = 30, 0.8
    parts = [made(seed, n, p, weighted=weighted) for seed, n in enumerate(sizes)]
    loss = "squared-hinge" if squared else "hinge"
    algorithm, state = learned([rows for _, rows in parts], C=C, loss=loss)
    mu, P = np.zeros(p), np.eye(p)
    for x, rows in parts:
        mu, P, _ = slow_optimum(x, rows.signs(), costs(rows, C), squared, mu, P)
    np.testing.assert_allclose(state.table[:p, 0], mu, atol=1e-5)
    x, rows = parts[0]
    variance = np.einsum("ij,ji->i", x, np.linalg.solve(P, x.T))
    got = algorithm.scores(state, rows, np.empty(0), Run()).variance
    np.testing.assert_allclose(got, variance, rtol=1e-6, atol=1e-9)
    assert (row_space.count(state) > 0) == (sum(sizes) < p)
    assert ("curvature" in state.squares) == (sum(sizes) >= p)


@both
@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("long", [0, 32])
def test_many_rows_begin_with_a_sample(
    monkeypatch: pytest.MonkeyPatch, squared: bool, C: float, weighted: bool, long: int
) -> None:
    """Long rows also with its curvature."""
    monkeypatch.setattr(gram_of, "LONG", long)
    x, rows = made(5, 3000, 9, weighted=weighted)
    assert rows.n_rows >= curvature.FEW * curvature.FEWEST
    _, state = learned([rows], C=C, loss="squared-hinge" if squared else "hinge")
    y, cost, mu = rows.signs(), costs(rows, C), state.table[:9, 0]
    _, _, least = slow_optimum(x, y, cost, squared, np.zeros(9), np.eye(9))
    loss, _, curved = slow_loss(y * (x @ mu), squared)
    assert mu @ mu / 2 + cost @ loss <= least * (1 + curvature.TOLERANCE)
    expected = (x.T * (cost / C * curved)) @ x
    np.testing.assert_allclose(np.tril(state.squares["curvature"]), np.tril(expected), atol=1e-9)


@both
@pytest.mark.parametrize(("C", "passes"), [(0.001, 0), (0.02, 1), (1.0, 2), (100.0, 0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_with_a_rare_class_begin_with_descent(
    monkeypatch: pytest.MonkeyPatch, squared: bool, C: float, passes: int, weighted: bool
) -> None:
    begun: list[Any] = []

    def noted(whole: Any, square: Any, made: int) -> Any:
        assert made == passes
        begun.append(descended(whole, square, made))
        return begun[-1]

    monkeypatch.setattr(curvature, "_descended", noted)
    x, rows = made(5, 3000, 9, weighted=weighted)
    x[:, 0] = SCALE
    score = x @ np.arange(9)
    one = Rows.from_csr(csr_array(x / SCALE), score > np.quantile(score, 0.99), rows.weight)
    rows = SlotRows(one.indptr, one.indices, one.values, one.y, one.weight, SCALE)
    _, state = learned([rows], C=C, loss="squared-hinge" if squared else "hinge")
    y, cost, mu = rows.signs(), costs(rows, C), state.table[:9, 0]
    _, _, least = slow_optimum(x, y, cost, squared, np.zeros(9), np.eye(9))

    def value(mu: Any) -> float:
        return float(mu @ mu / 2 + cost @ slow_loss(y * (x @ mu), squared)[0])

    assert value(mu) <= least * (1 + curvature.TOLERANCE)
    assert len(begun) == (passes > 0)
    assert all(value(start) < value(np.zeros(9)) / 2 for start in begun)


@both
def test_the_rounding_of_long_rows_is_not_left_when_they_are_subtracted(squared: bool) -> None:
    """Three rows that are 10^7 times as long as the others are curved at first, and then not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 10))
    score = x @ rng.normal(size=10)
    positive = score + rng.normal(size=600) > 0
    positive[[3, 10, 17]] = score[[3, 10, 17]] > 0
    x[[3, 10, 17]] *= 1e7
    rows = Rows.from_csr(csr_array(x), positive)
    _, state = learned([slotted(rows, rows.indices)], loss="squared-hinge" if squared else "hinge")
    margins = np.where(positive, 1, -1) * (x @ state.table[:10, 0])
    curved = slow_loss(margins, squared)[2]
    expected = (x.T * curved) @ x
    assert curved[[3, 10, 17]].sum() == 0
    np.testing.assert_allclose(np.tril(state.squares["curvature"]), np.tril(expected), atol=1e-9)


def test_the_squared_hinge_loss_is_a_support_vector_machine(exact: None) -> None:
    _, rows = made(6, 200, 8)
    _, state = learned([rows], C=0.5, loss="squared-hinge")
    machine = DCD(DcdParams(C=0.5, loss="squared-hinge", tol=1e-13, prior=1.0))
    other = machine.new_state()
    other.index.observe(rows.indices)
    other.reserve()
    machine.learn(other, rows, rows.order, Run())
    np.testing.assert_allclose(state.table[:8, 0], other.table[:8, 0], atol=1e-7)


def test_shards_find_the_same_optimum(exact: None) -> None:
    given = [made(seed, 40, 6)[1] for seed in (7, 8, 9)]
    parts = [Rows(r.indptr, r.indices, r.values, r.y) for r in given]
    model = Model.new("bcw", {"prior": 1.0})
    model.index.observe(np.arange(6, dtype=np.int32))
    model.state.reserve()
    shards = InMemory(model.algorithm, parts, model.index)
    model.algorithm.learn_shards([model.state], [1], shards, Run())
    _, whole = learned([shards.head])
    np.testing.assert_allclose(model.state.table[:6, 0], whole.table[:6, 0], atol=1e-6)
    np.testing.assert_allclose(
        np.tril(model.state.squares["curvature"]), np.tril(whole.squares["curvature"]), atol=1e-9
    )
    assert {"losses_of", "curved_gram_of"} == set(shards.asked)


@pytest.mark.parametrize("n", [150, 12])  # by pairs of features, and by rows
@both
def test_scores_without_the_row_itself(squared: bool, n: int) -> None:
    """Against the optimum without each row. With the squared hinge loss and a small C no row passes
    a corner of the loss when another one is left out, with the hinge loss some do."""
    x, rows = made(11, n, 20, weighted=True)
    loss, C = ("squared-hinge", 0.01) if squared else ("hinge", 0.3)
    algorithm, state = learned([rows], C=C, loss=loss)
    y, cost, wanted, variance = rows.signs(1), costs(rows, C), np.empty(n), np.empty(n)
    for i in range(n):
        some = np.arange(n) != i
        each = x[some], y[some], cost[some], squared, np.zeros(20), np.eye(20)
        mu, precision, _ = slow_optimum(*each)
        wanted[i], variance[i] = x[i] @ mu, x[i] @ np.linalg.solve(precision, x[i])
    found = algorithm.left_out(state, rows, Run())
    changed = algorithm.scores(state, rows, np.empty(0), Run()).score - wanted
    away = np.abs(found.score - wanted).mean() / np.abs(changed).mean()
    assert away < (1e-6 if squared else 0.2)
    if squared:
        np.testing.assert_allclose(found.variance, variance, rtol=1e-6, atol=1e-12)


def test_rows_too_long_to_learn_keep_their_score() -> None:
    algorithm, state = learned([made(12, 60, 5)[1]])
    rows = made(13, 4, 5)[1]
    rows = replace(rows, values=rows.values * 1e60)
    found = algorithm.left_out(state, rows, Run())
    assert found.score.tolist() == algorithm.scores(state, rows, np.empty(0), Run()).score.tolist()
