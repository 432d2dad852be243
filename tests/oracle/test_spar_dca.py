"""spar-dca against a slow dense ascent, proximal gradient descent, and its path."""

import numpy as np
import pytest
from few_weights import learned, random_data
from oracles import top
from scipy.sparse import csr_matrix
from taught import slot_rows

from cwtool.algorithms.batch.learner import Bounds
from cwtool.algorithms.batch.rows_by_column import Columns
from cwtool.algorithms.spar_dca import SparDCA, SparDcaParams
from cwtool_ext import proximal
from cwtool_ext.csr import Csr

LOSSES = ["hinge", "squared-hinge"]


def soft(v):
    return np.sign(v) * np.maximum(np.abs(v) - 1, 0)


def slow_pass(z, b, free, e, D, U):
    """Each row to the best b_i, the others as they are."""
    b = b.copy()
    for i in range(len(z)):

        def slope(new, i=i):
            v = z.T @ b + (new - b[i]) * z[i]
            return 1 - D * new - z[i] @ (free * soft(v)) / e

        high = min(U, b[i] + max(0, slope(b[i])) / D) if D else U
        b[i] = top(slope, high)
    return b


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("e", [0.01, 1.0])
def test_each_step_is_the_best(loss: str, e: float) -> None:
    x, y = random_data(1, n=40, d=12)
    z, C = x * y[:, None], 0.7
    matrix = csr_matrix(z)
    rows = Csr(matrix.indptr.astype(np.int64), matrix.indices, matrix.data)
    D, U = (0.0, C) if loss == "hinge" else (1 / C, np.inf)
    free = np.ones(12)
    free[[2, 5]] = 0
    v, b, slow = np.zeros(12), np.zeros(40), np.zeros(40)
    for _ in range(3):
        proximal.ascent(rows, np.arange(40), free, e, *Bounds.of(C, loss, 40), v, b)
        slow = slow_pass(z, slow, free, e, D, U)
        np.testing.assert_allclose(b, slow, atol=1e-8)
        np.testing.assert_allclose(v, z.T @ b, atol=1e-10)
    assert (b > 0).any()


@pytest.mark.parametrize("C", [0.05, 0.5])
def test_reaches_the_optimum(C: float) -> None:
    """Proximal gradient descent with the step 1/L gets to the same weights."""
    x, y = random_data(2)
    _, state = learned(SparDCA, x, y, C=C, features=0, tol=1e-10, max_batch_passes=5000, l2=0.2)
    w, L = np.zeros(25), C * np.linalg.norm(x, 2) ** 2
    for _ in range(20000):
        slope = -C * x.T @ (y * np.maximum(0, 1 - y * (x @ w)))
        before, w = w, soft(L * w - slope) / (L + 0.2)
        if np.abs(w - before).max() < 1e-14:
            break
    assert 0 < np.count_nonzero(w) < 25
    np.testing.assert_allclose(state.table[:25, 0], w, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_is_a_certificate(loss: str) -> None:
    """Never negative, and closed by more passes."""
    x, y = random_data(3)
    gaps = []
    for passes in (1, 5, 2000):
        params = SparDcaParams(loss=loss, features=0, tol=1e-9, max_batch_passes=passes)
        fit = fitted(SparDCA(params), x, y)
        primal, dual = fit.value(0.3)
        gaps.append((primal - dual) / primal)
    assert min(gaps) > -1e-12
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-4


def fitted(algorithm: SparDCA, x, y):
    state = algorithm.new_state()
    columns = Columns(slot_rows(x, y, state), state.index, np.empty(0, dtype=np.int32))
    fit = algorithm.Fit(columns, y, algorithm.params, 0)
    fit.solve(0.3, np.arange(25))
    return fit


@pytest.mark.parametrize("loss", LOSSES)
def test_exactly_so_many_features(loss: str) -> None:
    x, y = random_data(4, n=80, d=120)
    for p in (1, 3, 11, 40):
        algorithm, state = learned(SparDCA, x, y, features=p, loss=loss)
        assert np.count_nonzero(state.table[:120, 0]) == p
        assert len(algorithm.selection(state).slots) == p
