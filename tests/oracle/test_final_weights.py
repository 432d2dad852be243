"""Final weights of SBCW against dense loops, over one batch and several."""

import numpy as np
import pytest
from few_weights import learn, learned_batches
from group_cases import mean_of, random_data, sbcw
from scipy.sparse import csr_matrix
from slow_batch import slow_final

from cwtool.algorithms import sbcw as module
from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.selection import final_weights as module_of_weights
from cwtool.algorithms.selection.final_weights import Errors, final_weights
from cwtool.errors import Damage

GIVEN = {"C": 2.0, "precision_divisor": 5.0, "features": 6, "group_size": 2}
SAME, AUTO = sbcw(**GIVEN), sbcw(**GIVEN, final_C="auto")


def noisy(seed: int, n: int = 150, d: int = 30) -> tuple[np.ndarray, np.ndarray]:
    x, y = random_data(seed, n=n, d=d)
    y[::7] *= -1
    return x, y


def penalty_of(state, chosen: np.ndarray) -> np.ndarray:
    """P_k / d_k of all groups."""
    groups = SAME.groups(state)
    L = np.zeros((len(chosen), len(chosen)))
    for k, at in groups.parts():
        n = groups.sizes[k]
        L[at, at] = (np.eye(n) + 0.4 * groups.gram[at, :n]) / groups.share[k]
    return L


def matrix_of(rows) -> np.ndarray:
    return sum(np.outer(np.append(x, y), np.append(x, y)) for x, y in rows)


@pytest.mark.parametrize("seed", range(5))
def test_one_batch(seed: int) -> None:
    x, y = noisy(seed)
    plain, state = (learned_batches(algorithm, (x, y)) for algorithm in (SAME, AUTO))
    chosen = AUTO.chosen(state)
    assert chosen.tolist() == SAME.chosen(plain).tolist()
    mu, wrong = slow_final(
        x[:, chosen], y, mean_of(plain, 30)[chosen], penalty_of(plain, chosen), 2.0, 30
    )
    np.testing.assert_allclose(mean_of(state, 30)[chosen], mu, atol=1e-10)
    np.testing.assert_allclose(state.arrays["errors"], matrix_of(wrong), atol=1e-10)
    assert not np.allclose(mean_of(plain, 30)[chosen], mu, atol=1e-3)


def test_earlier_batches_count_by_their_rows_with_an_error() -> None:
    """Also where a feature was not known to them."""
    x, y = noisy(7)
    first, second = (x[:80].copy(), y[:80]), (x[80:], y[80:])
    first[0][:, 4:] = 0
    plain, state = (learned_batches(a, first, second) for a in (SAME, AUTO))
    before, half = (learned_batches(a, first) for a in (SAME, AUTO))
    early, chosen = AUTO.chosen(half), AUTO.chosen(state)
    assert len(early) == 4
    assert chosen[:4].tolist() == early.tolist()
    _, wrong = slow_final(
        first[0][:, early], y[:80], mean_of(before, 30)[early], penalty_of(before, early), 2.0, 30
    )
    np.testing.assert_allclose(half.arrays["errors"], matrix_of(wrong), atol=1e-10)
    past = [(np.append(row, [0, 0]), sign) for row, sign in wrong]
    mu, wrong = slow_final(
        x[80:][:, chosen], y[80:], mean_of(plain, 30)[chosen], penalty_of(plain, chosen), 2.0, 30,
        past=[tuple(np.array(part) for part in zip(*past, strict=True))],
    )  # fmt: skip
    np.testing.assert_allclose(mean_of(state, 30)[chosen], mu, atol=1e-10)
    np.testing.assert_allclose(state.arrays["errors"], matrix_of(past + wrong), atol=1e-9)


def test_features_and_dual_variables_do_not_depend_on_the_final_weights() -> None:
    x, y = noisy(8)
    batches = [(x[:50], y[:50]), (x[50:100], y[50:100]), (x[100:], y[100:])]
    plain, state = (learned_batches(algorithm, *batches) for algorithm in (SAME, AUTO))
    assert np.array_equal(plain.table[:30, 1:], state.table[:30, 1:])
    for name in ("gram", "sigma", "share", "score", "theta"):
        assert np.array_equal(plain.arrays[name], state.arrays[name])


def test_a_model_without_rows_with_an_error_continues_as_before() -> None:
    x, y = noisy(9)
    plain = learned_batches(SAME, (x[:80], y[:80]), (x[80:], y[80:]))
    state = learned_batches(SAME, (x[:80], y[:80]))
    learn(AUTO, state, (x[80:], y[80:]))
    assert np.array_equal(mean_of(plain, 30), mean_of(state, 30))
    assert not len(state.arrays["errors"])


def test_many_features_keep_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    plain, state = (learned_batches(algorithm, noisy(10)) for algorithm in (SAME, AUTO))
    assert np.array_equal(mean_of(plain, 30), mean_of(state, 30))


def test_restart_forgets_rows_with_an_error() -> None:
    x, y = noisy(11)
    algorithm = sbcw(**GIVEN, final_C="auto", carry="restart")
    state = learned_batches(algorithm, (x[:80], y[:80]), (x[80:], y[80:]))
    chosen = algorithm.chosen(state)
    wrong = y[80:] * (x[80:][:, chosen] @ mean_of(state, 30)[chosen]) < 1
    assert state.arrays["errors"][-1, -1] == wrong.sum()


class Dense:
    """Rows as final_weights takes them."""

    C = 2.0

    def __init__(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> None:
        part = csr_matrix(x)
        arrays = part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data
        self.given = Matrix(*arrays), y, weight

    def errors(self, w: np.ndarray) -> Errors:
        return Errors.over(*self.given, w)


def test_a_row_of_weight_two_is_two_rows() -> None:
    x, y = noisy(12, d=5)
    h = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    twice = np.repeat(np.arange(len(y)), h.astype(int))
    one, two = (
        final_weights(rows, np.zeros(5), np.eye(5), Errors.none(5), 30)
        for rows in (Dense(x, y, h), Dense(x[twice], y[twice]))
    )
    np.testing.assert_allclose(one[0], two[0], atol=1e-12)
    np.testing.assert_allclose(one[1].matrix, two[1].matrix, atol=1e-12)


def test_weights_stay_if_rows_of_small_weights_say_too_little() -> None:
    """1e-3 rows cannot decide on five weights."""
    x, y = noisy(14, d=5)
    rows, start = Dense(x, y, np.full(len(y), 1e-3 / len(y))), np.full(5, 0.1)
    rows.C = 1e9
    w = final_weights(rows, start, np.eye(5), Errors.none(5), 5)[0]
    assert np.array_equal(w, start)


def test_the_objective_never_rises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far from the optimum few rows have an error, and a whole Newton step goes too far."""
    monkeypatch.setattr(module_of_weights, "FACTORS", (1.0,))
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3))
    y = np.sign(x @ [1.0, -2.0, 1.0])
    start = np.array([4.0, -8.0, 6.0])

    def objective(w: np.ndarray) -> float:
        return float(w @ w / 2 + np.square(np.maximum(0, 1 - y * (x @ w))).sum())

    wrong = y * (x @ start) < 1
    assert 0 < wrong.sum() < 10
    G = x[wrong].T @ x[wrong]
    whole = np.linalg.solve(np.eye(3) + 2 * G, 2 * x[wrong].T @ y[wrong])
    assert objective(whole) > objective(start)
    w = final_weights(Dense(x, y), start, np.eye(3), Errors.none(3), 3)[0]
    assert objective(w) < objective(start)


def test_weights_stay_if_no_row_has_an_error() -> None:
    x = np.eye(3)
    start = np.array([5.0, 5.0, 5.0])
    w, errors, _ = final_weights(Dense(x, np.ones(3)), start, np.eye(3), Errors.none(3), 3)
    assert np.array_equal(w, start)
    assert not errors.matrix.any()


def test_a_damaged_matrix_is_refused() -> None:
    state = learned_batches(AUTO, noisy(13))
    AUTO.check(state)
    state.arrays["errors"] = state.arrays["errors"][:3, :3]
    with pytest.raises(Damage, match=r"array\.errors does not fit"):
        AUTO.check(state)
