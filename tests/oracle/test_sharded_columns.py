"""Learners of columns whose rows are in shards: the same features as on one machine, and the same
weights up to rounding, or up to the tolerance of the solver where one machine solves otherwise."""

from typing import Any

import numpy as np
import pytest
from shards_in_memory import InMemory

from cwtool.algorithms.batch.rows_by_column import Columns
from cwtool.algorithms.shards.sharded_columns import ShardedColumns
from cwtool.data.rows import Rows
from cwtool.model import Model
from cwtool.model.scale import slotted
from cwtool.run import Run

RNG = np.random.default_rng(5)
X = RNG.normal(size=(240, 40)) * (RNG.random((240, 40)) < 0.3)
Y = (X[:, :6] @ RNG.normal(size=6) + 0.3 * RNG.normal(size=240) > 0).astype(int)
WEIGHT = RNG.random(240) + 0.5


def rows_of(some: slice, *, weighted: bool) -> Rows:
    listed = [[(3 * j + 7, float(x)) for j, x in enumerate(row) if x] for row in X[some]]
    rows = Rows.from_lists(listed, Y[some].tolist())
    return rows.weighing(WEIGHT[some]) if weighted else rows


def parts(S: int, *, weighted: bool) -> list[Rows]:
    n = len(Y)
    return [rows_of(slice(n * k // S, n * (k + 1) // S), weighted=weighted) for k in range(S)]


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sbcw": ("sbcw", {"features": 12, "group_size": 4}),
    "sbcw columns": ("sbcw", {"features": 12, "group_size": 4, "scale": "columns"}),
    "sbcw diag": ("sbcw", {"features": 12, "group_size": 4, "score": "diag", "loss": "hinge"}),
    "fgm": ("fgm", {"features": 9, "group_size": 3}),
    # on one machine by Newton steps, in shards by descent over columns
    "l1svm": ("l1svm", {"features": 8, "tol": 1e-11}),
    "given C": ("l1svm", {"features": 0, "C": 2.0, "loss": "logistic", "tol": 1e-10}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_features_and_weights(case: str, weighted: bool) -> None:
    algo, params = CASES[case]
    plain, model = (Model.new(algo, {**params, "prior": 1.0}) for _ in range(2))
    for turn in range(2):  # the second batch goes on from the first, as far as the algorithm does
        shards = InMemory(model.algorithm, parts(5, weighted=weighted), model.index)
        model.state.reserve()
        # type: ignore[attr-defined]
        model.algorithm.learn_shards([model.state], [1], shards, Run())
        model.state.numbers["batches"] += 1
        plain.learn(rows_of(slice(None), weighted=weighted), Run())
        ids, found = model.weights()[:2]
        wanted = plain.weights()
        assert ids.tolist() == wanted.ids.tolist(), turn
        assert np.array_equal(found != 0, wanted.weight != 0)
        assert np.count_nonzero(found) > 4
        rtol, atol = (1e-7, 1e-9) if case == "l1svm" else (1e-11, 1e-12)
        np.testing.assert_allclose(found, wanted.weight, rtol=rtol, atol=atol)
        first = turn == 0 and case in ("sbcw", "sbcw columns")  # chooses by Newton steps
        own = {"across_columns"} if first else set()
        assert set(shards.asked) == {"products", "lengths", "entries"} | own


def test_columns() -> None:
    model = Model.new("fgm", {})
    shards = InMemory(model.algorithm, parts(4, weighted=True), model.index)
    none = np.empty(0, dtype=np.int32)
    dealt = ShardedColumns(shards, model.index, none, Run())
    every = rows_of(slice(None), weighted=True)
    plain = Columns(slotted(every, model.index.known(every.indices)), model.index, none)
    assert dealt.slots.tolist() == plain.slots.tolist()
    v, some = RNG.normal(size=240), np.array([31, 4, 11])
    np.testing.assert_allclose(dealt.squares, plain.squares, rtol=1e-13)
    np.testing.assert_allclose(dealt.x.products(v), plain.x.products(v), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(dealt.x.moments(v, v > 0), plain.x.moments(v, v > 0), atol=1e-12)
    sign = np.where(v > 0, 1.0, -1.0)
    signed = dealt.signed(sign).moments(v, v > 0)
    np.testing.assert_allclose(signed, plain.x.moments(v * sign, v > 0), atol=1e-12)
    for _ in range(2):
        ours, theirs = dealt.x.take(some), plain.x.take(some)
        assert [a.tolist() for a in ours.arrays] == [a.tolist() for a in theirs.arrays]
    assert np.array_equal(dealt.gram(some), plain.gram(some))
    assert shards.asked.count("entries") == 1  # what is here is not asked for again
