"""Row weights in the batch learners: frozen vectors, and what must hold for any data."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import learners
import numpy as np
import pytest

from cwtool import params, registry
from cwtool.algorithms.base import Algorithm, Scores
from cwtool.algorithms.batch import gram as gram_of
from cwtool.algorithms.batch import metric
from cwtool.algorithms.batch.dual_ascent import Start
from cwtool.algorithms.batch.learner import Bounds
from cwtool.data.rows import SlotRows
from cwtool.run import Run
from cwtool.state import State
from cwtool_ext import dual

VECTORS = json.loads((Path(__file__).parent / "vectors" / "multiclass" / "batch.json").read_text())
X, SIGNS, H = (np.array(VECTORS[name]) for name in ("X", "y_binary", "h"))
N, D = X.shape
LOSS = {1: "hinge", 2: "squared-hinge"}
FORMS = {form.name: form for form in (metric.Whitened, metric.Covariance, metric.Kernel)}


def made(name: str, **given: Any) -> Algorithm:
    """The algorithm with these parameters; the scale of rows is 1."""
    kind = registry.algorithm(name)
    known = {p.name for p in params.declared(kind.Params)}
    return kind(params.build(kind.Params, {"prior": 1.0} | given if "prior" in known else given))


def rows_of(x: np.ndarray, signs: np.ndarray, weight: np.ndarray | None = None) -> SlotRows:
    return SlotRows(*learners.stored(x), learners.classes(signs), weight)


def taught(
    algorithm: Algorithm, x: np.ndarray, signs: np.ndarray, weight: np.ndarray | None = None,
    batches: int = 1,
) -> tuple[State, Scores]:  # fmt: skip
    """The state after the rows were learned in some batches, and the scores of its rows; the slot
    of column j is j."""
    state = algorithm.new_state()
    state.slots_of(np.arange(x.shape[1], dtype=np.int32))
    rows = rows_of(x, signs, weight)
    ends = np.linspace(0, len(x), batches + 1).astype(int).tolist()
    for start, stop in pairwise(ends):
        part = rows.slice(start, stop)
        algorithm.learn(state, part, part.order, Run())
    return state, algorithm.scores(state, rows_of(x, signs), np.zeros(len(x)), Run())


def packed(state: State) -> dict[str, Any]:
    """All that would be saved, as bytes."""
    arrays = {name: array.tobytes() for name, array in state.pack().items()}
    return arrays | {"numbers": repr(state.numbers)}


# frozen vectors


def one_pass(form: str, case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """mu and the dual variables after one pass in the order of the rows."""
    used = np.flatnonzero(H)
    rows = rows_of(X, SIGNS, H).take(used)
    bounds = Bounds.of(case["C"], LOSS[case["q"]], len(used), rows.weight)
    alpha = np.zeros(N)
    if form == "dcd":
        mu, a, v = np.zeros(D), np.zeros(len(used)), np.empty(len(used))
        dual.squared_norms(rows.csr, v)
        dual.plain_pass(rows.csr, rows.signs(), v, *bounds, mu, a)
    else:
        gram = np.zeros((D, D))
        gram_of.add_gram(rows, gram, D, 1)
        starts = [Start(rows.signs(), np.zeros(D))]
        ((mu, a, _),) = FORMS[form](gram, D, case["c"], 1).ascend(rows, starts, bounds, 1)
    alpha[used] = a
    return mu, alpha


@pytest.mark.parametrize("q", LOSS)
@pytest.mark.parametrize(("kind", "form"), [("dcd", "dcd"), *(("bcw", f) for f in FORMS)])
def test_frozen_vectors_of_one_pass(kind: str, form: str, q: int) -> None:
    (case,) = (c for c in VECTORS["batch"] if (c["kind"], c["q"], c["passes"]) == (kind, q, 1))
    mu, alpha = one_pass(form, case)
    np.testing.assert_allclose(mu, case["mu"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(alpha, case["alpha"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("q", LOSS)
@pytest.mark.parametrize(("kind", "form"), [("dcd", "whitened"), *(("bcw", f) for f in FORMS)])
def test_frozen_vectors_of_converged_learners(
    kind: str, form: str, q: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = (
        c for c in VECTORS["batch"]
        if (c["kind"], c["q"], c["passes"]) == (kind, q, "converged")
    )  # fmt: skip
    C, c = case["C"], case["c"]
    monkeypatch.setattr(metric, "cheapest", lambda *_: FORMS[form])
    if kind == "dcd":
        algorithm = made("dcd", C=C, loss=LOSS[q], tol=1e-12)
    else:
        algorithm = made("bcw", C=C, loss=LOSS[q], precision_divisor=C / c, batch_passes=20000)
    state, _ = taught(algorithm, X, SIGNS, H)
    mu = state.table[:D, 0]
    np.testing.assert_allclose(mu, case["mu"], rtol=0, atol=1e-6)
    xi = np.maximum(0, 1 - SIGNS * (X @ mu))
    P = np.eye(D) + c * X.T @ (H[:, None] * X)
    assert mu @ P @ mu / 2 + C / q * (H @ xi**q) == pytest.approx(case["primal"], rel=1e-9)


# every learner

MANY = {"group_passes": 3000, "tol": 1e-12, "precision_divisor": 20.0}
TIGHT: dict[str, dict[str, Any]] = {  # converged, so that the order of rows does not matter
    "dcd hinge": {"loss": "hinge", "tol": 1e-10, "max_batch_passes": 100000},
    "dcd squared": {"loss": "squared-hinge", "tol": 1e-10, "max_batch_passes": 100000},
    "bcw hinge": {"loss": "hinge", "batch_passes": 20000, "precision_divisor": 20.0},
    "bcw squared": {"loss": "squared-hinge", "batch_passes": 20000, "precision_divisor": 20.0},
    "sbcw": {"features": 6, "iterations": 3, "C": 0.5} | MANY,
    "sbcw hinge": {"features": 6, "iterations": 3, "C": 0.5, "loss": "hinge"} | MANY,
    "sbcw exact": {"features": 6, "iterations": 3, "C": 0.5, "solver": "exact", "sigma": 0.5}
    | MANY,
    "sbcw diag": {"features": 6, "iterations": 2, "C": 0.5, "score": "diag"} | MANY,
    "fgm": {"features": 6, "iterations": 3, "C": 0.5} | MANY,
    "l1svm": {"C": 0.5, "features": 0, "tol": 1e-10},
    "l1svm logistic": {"C": 0.5, "features": 0, "tol": 1e-10, "loss": "logistic"},
    "l1svm path": {"C": 0.5, "features": 5, "tol": 1e-10},
    "spar-dca": {"C": 0.5, "features": 0, "tol": 1e-12, "max_batch_passes": 20000},
    "spar-dca hinge": {
        "C": 0.5,
        "features": 0,
        "tol": 1e-12,
        "max_batch_passes": 20000,
        "loss": "hinge",
    },
    "spar-dca path": {"C": 0.5, "features": 5, "tol": 1e-12, "max_batch_passes": 2000},
}
USUAL: dict[str, dict[str, Any]] = TIGHT | {
    "dcd": {},
    "bcw": {},
    "bcw printed": {"carry": "printed", "precision_divisor": 1.0},
    "sbcw usual": {"features": 6},
    "sbcw printed": {"features": 6, "solver": "printed", "sigma": 0.5},
    "sbcw restart": {"features": 6, "carry": "restart"},
    "fgm usual": {"features": 6},
    "l1svm usual": {},
    "spar-dca usual": {},
    "knn": {},
    "knn global": {"k": 5, "scale": "global"},
}
every = pytest.mark.parametrize("name", USUAL)
tight = pytest.mark.parametrize("name", TIGHT)


SHORT = {"max_batch_passes": 10, "batch_passes": 10, "group_passes": 10}  # not converged


def case(name: str, **given: Any) -> Algorithm:
    name, _, _ = (whole := name).partition(" ")
    known = {p.name for p in params.declared(registry.algorithm(name).Params)}
    return made(name, **{k: v for k, v in (USUAL[whole] | given).items() if k in known})


@every
def test_weights_of_one_are_no_weights(name: str) -> None:
    plain, found = taught(case(name, **SHORT), X, SIGNS, None, 2)
    ones, same = taught(case(name, **SHORT), X, SIGNS, np.ones(N), 2)
    assert packed(ones) == packed(plain)
    np.testing.assert_array_equal(same, found)


@every
def test_rows_of_weight_zero_are_absent(name: str) -> None:
    weight = np.where(np.arange(N) % 3 == 1, 0.0, H + 0.25)
    there = np.flatnonzero(weight)
    state, found = taught(case(name, **SHORT), X, SIGNS, weight)
    absent, others = taught(case(name, **SHORT), X[there], SIGNS[there], weight[there])
    assert packed(state) == packed(absent)
    np.testing.assert_array_equal(np.asarray(found)[:, there], others)


@every
def test_a_batch_of_weight_zero_is_not_learned(name: str) -> None:
    state, found = taught(case(name), X, SIGNS, np.zeros(N))
    assert packed(state) == packed(taught(case(name), X[:0], SIGNS[:0])[0])
    assert not np.any(found)


@every
def test_a_weight_does_something(name: str) -> None:
    light, heavy = (taught(case(name, **SHORT), X, SIGNS, H / 4 + h)[1] for h in (0.5, 2.0))
    assert np.any(light.score != heavy.score)


@tight
def test_whole_weights_are_repeated_rows(name: str) -> None:
    """Each half of the rows is repeated by itself, so that the batches are the same."""
    times = 1 + np.arange(N) % 3
    again = np.repeat(np.arange(N), times)
    assert times[:30].sum() == len(again) // 2
    weighted, _ = taught(case(name), X, SIGNS, times.astype(float), 2)
    repeated, _ = taught(case(name), X[again], SIGNS[again], None, 2)
    np.testing.assert_allclose(weighted.table[:D, 0], repeated.table[:D, 0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in USUAL if not name.startswith("knn")])
@pytest.mark.parametrize("t", [pytest.param(0.125, marks=pytest.mark.slow), 3.0])
def test_weights_times_t_with_c_divided_by_t(name: str, t: float) -> None:
    """But not for the final weights of sbcw, where a row of weight t counts as t rows."""
    C = 0.5
    weight, same = H + 0.25, {"final_C": "same"} if name.startswith("sbcw") else {}
    scores = [
        taught(case(name, C=C / s, **same), X, SIGNS, s * weight, 2)[1].score for s in (1.0, t)
    ]
    np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=1e-6)


@every
def test_weights_near_the_ends_of_the_double_range(name: str) -> None:
    """Scores stay finite, and a weight next to 0 does next to nothing."""
    heavy, light = np.ones(N), np.ones(N)
    heavy[3], light[3] = 1e300, 1e-300
    with np.errstate(over="ignore"):
        _, found = taught(case(name, **SHORT), X, SIGNS, heavy)
    assert np.isfinite(found).all()
    assert np.isfinite(taught(case(name, **SHORT), X, SIGNS, light)[1]).all()


# nearest neighbours


@pytest.mark.parametrize("k", [1, 3, 4, 9])
@pytest.mark.parametrize("scale", ["std", "global"])
def test_a_neighbour_of_weight_h_is_h_neighbours(k: int, scale: str) -> None:
    rng = np.random.default_rng(k)
    x, y = rng.normal(size=(80, 3)), rng.choice([-1.0, 1.0], 80)
    times = rng.integers(0, 5, 80)
    algorithm, again = made("knn", k=k, scale=scale), np.repeat(np.arange(80), times)
    _, found = taught(algorithm, x, y, times.astype(float), 2)
    repeated, _ = taught(algorithm, x[again], y[again])
    expected = algorithm.scores(repeated, rows_of(x, y), np.zeros(80), Run()).score
    np.testing.assert_allclose(found.score, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.round(found.score * k), np.round(expected * k))


def test_the_heavier_side_wins() -> None:
    """A fraction of a vote decides, whatever the distances say; equal votes are a tie."""
    x, y = np.array([[1.0], [-1.1], [9.0]]), np.array([1.0, -1.0, -1.0])
    algorithm = made("knn", k=2, scale="global")
    for weight, sign in ((0.3, 1), (0.45, -1), (0.4, 1)):
        state, _ = taught(algorithm, x, y, np.array([0.4, weight, 2.0]))
        origin = rows_of(np.zeros((1, 1)), np.ones(1))
        assert np.sign(algorithm.scores(state, origin, np.zeros(1), Run()).score) == sign


def test_a_neighbour_may_have_many_votes_but_not_more_than_k() -> None:
    x, y = np.array([[1.0], [1.2], [1.3]]), np.array([1.0, -1.0, -1.0])
    algorithm = made("knn", k=3, scale="global")
    found = []
    for weight in (1.0, 3.0, 1e6):
        _, scores = taught(algorithm, x, y, np.array([weight, 1.0, 1.0]))
        found.append(scores.score[0])
    assert found[0] < 0 < found[1]
    assert found[2] == pytest.approx(found[1], abs=0.5 / 3)


def test_first_rows_are_fitted_without_those_of_weight_zero() -> None:
    weight = np.where(np.arange(N) % 4 == 1, 0.0, 1.0)
    there = np.flatnonzero(weight)
    fitted = []
    for x, y, h in ((X, SIGNS, weight), (X[there], SIGNS[there], None)):
        algorithm = made("knn")
        state, _ = taught(algorithm, x, y, h)
        fitted.append(algorithm.fitted(state, rows_of(x, y, h), Run()).score)
    np.testing.assert_array_equal(fitted[0][there], fitted[1])
