"""Dual coordinate ascent on shards against frozen vectors, and against plain loops."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shards_in_memory import InMemory

from cwtool.algorithms.batch import metric
from cwtool.algorithms.shards import cocoa
from cwtool.data.rows import Rows
from cwtool.model import Model
from cwtool.run import Run

VECTORS = json.loads((Path(__file__).parent / "vectors" / "scale-out" / "merge.json").read_text())
X, Y = np.array(VECTORS["cocoa"]["X"]), np.array(VECTORS["cocoa"]["y"])
CUTS = VECTORS["cocoa"]["cuts"]
CASE = {"C": 1.0, "q": 1}


def rows_of(X: Any, y: Any) -> Rows:
    listed = [[(j, float(x)) for j, x in enumerate(row)] for row in X]
    return Rows.from_lists(listed, [int(one > 0) for one in y])


def parts() -> list[Rows]:
    return [rows_of(X[a:b], Y[a:b]) for a, b in CUTS]


def model_of(algo: str, case: dict[str, Any], **params: Any) -> Model:
    loss = "hinge" if case["q"] == 1 else "squared-hinge"
    model = Model.new(algo, {"C": case["C"], "loss": loss, "prior": 1.0, **params})
    model.index.observe(np.arange(X.shape[1], dtype=np.int32))
    model.state.reserve()
    return model


@pytest.mark.parametrize("case", VECTORS["cocoa"]["cases"])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_rounds(case: dict[str, Any], rounds: int) -> None:
    model = model_of("dcd", case)
    shards = InMemory(model.algorithm, parts(), model.index, rounds)
    if case["metric"] == "identity":
        given = {"classes": np.array([1]), "passes": np.array([case["passes"]])}
        total = cocoa.Totals.zero(shards, 1)
        for _ in range(rounds):
            own = [{"mu": total.u[:, at]} for at in total.places]
            total.add(shards.ask(cocoa.descend, own, given))
        mu = total.u[0]
    else:
        inverse = metric.Covariance(X.T @ X, X.shape[1], 0.01, 1)
        starts = np.zeros((1, X.shape[1]))
        mu = cocoa.rounds_in_metric(inverse, starts, [1], case["passes"], shards)[0][0]
    want, tolerance = case["rounds"][rounds - 1], VECTORS["cocoa"]["tolerance"]
    np.testing.assert_allclose(mu, want["mean"], atol=tolerance)
    a = np.concatenate([shard.kept["a"][0] for shard in shards.shards])
    there = X.any(axis=1)  # the dual variable of a row without entries changes nothing
    np.testing.assert_allclose(a[there], np.array(want["a"])[there], atol=tolerance)


def test_the_sum_of_grams() -> None:
    given = np.array(VECTORS["gram"]["parts"])
    model = model_of("bcw", CASE)
    shards = InMemory(model.algorithm, parts(), model.index)
    gram = np.zeros(given[0].shape)
    cocoa.add_grams(gram, shards)
    np.testing.assert_allclose(gram, np.tril(given.sum(axis=0)), rtol=1e-13, atol=1e-13)


def planted(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.7)
    return X, np.where(X @ rng.normal(size=6) + 0.5 * rng.normal(size=n) > 0, 1, -1)


def dealt(model: Model, X: Any, y: Any, S: int, **settings: Any) -> InMemory:
    """The model learns these rows in shards."""
    n = len(y)
    cuts = [
        rows_of(X[n * k // S : n * (k + 1) // S], y[n * k // S : n * (k + 1) // S])
        for k in range(S)
    ]
    shards = InMemory(model.algorithm, cuts, model.index, settings.get("rounds", 0))
    shards.gap = settings.get("gap", shards.gap)
    model.state.reserve()
    model.algorithm.learn_shards([model.state], [1], shards, Run())  # type: ignore[attr-defined]
    return shards


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("S", [5, *(pytest.param(S, marks=pytest.mark.slow) for S in (16, 64))])
def test_dcd_reaches_the_objective_of_one_machine(loss: str, S: int) -> None:
    X, y = planted(300, 1)
    case = {"C": 0.5, "q": 1 if loss == "hinge" else 2}
    old = np.array([0.3, -0.2, 0.1, 0.0, 0.4, 0.1])  # of an earlier batch

    def objective(w: Any) -> float:
        xi = np.maximum(0, 1 - y * (X @ w))
        u = w - old
        return float(u @ u / 2 + case["C"] / case["q"] * (xi ** case["q"]).sum())

    model, plain = model_of("dcd", case), model_of("dcd", case, tol=1e-8)
    for one in (model, plain):
        one.state.table[:6, 0] = old
    plain.learn(rows_of(X, y), Run())
    dealt(model, X, y, S)
    best = objective(plain.state.table[:6, 0])
    assert best <= objective(model.state.table[:6, 0]) <= best * (1 + 1e-3)


def test_dcd_goes_on_with_momentum() -> None:
    """Three rounds of two classes of which one starts anew, by dense loops."""
    X, y = planted(40, 4)
    S, passes, U = 2, 5, 1.0
    model = model_of("dcd", CASE)
    shards = InMemory(
        model.algorithm, [rows_of(X[:20], y[:20]), rows_of(X[20:], y[20:])], model.index
    )
    total = cocoa.Totals.zero(shards, 2)
    there = X.any(axis=1)
    start, ended, mu = np.zeros((2, 40)), np.zeros((2, 40)), np.zeros((2, 6))
    signs = np.array([y, -y])
    for momentum in ([0.0, 0.0], [0.3, 0.0], [0.5, 0.4]):
        given = {"classes": np.array([1, 0]), "passes": np.array([passes]),
                 "momentum": np.array(momentum)}  # fmt: skip
        parts = shards.ask(cocoa.descend, [{"mu": total.u[:, at]} for at in total.places], given)
        total.add(parts)
        for k in range(2):
            a = start[k].copy()
            for part in (range(20), range(20, 40)):
                own = mu[k].copy()
                for i in [i for _ in range(passes) for i in part if there[i]]:
                    v = S * (X[i] @ X[i])
                    b = np.clip(a[i] - (signs[k, i] * (own @ X[i]) - 1) / v, 0, U)
                    own += S * (b - a[i]) * signs[k, i] * X[i]
                    a[i] = b
            start[k] = np.clip(a + momentum[k] * (a - ended[k]), 0, U)
            ended[k], mu[k] = a, X.T @ (start[k] * signs[k])
        np.testing.assert_allclose(total.u, mu[:, total.slots], atol=1e-12)
        want = start[:, there].sum(axis=1) - (mu**2).sum(axis=1) / 2
        np.testing.assert_allclose(cocoa.lower(np.zeros((2, 6)), total.u, parts), want, atol=1e-10)


def test_momentum_starts_anew_where_the_dual_has_fallen() -> None:
    momentum = cocoa.Momentum(2)
    assert momentum.length.tolist() == [0, 0]
    momentum.heed(np.array([2.0, 2.0]))
    momentum.heed(np.array([3.0, 1.0]))
    assert momentum.t[1] == 1
    assert momentum.length[0] > momentum.length[1] == 0


def test_dcd_stops_at_the_gap_or_after_its_rounds() -> None:
    X, y = planted(300, 2)
    case = {"C": 1.0, "q": 1}
    loose, tight, cut = (model_of("dcd", case) for _ in range(3))
    few = len(dealt(loose, X, y, 4, gap=0.05).asked)
    many = len(dealt(tight, X, y, 4, gap=0.01).asked)
    assert few < many < 100
    assert len(dealt(cut, X, y, 4, gap=1e-9, rounds=3).asked) == 4  # the last one measures


def test_bcw_has_sums_and_comes_near_to_one_machine() -> None:
    X, y = planted(400, 3)
    given = {"precision_divisor": 100, "average": False}
    model, plain = model_of("bcw", CASE, **given), model_of("bcw", CASE, batch_passes=50, **given)
    shards = dealt(model, X, y, 4, rounds=60)
    plain.learn(rows_of(X, y), Run())
    assert shards.asked == ["gram_of", *["descend_in_metric"] * 60]
    gram = np.tril(X.T @ X)
    np.testing.assert_allclose(model.state.squares["gram"], gram, rtol=1e-12, atol=1e-12)
    b = sum(
        s.sums(s.kept["a"][0] * s.rows.signs())[np.argsort(at)]
        for s, at in zip(shards.shards, shards.slots, strict=True)
    )
    np.testing.assert_allclose(model.state.table[:6, 1], b, atol=1e-10)

    def objective(one: Model) -> float:
        mu = one.state.table[:6, 0]
        P = np.eye(6) + X.T @ X / 100
        return float(mu @ P @ mu / 2 + np.maximum(0, 1 - y * (X @ mu)).sum())

    assert objective(model) == pytest.approx(objective(plain), rel=2e-3)
    usual = model_of("bcw", CASE, **given)
    assert len(dealt(usual, X, y, 4).asked) == 1 + 3
    assert len(dealt(usual, X, y, 64).asked) == 1 + 5


def test_bcw_with_fewer_rows_than_features_is_that_of_one_machine() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 50)) * (rng.random((30, 50)) < 0.3)
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    model, plain = (Model.new("bcw", {"prior": 1.0}) for _ in range(2))
    for one in (model, plain):
        one.index.observe(np.arange(50, dtype=np.int32))
        one.state.reserve()
    plain.learn(rows_of(X, y), Run())
    assert dealt(model, X, y, 3).asked == ["stored"]
    assert model.state.table.tobytes() == plain.state.table.tobytes()
    for name, array in plain.state.arrays.items():
        np.testing.assert_array_equal(model.state.arrays[name], array)
