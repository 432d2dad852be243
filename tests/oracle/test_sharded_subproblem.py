"""Groups of features whose columns stay in the shards, against dense loops and one machine."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from shards_in_memory import InMemory
from test_sharded_columns import WEIGHT, X, Y, parts, rows_of

from cwtool.algorithms.multiclass.one_vs_rest import NO_CLASS
from cwtool.algorithms.selection.groups import Groups
from cwtool.algorithms.selection.subproblem import FLOOR, Subproblem
from cwtool.algorithms.shards.sharded_columns import ShardedColumns, TooManyEntries
from cwtool.algorithms.shards.sharded_subproblem import ShardedSubproblem, StayingColumns
from cwtool.algorithms.shards.steps import Sharded
from cwtool.errors import UsageError
from cwtool.model import Model
from cwtool.model.scale import slotted
from cwtool.order import permutation
from cwtool.run import Run

C, MEMBERS = 2.0, [np.array([0, 3, 5]), np.array([1, 2, 8])]


@pytest.mark.parametrize("q", [1, 2])
def test_passes_are_those_of_dense_loops(q: int) -> None:
    """Three passes of three shards over two groups, by loops over rows."""
    S, c, sigma, chosen = 3, 0.1, 0.5, np.concatenate(MEMBERS)
    loss = "hinge" if q == 1 else "squared-hinge"
    model = Model.new("fgm", {"C": C, "loss": loss})
    shards = InMemory(model.algorithm, parts(S, weighted=True), model.index)
    columns = StayingColumns(shards, model.index, np.empty(0, dtype=np.int32), Run())
    groups = Groups.empty(c, 3)
    for B in MEMBERS:
        groups.add(columns.gram(B))
    y = np.where(Y == 1, 1.0, -1.0)
    problem: Any = ShardedSubproblem.empty(
        y, groups, C, q, sigma, lambda: (7, 1), WEIGHT, columns=columns, class_=1
    )
    problem = problem.joined(problem, groups, chosen, np.zeros(6))
    found = problem.metric(problem.start(), 3, 0.0)

    x, U = X[:, chosen], C * WEIGHT if q == 1 else np.full(len(y), np.inf)
    D = np.zeros(len(y)) if q == 1 else 1 / (C * WEIGHT)
    Sigma, P = np.zeros((6, 6)), np.zeros((6, 6))
    for k in (slice(0, 3), slice(3, 6)):
        P[k, k] = np.eye(3) + c * x[:, k].T @ (WEIGHT[:, None] * x[:, k])
        Sigma[k, k] = np.linalg.inv(P[k, k])
    b, share, owner = np.zeros(len(y)), np.array([0.5, 0.5]), np.repeat([0, 1], 3)
    for _ in range(3):
        metric = 1 / (sigma + 1 / np.maximum(share, FLOOR))
        m, T = Sigma @ x.T @ (b * y), metric[owner]
        after = b.copy()
        for at in (range(80), range(80, 160), range(160, 240)):
            own = m.copy()
            for i in (at[j] for j in permutation(80, 7, 1).tolist()):
                Q = S * x[i] @ (T * (Sigma @ x[i])) + D[i]
                step = (1 - y[i] * (T * own) @ x[i] - D[i] * after[i]) / Q if Q else np.inf
                new = np.clip(after[i] + step, 0, U[i])
                own += S * (new - after[i]) * y[i] * (Sigma @ x[i])
                after[i] = new
        b = after
        m = Sigma @ x.T @ (b * y)
        norms = metric * np.sqrt([m[k] @ P[k, k] @ m[k] for k in (slice(0, 3), slice(3, 6))])
        share = norms / norms.sum()
    mu = T * m
    xi = np.maximum(0, 1 - y * (x @ mu))
    primal = sigma / 2 * norms @ norms + norms.sum() ** 2 / 2 + C / q * (WEIGHT * xi**q).sum()
    np.testing.assert_allclose(found.mu, mu, atol=1e-11)
    np.testing.assert_allclose(found.share, share, atol=1e-11)
    assert found.primal == pytest.approx(primal, rel=1e-11)
    kept = np.concatenate([shard.kept["beta 1"] for shard in shards.shards])
    np.testing.assert_allclose(kept[x.any(axis=1)], b[x.any(axis=1)], atol=1e-11)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns do not fit into memory."""

    def refuse(columns: ShardedColumns, entries: int) -> None:
        raise TooManyEntries("the columns that were chosen need more than there is")

    monkeypatch.setattr(ShardedColumns, "_check", refuse)


def dealt(algo: str, S: int, params: dict[str, Any], batches: int = 2) -> Model:
    """A model that has learned batches whose columns do not fit into memory."""
    model = Model.new(algo, {**params, "prior": 1.0})
    for _ in range(batches):
        shards = InMemory(model.algorithm, parts(S, weighted=True), model.index)
        model.state.reserve()
        cast(Sharded, model.algorithm).learn_shards([model.state], [1], shards, Run())
        model.state.numbers["batches"] += 1
        assert "ascend" in shards.asked
    return model


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sbcw": ("sbcw", {"features": 12, "group_size": 4}),
    "sbcw diag": ("sbcw", {"features": 12, "group_size": 4, "score": "diag", "loss": "hinge"}),
    "fgm": ("fgm", {"features": 9, "group_size": 3}),
    "restart": ("fgm", {"features": 9, "group_size": 3, "carry": "restart", "shuffle": False}),
}


@pytest.mark.parametrize("case", CASES)
def test_one_shard_is_one_machine(
    case: str, no_room: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One machine takes the better one of its passes, and shards the last one."""
    monkeypatch.setattr(Subproblem, "goes_back", False)
    algo, params = CASES[case]
    model = dealt(algo, 1, params)
    plain = Model.new(algo, {**params, "prior": 1.0})
    for _ in range(2):
        plain.learn(rows_of(slice(None), weighted=True), Run())
    wanted = plain.weights()
    assert model.weights().ids.tolist() == wanted.ids.tolist()
    np.testing.assert_allclose(model.weights().weight, wanted.weight, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("algo", ["sbcw", "fgm"])
def test_several_classes_and_the_ghost(
    algo: str, no_room: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ghost has no say in the choice of features, but learns their weights."""
    monkeypatch.setattr(Subproblem, "goes_back", False)
    y = np.where(X[:, 0] > 0.3, 2, Y)
    rows = replace(rows_of(slice(None), weighted=True), y=y.astype(np.int32))
    params = {"features": 12, "group_size": 4, "prior": 1.0}
    found = []
    for alone in (True, False):
        algorithm: Any = Model.new(algo, params).algorithm
        ghost = algorithm.new_state()
        states = [ghost, *(algorithm.new_state(ghost.index) for _ in range(3))]
        classes = [NO_CLASS, 0, 1, 2]
        shards = InMemory(algorithm, [rows], ghost.index)
        for state in states:
            state.reserve()
        if alone:
            slots = slotted(rows, ghost.index.known(rows.indices))
            algorithm.learn_batch(states, classes, slots, Run())
        else:
            algorithm.learn_shards(states, classes, shards, Run())
            assert "ascend" in shards.asked
        ids, at = ghost.index.ids_and_slots()
        order = np.argsort(ids)
        found.append([state.table[at[order], :2] for state in states])
    for plain, dealt_ in zip(*found, strict=True):
        np.testing.assert_allclose(dealt_, plain, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("algo", ["sbcw", "fgm"])
def test_many_passes_reach_the_optimum_of_one_machine(algo: str, no_room: None) -> None:
    """All features are chosen, so that the optimum is the same."""
    params = {"features": 40, "group_size": 20, "sigma": 0.1, "C": 1.0, "final_passes": 2000,
              "tol": 1e-6, **({"final_C": "same"} if algo == "sbcw" else {})}  # fmt: skip
    model = dealt(algo, 4, params, batches=1)
    plain = Model.new(algo, {**params, "prior": 1.0})
    plain.learn(rows_of(slice(None), weighted=True), Run())
    np.testing.assert_allclose(model.weights().weight, plain.weights().weight, atol=2e-3)


def test_other_solvers_need_the_columns(no_room: None) -> None:
    with pytest.raises(UsageError, match="the columns that were chosen need"):
        dealt("fgm", 2, {"features": 9, "group_size": 3, "solver": "printed"})
