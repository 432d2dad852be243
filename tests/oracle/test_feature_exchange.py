"""Exchanges of chosen features against solutions of the quadratic problems, and what they do."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from few_weights import learned_batches
from group_cases import mean_of, random_data, sbcw
from scipy.sparse import csr_matrix
from shards_in_memory import InMemory
from test_sharded_columns import WEIGHT, X, Y, parts

from cwtool.algorithms import sbcw as module
from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.sbcw import SBCW
from cwtool.algorithms.selection import exchange, subproblem
from cwtool.algorithms.selection.exchange import Trial
from cwtool.algorithms.selection.final_weights import Errors, price
from cwtool.algorithms.selection.groups import Groups
from cwtool.algorithms.selection.subproblem import Subproblem
from cwtool.algorithms.shards.sharded_subproblem import ShardedSubproblem, StayingColumns
from cwtool.model import Model
from cwtool.run import Run

AUTO: dict[str, Any] = {"final_C": "auto"}


class Dense:
    """Rows as a trial takes them."""

    C = 2.0

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        part = csr_matrix(x)
        arrays = part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data
        self.given: Any = Matrix(*arrays), y, None

    def errors(self, w: np.ndarray) -> Errors:
        return Errors.over(*self.given, w)


def trial_over(x: np.ndarray, y: np.ndarray, p: int, seed: int) -> tuple[Trial, np.ndarray]:
    """A trial of the first p columns against the others, and its penalty of all columns."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p))
    L, own = np.eye(p) + root @ root.T, 1 + rng.random(x.shape[1] - p)
    side: Any = SimpleNamespace(
        chosen=np.arange(p), final_factor=3.0, final_penalty=L,
        found=SimpleNamespace(mu=0.1 * rng.normal(size=p)),
    )  # fmt: skip
    rows: Any = Dense(x, y)
    whole = np.diag(np.append(np.zeros(p), own))
    whole[:p, :p] = L
    return Trial(side, rows, own), whole


@pytest.mark.parametrize("seed", range(3))
def test_the_gain_is_that_of_both_solutions(seed: int) -> None:
    """The decrease of the quadratic problem over the rows with an error, in units of the
    variance."""
    x, y = random_data(seed)
    trial, P = trial_over(x, y, 4, seed)
    wrong = y * (x @ trial.w) < 1
    H = 6 * x[wrong].T @ x[wrong]
    s = 6 * x[wrong].T @ y[wrong]

    def least(at: list[int]) -> float:
        both = np.ix_(at, at)
        return float(-s[at] @ np.linalg.solve((P + H)[both], s[at]))

    found = trial.gains(np.arange(4), np.arange(4, 12))
    both = np.ix_(range(4), range(4))
    freedom = np.trace(np.linalg.solve((P + H)[both], H[both]))
    variance = 6 * np.square(1 - y * (x @ trial.w))[wrong].sum() / (wrong.sum() - freedom)
    for i in range(4):
        kept = [k for k in range(4) if k != i]
        for j in range(4, 12):
            wanted = (least([0, 1, 2, 3]) - least([*kept, j])) / variance
            assert found[i, j - 4] == pytest.approx(wanted, rel=1e-9)


def test_a_move_lowers_the_objective_or_is_not_made() -> None:
    x, y = random_data(3)
    trial, P = trial_over(x, y, 4, 3)
    before = trial.w.copy()

    def objective(w: np.ndarray) -> float:
        return float(w @ P @ w + 6 * np.square(np.maximum(0, 1 - y * (x @ w))).sum())

    at = np.array([0, 1, 7, 3])
    assert trial.move(2, at)
    assert trial.w[2] == 0 and trial.w[7] != 0
    assert objective(trial.w) < objective(before)
    np.testing.assert_allclose(trial.errors.matrix, Dense(x, y).errors(trial.w).matrix)
    for _ in range(50):  # to the optimum
        trial.move(2, at)
    best = trial.w.copy()
    assert not trial.move(7, np.array([0, 1, 3]))
    assert np.array_equal(trial.w, best)


def decoy(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Column 0 is the best one alone, and columns 1 and 2 are the best two."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, n))
    x = np.column_stack([a + b + 0.3 * rng.normal(size=n), a, b, rng.normal(size=(n, 5))])
    return x, np.where(a + b > 0, 1.0, -1.0)


def chosen_of(algorithm: SBCW, *batches: tuple[np.ndarray, np.ndarray]) -> list[int]:
    return sorted(algorithm.chosen(learned_batches(algorithm, *batches)).tolist())


def test_a_feature_that_others_replace_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = decoy()
    algorithm = sbcw(**AUTO, features=2)
    assert chosen_of(algorithm, (x, y)) == [1, 2]
    state = learned_batches(algorithm, (x, y))
    mean = mean_of(state, 8)
    assert np.flatnonzero(mean).tolist() == [1, 2]
    assert np.mean(np.sign(x @ mean) != y) < 0.02
    squares = (x[:, algorithm.chosen(state)] ** 2).sum(axis=0)
    assert state.arrays["gram"].ravel() == pytest.approx(squares)
    monkeypatch.setattr(module, "FEW", 1)
    assert 0 in chosen_of(algorithm, (x, y))
    for other in ({"final_C": "same"}, {**AUTO, "score": "diag"}):
        assert 0 in chosen_of(sbcw(**other, features=2), (x, y))


def test_features_of_earlier_batches_stay() -> None:
    x, y = decoy()
    early = x[:100] * (np.arange(8) == 0), y[:100]  # which have column 0 alone
    algorithm = sbcw(**AUTO, features=2)
    assert 0 in chosen_of(algorithm, early, (x, y))
    assert chosen_of(sbcw(**AUTO, features=2, carry="restart"), early, (x, y)) == [1, 2]


def test_exchanges_have_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of columns without any use many gain something, and few enough."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(200, 40)), np.where(rng.random(200) < 0.5, 1.0, -1.0)
    asked = []

    def free(features: int, candidates: int) -> float:
        asked.append((features, candidates))
        return 0.0

    monkeypatch.setattr(module, "FEW", 0)
    plain = chosen_of(sbcw(**AUTO, features=8), (x, y))
    monkeypatch.undo()
    priced = chosen_of(sbcw(**AUTO, features=8), (x, y))
    monkeypatch.setattr(exchange, "price", free)
    cheap = chosen_of(sbcw(**AUTO, features=8), (x, y))
    assert set(asked) == {(8, 40)}
    assert price(8, 40) == pytest.approx(2 + np.log(5))
    assert len(set(plain) - set(priced)) < len(set(plain) - set(cheap))


def test_a_sample_of_many_rows_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subproblem, "SAMPLE", 200)
    seen = []
    plain = Subproblem.beside

    def noted(self: Subproblem, *given: Any, **more: Any) -> Subproblem:
        found = plain(self, *given, **more)
        seen.append((len(found.y), found.C / self.C))
        return found

    monkeypatch.setattr(Subproblem, "beside", noted)
    assert chosen_of(sbcw(**AUTO, features=2), decoy()) == [1, 2]
    assert seen == [(200, 1.5)]


def test_rows_in_shards_have_the_same_errors() -> None:
    model = Model.new("sbcw", {})
    shards = InMemory(model.algorithm, parts(3, weighted=True), model.index)
    columns = StayingColumns(shards, model.index, np.empty(0, dtype=np.int32), Run())
    groups, chosen, some = Groups.empty(0.1, 2), np.array([1, 3]), np.array([0, 6, 7])
    groups.add(columns.gram(chosen))
    y = np.where(Y == 1, 1.0, -1.0)
    problem: Any = ShardedSubproblem.empty(
        y, groups, 2.0, 2, 0.0, lambda: (7, 1), WEIGHT, columns=columns, class_=1
    )
    problem = problem.joined(problem, groups, chosen, np.zeros(2))
    w = np.array([0.3, -0.2, 0.0, 0.1, 0.0])
    x = csr_matrix(X[:, [1, 3, 0, 6, 7]])
    rows = Matrix(x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data)
    wide = problem.beside(columns, some)
    wanted = Errors.over(rows, y, WEIGHT, w).matrix
    np.testing.assert_allclose(wide.errors(w).matrix, wanted, rtol=1e-12, atol=1e-12)
    assert wide.C == problem.C
